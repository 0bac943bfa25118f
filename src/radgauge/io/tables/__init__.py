"""Tables of any file format: rows with line numbers, columns with their roles, cells as text."""

from radgauge.io.tables.table import Record, Table, columns_to_records, iter_records, read_table

__all__ = ["Record", "Table", "columns_to_records", "iter_records", "read_table"]

"""Tables of any file format: rows with line numbers, columns with their roles, cells as text."""

from radgauge.io.tables.grid import Record
from radgauge.io.tables.table import InputTable, columns_to_records, iter_records, read_table

__all__ = ["InputTable", "Record", "columns_to_records", "iter_records", "read_table"]

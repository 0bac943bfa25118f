"""A study without a server: sheets for raters to fill offline, and the way back."""

from radgauge.study.sheet.collect import Collected, collect
from radgauge.study.sheet.write import write_sheets

__all__ = ["Collected", "collect", "write_sheets"]

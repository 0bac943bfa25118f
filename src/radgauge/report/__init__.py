"""The report people look at: scores and judgments in, one self-contained HTML file out; tables and plots too."""

from radgauge.report.build import Report, build_report
from radgauge.report.files import write_pdf, write_plots, write_report
from radgauge.report.page import render_page
from radgauge.show.tables import write_tables

__all__ = [
    "Report",
    "build_report",
    "render_page",
    "write_pdf",
    "write_plots",
    "write_report",
    "write_tables",
]

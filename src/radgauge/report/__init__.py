"""The HTML report: scores and judgments in, one self-contained HTML file out; tables and plots too."""

from radgauge.render.tables import write_tables
from radgauge.report.build import Report, build_report
from radgauge.report.files import write_pdf, write_plots, write_report, write_words
from radgauge.report.page import render_page
from radgauge.report.paper import PaperStyle, paper_table

__all__ = [
    "PaperStyle",
    "Report",
    "build_report",
    "paper_table",
    "render_page",
    "write_pdf",
    "write_plots",
    "write_report",
    "write_tables",
    "write_words",
]

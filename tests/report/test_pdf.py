"""The report as PDF: printed by a browser if there is one, a clear line if there is none."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from radgauge.core.errors import UsageError
from radgauge.render.printing import BROWSERS
from radgauge.report import Report, write_pdf


def test_without_a_browser_it_says_what_to_do(
    report: Report, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("RADGAUGE_BROWSER", raising=False)
    with pytest.raises(UsageError, match="a PDF needs a browser: install Chromium"):
        write_pdf(tmp_path / "r.pdf", report)
    monkeypatch.setenv("RADGAUGE_BROWSER", str(tmp_path / "nothing"))
    with pytest.raises(UsageError, match="did not print the report"):
        write_pdf(tmp_path / "r.pdf", report)
    assert not (tmp_path / "r.pdf").exists()


@pytest.mark.browser
def test_a_browser_prints_the_conclusion_first(report: Report, tmp_path: Path) -> None:
    if not any(map(shutil.which, BROWSERS)):
        pytest.skip("no browser on this machine")
    size = write_pdf(tmp_path / "r.pdf", report)
    made = (tmp_path / "r.pdf").read_bytes()
    assert made.startswith(b"%PDF")
    assert len(made) == size

"""Print a page into a PDF with the browser of this machine."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from radgauge.core.errors import UsageError
from radgauge.core.files import write_file

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "microsoft-edge")
PRINTING = 120.0  # seconds


def print_pdf(page: str, *, of: str = "page") -> bytes:
    """The PDF of a page that needs nothing else.

    Args:
        page: HTML.
        of: What it is, for the messages.

    Raises:
        UsageError: There is no browser, or it did not print.
    """
    program = browser()
    with tempfile.TemporaryDirectory(prefix="radgauge-") as folder:
        source, made = Path(folder, "page.html"), Path(folder, "page.pdf")
        write_file(source, page)
        command = [program, "--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking"]
        command += [f"--user-data-dir={folder}/profile", "--no-first-run", "--no-pdf-header-footer"]
        command += [f"--print-to-pdf={made}", source.as_uri()]
        try:
            done = subprocess.run(command, capture_output=True, timeout=PRINTING, check=False)
        except (OSError, subprocess.TimeoutExpired) as error:
            raise UsageError(f"{program} did not print the {of}: {type(error).__name__}") from error
        if not made.is_file():
            raise UsageError(f"{program} did not print the {of} (exit code {done.returncode})")
        return made.read_bytes()


def browser() -> str:
    """The browser that prints.

    Raises:
        UsageError: There is none.
    """
    program = os.environ.get("RADGAUGE_BROWSER") or next(filter(None, map(shutil.which, BROWSERS)), None)
    if program is None:
        raise UsageError(
            "a PDF needs a browser: install Chromium or Chrome, or name one with RADGAUGE_BROWSER; "
            "or write the HTML file and print it"
        )
    return program

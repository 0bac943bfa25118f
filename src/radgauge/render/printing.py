"""Print pages into PDF with the browser of this machine: one process for any number of pages."""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import signal
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from radgauge.core.errors import UsageError
from radgauge.core.files import write_file

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "microsoft-edge")
PRINTING = 120.0  # seconds
ENDING = 10.0
_OPTIONS = ("--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run")


def print_pdf(page: str, *, of: str = "page") -> bytes:
    """The PDF of a page that needs nothing else.

    Args:
        page: HTML.
        of: What it is, for the messages.

    Raises:
        UsageError: There is no browser, or it did not print.
    """
    with pdf_printer(of=of) as printed:
        return printed(page)


@contextmanager
def pdf_printer(*, of: str = "page") -> Iterator[Callable[[str], bytes]]:
    """A function from HTML to PDF; its browser starts with the first page and ends with the context.

    The browser is steered over two pipes (DevTools protocol), so that nothing listens on the network.
    """
    session = _Session(browser(), of)
    try:
        yield session.printed
    finally:
        session.close()


class _Session:
    def __init__(self, program: str, of: str) -> None:
        self._program, self._of = program, of
        self._process: int | None = None
        self._buffer = b""
        self._number = 0

    def printed(self, page: str) -> bytes:
        if self._process is None:
            self._start()
        write_file(self._page, page)
        self._ask("Page.navigate", {"url": self._page.as_uri()})
        self._wait(lambda message: message.get("method") == "Page.loadEventFired")
        made = self._ask("Page.printToPDF", {"preferCSSPageSize": True, "printBackground": True})
        return base64.b64decode(made["data"])

    def close(self) -> None:
        if self._process is None:
            return
        os.kill(self._process, signal.SIGTERM)
        deadline = time.monotonic() + ENDING
        while os.waitpid(self._process, os.WNOHANG) == (0, 0):
            if time.monotonic() > deadline:
                os.kill(self._process, signal.SIGKILL)
            time.sleep(0.02)
        for descriptor in (self._to, self._from):
            os.close(descriptor)
        self._folder.cleanup()

    def _start(self) -> None:
        if os.name != "posix":
            raise UsageError(
                "PDF files are printed on Linux and macOS only; open the page in a browser and print it"
            )
        import fcntl

        self._folder = tempfile.TemporaryDirectory(prefix="radgauge-", ignore_cleanup_errors=True)
        self._page = Path(self._folder.name, "page.html")
        reads, self._to = os.pipe()
        self._from, writes = os.pipe()
        theirs = [fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 10) for end in (reads, writes)]  # clear of 3 and 4
        actions: list[tuple[Any, ...]] = [
            (os.POSIX_SPAWN_OPEN, number, os.devnull, os.O_RDWR, 0) for number in (0, 1, 2)
        ]
        actions += [(os.POSIX_SPAWN_DUP2, end, number) for end, number in zip(theirs, (3, 4), strict=True)]
        profile = f"--user-data-dir={self._folder.name}/profile"
        arguments = [self._program, *_OPTIONS, profile, "--remote-debugging-pipe"]
        try:
            self._process = os.posix_spawnp(self._program, arguments, os.environ, file_actions=actions)
        except OSError as error:
            self._folder.cleanup()
            raise self._failed(type(error).__name__) from error
        finally:
            for end in (reads, writes, *theirs):
                os.close(end)
        self._session = ""
        target = self._ask("Target.createTarget", {"url": "about:blank"})["targetId"]
        attached = self._ask("Target.attachToTarget", {"targetId": target, "flatten": True})
        self._session = attached["sessionId"]
        self._ask("Page.enable", {})

    def _ask(self, method: str, parameters: Mapping[str, Any]) -> dict[str, Any]:
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        try:
            os.write(self._to, json.dumps(message).encode() + b"\0")
        except OSError as error:
            raise self._failed(type(error).__name__) from error
        answer = self._wait(lambda message: message.get("id") == self._number)
        if "error" in answer:
            raise self._failed(method)
        result: dict[str, Any] = answer["result"]
        return result

    def _wait(self, accepts: Callable[[Mapping[str, Any]], bool]) -> dict[str, Any]:
        deadline = time.monotonic() + PRINTING
        while True:
            message, mark, rest = self._buffer.partition(b"\0")
            if mark:
                self._buffer = rest
                parsed: dict[str, Any] = json.loads(message)
                if accepts(parsed):
                    return parsed
                continue
            if not select.select([self._from], [], [], max(0.0, deadline - time.monotonic()))[0]:
                raise self._failed("no answer in time")
            more = os.read(self._from, 1 << 16)
            if not more:
                raise self._failed("it ended")
            self._buffer += more

    def _failed(self, why: str) -> UsageError:
        return UsageError(f"{self._program} did not print the {self._of} ({why})")


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

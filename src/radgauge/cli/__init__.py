"""The command line: one file per verb, each of which reads its options and calls a function of the library.

Results go to stdout, messages and progress to stderr. Exit codes stand in `cli.exit_codes`.
Modules here import nothing heavy at the top: `radgauge --help` must answer at once.
"""

from __future__ import annotations

import codecs
import errno
import io
import os
import sys
import traceback
from typing import TYPE_CHECKING, Any

from radgauge.cli import exit_codes
from radgauge.cli.verbs import VERBS as VERBS
from radgauge.cli.verbs import first_screen

if TYPE_CHECKING:
    from radgauge.cli.commands import app as app

PLAIN_SIGNS = {"↑": "^", "↓": "v", "–": "-", "─": "-", "━": "=", "╌": ".", "∞": "inf", "’": "'", "…": "..."}


def __getattr__(name: str) -> Any:
    if name == "app":  # typer is imported when a verb runs
        from radgauge.cli.commands import app

        return app
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def main() -> None:
    """Entry point of the `radgauge` command."""
    if sys.argv[1:] in (["--help"], ["-h"]):
        print(first_screen())
        return
    from radgauge.core.errors import BrokenLimit, RadgaugeError, UsageError
    from radgauge.core.log import listen

    listen()
    _write_what_can_be_written()
    silent = _to_nowhere()
    try:
        sys.modules[__name__].app()
    except UsageError as error:
        _say(error)
        sys.exit(exit_codes.USAGE)
    except BrokenLimit as error:
        _say(error)
        sys.exit(exit_codes.BROKEN_LIMIT)
    except RadgaugeError as error:
        _say(error)
        sys.exit(exit_codes.TROUBLE)
    except FileNotFoundError as error:
        _say(f"no such file: {error.filename}")
        sys.exit(exit_codes.TROUBLE)
    except OSError as error:
        if error.filename is None and error.errno != errno.ENOSPC:
            traceback.print_exc()
        else:
            _say(": ".join(filter(None, (error.strerror, str(error.filename or "")))))
        sys.exit(exit_codes.TROUBLE)
    except Exception:  # Python would end with 1, which a pipeline reads as a broken limit
        traceback.print_exc()
        sys.exit(exit_codes.TROUBLE)
    except KeyboardInterrupt:  # before a verb has begun
        _say("stopped")
        sys.exit(exit_codes.INTERRUPTED)
    except SystemExit as leaving:
        if leaving.code == exit_codes.INTERRUPTED:  # typer turns Ctrl-C into this exit code
            from radgauge.cli.resume import what_is_kept

            _say(f"stopped; {what_is_kept()}")
        if type(sys.stdout).__name__ == "PacifyFlushWrapper" or (_to_nowhere() and not silent):
            # what typer and rich leave behind a closed pipe
            sys.exit(exit_codes.FINE)  # `radgauge ... | head` has seen enough
        if leaving.code == 1:  # click's answer to a prompt without an answer; limits end as BrokenLimit
            sys.exit(exit_codes.TROUBLE)
        raise


def _to_nowhere() -> bool:
    """True if stdout is the null device; rich connects it there when a pipe was closed."""
    if os.name != "posix":
        return False
    try:
        return os.fstat(1).st_rdev == os.stat(os.devnull).st_rdev
    except OSError:
        return False


def _write_what_can_be_written() -> None:
    """Let arrows and lines become plain signs where the terminal, the file or the pipe takes no Unicode."""
    codecs.register_error("radgauge-plain", _plain)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and not stream.encoding.lower().startswith("utf"):
            stream.reconfigure(errors="radgauge-plain")


def _plain(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return "".join(PLAIN_SIGNS.get(sign, "?") for sign in error.object[error.start : error.end]), error.end


def _say(message: object) -> None:
    from radgauge.cli.flags import in_flags
    from radgauge.core.wording import visible

    print(f"radgauge: {visible(in_flags(str(message)))}", file=sys.stderr)

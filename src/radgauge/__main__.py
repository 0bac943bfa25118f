"""`python -m radgauge` is the `radgauge` command."""

import os
import signal
import sys
from types import FrameType


def _leave(number: int, frame: FrameType | None) -> None:
    os.write(2, b"radgauge: stopped\n")
    os._exit(130)


def main() -> None:
    """Entry point of the `radgauge` command."""
    # While modules load, Ctrl-C ends the process at once: an exception could come out anywhere.
    usual = signal.getsignal(signal.SIGINT)
    if usual is signal.default_int_handler:
        signal.signal(signal.SIGINT, _leave)
    from radgauge.cli import main as run
    from radgauge.core.garbage import collect_seldom

    collect_seldom()
    if usual is signal.default_int_handler:
        signal.signal(signal.SIGINT, usual)
    try:
        run()
    finally:
        if usual is signal.default_int_handler:  # nothing is left to be told
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            sys.stdout.flush()


if __name__ == "__main__":
    main()

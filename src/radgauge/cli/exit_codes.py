"""Exit codes of the command line, the same for every verb."""

FINE = 0
BROKEN_LIMIT = 1
"""A limit of the user's is broken (`diff --fail-if`); everything else worked."""
USAGE = 2
TROUBLE = 3
"""Input that cannot be used, a missing model or package, a full disk, or a defect of radgauge."""
INTERRUPTED = 130

EPILOG = "Exit codes: 0 fine, 1 a limit is broken, 2 usage, 3 input or system trouble, 130 interrupted."

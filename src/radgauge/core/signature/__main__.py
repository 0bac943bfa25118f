"""`python -m radgauge.core.signature [--update]`: compare this installation with `behaviour.tsv`, or update it."""

from __future__ import annotations

import sys

from radgauge.behaviour import main

sys.exit(main(sys.argv[1:]))

"""`python -m radgauge.signature [--update]`: compare this installation with `behaviour.tsv`, or update it."""

from __future__ import annotations

import sys

from radgauge.signature.compute import main

sys.exit(main(sys.argv[1:]))

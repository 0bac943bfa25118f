"""`python -m radgauge` is the `radgauge` command."""

from radgauge.cli import main

main()

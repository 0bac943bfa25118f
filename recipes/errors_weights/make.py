"""Make the default weights of the `errors` metric: python recipes/errors_weights/make.py DATA"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

from judged_data import judged_sources

from radgauge.analysis.fit_errors import fit_sources
from radgauge.findings.weights import PRIOR, SHIPPED

STRENGTH = 0.2
"""tau-b on a source left out is flat (within 0.01) from 0.5 to 0.02: a strong pull leaves less to chance."""


def main() -> None:
    """Fit on every judged source in the folder named on the command line and write the shipped JSON."""
    found = fit_sources(judged_sources(Path(sys.argv[1])), start=PRIOR, strength=STRENGTH)
    SHIPPED.write_text(found.weights.as_json(), encoding="utf-8")
    print("tau-b with the rating     prior  left out  fitted")
    for name in found.start:
        print(f"{name:24}{found.start[name]:7.3f}{found.left_out[name]:10.3f}{found.fitted[name]:8.3f}")


if __name__ == "__main__":
    main()

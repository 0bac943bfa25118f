"""Make the default weights of the `errors` metric: python recipes/errors_weights/make.py radpref_dev.json"""

from __future__ import annotations

import sys
from pathlib import Path

from radgauge.findings.weights import PRIOR, SHIPPED
from radgauge.io.judgments import read_judgments
from radgauge.training.fit_errors import fit_errors

STRENGTH = 0.2
"""Cross-validated tau-b is flat (within 0.01) from 0.5 to 0.03: a strong pull leaves less to chance."""


def main() -> None:
    """Fit on the ratings of the file named on the command line and write the shipped JSON."""
    found = fit_errors(read_judgments(Path(sys.argv[1])), target="rating", start=PRIOR, strength=STRENGTH)
    SHIPPED.write_text(found.weights.as_json(), encoding="utf-8")
    print(f"tau-b with the mean rating: prior {found.start:.3f}, learned {found.fitted:.3f}")
    print(f"leave one study out: {found.cross_validated:.3f} ({found.cases} reports of {found.studies} studies)")


if __name__ == "__main__":
    main()

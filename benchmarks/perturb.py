"""Time of perturbing reports in all kinds: python benchmarks/perturb.py [reports.csv] [number of reports]."""

from __future__ import annotations

import sys
import time
from pathlib import Path

from radgauge.analysis.perturb import KINDS, perturb_reports
from radgauge.analysis.perturb.knowledge import synonyms
from radgauge.io.case_files import read_references
from radgauge.reader import read_report
from radgauge.samples import sample_reports_path


def main() -> None:
    """CPU seconds for that many reports in all kinds; a short file is repeated with new sentences."""
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else sample_reports_path()
    number = int(sys.argv[2]) if len(sys.argv) > 2 else 1000
    found = list(dict.fromkeys(case.references[0] for case in read_references(path).cases if case.references[0]))
    # A repeated report gets a sentence of its own, so that no reading of a whole report is taken from a cache.
    texts = {str(i): found[i % len(found)] + (f" Image {i}." if i >= len(found) else "") for i in range(number)}
    read_report("No effusion.")
    synonyms()
    start = time.process_time()
    made = perturb_reports(texts)
    spent = time.process_time() - start
    print(f"{number} reports ({len(found)} distinct), {len(KINDS)} kinds: {spent:.1f} s CPU")
    print(f"{len(made.perturbed)} changed reports; none possible: {dict(made.none_possible)}")


if __name__ == "__main__":
    main()

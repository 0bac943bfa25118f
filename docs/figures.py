"""Write the figures of the documentation: `make figures`, or `python docs/figures.py DATA`.

A page marks what is computed: everything between `<!-- figures:NAME -->` and `<!-- /figures -->` is written by the
function of that name here, never by hand. DATA is the folder with the development data, which is not part of the
repository; `pytest -m slow tests/test_figures.py` tells whether the pages still say what comes out.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np

import radgauge as rg
from radgauge.show.wording import number, share
from radgauge.stats import Interval

DOCS = Path(__file__).parent
BLOCK = re.compile(r"(<!-- figures:([\w-]+) -->\n)(.*?)(<!-- /figures -->)", re.DOTALL)
METRICS = (
    *("errors", "radcliq", "radgraph", "chexbert", "chexbert_similarity", "ratescore", "bertscore"),
    *("bleu", "rouge", "cider"),
)
RESAMPLES = 3000


def align_radpref(data: Path, *, resamples: int = RESAMPLES) -> str:
    """Agreement of the metrics that run anywhere with the radiologists of RadPref's development half."""
    judgments = rg.read_judgments(data / "radpref_dev" / "radpref_dev.json")
    found = rg.align(rg.score(judgments.cases, METRICS), judgments, resamples=resamples)
    targets = {"rating": "rating", "total": "errors", "significant": "significant errors"}
    lines = {(line.column, line.target): line.correlation.interval for line in found.lines}
    columns = sorted({column for column, _ in lines}, key=lambda column: -lines[column, "rating"].value)
    clusters = {each.name: each.cluster for each in found.ranking.judges} if found.ranking else {}
    rows = [
        f"| metric | {' | '.join(targets.values())} | preferred | cluster |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    for column in columns:
        cells = [_cell(lines[column, target]) for target in targets]
        preferred = share(found.preferences[column].interval.value, 0)
        rows.append(f"| `{column}` | {' | '.join(cells)} | {preferred} | {clusters[column]} |")
    ceilings = {ceiling.target: ceiling.leave_one_out.mean for ceiling in found.ceilings}
    cells = [_cell(ceilings[target]) for target in targets]
    rows.append(f"| *one radiologist against the others* | {' | '.join(cells)} | | |")
    told = 0
    if found.ranking is not None:
        p = found.ranking.p_adjusted
        told = int((p[np.triu_indices(len(p), 1)] < 0.05).sum())
    every = len(columns) * (len(columns) - 1) // 2
    few = f"With {found.cases} reports most metrics cannot be told apart"
    said = f"{few}: {told} of {every} pairs differ after Holm's correction."
    return "\n".join([*rows, "", said]) + "\n"


def _cell(interval: Interval) -> str:
    return f"{number(interval.value)} [{number(interval.low, 2)}, {number(interval.high, 2)}]"


def llm_cascade(data: Path) -> str:
    """What a cascade of the embedded judge and a recorded one saves and loses."""
    sys.path.insert(0, str(DOCS.parent / "benchmarks"))
    try:
        import llm_cascade as replayed
    finally:
        sys.path.pop(0)
    pairs = [pair for source in replayed.judged_twice(data).values() for pair in source]
    rows = [
        "| variant | asked at most | asked | cost saved | tau-b | lost | random |",
        "|---|---:|---:|---:|---:|---:|---:|",
    ]
    for variant in ("rating", "findings"):
        for line in replayed.lines(pairs, 200, variant):
            rows.append(f"| `{variant}` | {' | '.join(line)} |")
    return "\n".join(rows) + "\n"


FIGURES: Mapping[str, Callable[[Path], str]] = {"align-radpref": align_radpref, "llm-cascade": llm_cascade}


def blocks(text: str) -> dict[str, str]:
    """Name -> what the page says now."""
    return {match[2]: match[3] for match in BLOCK.finditer(text)}


def written(text: str, figures: Mapping[str, str]) -> str:
    """The page with these figures in their places."""
    return BLOCK.sub(lambda match: match[1] + figures.get(match[2], match[3]) + match[4], text)


def main(data: Path) -> None:
    """Write every page that has figures."""
    for page in sorted(DOCS.rglob("*.md")):
        text = page.read_text(encoding="utf-8")
        if names := blocks(text):
            page.write_text(written(text, {name: FIGURES[name](data) for name in names}), encoding="utf-8")
            sys.stdout.write(f"{page.relative_to(DOCS)}: {', '.join(names)}\n")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else DOCS.parent.parent / "shared" / "data"))

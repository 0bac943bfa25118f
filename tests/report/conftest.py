"""A small report with everything in it: two systems, hostile text, radiologists, a case nobody can judge."""

from __future__ import annotations

import pytest

from radgauge.core.cases import Case
from radgauge.core.readings import Readings
from radgauge.core.scores import Results
from radgauge.io.judgments.judgments import Judgments, error_scores, rating_scores
from radgauge.report import Report, build_report
from radgauge.run.score import score

HOSTILE = "</script><script>window.hacked = 1</script><img src=x onerror='window.hacked = 2'> & \u2028 \u2029 '\""
REFERENCES = (
    "Small left pleural effusion. No pneumothorax.",
    "The heart is normal in size. The lungs are clear.",
    "Mild cardiomegaly. Right basal opacity.",
    "Endotracheal tube in good position. No effusion.",
    f"No acute findings. {HOSTILE}",
)


@pytest.fixture(scope="session")
def hostile() -> str:
    return HOSTILE


@pytest.fixture(scope="session")
def cases() -> tuple[Case, ...]:
    made = []
    for n, reference in enumerate(REFERENCES * 3):
        changed = reference.replace("left", "right").replace("No pneumothorax", "Pneumothorax")
        first, _, rest = reference.partition(". ")
        ours = (reference.replace("Small", "Tiny"), f"{rest} {first}.", f"{first}.", f"{first}. And. {rest}")[
            n % 4
        ]
        made.append(Case(f"s{n:02d}", ours, (reference,), "ours", meta={"age": "50"}))
        made.append(Case(f"s{n:02d}", changed if n else "", (reference,), "<b>theirs</b>", meta={"age": "50"}))
    return tuple(made)


@pytest.fixture(scope="session")
def results(cases: tuple[Case, ...]) -> Results:
    return score(cases, ["bleu", "rouge"])


@pytest.fixture(scope="session")
def judgments(cases: tuple[Case, ...]) -> Judgments:
    keys = tuple(case.key for case in cases)
    counts = [
        (key, str(rater), 1 + i % 6, i % 2 == 0, float((i + rater) % 4))
        for rater in range(2)
        for i, key in enumerate(keys)
    ]
    ratings = {str(r): {key: float(1 + (i + r) % 5) for i, key in enumerate(keys)} for r in range(2)}
    return Judgments(
        "two readers",
        cases,
        error_scores(counts, keys=keys, signature="test"),
        rating_scores(ratings, keys=keys, signature="test"),
    )


@pytest.fixture(scope="session")
def report(results: Results, cases: tuple[Case, ...], judgments: Judgments) -> Report:
    header = {"input": {"sources": [{"name": "in.csv", "sha256": "0" * 64, "rows": 30}], "warnings": ["odd <i>"]}}
    return build_report(
        results,
        cases=cases,
        judgments=judgments,
        header=header,
        reading=Readings(),
        resamples=50,
        permutations=200,
        title="A <title>",
        appendix=3,
    )

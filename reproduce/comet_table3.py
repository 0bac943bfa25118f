"""Table 3 of Calamida et al. (2023): is a metric's correlation with radiologists larger than RadCliQ's? (CoCor)

The paper prints two correlations and a p value per oracle set, not the correlation between the two metrics, on
which the p value hinges. The first lines show the value that it implies; the others make the same test
(Hendrickson 1970, one-sided, Spearman taken for Pearson, 50 reports of one oracle) between RadCliQ and radgauge's
`errors`, whose correlation we know.
"""

from __future__ import annotations

from side_by_side import Line, Settings, run, score_cases

import radgauge as rg
from radgauge.stats import association, compare_correlations

SETS = {"bertscore": (0.682, 0.786, 0.0084, 0.8913), "s_emb": (0.728, 0.813, 0.0131, 0.9049)}
RIVAL = "errors"


def make(settings: Settings) -> list[Line]:
    """The published p values from the implied correlation, then ours."""
    lines = []
    for oracle, (radcliq, radeval, p, between) in SETS.items():
        test = compare_correlations(
            radcliq, radeval, r_kh=between, n=50, method="hendrickson1970", alternative="less"
        )
        lines.append(
            Line(f"{oracle} oracle, p with r between = {between}", p, test.p, "the paper does not print r")
        )
    judgments = rg.read_judgments(settings.place, format="rexval")
    results, missing = score_cases(judgments.cases, ["radcliq", RIVAL], settings)
    human = -judgments.mean_errors().column("errors_total")
    nan = float("nan")
    for oracle, (published, _, _, _) in SETS.items():
        here = [place for place, case in enumerate(judgments.cases) if case.system == oracle]
        if "radcliq" not in results or RIVAL not in results:
            lines.append(Line(f"{oracle} oracle", published, nan, "; ".join(missing.values())))
            continue
        first, second = (
            scores.oriented(scores.columns[0])[here] for scores in (results["radcliq"], results[RIVAL])
        )
        a, b = (association(values, human[here], kind="spearman") for values in (first, second))
        c = association(first, second, kind="spearman")
        lines.append(Line(f"{oracle} oracle, human and RadCliQ", published, a))
        lines.append(Line(f"{oracle} oracle, human and {RIVAL}", nan, b))
        test = compare_correlations(a, b, r_kh=c, n=len(here), method="hendrickson1970", alternative="less")
        lines.append(Line(f"{oracle} oracle, p that {RIVAL} is better", nan, test.p, f"r between {c:.3f}"))
    return lines


if __name__ == "__main__":
    run(make, title="Calamida et al. 2023, table 3", needs="the folder of ReXVal 1.0.0 (PhysioNet)")

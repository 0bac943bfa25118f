"""Table 3 of Calamida et al. (2023): is the learned metric's correlation with radiologists larger than RadCliQ's?

The paper prints two correlations and a p value per oracle set, not the correlation between the two metrics, on
which the p value hinges. The first lines show the value that it implies; the others make the same test (CoCor:
Hendrickson 1970, one-sided, Spearman taken for Pearson, 50 reports of one oracle) between RadCliQ, in the form of
the preprint as the paper used it, and every estimator named by --estimator; the one that ships if none is. All
four oracle sets are shown, which is figure 3; the paper tests two, for its checkpoint "Top Clinic RadGraph".
"""

from __future__ import annotations

from side_by_side import ORACLES, Line, Settings, run, score_cases

import radgauge as rg
from radgauge.stats import association, compare_correlations

TESTED = {"bertscore": (0.682, 0.786, 0.0084, 0.8913), "s_emb": (0.728, 0.813, 0.0131, 0.9049)}
CHECKPOINT = "Top Clinic RadGraph"
RADCLIQ = "radcliq:version=preprint"
NAN = float("nan")


def make(settings: Settings) -> list[Line]:
    """The published p values from the implied correlation, then ours for every oracle and estimator."""
    lines = []
    for oracle, (radcliq, radeval, p, between) in TESTED.items():
        test = compare_correlations(
            radcliq, radeval, r_kh=between, n=50, method="hendrickson1970", alternative="less"
        )
        lines.append(
            Line(f"{oracle} oracle, p with r between = {between}", p, test.p, "the paper does not print r")
        )
    judgments = rg.read_judgments(settings.place, format="rexval")
    estimators = settings.specs()
    results, missing = score_cases(judgments.cases, [RADCLIQ, *estimators.values()], settings)
    human = -judgments.mean_errors().column("errors_total")
    for oracle in ORACLES.values():
        here = [place for place, case in enumerate(judgments.cases) if case.system == oracle]
        published = TESTED.get(oracle, (NAN,) * 4)
        if RADCLIQ not in results:
            lines.append(Line(f"{oracle} oracle, human and RadCliQ", published[0], NAN, missing[RADCLIQ]))
            continue
        scores = results[RADCLIQ]
        first = scores.oriented(scores.columns[0])[here]
        a = association(first, human[here], kind="spearman")
        lines.append(Line(f"{oracle} oracle, human and RadCliQ", published[0], a))
        for name, spec in estimators.items():
            own = published if name == CHECKPOINT else (NAN,) * 4
            if spec not in results:
                lines.append(Line(f"{oracle} oracle, human and {name}", own[1], NAN, missing[spec]))
                continue
            second = results[spec].oriented(results[spec].columns[0])[here]
            b = association(second, human[here], kind="spearman")
            c = association(first, second, kind="spearman")
            lines.append(Line(f"{oracle} oracle, human and {name}", own[1], b))
            test = compare_correlations(a, b, r_kh=c, n=len(here), method="hendrickson1970", alternative="less")
            lines.append(Line(f"{oracle} oracle, p that {name} is better", own[2], test.p, f"r between {c:.3f}"))
    return lines


if __name__ == "__main__":
    run(make, title="Calamida et al. 2023, table 3", needs="the folder of ReXVal 1.0.0 (PhysioNet)")

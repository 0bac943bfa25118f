"""Table 4 of Calamida et al. (2023): Spearman correlation with the errors of RadEvalX, all and noisy reports.

RadCliQ is the preprint's composite, as in the paper. Name the estimators as the paper does to see its values
beside them: --estimator "Match XLM-R RadCliQ=FOLDER" --estimator "Top Clinic RadCliQ=FOLDER".
"""

from __future__ import annotations

from side_by_side import Line, Settings, kendall, run

import radgauge as rg

SPECS = {"BLEU": "bleu:variant=cxr", "RadGraph F1": "radgraph", "RadCliQ": "radcliq:version=preprint"}
PUBLISHED = {
    ("all", "BLEU"): (0.1770, 0.1385),
    ("all", "RadGraph F1"): (0.2844, 0.1633),
    ("all", "RadCliQ"): (0.3349, 0.1929),
    ("all", "Match XLM-R RadCliQ"): (0.2871, 0.1837),
    ("noisy", "BLEU"): (0.2736, 0.0139),
    ("noisy", "RadGraph F1"): (0.1910, 0.0091),
    ("noisy", "RadCliQ"): (0.3380, 0.0169),
    ("noisy", "Match XLM-R RadCliQ"): (0.3448, 0.0642),
    ("noisy", "Top Clinic RadCliQ"): (0.3735, 0.0797),
}


def make(settings: Settings) -> list[Line]:
    """Two numbers per subset and metric; noisy = more than three errors."""
    judgments = rg.read_judgments(settings.place, format="radevalx")
    targets = ["total", "significant"]
    specs = {**SPECS, **settings.specs()}
    found, missing = {}, {}
    for subset, limit in (("all", None), ("noisy", 3.0)):
        values, missing = kendall(
            judgments,
            list(specs.values()),
            settings,
            targets=targets,
            kind="spearman",
            more_errors_than=limit,
        )
        found.update({(subset, *key[:2]): value for key, value in values.items()})
    rows = dict.fromkeys([*PUBLISHED, *((subset, name) for subset in ("all", "noisy") for name in specs)])
    lines = []
    for subset, name in sorted(rows, key=lambda row: row[0] != "all"):
        spec = specs.get(name, "")
        why = missing.get(spec, "" if spec else "no such --estimator was given")
        for target, value in zip(targets, PUBLISHED.get((subset, name), (float("nan"),) * 2), strict=True):
            ours = found.get((subset, spec, target), float("nan"))
            lines.append(Line(f"{subset} reports, {name}, {target} errors", value, ours, why))
    return lines


if __name__ == "__main__":
    run(make, title="Calamida et al. 2023, table 4", needs="the folder of RadEvalX 1.0.0 (PhysioNet)")

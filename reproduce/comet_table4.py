"""Table 4 of Calamida et al. (2023): Spearman correlation with the errors of RadEvalX, all and noisy reports."""

from __future__ import annotations

from side_by_side import Line, Settings, kendall, run

import radgauge as rg

SPECS = {"BLEU": "bleu:variant=cxr", "RadGraph F1": "radgraph", "RadCliQ": "radcliq"}
PUBLISHED = {
    ("all", "BLEU"): (0.1770, 0.1385),
    ("all", "RadGraph F1"): (0.2844, 0.1633),
    ("all", "RadCliQ"): (0.3349, 0.1929),
    ("noisy", "BLEU"): (0.2736, 0.0139),
    ("noisy", "RadGraph F1"): (0.1910, 0.0091),
    ("noisy", "RadCliQ"): (0.3380, 0.0169),
}


def make(settings: Settings) -> list[Line]:
    """Twelve numbers; noisy = more than three errors."""
    judgments = rg.read_judgments(settings.place, format="radevalx")
    targets = ["total", "significant"]
    found, missing = {}, {}
    for subset, limit in (("all", None), ("noisy", 3.0)):
        values, missing = kendall(
            judgments,
            list(SPECS.values()),
            settings,
            targets=targets,
            kind="spearman",
            more_errors_than=limit,
        )
        found.update({(subset, *key[:2]): value for key, value in values.items()})
    return [
        Line(
            f"{subset} reports, {name}, {target} errors",
            value,
            found.get((subset, SPECS[name], target), float("nan")),
            missing.get(SPECS[name], ""),
        )
        for (subset, name), values in PUBLISHED.items()
        for target, value in zip(targets, values, strict=True)
    ]


if __name__ == "__main__":
    run(make, title="Calamida et al. 2023, table 4", needs="the folder of RadEvalX 1.0.0 (PhysioNet)")

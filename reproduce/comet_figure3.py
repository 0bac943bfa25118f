"""Figure 3 of Calamida et al. (2023): RadCliQ and estimators against radiologists, by oracle (Spearman, ReXVal).

The paper draws the values and prints those of two oracle sets for RadCliQ and its checkpoint "Top Clinic RadGraph"
(table 3). Name checkpoints with --estimator NAME=PLACE, as many as you have; --figure FILE.svg draws the figure.
"""

from __future__ import annotations

import numpy as np
from comet_table3 import CHECKPOINT, RADCLIQ, TESTED
from panels import arrange, error_bars
from side_by_side import ORACLES, Line, Settings, run, score_cases

import radgauge as rg
from radgauge.render.svg import Plot
from radgauge.stats import association

NAN = float("nan")


def make(settings: Settings) -> list[Line]:
    """One number per oracle and metric."""
    judgments = rg.read_judgments(settings.place, format="rexval")
    specs = {"RadCliQ": RADCLIQ, **settings.specs()}
    results, missing = score_cases(judgments.cases, list(specs.values()), settings)
    human = -judgments.mean_errors().column("errors_total")
    lines = []
    for oracle, group in ORACLES.items():
        here = [place for place, case in enumerate(judgments.cases) if case.system == group]
        for name, spec in specs.items():
            published = TESTED.get(group, (NAN, NAN))[{"RadCliQ": 0, CHECKPOINT: 1}.get(name, 0)]
            known = published if name in ("RadCliQ", CHECKPOINT) else NAN
            value = NAN
            if spec in results:
                scores = results[spec]
                value = association(scores.oriented(scores.columns[0])[here], human[here], kind="spearman")
            lines.append(Line(f"{oracle} oracle, {name}", known, value, missing.get(spec, "")))
    return lines


def figure(lines: list[Line], _: Settings) -> Plot:
    """Bars by oracle, a colour per metric."""
    names = list(dict.fromkeys(line.name.split(" oracle, ")[1] for line in lines))
    oracles = list(dict.fromkeys(line.name.split(" oracle, ")[0] for line in lines))
    values = {tuple(line.name.split(" oracle, ")): line.ours for line in lines}
    table = np.array([[values[oracle, name] for oracle in oracles] for name in names])
    panel = error_bars([f"{oracle} oracle" for oracle in oracles], table, title="Spearman ρ, 50 reports each")
    title = "Agreement with the radiologists' errors in reports of four oracles"
    return arrange([panel], columns=1, key="comet-figure-3", title=title, legend=names, bars=True)


if __name__ == "__main__":
    run(
        make, title="Calamida et al. 2023, figure 3", needs="the folder of ReXVal 1.0.0 (PhysioNet)", figure=figure
    )

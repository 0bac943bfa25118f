"""Figure 3 of the RaTEScore paper: metrics against radiologists on sentences (Pearson), and the encoder ablation.

Input: the folder of RaTE-Eval with Task1_sentence_rate (its test split). The figure prints no numbers; the text
gives those of RaTEScore with BioLORD (0.54) and with MedCPT (0.52, section 4.4.2). --figure FILE.svg draws it,
with SPICE where --spice FOLDER names the jars of CoreNLP 3.6.0.
"""

from __future__ import annotations

from functools import partial

from panels import arrange
from side_by_side import PRESET, PRESET_NOTE, Line, Settings, run, score_cases

import radgauge as rg
from radgauge.core.scores import Results
from radgauge.io.judgments import Judgments
from radgauge.render.plots import scatter
from radgauge.render.svg import Plot
from radgauge.stats import association

NAN = float("nan")
PUBLISHED = {"RaTEScore": 0.54, "RaTEScore with MedCPT": 0.52}
SPECS = {
    "RaTEScore": f"ratescore:weights=short,{PRESET} as biolord",
    "RaTEScore with MedCPT": f"ratescore:weights=short,{PRESET},encoder=medcpt as medcpt",
    "RadGraph F1": "radgraph",
    "BERTScore": "bertscore",
    "CheXbert": "chexbert_similarity",
    "BLEU": "bleu",
    "ROUGE-L": "rouge",
    "METEOR": "meteor",
}


def make(settings: Settings) -> list[Line]:
    """A coefficient per metric."""
    judgments, results, missing = scored(settings)
    human = judgments.mean_ratings().column("rating")
    lines = []
    for name, spec in settings.with_spice(SPECS).items():
        value = NAN
        if spec in results:
            scores = results[spec]
            value = association(scores.oriented(scores.columns[0]), human, kind="pearson")
        lines.append(
            Line(
                f"{name}, Pearson",
                PUBLISHED.get(name, NAN),
                value,
                missing.get(spec, PRESET_NOTE if PRESET in spec else ""),
            )
        )
    return [line for line in lines if line.ours == line.ours or line.published == line.published]


def scored(settings: Settings) -> tuple[Judgments, Results, dict[str, str]]:
    """The test sentences with their scores; the second encoder is no part of the embedded profile."""
    judgments = rg.read_judgments(settings.place, format="rate_eval_sentence")
    published = settings.models != "embedded"
    specs = [spec for spec in settings.with_spice(SPECS).values() if published or "medcpt" not in spec]
    results, missing = score_cases(judgments.cases, specs, settings)
    if not published:
        missing[SPECS["RaTEScore with MedCPT"]] = "needs --models published: MedCPT with the published tagger"
    return judgments, results, missing


def figure(lines: list[Line], settings: Settings) -> Plot:
    """A panel per metric."""
    judgments, results, _ = scored(settings)
    human = judgments.mean_ratings().column("rating")
    panels = []
    for name, spec in settings.with_spice(SPECS).items():
        line = next((each for each in lines if each.name == f"{name}, Pearson"), None)
        if spec not in results or line is None:
            continue
        scores = results[spec]
        points = [(x, y, 0, -1) for x, y in zip(human.tolist(), scores.headline.tolist(), strict=True)]
        draw = partial(scatter, key="", title=name, note=f"Pearson r = {line.ours:.2f}, n = {len(points)}")
        panels.append(draw(points, x_label="radiologists' score", y_label=name))
    return arrange(panels, columns=4, key="ratescore-figure-3", title="Metrics against radiologists on sentences")


if __name__ == "__main__":
    run(make, title="RaTEScore, figure 3", needs="the folder of RaTE-Eval", figure=figure)

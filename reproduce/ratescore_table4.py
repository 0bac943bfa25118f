"""Table 4 of the RaTEScore paper: correlation with radiologists on reports, and accuracy on synthetic triples.

Input: the folder of RaTE-Eval with Task2_paragraph_rate and Task3_synthetic_rate. SPICE needs the jars of CoreNLP:
--spice FOLDER.
"""

from __future__ import annotations

from side_by_side import PRESET, PRESET_NOTE, Line, Settings, run, score_cases

import radgauge as rg
from radgauge.analysis.triple_accuracy import triple_accuracy
from radgauge.core.errors import RadgaugeError
from radgauge.io.judgments.rate_eval import read_triples
from radgauge.stats import association

KINDS = ("pearson", "kendall_b", "spearman")
PUBLISHED = {
    "RadGraph F1": (0.624, 0.439, 0.582, 0.463),
    "BERTScore": (0.599, 0.413, 0.555, 0.140),
    "CheXbert": (0.496, 0.294, 0.403, 0.666),
    "BLEU": (0.409, 0.289, 0.404, 0.119),
    "ROUGE-L": (0.572, 0.396, 0.567, 0.117),
    "SPICE": (0.623, 0.453, 0.605, 0.140),
    "METEOR": (0.599, 0.422, 0.567, 0.168),
    "RaTEScore": (0.653, 0.462, 0.608, 0.670),
}
SPECS = {
    "RadGraph F1": "radgraph",
    "BERTScore": "bertscore",
    "CheXbert": "chexbert_similarity",
    "BLEU": "bleu",
    "ROUGE-L": "rouge",
    "METEOR": "meteor",
    "RaTEScore": f"ratescore:weights=long,{PRESET}",
}
NAN = float("nan")


def make(settings: Settings) -> list[Line]:
    """Three coefficients and an accuracy per metric."""
    judgments = rg.read_judgments(settings.place, format="rate_eval")
    triples = read_triples(settings.place)
    specs = settings.with_spice(SPECS)
    results, missing = score_cases(judgments.cases, list(specs.values()), settings)
    human = judgments.mean_ratings().column("rating")
    lines = []
    for name, published in PUBLISHED.items():
        spec = specs.get(name, "")
        why = missing.get(
            spec,
            PRESET_NOTE
            if PRESET in spec
            else ""
            if spec
            else "needs --spice FOLDER with the jars of CoreNLP 3.6.0",
        )
        values = [NAN] * 4
        if spec in results:
            scores = results[spec]
            own = scores.oriented(scores.columns[0])
            values[:3] = [association(own, human, kind=kind) for kind in KINDS]
            try:
                values[3] = triple_accuracy(triples, [spec], models=settings.models)[0].accuracy
            except RadgaugeError as error:
                why = str(error)
        what = (*(f"paragraphs, {kind}" for kind in KINDS), "synthetic, accuracy")
        lines += [Line(f"{name}: {w}", p, v, why) for w, p, v in zip(what, published, values, strict=True)]
    return lines


if __name__ == "__main__":
    run(make, title="RaTEScore, table 4", needs="the folder of RaTE-Eval (Hugging Face Angelakeke/RaTE-Eval)")

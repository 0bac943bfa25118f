"""radgauge as a module of Hugging Face evaluate: `evaluate.load(radgauge.lab.integrations.evaluate_folder())`."""

import datasets
import evaluate

import radgauge
from radgauge.core.metric import sums

DESCRIPTION = "Metrics of machine-written radiology reports; choose with metric='errors', 'bleu', 'radgraph', ..."


class RadgaugeMetric(evaluate.Metric):  # type: ignore[misc]
    """Corpus value, and how many cases could not be judged."""

    def _info(self) -> evaluate.MetricInfo:
        text = datasets.Value("string")
        return evaluate.MetricInfo(
            description=DESCRIPTION,
            citation="",
            inputs_description="predictions and references: lists of reports",
            features=datasets.Features({"predictions": text, "references": text}),
        )

    def _compute(
        self, predictions: list[str], references: list[str], metric: str = "errors", models: str = "embedded"
    ) -> dict[str, float]:
        results = radgauge.score(
            references=references, candidates=predictions, metrics=metric, models=models, progress=False
        )
        values: dict[str, float] = {}
        for name, scores in results.judges.items():
            values[scores.columns[0]] = float(scores.corpus_scores(*sums(scores.rows))[0])
            values[f"{name}_not_judged"] = len(scores.reasons)
        return values

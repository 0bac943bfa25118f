"""The learned metric: what an estimator trained on scored pairs of reports says of candidate and reference.

Calamida et al. (2023), Radiology-aware model-based evaluation metric for report generation, arXiv 2311.16764;
Rei et al. (2020), COMET: a neural framework for MT evaluation, EMNLP.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from radgauge.core.cases import Case
from radgauge.core.errors import ModelError, UsageError
from radgauge.core.metric import (
    NETWORK_PRECISION,
    Explanation,
    Metric,
    Note,
    Rows,
    best_reference,
    reference_pairs,
)
from radgauge.core.parsing import parse_json
from radgauge.core.readings import Readings
from radgauge.encoders.text.embedded_estimator import load_embedded
from radgauge.metrics._settings import EMBEDDED, label_columns, wordless
from radgauge.reader import ReportReader
from radgauge.text.sentences import split_sentences
from radgauge.text.words import has_words

TARGETS = {"radcliq": False, "radgraph_f1": True, "bleu2": True, "errors_quality": True}
"""What estimators are trained on, and whether higher is better."""
_SENTENCES_SHOWN = 12


@dataclass(frozen=True)
class Comet(Metric):
    """An estimator's score of candidate against reference; its direction is that of the training target.

    >>> from radgauge.core.cases import Case
    >>> from radgauge.core.readings import Readings
    >>> texts = ("Small right effusion.", "Small left pleural effusion.", "Large pneumothorax.")
    >>> cases = [Case(text, text, (texts[1],)) for text in texts]
    >>> side, copy, other = Comet().measure(cases, reading=Readings())[:, 0]
    >>> bool(copy > side > other)  # predicted quality
    True
    """

    name: ClassVar[str] = "comet"
    precision: ClassVar[float] = NETWORK_PRECISION
    english_only: ClassVar[bool] = True
    summary: ClassVar[str] = "quality predicted by an estimator trained on scored pairs of reports"

    # "embedded" (the small estimator that ships), a `.npz` file of `radgauge train estimator`, or a checkpoint
    # folder in COMET's layout (extra `models`), or a folder that has one named `comet`
    models: str = EMBEDDED
    # What the estimator was trained on: radcliq (lower is better), radgraph_f1, bleu2 or errors_quality (higher is
    # better); "auto" asks the checkpoint, which only knows if radgauge trained it
    target: str = "auto"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.target not in ("auto", *TARGETS):
            raise UsageError(f"comet: target must be one of auto, {', '.join(TARGETS)}, got {self.target!r}")

    @property
    def higher_is_better(self) -> bool:  # type: ignore[override]  # a fact about the checkpoint
        """The direction of the target that the estimator was trained on."""
        target = self._target
        return TARGETS[target] if target in TARGETS else bool(self._about()["higher_is_better"])

    @property
    def range(self) -> tuple[float, float]:  # type: ignore[override]
        """Predictions are unbounded; `typical_range` is where they fall."""
        return (float("-inf"), float("inf"))

    @property
    def typical_range(self) -> tuple[float, float] | None:
        """Range of the scores of validation pairs (all but one in a hundred), if the checkpoint knows."""
        bounds = self._about().get("range")
        return (float(bounds[0]), float(bounds[1])) if bounds else None

    @property
    def columns(self) -> tuple[str, ...]:
        """One output; a head on the embedded report reader is marked, whoever trained it."""
        return label_columns((self.name,), EMBEDDED if self._file() is not None else self.models)

    def parts(self) -> Mapping[str, str]:
        """The checkpoint, what it predicts, where its scores usually lie, and what reads the texts."""
        typical = self.typical_range
        shown = f"{typical[0]:g}..{typical[1]:g}" if typical else "unknown"
        predicted = {"predicts": self._target, "typical": shown, "references": "best"}
        if (file := self._file()) is not None:
            estimator = load_embedded(file)
            return {"checkpoint": estimator.hash, "reader": estimator.sketch.signature, **predicted}
        from radgauge.encoders.text.estimator import estimator_name

        return {"checkpoint": estimator_name(self._folder()), **predicted}

    def report_reader(self) -> ReportReader:
        """Return the embedded reader, which must understand a text."""
        return ReportReader()

    def measure(self, cases: Sequence[Case], *, reading: Readings) -> Rows:
        """The prediction for each case, by its best reference."""
        candidates, references, owner = reference_pairs(cases)
        texts = list(dict.fromkeys(text for text in (*candidates, *references) if has_words(text)))
        index = {text: at for at, text in enumerate(texts)}
        values = np.full((len(owner), 1), np.nan)
        able = [
            at for at, pair in enumerate(zip(candidates, references, strict=True)) if set(pair) <= index.keys()
        ]
        if able:
            values[able, 0] = self._score(
                texts,
                np.array([index[candidates[at]] for at in able], dtype=np.intp),
                np.array([index[references[at]] for at in able], dtype=np.intp),
                reading,
            )
        rows = np.full((len(cases), 1), np.nan)
        best = best_reference(values, owner, cases=len(cases), higher_is_better=self.higher_is_better)
        rows[best >= 0] = values[best[best >= 0]]
        return rows

    def why_not(self, case: Case, *, reading: Readings) -> str:
        """Name the side without words, or without anything that was read."""
        if missing := wordless(case.candidate, case.references):
            return missing
        side = "candidate"
        if (file := self._file()) is not None:
            sketch = load_embedded(file).sketch
            read = not sketch.empty(sketch.vectors([case.candidate], reading=reading))[0]
            side = "reference" if read else "candidate"
        return f"no finding and no normal statement was read in the {side}"

    def explain(self, case: Case, *, reading: Readings) -> Explanation | None:
        """Give the usual range of scores, and the score without each sentence of the candidate."""
        score = float(self.measure([case], reading=reading)[0, 0])
        values = {self.columns[0]: score}
        if np.isnan(score):
            return Explanation(self.name, values)
        word = "higher" if self.higher_is_better else "lower"
        typical = self.typical_range
        usual = f"; usually {typical[0]:g} to {typical[1]:g}" if typical else ""
        notes = [Note("info", f"predicted {self._target}: {score:.3f}{usual}; {word} is better")]
        spans = split_sentences(case.candidate)[:_SENTENCES_SHOWN]
        shorter = [case.candidate[:start] + case.candidate[end:] for start, end in spans]
        without = self.measure(
            [Case(str(at), text, case.references) for at, text in enumerate(shorter)], reading=reading
        )[:, 0]
        for span, value in zip(spans, without, strict=True):
            if np.isnan(value):
                continue
            gain = (score - value) if self.higher_is_better else (value - score)
            effect = "helps" if gain > 0 else "hurts"
            text = f"this sentence {effect}: without it the score would be {value:.3f}"
            notes.append(Note("info", text, candidate_spans=(span,), data={"gain": float(gain)}))
        return Explanation(self.name, values, tuple(notes))

    @property
    def _target(self) -> str:
        if self.target != "auto":
            return self.target
        named = str(self._about().get("target", ""))
        if named not in TARGETS and not (named and isinstance(self._about().get("higher_is_better"), bool)):
            raise ModelError(
                f"{self.models} does not say what it was trained on (no radgauge.json); "
                f"name it: comet:target={', '.join(TARGETS)}"
            )
        return named

    def _about(self) -> Mapping[str, Any]:
        if (file := self._file()) is not None:
            return load_embedded(file).about
        path = Path(self._folder()) / "radgauge.json"
        if not path.is_file():
            return {}
        try:
            content = parse_json(path.read_text(encoding="utf-8"))
        except json.JSONDecodeError as error:
            raise ModelError(f"{path} must be JSON, got: {error}") from error
        return content if isinstance(content, dict) else {}

    def _file(self) -> Path | None:
        from radgauge.encoders.text.embedded_estimator import EMBEDDED as SHIPPED

        if self.models == EMBEDDED:
            return SHIPPED
        path = Path(self.models).expanduser()
        if path.suffix == ".npz":
            return path
        inside = path / "comet_embedded.npz"
        return inside if inside.is_file() else None

    def _folder(self) -> str:
        if self.models == "published":
            raise ModelError(
                "comet has no checkpoint that can be fetched: the authors' four are not on a public hub; "
                "name a checkpoint folder with models=PATH, or train one with `radgauge train estimator`"
            )
        path = Path(self.models).expanduser()
        inside = path / self.name
        if not (path / "hparams.yaml").is_file() and inside.is_dir():
            path = inside
        if not path.is_dir():
            raise ModelError(f"comet: {self.models} must be a checkpoint folder, and is not there")
        if not (path / "hparams.yaml").is_file():
            raise ModelError(
                f"{path} has no hparams.yaml; a COMET checkpoint is a folder with it and checkpoints/"
            )
        return str(path)

    def _score(
        self, texts: Sequence[str], candidate: NDArray[np.intp], reference: NDArray[np.intp], reading: Readings
    ) -> NDArray[np.float64]:
        if (file := self._file()) is not None:
            estimator = load_embedded(file)
            vectors = estimator.sketch.vectors(texts, reading=reading)
            scores = estimator.head.score(vectors, candidate=candidate, reference=reference)
            empty = estimator.sketch.empty(vectors)
            scores[empty[candidate] | empty[reference]] = np.nan
            return scores
        from radgauge.encoders.checkpoints.hub import pick_device
        from radgauge.encoders.text.estimator import EstimatorReader, loaded_estimator

        reader = EstimatorReader(self._folder())
        stacked = np.stack(reading.of(reader, texts))
        head = loaded_estimator(reader.folder, pick_device(reader.device)).head
        return head.score(stacked, candidate=candidate, reference=reference)

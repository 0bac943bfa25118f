"""Metric: settings in, sufficient statistics per case out.

A metric never aggregates text. `measure` returns one row of statistics per case; everything that people
report (case values, corpus values, intervals, tests) is arithmetic on these rows, so it never reads a
report twice.
"""

from __future__ import annotations

import dataclasses
import functools
import math
import typing
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from radgauge import __version__
from radgauge.core.errors import UsageError
from radgauge.core.notebook import Grid, Mark, Tabular, as_html, marked_html
from radgauge.core.signature import component, probe_digest
from radgauge.core.wording import number

if TYPE_CHECKING:
    from radgauge.core.cases import Case
    from radgauge.core.readings import Reader, Readings

Rows = NDArray[np.float64]
PRECISION = 1e-6  # what single precision leaves of values around 1
NETWORK_PRECISION = 1e-5  # and of what networks make in batches of different lengths
VALUES_SHOWN = 4  # outputs in the first line of an explanation
Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Note:
    """One reason behind a score, in one plain sentence, with the characters it speaks of."""

    kind: str  # matched, missing, added, changed, contradicted, or info
    text: str  # One sentence for people
    reference_spans: tuple[Span, ...] = ()  # Character spans in the reference
    candidate_spans: tuple[Span, ...] = ()  # Character spans in the candidate
    # Whatever a machine wants to know besides (similarity, weight, category)
    data: Mapping[str, Any] = field(default_factory=dict)

    def as_data(self) -> dict[str, Any]:
        """The note as a dictionary, for JSON."""
        return {
            "kind": self.kind,
            "text": self.text,
            "reference_spans": self.reference_spans,
            "candidate_spans": self.candidate_spans,
            "data": dict(self.data),
        }


@dataclass(frozen=True, slots=True, repr=False)
class Explanation(Tabular):
    """Why one case got its score."""

    metric: str  # Who explains
    values: Mapping[str, float]
    notes: tuple[Note, ...] = ()
    # The text that the notes speak of; "" if it was not given (`radgauge.run.explain` gives it)
    candidate: str = ""
    references: tuple[str, ...] = ()  # Likewise

    def to_dict(self) -> dict[str, list[Any]]:
        """One row per note."""
        return {
            "kind": [note.kind for note in self.notes],
            "note": [note.text for note in self.notes],
            "reference_spans": [[list(span) for span in note.reference_spans] for note in self.notes],
            "candidate_spans": [[list(span) for span in note.candidate_spans] for note in self.notes],
        }

    def _grid(self) -> Grid:
        values = ", ".join(
            f"{column} {number(value)}" for column, value in list(self.values.items())[:VALUES_SHOWN]
        )
        return Grid(f"{self.metric}: {values}", ("", "why"), [(note.kind, note.text) for note in self.notes])

    def __repr__(self) -> str:
        grid = self._grid()
        return "\n".join([grid.title, *(f"  {kind}: {text}" for kind, text in grid.rows)])

    def _repr_html_(self) -> str:
        """The notes, and both texts with the places that they speak of marked."""
        which = next((note.data["reference"] for note in self.notes if "reference" in note.data), 0)
        texts = []
        if self.references:
            reference = self.references[which if 0 <= which < len(self.references) else 0]
            marks = [Mark(*span, note.kind, note.text) for note in self.notes for span in note.reference_spans]
            texts.append(f"<p><b>reference</b><br>{marked_html(reference, marks)}</p>")
        if self.candidate:
            marks = [Mark(*span, note.kind, note.text) for note in self.notes for span in note.candidate_spans]
            texts.append(f"<p><b>candidate</b><br>{marked_html(self.candidate, marks)}</p>")
        return f"<div>{''.join(texts)}{as_html(self._grid())}</div>"


class Metric(ABC):
    """A judge made of code. Subclasses are frozen dataclasses whose fields are their settings.

    Class attributes:
        name: Registry name.
        higher_is_better: Direction of the headline, and of every column unless `directions` says otherwise.
        needs: What a case must have besides a candidate: any of "reference", "image".
        range: Smallest and largest possible value of the headline column, for people.
        precision: Difference up to which two values are equal: rounding of the arithmetic behind them, by which
            copies of one report may differ. It belongs to the signature.
        extra: The pip extra it needs, "" for none.
        summary: One line for `radgauge metrics`.
        one_range: True if every column has the range of the headline.
        independent: Whether a case's row depends on that case alone; if not (CIDEr weighs words by the other
            references of the run), the cases of a run must be measured together.
        english_only: Whether values say nothing of texts in other languages; `score` leaves these out where the
            metric has no setting `models` or runs on the embedded profile.
        revision: Increment it when values change for a reason that neither settings nor `parts` name; part of the
            signature of metrics that have no stored digest of their values on the probe pairs.
    """

    name: ClassVar[str]
    higher_is_better: ClassVar[bool]
    needs: ClassVar[frozenset[str]] = frozenset({"reference"})
    range: ClassVar[tuple[float, float]] = (0.0, 1.0)
    precision: ClassVar[float] = PRECISION
    extra: ClassVar[str] = ""
    summary: ClassVar[str] = ""
    one_range: ClassVar[bool] = False
    independent: ClassVar[bool] = True
    english_only: ClassVar[bool] = False
    revision: ClassVar[int] = 1

    def __init_subclass__(cls) -> None:
        """Settings show themselves as `load` takes them, with what the metric will do."""
        super().__init_subclass__()
        if "__repr__" not in cls.__dict__:
            cls.__repr__ = Metric.__repr__  # type: ignore[method-assign]  # before dataclass writes its own

    def __repr__(self) -> str:
        said = ", ".join(f"{name}={value!r}" for name, value in self.settings().items())
        columns = self.columns
        more = f" and {len(columns) - VALUES_SHOWN} more" if len(columns) > VALUES_SHOWN else ""
        direction = "higher" if self.higher_is_better else "lower"
        needs = f"; needs {' and '.join(sorted(self.needs))}" if self.needs else ""
        return (
            f"<{self.name}: {self.summary}; gives {', '.join(columns[:VALUES_SHOWN])}{more}; {direction} is better"
            f"{needs}; settings: {said or 'none'}>"
        )

    def __post_init__(self) -> None:
        """A setting whose type is a Literal must have one of its values; subclasses with checks call this first.

        >>> from radgauge.metrics.radgraph import RadGraph
        >>> RadGraph(variant="best")
        Traceback (most recent call last):
            ...
        radgauge.core.errors.UsageError: radgraph: variant must be one of yu, simple, partial, complete, got 'best'
        """
        for setting, values in choices_of(type(self)).items():
            if (value := getattr(self, setting)) not in values:
                choices = ", ".join(str(each) for each in values if each != "")
                raise UsageError(f"{self.name}: {setting} must be one of {choices}, got {value!r}")

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the outputs, the headline first."""
        return (self.name,)

    @property
    def system_headline(self) -> str:
        """The output that systems are ordered by; by default that of the cases."""
        return self.columns[0]

    @property
    def directions(self) -> tuple[bool, ...]:
        """For each column whether higher is better; the first is `higher_is_better`."""
        return (self.higher_is_better,) * len(self.columns)

    @property
    def ranges(self) -> tuple[tuple[float, float], ...]:
        """Smallest and largest possible value of each column; only that of the headline is known by default."""
        others = self.range if self.one_range else (-math.inf, math.inf)
        return (self.range, *(others,) * (len(self.columns) - 1))

    @property
    def judges_empty(self) -> bool:
        """True if these settings give an empty candidate a value; otherwise it is not judged."""
        return False

    @abstractmethod
    def measure(self, cases: Sequence[Case], *, reading: Readings) -> Rows:
        """Sufficient statistics, one row per case in the order given; NaN = cannot be judged."""

    def case_scores(self, rows: Rows) -> Rows:
        """Values per case, one column per output."""
        return rows

    def corpus_scores(self, totals: Rows, counts: Rows) -> Rows:
        """Values of a set of cases from the column sums of its judged rows.

        Args:
            totals: Sums of the rows' columns over the cases that could be judged, shape (..., k).
            counts: How many cases entered each sum, shape (..., k).

        Returns:
            Shape (..., m), one value per output; NaN where nothing could be judged.
        """
        return mean(totals, counts)

    def corpus_score(self, rows: Rows) -> float:
        """The headline value of a set of cases."""
        return float(self.corpus_scores(*sums(rows))[0])

    def explain(self, case: Case, *, reading: Readings) -> Explanation | None:
        """Why this case gets its score; None if the metric has nothing to show."""
        return None

    def why_not(self, case: Case, *, reading: Readings) -> str:
        """Why `measure` returned NaN for this case, in a few words."""
        return "cannot be judged"

    def report_reader(self) -> Reader[Any] | None:
        """Return the reader that must understand a text (its readings have `coverage` and `content_words`)."""
        return None

    def account(self, *, reading: Readings) -> Mapping[str, Any]:
        """Questions, failures, tokens and cost, for metrics that ask a language model; otherwise empty."""
        return {}

    def signature(self) -> str:
        """Everything that changes the numbers, in one line.

        Settings are the dataclass fields, in order; a subclass adds what it rests on with `parts`. The code is
        named by its behaviour: the digest of this release's values on the bundled probe pairs (see
        `radgauge.core.signature`), or `revision` for metrics that are not ours or need what does not ship.
        Published networks add the version of the fixtures that hold them to their authors' numbers.
        """
        words = [self.name]
        words += [f"{key}:{_plain(value)}" for key, value in {**self.settings(), **self.parts()}.items()]
        words.append(f"precision:{self.precision:g}")
        ours = type(self).__module__.startswith("radgauge.") and type(self).name == self.name
        probed = probe_digest(self.name, changed_settings(self)) if ours else None
        words.append(f"revision:{self.revision}" if probed is None else f"probes:{probed}")
        if ours and self.settings().get("models", "embedded") != "embedded":
            words.append(component("networks").replace("-", ":"))
        return "|".join([*words, f"v:{__version__}"])

    def settings(self) -> dict[str, Any]:
        """Name -> value of every setting, in order."""
        record: Any = self  # a dataclass, which the type of the base class does not say
        return {field.name: getattr(self, field.name) for field in dataclasses.fields(record) if field.init}

    def parts(self) -> Mapping[str, str]:
        """Readers, models and libraries behind the number, for the signature."""
        return {}

    def checkpoints(self) -> tuple[str, ...]:
        """Return the published checkpoints that these settings need, by name or hub id."""
        return ()


@dataclass(frozen=True)
class Alias(Metric):
    """A metric under another name, so that two settings of one metric can stand side by side.

    Every column gets the alias in front; the signature stays, since the numbers are the same.
    """

    metric: Metric
    alias: str  # Letters, digits and "_"

    def __post_init__(self) -> None:
        if not (self.alias.isidentifier() and self.alias.isascii()):
            raise UsageError(f"an alias must be made of letters, digits and _, got {self.alias!r}")
        same = (
            "higher_is_better",
            "needs",
            "range",
            "precision",
            "extra",
            "summary",
            "independent",
            "english_only",
        )
        facts = {"name": self.alias, **{fact: getattr(self.metric, fact) for fact in same}}
        for fact, value in facts.items():
            object.__setattr__(self, fact, value)

    @property
    def columns(self) -> tuple[str, ...]:
        """The metric's, with the alias in front."""
        return tuple(f"{self.alias}_{column}" for column in self.metric.columns)

    @property
    def system_headline(self) -> str:
        """The metric's, with the alias in front."""
        return f"{self.alias}_{self.metric.system_headline}"

    @property
    def directions(self) -> tuple[bool, ...]:
        """The metric's."""
        return self.metric.directions

    @property
    def ranges(self) -> tuple[tuple[float, float], ...]:
        """The metric's."""
        return self.metric.ranges

    @property
    def judges_empty(self) -> bool:
        """As the metric does."""
        return self.metric.judges_empty

    def measure(self, cases: Sequence[Case], *, reading: Readings) -> Rows:
        """The metric's rows."""
        return self.metric.measure(cases, reading=reading)

    def case_scores(self, rows: Rows) -> Rows:
        """The metric's values."""
        return self.metric.case_scores(rows)

    def corpus_scores(self, totals: Rows, counts: Rows) -> Rows:
        """The metric's values of a set."""
        return self.metric.corpus_scores(totals, counts)

    def explain(self, case: Case, *, reading: Readings) -> Explanation | None:
        """The metric's explanation under the alias."""
        explanation = self.metric.explain(case, reading=reading)
        if explanation is None:
            return None
        values = {f"{self.alias}_{column}": value for column, value in explanation.values.items()}
        return Explanation(self.alias, values, explanation.notes)

    def why_not(self, case: Case, *, reading: Readings) -> str:
        """The metric's reason."""
        return self.metric.why_not(case, reading=reading)

    def report_reader(self) -> Reader[Any] | None:
        """The metric's."""
        return self.metric.report_reader()

    def account(self, *, reading: Readings) -> Mapping[str, Any]:
        """The metric's."""
        return self.metric.account(reading=reading)

    def checkpoints(self) -> tuple[str, ...]:
        """Return those of the metric."""
        return self.metric.checkpoints()

    def signature(self) -> str:
        """The metric's own."""
        return self.metric.signature()


def unaliased(metric: Metric) -> Metric:
    """The metric itself, without an alias."""
    return metric.metric if isinstance(metric, Alias) else metric


def sums(rows: Rows) -> tuple[Rows, Rows]:
    """Column sums over judged entries and how many there were.

    >>> import numpy as np
    >>> sums(np.array([[1.0], [np.nan], [3.0]]))
    (array([4.]), array([2.]))
    """
    judged = ~np.isnan(rows)
    return np.where(judged, rows, 0.0).sum(axis=0), judged.sum(axis=0).astype(np.float64)


def mean(totals: Rows, counts: Rows) -> Rows:
    """Totals over counts, NaN where the count is 0."""
    return ratio(totals, counts)


def ratio(numerator: Rows, denominator: Rows) -> Rows:
    """Elementwise division that gives NaN, silently, where the denominator is 0.

    >>> import numpy as np
    >>> ratio(np.array([1.0, 0.0]), np.array([2.0, 0.0]))
    array([0.5, nan])
    """
    shape = np.broadcast_shapes(np.shape(numerator), np.shape(denominator))
    quotient: Rows = np.full(shape, np.nan)
    np.divide(numerator, denominator, out=quotient, where=np.not_equal(denominator, 0))
    return quotient


def reference_pairs(cases: Sequence[Case]) -> tuple[list[str], list[str], NDArray[np.intp]]:
    """Every (candidate, reference) pair of the cases, and the case each belongs to.

    Returns:
        Candidates, references and the case index, all of the same length.
    """
    candidates, references, owner = [], [], []
    for index, case in enumerate(cases):
        for reference in case.references:
            candidates.append(case.candidate)
            references.append(reference)
            owner.append(index)
    return candidates, references, np.asarray(owner, dtype=np.intp)


def best_reference(
    values: Rows, owner: NDArray[np.intp], *, cases: int, higher_is_better: bool
) -> NDArray[np.intp]:
    """For each case the pair (row of `values`) whose first column is best; -1 where there is none.

    Several references are alternatives: a candidate is judged against the one it comes closest to.
    NaN loses against every number. Ties go to the first reference.
    """
    chosen = np.full(cases, -1, dtype=np.intp)
    if not len(owner):
        return chosen
    key = np.where(np.isnan(values[:, 0]), -np.inf, values[:, 0] if higher_is_better else -values[:, 0])
    order = np.lexsort((np.arange(len(owner)), -key, owner))
    first = np.ones(len(order), dtype=bool)
    first[1:] = owner[order][1:] != owner[order][:-1]
    chosen[owner[order][first]] = order[first]
    return chosen


def changed_settings(metric: Metric) -> dict[str, str]:
    """Return the settings that differ from those of the metric without any, as they appear in the signature."""
    defaults = type(metric)().settings()
    return {name: _plain(value) for name, value in metric.settings().items() if value != defaults[name]}


@functools.cache
def choices_of(cls: type[Metric]) -> dict[str, tuple[object, ...]]:
    """Return the values that each Literal setting of a metric may have."""
    hints = typing.get_type_hints(cls)
    return {name: typing.get_args(hint) for name, hint in hints.items() if typing.get_origin(hint) is Literal}


def _plain(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, (tuple, list, frozenset)):
        items: Iterable[object] = sorted(value, key=str) if isinstance(value, frozenset) else value
        return "+".join(_plain(item) for item in items)
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)

"""The contract of a metric, as checks that any metric can be held against.

Every registered metric passes them in radgauge's own tests; call `check_metric` in yours for a metric of your
own. The reports are written for this purpose; only numpy is needed.
"""

from __future__ import annotations

import dataclasses
import pickle
import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

import numpy as np

from radgauge import __version__
from radgauge.core.cases import Case
from radgauge.core.errors import RadgaugeError, UsageError
from radgauge.core.metric import Explanation, Metric, Rows, sums
from radgauge.core.readings import Readings
from radgauge.core.scores import Scores
from radgauge.run.score import Judge, as_metric, score

REPORTS = (
    "The heart is mildly enlarged. There is a small left pleural effusion. No pneumothorax.",
    "No acute cardiopulmonary abnormality.",
    "Right lower lobe consolidation is concerning for pneumonia. The cardiac silhouette is normal in size. "
    "There is no pleural effusion.",
    "An endotracheal tube ends 4 cm above the carina. Bibasilar atelectasis has increased since the prior study.",
    "A moderate right apical pneumothorax is new. The left lung is clear. A chest tube is in place.",
    "Severe pulmonary edema with large bilateral effusions.",
    "Calcified granuloma in the left upper lobe, unchanged. Degenerative changes of the thoracic spine.",
)
"""References that have little in common."""

ODD = (
    *("", " ", "\n\t ", ".", "...", "?!", "-", "0", "2.5", "XXXX", "___", "|||", "<b>", "NaN", "null", "[]"),
    *("effusion", "No.", "EFFUSION", "a\x00b", "\u200b", "\u2028", "naïve café", "胸水なし", "لا يوجد", "☃ 🫁"),
    *("one line\nand\r\nanother", "no effusion " * 400, "x" * 3000, "1 2 3 4 5 " * 50),
)
"""Texts that occur: empty, masked, numbers, other scripts, line ends, very long ones."""

EMPTY = (
    *("", "  \n", "\u200b", "\u200b\u200d\ufeff", "\xa0\u2009", "\x00\x1b", "\u202e\u2066", ".", "-", "...", "?!"),
    *("--- . ---", "\u2022", "XXXX", "XXXX XXXX.", "___", "[**Name**], ___", "|||", "\U0001fac1"),
)
"""Texts that say nothing, in whichever characters: no metric judges them, unless its settings say so."""

TOLERANCE = 1e-5
"""How much values may differ between batches: models in single precision are not exact."""


class ContractBroken(RadgaugeError, AssertionError):
    """A metric does not keep the contract; the message says where."""


@dataclasses.dataclass(frozen=True)
class Bench:
    """Shared state of the checks: the metric, images if it needs them, and readings made once."""

    metric: Metric  # The metric under check
    images: tuple[Path, ...] = ()  # Image files, given to every case
    # Readings that all checks share, so that a slow reader reads each report once
    reading: Readings = dataclasses.field(default_factory=Readings)

    def cases(self, candidates: Sequence[str], references: Sequence[str] = REPORTS) -> list[Case]:
        """One case per candidate; the references are used in turn."""
        return [
            Case(f"study {i}", text, (references[i % len(references)],), images=self.images)
            for i, text in enumerate(candidates)
        ]

    def score(self, cases: Sequence[Case], *, reading: Readings | None = None) -> Scores:
        """The metric's verdict, as `radgauge.score` gives it."""
        results = score(cases, self.metric, reading=self.reading if reading is None else reading)
        return next(iter(results.judges.values()))

    def demand(self, condition: bool, what: str) -> None:
        """Say what is wrong unless it is kept."""
        if not condition:
            raise ContractBroken(f"metric {self.metric.name!r}: {what}")

    def same(self, left: Rows, right: Rows, what: str) -> None:
        """Two sets of values must agree, NaN with NaN."""
        agree = left.shape == right.shape and np.allclose(left, right, TOLERANCE, TOLERANCE, equal_nan=True)
        self.demand(bool(agree), what)


def check_metric(metric: Metric | Judge, *, images: Sequence[Path] = ()) -> None:
    """Hold a metric against the contract; raises ContractBroken at the first clause it breaks.

    Args:
        metric: The metric, with the settings to check, or a function of candidate and reference.
        images: Image files for metrics that need them.

    >>> from radgauge.metrics.rouge import Rouge
    >>> check_metric(Rouge())
    """
    bench = Bench(as_metric(metric), tuple(images))
    for check in CHECKS.values():
        check(bench)


def measures_any_number_of_cases(bench: Bench) -> None:
    """`measure` returns a table with one row per case, also for one case and for none."""
    for cases in (bench.cases(REPORTS), bench.cases(REPORTS[:1]), []):
        try:
            rows = bench.metric.measure(cases, reading=bench.reading)
        except Exception as error:
            raise ContractBroken(
                f"metric {bench.metric.name!r}: measure must return one row per case, "
                f"for {len(cases)} cases it raised {type(error).__name__}: {error}"
            ) from error
        shape = getattr(rows, "shape", None)
        bench.demand(
            shape is not None and len(shape) == 2 and shape[0] == len(cases),
            f"measure must return a table with one row per case, got shape {shape} for {len(cases)} cases",
        )


def describes_itself(bench: Bench) -> None:
    """Name, direction, range, needs, summary and columns are there and make sense."""
    metric = bench.metric
    bench.demand(bool(metric.name) and metric.name == metric.name.strip(), "needs a name")
    bench.demand(bool(metric.summary), "needs a one-line summary for `radgauge metrics`")
    bench.demand(isinstance(metric.higher_is_better, bool), "higher_is_better must be True or False")
    bench.demand(metric.needs <= {"reference", "image"}, f"needs must be of reference, image, got {metric.needs}")
    bench.demand(metric.range[0] < metric.range[1], f"range must rise, got {metric.range}")
    columns = metric.columns
    bench.demand(bool(columns) and len(set(columns)) == len(columns), f"columns must be unique, got {columns}")
    bench.demand(all(c and not set(c) & set(" ,\t\n") for c in columns), f"columns must be words, got {columns}")
    bench.demand(metric.columns == columns, "columns must not change")


def is_a_value(bench: Bench) -> None:
    """A frozen dataclass that survives a trip to another process."""
    metric = bench.metric
    frozen = dataclasses.is_dataclass(metric) and metric.__dataclass_params__.frozen
    bench.demand(frozen, "must be a frozen dataclass whose fields are its settings")
    try:
        copy = pickle.loads(pickle.dumps(metric))  # noqa: S301 (our own bytes)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise ContractBroken(f"metric {metric.name!r} must survive pickling: {error}") from error
    bench.demand(copy == metric and copy.signature() == metric.signature(), "must equal its pickled copy")
    bench.demand(hash(copy) == hash(metric), "must be hashable")


def signature_names_every_setting(bench: Bench) -> None:
    """Whatever changes the numbers is in the signature."""
    metric, signature = bench.metric, bench.metric.signature()
    words = signature.split("|")
    bench.demand(words[0] == metric.name, f"the signature must start with the name, got {signature!r}")
    bench.demand(words[-1] == f"v:{__version__}", f"the signature must end with the version, got {signature!r}")
    bench.demand("\n" not in signature, "the signature must be one line")
    named = {word.partition(":")[0] for word in words}
    for name, value in metric.settings().items():
        bench.demand(name in named, f"setting {name!r} is not in the signature {signature!r}")
        if (other := _other(value)) is not None:
            try:
                changed = type(metric)(**{**metric.settings(), name: other})
            except UsageError:  # not a value this setting can have
                continue
            bench.demand(changed.signature() != signature, f"changing {name!r} must change the signature")


def _other(value: object) -> object:
    if isinstance(value, bool):
        return not value
    return value * 2 + 1 if isinstance(value, int | float) else None


def rows_out_equal_rows_in(bench: Bench) -> None:
    """Any mixture of texts gives one row per case; a case without a value has a reason."""
    for references in (REPORTS, ODD[1:], (REPORTS[0],)):
        cases = bench.cases([*ODD, *REPORTS], references)
        scores = bench.score(cases)
        bench.demand(len(scores.values) == len(cases), "must give one row per case")
        bench.demand(not np.isinf(scores.values).any(), "a value must not be infinite; NaN = cannot be judged")
        for case, value in zip(cases, scores.headline, strict=True):
            reason = scores.reasons.get(case.key, "")
            bench.demand(
                bool(reason.strip()) is bool(np.isnan(value)),
                f"a reason must be given exactly where there is no value; {case.candidate[:40]!r} "
                f"against {case.references[0][:40]!r} got {value} and the reason {reason!r}",
            )
    bench.demand(len(bench.score([])) == 0, "no cases must give no rows")


def empty_is_not_judged(bench: Bench) -> None:
    """An empty candidate or a missing reference is NaN with a reason, unless the settings say otherwise."""
    texts = [text for empty in EMPTY for text in (empty, REPORTS[0])]
    scores = bench.score(bench.cases(texts))
    if not bench.metric.judges_empty:
        for text, values in zip(EMPTY, scores.values[::2], strict=True):
            bench.demand(bool(np.isnan(values).all()), f"an empty candidate must be NaN, {text!r} got {values[0]}")
    if "reference" in bench.metric.needs:
        alone = [dataclasses.replace(case, references=()) for case in bench.cases(REPORTS)]
        bench.demand(bool(np.isnan(bench.score(alone).values).all()), "a case without reference must be NaN")
        if not bench.metric.judges_empty:
            beside = bench.score(bench.cases([REPORTS[0]] * len(EMPTY), EMPTY)).values
            bench.demand(bool(np.isnan(beside).all()), "a case with an empty reference must be NaN")


def order_does_not_matter(bench: Bench) -> None:
    """Shuffled cases get the same values; so do shuffled references."""
    cases = bench.cases([*REPORTS[2:], *REPORTS[:2], *REPORTS])
    values = bench.score(cases).values
    order = np.random.default_rng(0).permutation(len(cases))
    shuffled = bench.score([cases[i] for i in order]).values
    bench.same(shuffled, values[order], "values must not depend on the order of the cases")
    several = [
        dataclasses.replace(case, references=(*case.references, REPORTS[i % 3])) for i, case in enumerate(cases)
    ]
    turned = [dataclasses.replace(case, references=case.references[::-1]) for case in several]
    bench.same(
        bench.score(several).values,
        bench.score(turned).values,
        "values must not depend on the order of the references",
    )


def equal_cases_are_equal(bench: Bench) -> None:
    """The same texts get the same value, whatever the id."""
    once = bench.cases(REPORTS[1:])
    twice = [*once, *(dataclasses.replace(case, id=f"again {case.id}") for case in once)]
    values = bench.score(twice).values
    bench.same(values[: len(once)], values[len(once) :], "equal cases must get equal values")


def batches_do_not_matter(bench: Bench) -> None:
    """Cases measured a few at a time get the same values, unless the metric says `independent = False`."""
    if not bench.metric.independent:
        return
    cases = bench.cases([*REPORTS[3:], *REPORTS[:3], "effusion " * 200])
    together = bench.score(cases, reading=Readings()).values
    parts = [bench.score(cases[i : i + 3], reading=Readings()).values for i in range(0, len(cases), 3)]
    bench.same(
        np.vstack(parts), together, "values must not depend on the other cases (or set independent = False)"
    )


def a_copy_beats_an_unrelated_text(bench: Bench) -> None:
    """The stated direction is the true one."""
    if "reference" not in bench.metric.needs:
        return
    good = bench.metric.corpus_score(bench.score(bench.cases(REPORTS)).rows)
    bad = bench.metric.corpus_score(bench.score(bench.cases([*REPORTS[3:], *REPORTS[:3]])).rows)
    better = good > bad if bench.metric.higher_is_better else good < bad
    word = "higher" if bench.metric.higher_is_better else "lower"
    bench.demand(better, f"copies of the references score {good}, unrelated texts {bad}, and {word} is better")


def values_are_in_range(bench: Bench) -> None:
    """The headline stays within the range that `radgauge metrics` shows."""
    low, high = bench.metric.range
    for cases in (bench.cases(REPORTS), bench.cases([*REPORTS[3:], *ODD])):
        values = bench.score(cases).headline
        finite = values[~np.isnan(values)]
        inside = (finite >= low - TOLERANCE) & (finite <= high + TOLERANCE)
        bench.demand(bool(inside.all()), f"values must lie within {bench.metric.range}, got {finite[~inside][:3]}")


def corpus_values_come_from_sums(bench: Bench) -> None:
    """Corpus values work on stacks of sums, give NaN for nothing, and are means where rows are values."""
    metric = bench.metric
    rows = bench.score(bench.cases([*REPORTS[2:], *REPORTS[:2], ""])).rows
    totals, counts = sums(rows)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        one = metric.corpus_scores(totals, counts)
        bench.demand(one.shape == (len(metric.columns),), f"corpus values must be one per column, got {one.shape}")
        stack = metric.corpus_scores(np.tile(totals, (2, 3, 1)), np.tile(counts, (2, 3, 1)))
        expected = np.tile(one, (2, 3, 1))
        nothing = metric.corpus_scores(np.zeros_like(totals), np.zeros_like(counts))
    bench.same(stack, expected, "corpus_scores must work over leading axes, for resampling")
    bench.demand(bool(np.isnan(nothing).all()), f"the value of no cases must be NaN, got {nothing}")
    bench.demand(not np.isnan(one[0]), "a corpus with judged cases must have a value")
    if type(metric).corpus_scores is Metric.corpus_scores:
        means = np.array(
            [column[~np.isnan(column)].mean() if not np.isnan(column).all() else np.nan for column in rows.T]
        )
        bench.same(one, means, "rows must be the values whose mean is the corpus value")


def measuring_changes_nothing(bench: Bench) -> None:
    """Twice the same cases give the same rows, and the settings stay as they were."""
    cases = bench.cases([*REPORTS[2:], *REPORTS[:2]])
    before, signature = repr(cases), bench.metric.signature()
    first = bench.score(cases, reading=Readings())
    second = bench.score(cases, reading=Readings())
    bench.demand(bool(np.array_equal(first.rows, second.rows, equal_nan=True)), "measuring must be repeatable")
    bench.demand(repr(cases) == before, "measuring must not change the cases")
    bench.demand(bench.metric.signature() == signature, "measuring must not change the signature")


def explanations_point_into_the_text(bench: Bench) -> None:
    """Spans lie inside the texts they speak of, and the values shown are the case's."""
    metric = bench.metric
    for case in bench.cases([REPORTS[0], REPORTS[2], *ODD[-6:], "HEART is İn Normal size"]):
        explained = metric.explain(case, reading=bench.reading)
        if explained is None:
            continue
        bench.demand(isinstance(explained, Explanation), "explain must return an Explanation or None")
        bench.demand(set(explained.values) <= set(metric.columns), "an explanation must use the column names")
        value = bench.score([case]).values[0]
        if np.isnan(value[0]):  # what is not judged is not explained
            continue
        for column, shown in explained.values.items():
            true = value[metric.columns.index(column)]
            bench.same(np.array([shown]), np.array([true]), f"explain says {column} = {shown}, score says {true}")
        for note in explained.notes:
            bench.demand(bool(note.text.strip()), "a note needs a text")
            for spans, text in (
                (note.candidate_spans, case.candidate),
                (note.reference_spans, case.references[0]),
            ):
                fits = all(0 <= start < end <= len(text) for start, end in spans)
                bench.demand(fits, f"the spans {spans} of the note {note.text!r} must lie in {text[:40]!r}")


CHECKS: Mapping[str, Callable[[Bench], None]] = MappingProxyType(
    {
        check.__name__: check
        for check in (
            measures_any_number_of_cases,
            describes_itself,
            is_a_value,
            signature_names_every_setting,
            rows_out_equal_rows_in,
            empty_is_not_judged,
            order_does_not_matter,
            equal_cases_are_equal,
            batches_do_not_matter,
            a_copy_beats_an_unrelated_text,
            values_are_in_range,
            corpus_values_come_from_sums,
            measuring_changes_nothing,
            explanations_point_into_the_text,
        )
    }
)
"""Every clause by name, for test suites that want one test for each."""

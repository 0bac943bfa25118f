"""Published LLM metrics on a server of the user's: GREEN's and CRIMSON's arithmetic, computed by code.

Ostmeier et al. (2024), GREEN, Findings of EMNLP; CRIMSON (2026), arXiv 2603.06183. The judge lists and matches in
the checked form of `llm_errors`; the questions are the same, so an answer in the journal serves all three.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal

from radgauge.core.errors import InputError, UsageError
from radgauge.core.metric import Note
from radgauge.core.readings import Readings
from radgauge.findings.error import FALSE
from radgauge.findings.rules import SIGNIFICANT
from radgauge.llm.structured import StructuredQuestion, Verdict
from radgauge.metrics.llm_errors import LlmErrors
from radgauge.metrics.llm_errors.findings import Judgment, read_judgment
from radgauge.metrics.llm_errors.pairs import Item, Pair

REXVAL = 6
"""GREEN counts the categories of ReXVal: the first six of ours."""
CRIMSON_WEIGHTS = (1.0, 0.5, 0.25, 0.0)
"""Of a finding, by its tier: urgent, actionable, not actionable, benign."""
CRIMSON_ATTRIBUTE = 0.5
"""Of a significant error of an attribute; a negligible one weighs nothing."""
TRAINED_WORDS = 300
"""Words of a text that other programs send to GREEN's checkpoint."""


@dataclass(frozen=True)
class GreenLlm(LlmErrors):
    """GREEN by a language model that the user names: matched / (matched + significant errors), and error counts.

    A matched finding is one of both reports without a significant error of an attribute. As published, the score
    is 0 if errors were made and nothing matched; if there is nothing to match and no error, there is no value.

    Attributes:
        form: "checked" (our question and checked answer), or "published": GREEN's own checkpoint, asked with the
            published prompt, which `prompt` names (a text file with {reference} and {candidate}), to the letter.
    """

    name: ClassVar[str] = "green_llm"
    summary: ClassVar[str] = "GREEN's arithmetic on a language model's checked answer, or on its own checkpoint's"

    variant: Literal["green"] = "green"  # type: ignore[assignment]
    form: Literal["checked", "published"] = "checked"

    def __post_init__(self) -> None:
        if self.form == "published":
            _frame(self.prompt)
        super().__post_init__()

    def _checked_prompt(self) -> str:
        return "" if self.form == "published" else self.prompt

    def _prompt_version(self) -> str:
        if self.form == "checked":
            return super()._prompt_version()
        return hashlib.sha256(_frame(self.prompt).encode()).hexdigest()[:8]

    def _question(self, item: Item) -> StructuredQuestion:
        if self.form == "checked":
            return super()._question(item)
        texts = {"reference": item.reference, "candidate": item.candidates[0]}
        return StructuredQuestion(
            task="green",
            system="",
            user=_PLACEHOLDER.sub(lambda match: texts[match[1]], _frame(self.prompt)),
            schema=None,
            check=lambda value: (),
            read=parse_green,
            texts="\n".join([item.reference, *item.candidates]),
            max_tokens=self.max_tokens,
            temperature=self.temperature,
            seed=self.seed + item.repeat,
        )

    def _values(self, pair: Pair, verdict: Verdict) -> list[float]:
        value = verdict.value or {}
        if self.form == "published":
            return green_row(value["matched"], sum(value["significant"]), sum(value["insignificant"]))
        judgment = read_judgment(value, pair)
        counted = [fault for fault in judgment.errors if fault.kind < REXVAL]
        n_significant = sum(fault.tier in SIGNIFICANT for fault in counted)
        spoiled = {(f.reference, f.candidate) for f in counted if f.tier in SIGNIFICANT}
        return green_row(len(judgment.matches.keys() - spoiled), n_significant, len(counted) - n_significant)

    def _answer_notes(self, pair: Pair, verdict: Verdict, which: int) -> tuple[Note, ...]:
        if self.form == "checked":
            return super()._answer_notes(pair, verdict, which)
        value = verdict.value or {}
        counts = f"{sum(value['significant'])} significant errors, {sum(value['insignificant'])} others"
        return (Note("info", f"{value['matched']} findings matched, {counts}.", data={"reference": which}),)

    def account(self, *, reading: Readings) -> Mapping[str, Any]:
        """As `llm_errors`; also how many texts are longer than others send to the checkpoint."""
        account = dict(super().account(reading=reading))
        texts = {text for item in self._ledger(reading).verdicts for text in (item.reference, *item.candidates)}
        if account and self.form == "published":
            account["long_texts"] = sum(len(text.split()) > TRAINED_WORDS for text in texts)
        return account


@dataclass(frozen=True)
class CrimsonLlm(LlmErrors):
    """CRIMSON by a language model that the user names: weighted findings, errors against them, saturated."""

    name: ClassVar[str] = "crimson_llm"
    summary: ClassVar[str] = "CRIMSON's weights and saturation on a language model's checked answer"

    variant: Literal["crimson"] = "crimson"  # type: ignore[assignment]

    def _values(self, pair: Pair, verdict: Verdict) -> list[float]:
        return [crimson(read_judgment(verdict.value or {}, pair))]


def green_row(n_matched: int, n_significant: int, n_other: int) -> list[float]:
    """Return GREEN, its number of errors, and the significant ones among them.

    >>> green_row(3, 1, 2), green_row(0, 2, 0)
    ([0.75, 3.0, 1.0], [0.0, 2.0, 2.0])
    """
    total = n_matched + n_significant
    score = n_matched / total if total else 0.0 if n_other else math.nan
    return [score, float(n_significant + n_other), float(n_significant)]


def crimson(judgment: Judgment) -> float:
    """Return CRIMSON's score of a judgment, from below -1 excluded to 1."""
    weight = {name: CRIMSON_WEIGHTS[claim.tier] for name, claim in judgment.reference.items()}
    attributes: dict[str, float] = {}
    false = 0.0
    for fault in judgment.errors:
        if fault.kind == FALSE:
            false += CRIMSON_WEIGHTS[fault.tier]
        elif fault.reference and fault.candidate and fault.tier in SIGNIFICANT:
            attributes[fault.reference] = attributes.get(fault.reference, 0.0) + CRIMSON_ATTRIBUTE
    credit = 0.0
    for name in {reference for reference, _ in judgment.matches}:
        if w := weight[name]:
            credit += w * w / (w + attributes.get(name, 0.0))
    total = sum(weight.values())
    if credit < false:
        excess = false - credit
        return -excess / (1.0 + excess)
    return (credit - false) / total if total else 1.0


_PLACEHOLDER = re.compile(r"\{(reference|candidate)\}")
_HEADINGS = {
    "significant": re.compile(r"\[?clinically significant errors\]?\s*:", re.IGNORECASE),
    "insignificant": re.compile(r"\[?clinically insignificant errors\]?\s*:", re.IGNORECASE),
    "matched": re.compile(r"\[?matched findings\]?\s*:", re.IGNORECASE),
}
_NONE = re.compile(r"\s*(no|none|n/a)\b", re.IGNORECASE)
_ERROR_LINE = re.compile(r"^\s*\(([a-f])\)(?P<rest>.*)$", re.MULTILINE)
_COUNT = re.compile(r":\s*(\d{1,3})\b")
_MATCHED = re.compile(r"\s*(\d{1,3})\b")


def _frame(path: str) -> str:
    """Return the question's frame in the file of a published prompt."""
    if not path:
        raise UsageError(
            "green_llm: form=published needs prompt=FILE, the published prompt with {reference}, {candidate}"
        )
    try:
        frame = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"green_llm: prompt must be a text file, got {path}: {type(error).__name__}") from None
    if set(_PLACEHOLDER.findall(frame)) != {"reference", "candidate"}:
        raise InputError(f"{path}: a published prompt must contain {{reference}} and {{candidate}}")
    return frame


def parse_green(answer: str) -> tuple[dict[str, Any] | None, str]:
    """Read an answer of GREEN's checkpoint: counts by category in two lists, and the matched findings.

    What is not there is not guessed: a heading, a list without any entry, or an entry without a number is a fault.

    >>> errors = "[Clinically Significant Errors]: (b) Omission: 1. x.\\n[Clinically Insignificant Errors]: None"
    >>> parse_green(errors + "\\n[Matched Findings]: 2. Effusion; normal heart")[0]
    {'significant': [0, 1, 0, 0, 0, 0], 'insignificant': [0, 0, 0, 0, 0, 0], 'matched': 2}
    >>> parse_green(errors)[1]
    'it has no section of matched findings'
    """
    sections = _sections(answer)
    for name in _HEADINGS:
        if name not in sections:
            errors = "matched findings" if name == "matched" else f"{name} errors"
            return None, f"it has no section of {errors}" if name not in _repeated(
                answer
            ) else f"{errors} occur twice"
    value: dict[str, Any] = {}
    for name in ("significant", "insignificant"):
        counts = _counts(sections[name])
        if counts is None:
            return None, f"the {name} errors are not counted by category"
        value[name] = counts
    matched = _MATCHED.match(sections["matched"])
    if matched is None and not _NONE.match(sections["matched"]):
        return None, "the matched findings are not counted"
    return {**value, "matched": int(matched[1]) if matched else 0}, ""


def _repeated(answer: str) -> set[str]:
    return {name for name, heading in _HEADINGS.items() if len(heading.findall(answer)) > 1}


def _sections(answer: str) -> dict[str, str]:
    """Return the text behind each heading that occurs once."""
    starts = sorted(
        (matches[0].start(), matches[0].end(), name)
        for name, heading in _HEADINGS.items()
        if len(matches := list(heading.finditer(answer))) == 1
    )
    ends = [*(start for start, _, _ in starts), len(answer)][1:]
    return {name: answer[begin:end] for (_, begin, name), end in zip(starts, ends, strict=False)}


def _counts(section: str) -> list[int] | None:
    """Return the number of errors in each category; None if they are not given."""
    lines = [(line[1], line["rest"]) for line in _ERROR_LINE.finditer(section)]
    if not lines:
        return [0] * REXVAL if _NONE.match(section) else None
    counts = [0] * REXVAL
    if len({letter for letter, _ in lines}) < len(lines):
        return None
    for letter, rest in lines:
        if (count := _COUNT.search(rest)) is None:
            return None
        counts["abcdef".index(letter)] = int(count[1])
    return counts

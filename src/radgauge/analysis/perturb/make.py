"""Perturb reports: the report reader proposes changes of a kind; words and cues accept one of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from radgauge.analysis.perturb import claims, forms, sentences, words
from radgauge.analysis.perturb.check import accepted
from radgauge.analysis.perturb.edits import KINDS, Edit, Perturbed, Proposal, apply
from radgauge.analysis.perturb.knowledge import knowledge
from radgauge.analysis.perturb.report import ParsedReport, read
from radgauge.analysis.perturb.sentences import Corpus
from radgauge.core.errors import UsageError
from radgauge.core.progress import working
from radgauge.text.grammar import in_case_of

MOST_SYNONYMS = 3  # places that one paraphrase changes
_TRIES = 24  # changes that are tried before a report counts as having none

# Kinds whose words keep their capitals.
_FIXED_CASE = ("unknown_word", "normal_report", "swap_report", "abbreviate")
_REWORDED = ("paraphrase",)
"""Kinds that the reader confirms: synonyms are its lexicon's, so nothing else can."""


def _same(before: ParsedReport, after: ParsedReport) -> bool:
    """True if two reports say the same of all findings and devices, in whatever order."""
    return before.all_facts == after.all_facts


def _confirmed(report: ParsedReport, kind: str, change: Sequence[Proposal]) -> bool:
    """True if the change does what it claims: by words and cues, or for rewordings by the reader."""
    text = apply(report.text, kind, list(change)).text
    if text == report.text or not text.strip():
        return False
    if kind in _REWORDED:
        return _same(report, read(text))
    return accepted(report.text, kind, change)


def _proposals(
    report: ParsedReport, kind: str, *, rng: np.random.Generator, corpus: Corpus | None
) -> list[tuple[Proposal, ...]]:
    joint: Mapping[str, Callable[[ParsedReport], Iterable[tuple[Proposal, ...]]]] = {
        "remove_pathology": sentences.remove_pathology,
        "other_voice": forms.other_voice,
        "abbreviate": forms.abbreviate,
    }
    if kind in joint:
        return list(joint[kind](report))
    makers: Mapping[str, Callable[[ParsedReport], Iterable[Proposal]]] = {
        "remove_insignificant": sentences.remove_insignificant,
        "remove_normal": sentences.remove_normal,
        "change_location": words.change_location,
        "change_severity": words.change_severity,
        "unknown_word": words.unknown_word,
        "normal_report": sentences.normal_report,
        "flip_negation": claims.flip_negation,
        "add_finding": sentences.add_finding,
        "swap_report": lambda each: sentences.swap_report(each, corpus, rng),
        "change_measurement": words.change_measurement,
        "add_comparison": claims.add_comparison,
        "drop_comparison": claims.drop_comparison,
        "hedge": claims.hedge,
        "assert": claims.make_certain,
        "reorder": sentences.reorder,
        "paraphrase": words.paraphrase,
        "bullets": forms.bullets,
        "key_value": forms.key_value,
        "move_section": forms.move_section,
    }
    return [(proposal,) for proposal in makers[kind](report)]


def perturb(
    text: str, kind: str, *, rng: np.random.Generator, corpus: Corpus | Sequence[str] | None = None
) -> Perturbed | None:
    """Change one thing in a report; None if the report offers no place for it.

    Args:
        text: The report.
        kind: Name of a kind in `KINDS`.
        rng: Chooses among the possible changes.
        corpus: Other reports: needed by `normal_report` and `swap_report`. Make a `Corpus` once for many calls.

    >>> done = perturb("There is a small left pleural effusion.", "change_location", rng=np.random.default_rng(0))
    >>> done.text, done.edits[0].before, done.edits[0].after
    ('There is a small right pleural effusion.', 'left', 'right')
    """
    if kind not in KINDS:
        raise UsageError(f"kind must be one of {', '.join(KINDS)}; got {kind!r}")
    if corpus is not None and not isinstance(corpus, Corpus):
        corpus = Corpus.of(corpus)
    report = read(text)
    changes = _proposals(report, kind, rng=rng, corpus=corpus)
    if kind not in _FIXED_CASE and (text.isupper() or text.islower()):
        changes = [
            tuple(proposal._replace(after=in_case_of(text, proposal.after)) for proposal in change)
            for change in changes
        ]
    chosen: list[Proposal] = []
    target = int(rng.integers(1, MOST_SYNONYMS + 1)) if kind == "paraphrase" else 1
    made = 0
    for number in rng.permutation(len(changes))[:_TRIES]:
        change = changes[int(number)]
        apart = all(one.end < two.start or two.end < one.start for one in change for two in chosen)
        if apart and _confirmed(report, kind, change):
            chosen += change
            made += 1
            if made == target:
                break
    if not chosen:
        return None
    done = apply(text, kind, chosen)
    if made > 1 and not _same(report, read(done.text)):
        return apply(text, kind, chosen[:1])  # confirmed one by one, but not together
    return done


def _without_general(text: str, rng: np.random.Generator) -> Perturbed:
    """The report with a general sentence behind it as the original, and the report itself as the result."""
    general = knowledge().general
    sentence = in_case_of(text, general[int(rng.integers(len(general)))])
    end = len(text.rstrip())
    original = f"{text[:end]} {sentence}"
    edit = Edit("remove_insignificant", (end, len(original)), original[end:], "", (end, end), False, 0)
    return Perturbed("remove_insignificant", original, text[:end], (edit,))


@dataclass(frozen=True)
class PerturbationSet:
    """Perturbed reports by (id, kind), and how many reports offered no place for a kind."""

    perturbed: Mapping[tuple[str, str], Perturbed]
    none_possible: Mapping[str, int]


@working("changing reports")
def perturb_reports(
    reports: Mapping[str, str],
    kinds: Sequence[str] | None = None,
    *,
    seed: int = 0,
    corpus: Sequence[str] | None = None,
    general: bool = False,
) -> PerturbationSet:
    """Every report in every kind.

    A report's changes depend on the seed, its id and the kind, not on which other kinds are asked for.

    Args:
        reports: Id -> text.
        kinds: Names of kinds; None = all.
        seed: Seed of every choice.
        corpus: Reports that normal and foreign reports are taken from; None = the reports themselves.
        general: Whether a report without an insignificant sentence is given one before it is taken away again, so
            that there are as many removals of this kind as of others.
    """
    names = list(KINDS) if kinds is None else list(kinds)
    unknown = [name for name in names if name not in KINDS]
    if unknown:
        raise UsageError(f"kind must be one of {', '.join(KINDS)}; got {unknown[0]!r}")
    source = Corpus.of(list(reports.values()) if corpus is None else corpus)
    order = {name: number for number, name in enumerate(KINDS)}
    made: dict[tuple[str, str], Perturbed] = {}
    missing: Counter[str] = Counter(dict.fromkeys(names, 0))
    for study, text in reports.items():
        words_of_id = list(study.encode())
        for name in names:
            rng = np.random.default_rng([seed, order[name], *words_of_id])
            done = perturb(text, name, rng=rng, corpus=source)
            if done is None and general and name == "remove_insignificant" and text.strip():
                done = _without_general(text, rng)
            if done is None:
                missing[name] += 1
            else:
                made[study, name] = done
    return PerturbationSet(made, dict(missing))

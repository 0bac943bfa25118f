"""Triples of a sentence, the same in other words and its opposite, proposed by a language model.

As RaTE-Eval's third task was made (Zhao et al., RaTEScore, EMNLP 2024, section 3), except that nothing is taken
on trust: a rewrite counts only if the reader finds the same statements in it, an opposite only if it contradicts a
statement and changes nothing else. `checked=False` takes what comes, as the paper did.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from radgauge.core.readings import Progress
from radgauge.findings.aligned import Aligned
from radgauge.findings.match import align_findings
from radgauge.io.judgments.rate_eval import Triple
from radgauge.lay.dedupe import distinct_sentences, normal_sentence
from radgauge.lay.fidelity import compare_lay, lay_findings, lay_knowledge
from radgauge.lay.lay_reader import LayReader
from radgauge.llm.client import LanguageModel
from radgauge.llm.journal import Journal
from radgauge.llm.numbered import Outcome, Question, ask_all
from radgauge.llm.prompts import Prompt, prompt, read_prompts
from radgauge.text.sentences import sentences_of

Item = tuple[str, ...]
REWRITE, OPPOSITE = "rewrite", "opposite"


@dataclass(frozen=True)
class Proposed:
    """Proposals of a language model for some sentences."""

    triples: tuple[Triple, ...]  # Those that the reader confirms
    refused: Mapping[str, int]  # Why others were given up -> how many


def triple_prompts(chosen: str = "strict") -> dict[str, Prompt]:
    """The two prompts by what they ask for.

    Args:
        chosen: "strict": ours, which spells out what must stay; "paper": what the two prompts of RaTE-Eval ask, in
            our words; else a TOML file with `rewrite` and `opposite`.

    >>> sorted(triple_prompts("paper"))
    ['opposite', 'rewrite']
    """
    if chosen == "strict":
        general = prompt("triples")
        return {
            task: general._replace(user=general.user.replace("{wanted}", task)) for task in (REWRITE, OPPOSITE)
        }
    if chosen == "paper":
        return {task: prompt(task) for task in (REWRITE, OPPOSITE)}
    return dict(read_prompts(chosen, names=(REWRITE, OPPOSITE)))


def findings_sentences(reports: Mapping[str, str]) -> dict[str, str]:
    """Id -> sentence, of every distinct sentence that states or denies a finding; ids name report and sentence."""
    placed = [
        (f"{study}#{number}", sentence)
        for study, text in reports.items()
        for number, sentence in enumerate(sentences_of(text), start=1)
    ]
    chosen = distinct_sentences(sentence for _, sentence in placed)
    first: dict[str, str] = {}
    for name, sentence in placed:
        first.setdefault(normal_sentence(sentence), name)
    return {first[key]: sentence for key, sentence in chosen.items() if _says_something(sentence)}


def propose_triples(
    sentences: Mapping[str, str],
    *,
    model: LanguageModel,
    journal: Journal,
    prompts: Mapping[str, Prompt] | None = None,
    checked: bool = True,
    batch: int = 20,
    parallel: int = 4,
    attempts: int = 3,
    retry_failed: bool = False,
    progress: Progress | None = None,
) -> Iterator[Proposed]:
    """Ask for rewrites and opposites, some sentences at a time.

    Args:
        sentences: Id -> sentence.
        model: Whom to ask.
        journal: What was asked before.
        prompts: What `triple_prompts` gave; None = ours.
        checked: Whether only what the reader confirms is taken.
        batch: Sentences per request.
        parallel: Requests at the same time.
        attempts: Times that a sentence is asked before it is given up.
        retry_failed: Ask again for what earlier runs gave up.
        progress: Told (task, done, total) after every request.
    """
    task_prompts = triple_prompts() if prompts is None else prompts
    names = list(sentences)
    step = batch * parallel
    for start in range(0, len(names), step):
        part = names[start : start + step]
        answers: dict[str, list[Outcome]] = {}
        for task, fault in ((REWRITE, not_the_same), (OPPOSITE, not_the_opposite)):
            tell = None if progress is None else partial(progress, task)
            answers[task] = ask_all(
                _question(task, task_prompts[task], fault if checked else None),
                [(sentences[name],) for name in part],
                model=model,
                journal=journal,
                batch=batch,
                attempts=attempts,
                parallel=parallel,
                retry_failed=retry_failed,
                progress=tell,
            )
        triples, refused = [], Counter[str]()
        for name, rewrite, opposite in zip(part, answers[REWRITE], answers[OPPOSITE], strict=True):
            if rewrite.value and opposite.value:
                triples.append(Triple(name, sentences[name], rewrite.value, opposite.value))
            else:
                refused.update(
                    f"{what}: {outcome.why}"
                    for what, outcome in ((REWRITE, rewrite), (OPPOSITE, opposite))
                    if outcome.why
                )
        yield Proposed(tuple(triples), refused)


def not_the_same(sentence: str, text: str) -> str:
    """Why a text is no rewrite; "" if it is one.

    >>> not_the_same("No pleural effusion.", "Pleural effusion is absent.")
    ''
    >>> not_the_same("No pleural effusion.", "There is a pleural effusion.")
    'it does not say the same'
    """
    if normal_sentence(sentence) == normal_sentence(text):
        return "it repeats the sentence"
    comparison = compare_lay(*map(lay_findings, LayReader().read([sentence, text])))
    if any(comparison.counts[2:]) or not _says_something(text):
        return "it does not say the same"
    return "it leaves out a detail" if any(match.differences for match in _aligned(sentence, text).matched) else ""


def not_the_opposite(sentence: str, text: str) -> str:
    """Why a text is no opposite; "" if it is one.

    >>> not_the_opposite("No pleural effusion.", "There is a pleural effusion.")
    ''
    >>> not_the_opposite("Left pleural effusion.", "Right pleural effusion.")
    'it contradicts nothing'
    """
    aligned = _aligned(sentence, text)
    if not aligned.denied and not aligned.invented:
        return "it contradicts nothing"
    if aligned.missing or aligned.added or any(match.differences for match in aligned.matched):
        return "it changes something else"
    return ""


def _question(task: str, prompt: Prompt, fault: Callable[[str, str], str] | None) -> Question:
    def render(items: Sequence[Item]) -> str:
        return prompt.fill([item[0] for item in items])

    def accept(items: Sequence[Item], texts: Mapping[int, str]) -> dict[int, str]:
        if fault is None:
            return {}
        faults = {number: fault(items[number][0], text) for number, text in texts.items()}
        return {number: why for number, why in faults.items() if why}

    name = task if fault is not None else f"{task}, unchecked"
    return Question(
        name, prompt.system, render, accept, lambda items: 64 + sum(48 + len(i[0].encode()) for i in items)
    )


def _aligned(sentence: str, text: str) -> Aligned:
    reference, candidate = map(lay_findings, LayReader().read([sentence, text]))
    return align_findings(reference, candidate, lay_knowledge())


def _says_something(sentence: str) -> bool:
    [reading] = LayReader().read([sentence])
    findings = lay_findings(reading)
    return bool(findings.present or findings.denied)

"""Entities of sentences, proposed by a language model: the first step of the annotation pipeline (RaTEScore, A.2).

The paper shows GPT-4 a few annotated reports and asks for the entities of others. Here too a few examples go into
the question (the user's own, or ours), and an answer counts only if its words stand in the sentence and its types
are known; what is denied is decided later, by rules.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from radgauge.core.progress import working
from radgauge.core.readings import Progress
from radgauge.lab.training.annotate_ner import TYPES, Proposal
from radgauge.lab.training.ner_files import NerSentence
from radgauge.llm.client import LanguageModel
from radgauge.llm.journal import Journal
from radgauge.llm.numbered import Question, ask_all
from radgauge.llm.prompts import Prompt, prompt
from radgauge.text.sentences import split_sentences

NOTHING = "-"
EXAMPLES = (
    ("Small left pleural effusion.", (Proposal("pleural effusion", "ABNORMALITY"),)),
    ("The heart is not enlarged.", (Proposal("heart", "ANATOMY"), Proposal("enlarged", "ABNORMALITY"))),
    ("No evidence of pneumonia.", (Proposal("pneumonia", "DISEASE"),)),
    ("Comparison is made with the study of XXXX.", ()),
)
"""What a model is shown if the user has no examples: ours, of no real report."""

Item = tuple[str, ...]


@dataclass(frozen=True)
class Proposed:
    """Proposals of a language model."""

    entities: Mapping[str, list[Proposal]]  # Sentence -> its entities
    refused: Mapping[str, int]  # Why sentences have none -> how many


@working("asking")
def propose_entities(
    reports: Iterable[str],
    *,
    model: LanguageModel,
    journal: Journal,
    examples: Sequence[NerSentence] = (),
    batch: int = 20,
    parallel: int = 4,
    attempts: int = 3,
    retry_failed: bool = False,
    progress: Progress | None = None,
) -> Proposed:
    """Ask for the entities of every distinct sentence.

    Args:
        reports: Texts.
        model: Whom to ask.
        journal: What was asked before.
        examples: Annotated sentences to show; () = ours.
        batch: Sentences per request.
        parallel: Requests at the same time.
        attempts: Times that a sentence is asked before it is given up.
        retry_failed: Ask again for what earlier runs gave up.
        progress: Told (task, done, total) after every request.
    """
    sentences = list(
        dict.fromkeys(
            text
            for report in reports
            for start, end in split_sentences(report)
            if (text := report[start:end].strip())
        )
    )
    shown = [(" ".join(example.words), _of(example)) for example in examples] or EXAMPLES
    outcomes = ask_all(
        _question(shown),
        [(sentence,) for sentence in sentences],
        model=model,
        journal=journal,
        batch=batch,
        attempts=attempts,
        parallel=parallel,
        retry_failed=retry_failed,
        progress=None if progress is None else partial(progress, "entities"),
    )
    entities: dict[str, list[Proposal]] = {}
    refused: Counter[str] = Counter()
    for sentence, outcome in zip(sentences, outcomes, strict=True):
        if outcome.why:
            refused[outcome.why] += 1
        else:
            entities[sentence] = list(parse_marked(outcome.value))
    return Proposed(entities, refused)


def marked(entities: Iterable[Proposal]) -> str:
    """Entities as the question shows them and the answer must be.

    >>> marked([Proposal("heart", "ANATOMY")]), marked([])
    ('heart | anatomy', '-')
    """
    return "; ".join(f"{entity.name} | {entity.type.lower()}" for entity in entities) or NOTHING


def parse_marked(text: str) -> tuple[Proposal, ...]:
    """Entities of an answer; parts that are not of the agreed form are left out (`not_marked` refuses them).

    >>> parse_marked("left lung | anatomy; mass | abnormality")
    (Proposal(name='left lung', type='ANATOMY'), Proposal(name='mass', type='ABNORMALITY'))
    """
    entities = []
    for part in text.split(";"):
        name, bar, kind = part.rpartition("|")
        if bar and name.strip():
            entities.append(Proposal(name.strip(), kind.strip().upper()))
    return tuple(entities)


def not_marked(sentence: str, text: str) -> str:
    """Why an answer cannot be taken; "" if it can.

    >>> not_marked("No effusion.", "effusion | abnormality"), not_marked("No effusion.", "fluid | abnormality")
    ('', 'a marked name is not in the sentence')
    """
    if text.strip() == NOTHING:
        return ""
    entities = parse_marked(text)
    if len(entities) != len([part for part in text.split(";") if part.strip()]):
        return "it is not in the agreed form"
    if any(entity.type.removeprefix("NON-") not in TYPES for entity in entities):
        return "a type is unknown"
    if any(entity.name.lower() not in sentence.lower() for entity in entities):
        return "a marked name is not in the sentence"
    return ""


def _of(sentence: NerSentence) -> tuple[Proposal, ...]:
    return tuple(
        Proposal(" ".join(sentence.words[first : last + 1]), kind.removeprefix("NON-"))
        for first, last, kind in sentence.spans
    )


def _question(examples: Sequence[tuple[str, Sequence[Proposal]]]) -> Question:
    general = prompt("entities")
    lines = "\n".join(f'- "{sentence}" becomes "{marked(entities)}"' for sentence, entities in examples)
    filled = Prompt(general.system.replace("{examples}", lines), general.user)

    def render(items: Sequence[Item]) -> str:
        return filled.fill([item[0] for item in items])

    def accept(items: Sequence[Item], texts: Mapping[int, str]) -> dict[int, str]:
        faults = {number: not_marked(items[number][0], text) for number, text in texts.items()}
        return {number: why for number, why in faults.items() if why}

    return Question(
        "entities",
        filled.system,
        render,
        accept,
        lambda items: 64 + sum(96 + 2 * len(i[0].encode()) for i in items),
    )

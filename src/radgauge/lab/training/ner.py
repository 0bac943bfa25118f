"""Train an entity recogniser on RaTE-NER files: token classification (IOB) or spans, as in the paper (A.9).

Each epoch draws its order and its dropout from the seed and its own number, and leaves its state on disk, so a run
that was stopped and started again ends with the same weights as one that was not.
"""

from __future__ import annotations

import hashlib
import json
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import accumulate
from pathlib import Path
from typing import Any

from radgauge.core.errors import InputError, UsageError, require
from radgauge.core.files import make_folder, replacing, write_file
from radgauge.core.progress import working
from radgauge.core.readings import Progress
from radgauge.encoders.checkpoints.hub import checkpoint_folder, pick_device
from radgauge.encoders.checkpoints.weights import load_tokenizer, load_transformer, quietly
from radgauge.encoders.text import span_ner
from radgauge.encoders.text.ratener import LABELS
from radgauge.lab.training.ner_files import LabelledSpan, NerSentence, spans_of
from radgauge.reader import rate_entities, read_report

SCHEMES = ("iob", "span")
RATES = {"iob": 1e-5, "span": 6e-6}
"""Learning rates of the paper."""

EMBEDDED = "embedded"
OVERTAGGED = 1.5
"""Entities marked per entity that is there, above which a tagger is warned of."""
STATE = "training_state.pt"
IGNORED = -100


@dataclass(frozen=True, slots=True)
class TypeResult:
    """Exact-match results of one entity type, or of all ("all")."""

    type: str
    precision: float
    recall: float
    f1: float
    accuracy: float
    entities: int


@dataclass(frozen=True)
class NerSettings:
    """Everything that decides the weights."""

    model: str  # Starting checkpoint: folder or hub id
    scheme: str = "iob"  # iob or span
    epochs: int = 10  # Passes over the training sentences
    batch_size: int = 96  # Sentences per step
    learning_rate: float | None = None  # None = the paper's, 1e-5 for iob and 6e-6 for span
    head_width: int = span_ner.HEAD_WIDTH  # Width of the span head's layers
    max_length: int = 256  # Sub-tokens of a sentence
    seed: int = 0  # Of order, dropout and new layers

    def __post_init__(self) -> None:
        if self.scheme not in SCHEMES:
            raise UsageError(f"scheme must be one of {', '.join(SCHEMES)}, got {self.scheme!r}")
        if self.epochs < 1 or self.batch_size < 1:
            raise UsageError(f"epochs and batch_size must be 1 or more, got {self.epochs}, {self.batch_size}")


@working("training")
def train_ner(
    train: Sequence[NerSentence],
    output: Path | str,
    *,
    settings: NerSettings,
    dev: Sequence[NerSentence] = (),
    device: str = "auto",
    progress: Progress | None = None,
) -> list[TypeResult]:
    """Train, keep the epoch with the best F1 on `dev` (the last one without it), and return that F1 by type.

    Args:
        train: Sentences to learn from.
        output: Folder for the checkpoint; a run that stopped is resumed from it.
        settings: What to train.
        dev: Sentences to choose the epoch by.
        device: auto, cpu, cuda.
        progress: Told after every step.
    """
    torch = require("torch", extra="models")
    folder = Path(output)
    where = pick_device(device)
    content = json.dumps([(sentence.words, sentence.spans) for sentence in (*train, *dev)])
    facts = {**asdict(settings), "data": hashlib.sha256(content.encode()).hexdigest()[:16]}
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(settings.seed)
        learner = _Learner(settings, where)
        optimizer = torch.optim.AdamW(learner.parameters(), lr=settings.learning_rate or RATES[settings.scheme])
        make_folder(folder)  # not before there is something to train
        done, best = _resume(folder, facts, learner, optimizer)
        per_epoch = -(-len(train) // settings.batch_size)
        steps = per_epoch * settings.epochs
        schedule = _decay(optimizer, steps, per_epoch * done)
        for epoch in range(done, settings.epochs):
            torch.manual_seed(settings.seed * 10_007 + epoch + 1)
            order = torch.randperm(len(train)).tolist()
            learner.train(True)
            for start in range(0, len(order), settings.batch_size):
                loss = learner.loss([train[at] for at in order[start : start + settings.batch_size]])
                optimizer.zero_grad()
                loss.backward()
                torch.nn.utils.clip_grad_norm_(learner.parameters(), 1.0)
                optimizer.step()
                schedule.step()
                if progress is not None:
                    progress("training", epoch * per_epoch + start // settings.batch_size + 1, steps)
            learner.train(False)
            f1 = (
                evaluate(learner.predict([sentence.words for sentence in dev]), dev)[0].f1 if dev else float(epoch)
            )
            if best is None or f1 > best or not dev:
                best = f1
                learner.save(folder)
            _leave_state(folder, facts, learner, optimizer, epoch + 1, best)
    return (
        evaluate(predict_ner(str(folder), [sentence.words for sentence in dev], device=device), dev) if dev else []
    )


def predict_ner(
    model: str, sentences: Sequence[Sequence[str]], *, device: str = "auto"
) -> list[list[LabelledSpan]]:
    """Entities of sentences given as words, by a checkpoint of either scheme or by the embedded reader."""
    if model == EMBEDDED:
        return [_read_words(words) for words in sentences]
    if (checkpoint_folder(model) / span_ner.SPAN_HEAD).exists():
        return span_ner.predict_spans(model, sentences, device=device)
    learner = _Learner(NerSettings(model), pick_device(device))
    learner.train(False)
    return learner.predict(sentences)


def _read_words(words: Sequence[str]) -> list[LabelledSpan]:
    """Return the embedded reader's entities as spans of words, which are joined by blanks."""
    ends = list(accumulate(len(word) + 1 for word in words))
    spans = []
    for entity in rate_entities(read_report(" ".join(words))):
        first, last = bisect_right(ends, entity.start), bisect_right(ends, entity.end - 1)
        spans.append((first, last, entity.type.upper()))
    return spans


def overtagging(results: Sequence[TypeResult]) -> str:
    """Return a warning if a tagger marks half as many entities again as there are, else "".

    >>> overtagging([TypeResult("all", 0.44, 0.88, 0.59, 0.8, 50)])
    'the tagger marks 100 entities where there are 50 (precision 0.44): it over-tags'
    """
    result = next((result for result in results if result.type == "all"), None)
    if result is None or not result.precision > 0 or result.entities == 0:
        return ""
    n_marked = round(result.recall * result.entities / result.precision)
    if n_marked <= OVERTAGGED * result.entities:
        return ""
    return (
        f"the tagger marks {n_marked} entities where there are {result.entities} "
        f"(precision {result.precision:.2f}): it over-tags"
    )


def evaluate_tagger(model: str, sentences: Sequence[NerSentence], *, device: str = "auto") -> list[TypeResult]:
    """Evaluate a checkpoint of either scheme, or "embedded", on sentences with known entities."""
    return evaluate(predict_ner(model, [sentence.words for sentence in sentences], device=device), sentences)


def evaluate(predicted: Sequence[Sequence[LabelledSpan]], truth: Sequence[NerSentence]) -> list[TypeResult]:
    """Precision, recall and F1 of exact spans with their types, and accuracy over words; all first, then by type.

    The accuracy of a type counts its words, right type or wrong, among those that are or are said to be of it.
    """
    if len(predicted) != len(truth):
        raise InputError(f"{len(predicted)} predictions for {len(truth)} sentences")
    kinds = ("all", *span_ner.CLASSES[1:])
    hits, n_predicted, there = (dict.fromkeys(kinds, 0) for _ in range(3))
    right, words = dict.fromkeys(kinds, 0), dict.fromkeys(kinds, 0)
    for spans_found, sentence in zip(predicted, truth, strict=True):
        gold, guess = set(sentence.spans), set(spans_found)
        for kind in kinds:
            guessed, true_spans = ({span for span in spans if kind in ("all", span[2])} for spans in (guess, gold))
            hits[kind] += len(guessed & true_spans)
            n_predicted[kind] += len(guessed)
            there[kind] += len(true_spans)
        labels = zip(
            _types(sentence.spans, len(sentence.words)), _types(spans_found, len(sentence.words)), strict=True
        )
        for truly, label in labels:
            for kind in ("all", *({truly, label} - {""})):
                words[kind] += 1
                right[kind] += truly == label
    results = []
    for kind in kinds:
        precision, recall = _share(hits[kind], n_predicted[kind]), _share(hits[kind], there[kind])
        f1 = 2 * precision * recall / (precision + recall) if precision + recall > 0 else 0.0
        results.append(TypeResult(kind, precision, recall, f1, _share(right[kind], words[kind]), there[kind]))
    return results


def _share(part: int, total: int) -> float:
    return part / total if total else float("nan")


def _types(spans: Sequence[LabelledSpan], words: int) -> list[str]:
    types = [""] * words
    for first, last, kind in spans:
        types[first : last + 1] = [kind] * (last - first + 1)
    return types


class _Learner:
    """A transformer with the head of its scheme."""

    def __init__(self, settings: NerSettings, device: str) -> None:
        folder = checkpoint_folder(settings.model)
        self.settings, self.device = settings, device
        self.tokenizer = load_tokenizer(folder, of=settings.model)
        self.head: Any = None
        if settings.scheme == "iob":
            names = dict(enumerate(LABELS))
            self.network = load_transformer(
                folder,
                of=settings.model,
                kind="AutoModelForTokenClassification",
                new=("classifier.",),
                id2label=names,
                label2id={name: number for number, name in names.items()},
            )
        else:
            self.network = load_transformer(folder, of=settings.model)
            self.head = span_ner.build_head(self.network.config.hidden_size, width=settings.head_width).to(device)
        self.network.to(device)

    def parameters(self) -> list[Any]:
        """Everything that learns."""
        more = [] if self.head is None else list(self.head.parameters())
        return [*self.network.parameters(), *more]

    def train(self, on: bool) -> None:
        """Switch dropout."""
        self.network.train(on)
        if self.head is not None:
            self.head.train(on)

    def loss(self, batch: Sequence[NerSentence]) -> Any:
        """Cross entropy of the batch."""
        torch = require("torch", extra="models")
        encoded = self._encode([sentence.words for sentence in batch])
        if self.head is None:
            marks = torch.tensor([self._marks(encoded, row, sentence) for row, sentence in enumerate(batch)])
            logits = self.network(**encoded).logits
            return torch.nn.functional.cross_entropy(
                logits.reshape(-1, len(LABELS)), marks.reshape(-1).to(self.device), ignore_index=IGNORED
            )
        sizes = [span_ner.kept_words(encoded, row) for row in range(len(batch))]
        scores = span_ner.span_logits(self.network, self.head, encoded, sizes)
        targets = []
        for sentence, size in zip(batch, sizes, strict=True):
            gold = {(first, last): kind for first, last, kind in sentence.spans}
            targets += [span_ner.CLASSES.index(gold.get(span, "")) for span in span_ner.all_spans(size)]
        return torch.nn.functional.cross_entropy(
            torch.cat(scores), torch.tensor(targets, device=self.device), reduction="sum"
        ) / len(batch)

    def predict(self, sentences: Sequence[Sequence[str]]) -> list[list[LabelledSpan]]:
        """Entities of sentences given as words; for iob a word has the label of its first sub-token."""
        torch = require("torch", extra="models")
        predicted: list[list[LabelledSpan]] = []
        for start in range(0, len(sentences), 64):
            batch = sentences[start : start + 64]
            encoded = self._encode(batch)
            with torch.inference_mode():
                if self.head is not None:
                    sizes = [span_ner.kept_words(encoded, row) for row in range(len(batch))]
                    for size, scores in zip(
                        sizes, span_ner.span_logits(self.network, self.head, encoded, sizes), strict=True
                    ):
                        spans = span_ner.all_spans(size)
                        chosen = span_ner.choose_spans(scores.cpu())
                        predicted.append([(*spans[number], span_ner.CLASSES[kind]) for number, kind in chosen])
                    continue
                marks = self.network(**encoded).logits.argmax(dim=2).tolist()
            for row, words in enumerate(batch):
                labels = ["O"] * len(words)
                for position, word in reversed(list(enumerate(encoded.word_ids(row)))):
                    if word is not None:
                        labels[word] = LABELS[marks[row][position]]
                predicted.append(list(spans_of(labels)))
        return predicted

    def save(self, folder: Path) -> None:
        """The checkpoint, readable by RaTEScore's setting `ner`."""
        with quietly():
            self.network.save_pretrained(folder)
            self.tokenizer.save_pretrained(folder)
        if self.head is not None:
            save = require("safetensors.torch", extra="models").save_file
            save(self.head.state_dict(), folder / "span_head.safetensors")
            about = {
                "width": self.settings.head_width,
                "classes": span_ner.CLASSES,
                "longest": span_ner.LONGEST_SPAN,
            }
            write_file(folder / span_ner.SPAN_HEAD, json.dumps(about))

    def _encode(self, sentences: Sequence[Sequence[str]]) -> Any:
        return self.tokenizer(
            [list(words) for words in sentences],
            is_split_into_words=True,
            padding=True,
            truncation=True,
            max_length=self.settings.max_length,
            return_tensors="pt",
        ).to(self.device)

    def _marks(self, encoded: Any, row: int, sentence: NerSentence) -> list[int]:
        """Labels of sub-tokens: the first of a word has its label, the others go on with it.

        [SEP] is labelled O, because the published decoding looks at it to close an entity.
        """
        labels, before = sentence.labels, None
        marks = []
        for position, word in enumerate(encoded.word_ids(row)):
            if word is None:
                closes = encoded["input_ids"][row][position] == self.tokenizer.sep_token_id
                marks.append(LABELS.index("O") if closes else IGNORED)
            else:
                label = labels[word]
                inside = f"I{label[1:]}" if word == before and label != "O" else label
                marks.append(LABELS.index(inside))
            before = word
        return marks


def _decay(optimizer: Any, steps: int, done: int) -> Any:
    """Linear warm-up over a tenth of the steps, then linear decay to 0."""
    torch = require("torch", extra="models")
    warm = max(1, steps // 10)

    def factor(step: int) -> float:
        at = step + done
        return min((at + 1) / warm, max(0.0, (steps - at) / max(1, steps - warm)))

    for group in optimizer.param_groups:
        group.setdefault("initial_lr", group["lr"])
        group["lr"] = group["initial_lr"]
    return torch.optim.lr_scheduler.LambdaLR(optimizer, factor)


def _leave_state(
    folder: Path, facts: dict[str, Any], learner: _Learner, optimizer: Any, epoch: int, best: float
) -> None:
    torch = require("torch", extra="models")
    state = {
        "settings": json.dumps(facts),
        "network": learner.network.state_dict(),
        "head": learner.head.state_dict() if learner.head is not None else {},
        "optimizer": optimizer.state_dict(),
        "epoch": epoch,
        "best": best,
    }
    with replacing(folder / STATE) as path:
        torch.save(state, path)


def _resume(folder: Path, facts: dict[str, Any], learner: _Learner, optimizer: Any) -> tuple[int, float | None]:
    torch = require("torch", extra="models")
    path = folder / STATE
    if not path.exists():
        return 0, None
    state = torch.load(path, map_location=learner.device, weights_only=True)
    then = json.loads(state["settings"])
    changed = [key for key in facts if key != "epochs" and then.get(key) != facts[key]]
    if changed == ["data"]:
        raise UsageError(f"{folder} holds a run on other sentences; choose another output folder")
    for key in changed[:1]:
        raise UsageError(
            f"{folder} holds a run with another {key} ({then.get(key)!r}, now {facts[key]!r}); "
            "choose another output folder"
        )
    learner.network.load_state_dict(state["network"])
    if learner.head is not None:
        learner.head.load_state_dict(state["head"])
    optimizer.load_state_dict(state["optimizer"])
    return int(state["epoch"]), float(state["best"])

"""Train a report generator on studies with pictures and reports (Layman's RRG, sections 3.3 and 3.5, in small).

A closed form first: the ridge regression from pictures to words, which is all that retrieval needs. The network
then learns to write the reports, given the pictures' numbers and the regression's predictions for studies left
out. The epoch with the lowest loss on the validation studies is kept. A run is a function of its data, settings
and seed; a stopped one goes on after its last epoch and ends with the same weights.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from radgauge.core.errors import ModelError, RadgaugeError, UsageError, require
from radgauge.core.files import make_folder, replacing, write_file
from radgauge.core.progress import working
from radgauge.core.readings import Progress
from radgauge.encoders.image.report_words import ReportWords, fit_words
from radgauge.encoders.text.report_tokens import PAD, SPECIAL, UNKNOWN, Vocabulary
from radgauge.lab.training.generator_data import GeneratorData, Studies
from radgauge.lab.training.generator_files import (
    CARD,
    NETWORK,
    VOCABULARY,
    new_network,
    read_card,
    write_card,
    write_index,
)
from radgauge.lab.training.generator_settings import FREE, GeneratorSettings

STATE = "state.safetensors"
_POOL = 8  # batches whose reports are sorted by length: less padding, still shuffled


@dataclass(frozen=True)
class GeneratorEpoch:
    """Losses are means over tokens, in nats; the validation loss is without smoothing."""

    epoch: int
    train_loss: float
    validation_loss: float
    seconds: float


@dataclass(frozen=True)
class TrainedGenerator:
    """Result of training: the folder, every epoch, and the one that was kept (None for retrieval)."""

    folder: Path
    epochs: tuple[GeneratorEpoch, ...]
    best: GeneratorEpoch | None


@dataclass
class _Run:
    step: int = 0
    epochs: list[GeneratorEpoch] = field(default_factory=list)

    @property
    def best(self) -> GeneratorEpoch | None:
        return min(self.epochs, key=lambda epoch: epoch.validation_loss, default=None)


@working("training")
def train_generator(
    data: GeneratorData,
    folder: Path | str,
    *,
    settings: GeneratorSettings | None = None,
    about: Mapping[str, Any] | None = None,
    progress: Progress | None = None,
    tell: Callable[[str], None] | None = None,
) -> TrainedGenerator:
    """Train, or go on with the training that `folder` holds.

    Args:
        data: Studies to learn from and to watch.
        folder: Where everything goes; one that holds another training is refused.
        settings: How.
        about: More facts for the card (where the studies come from).
        progress: Told after every step.
        tell: Called with one line per epoch.

    Raises:
        UsageError: The folder holds a training with other settings or other studies.
    """
    chosen, path = settings or GeneratorSettings(), make_folder(folder)
    fingerprint = _fingerprint(chosen, data)
    if (path / CARD).is_file() and read_card(path).get("fingerprint") != fingerprint:
        raise UsageError(
            f"{path} holds a generator with other settings or other studies; choose another folder, or delete it "
            "to start again"
        )
    words = fit_words(data.train.rows, data.train.texts)
    write_index(path, data.train.ids, data.train.texts, words)
    facts = {
        "fingerprint": fingerprint,
        "studies": {"train": len(data.train), "validation": len(data.validation)},
        "left_out": dict(data.left_out),
        "domain": data.domain,
        "words": {"targets": len(words.words), "mean_correlation": float(words.strength.mean())},
        **dict(about or {}),
    }
    write_card(path, chosen, **facts, epochs=[])
    if chosen.kind == "retrieval":
        return TrainedGenerator(path, (), None)
    torch = require("torch", extra="models")
    devices = list(range(torch.cuda.device_count())) if torch.cuda.is_available() else []
    with torch.random.fork_rng(devices=devices):  # the caller's random state is left alone
        torch.manual_seed(chosen.seed)
        trainer = _Trainer(data, words, path, chosen, facts, progress or _no_progress, tell or _silent)
        return trainer.run()


def _fingerprint(settings: GeneratorSettings, data: GeneratorData) -> str:
    fixed = {name: value for name, value in asdict(settings).items() if name not in FREE}
    content = json.dumps([1, fixed, data.train.hash(), data.validation.hash()])
    return hashlib.sha256(content.encode()).hexdigest()[:16]


def _silent(line: str) -> None:
    """Say nothing."""


def _no_progress(what: str, done: int, total: int) -> None:
    """Show nothing."""


class _Trainer:
    """The loop: epochs, steps, states."""

    def __init__(
        self,
        data: GeneratorData,
        words: ReportWords,
        folder: Path,
        settings: GeneratorSettings,
        facts: Mapping[str, Any],
        progress: Progress,
        tell: Callable[[str], None],
    ) -> None:
        self.torch = require("torch", extra="models")
        self.files = require("safetensors.torch", extra="models")
        self.folder, self.settings, self.facts = folder, settings, facts
        self.progress, self.tell = progress, tell
        vocabulary = Vocabulary.of(data.train.texts, min_count=settings.least)
        if len(vocabulary.tokens) == len(SPECIAL):
            raise UsageError(
                f"least must leave some tokens; no token stands {settings.least} times in the reports"
            )
        write_file(folder / VOCABULARY, "".join(f"{token}\n" for token in vocabulary.tokens))
        self.train = _Tensors(data.train, words, words.training, vocabulary, settings, self.torch)
        watched = words.predicted(data.validation.rows)
        self.watched = _Tensors(data.validation, words, watched, vocabulary, settings, self.torch)
        self.network = new_network(settings, vocabulary, words)
        self.optimizer = self.torch.optim.AdamW(
            self.network.parameters(), lr=settings.learning_rate, weight_decay=settings.weight_decay
        )
        self.state = _Run()

    def run(self) -> TrainedGenerator:
        if (self.folder / STATE).is_file():
            self._resume()
        while len(self.state.epochs) < self.settings.epochs and not self._exhausted():
            self._epoch()
        return TrainedGenerator(self.folder, tuple(self.state.epochs), self.state.best)

    def _exhausted(self) -> bool:
        best = self.state.best
        return best is not None and len(self.state.epochs) - best.epoch >= self.settings.patience

    def _epoch(self) -> None:
        torch, settings, number = self.torch, self.settings, len(self.state.epochs)
        torch.manual_seed(settings.seed * 100_003 + number + 1)  # so that a state needs no random state in it
        rng = np.random.default_rng((settings.seed, number))
        started, total, tokens = time.monotonic(), 0.0, 0
        batches = list(_batches(self.train.lengths, settings.batch_size, rng))
        self.network.train()
        for at, chosen in enumerate(batches):
            loss, weight = self._loss(self.train, chosen, smoothing=settings.smoothing)
            self.optimizer.zero_grad(set_to_none=True)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(self.network.parameters(), settings.clip)
            self.state.step += 1
            rate = min(self.state.step / settings.warm, (settings.warm / self.state.step) ** 0.5)
            for group in self.optimizer.param_groups:
                group["lr"] = settings.learning_rate * rate
            self.optimizer.step()
            total, tokens = total + float(loss.detach()) * weight, tokens + weight
            self.progress(f"epoch {number + 1}", at + 1, len(batches))
        result = GeneratorEpoch(number + 1, total / tokens, self._validation_loss(), time.monotonic() - started)
        if not np.isfinite([result.train_loss, result.validation_loss]).all():
            raise RadgaugeError(
                f"the loss is not finite in epoch {result.epoch}: training has diverged; lower the learning rate "
                "and start again in another folder"
            )
        self._keep(result)

    def _loss(self, part: _Tensors, chosen: NDArray[np.intp], *, smoothing: float) -> tuple[Any, int]:
        tokens = part.tokens(chosen)
        studies = self.network.look(part.rows[chosen], part.conditions[chosen])
        scores, _ = self.network(tokens[:, :-1], studies)
        goal = tokens[:, 1:].masked_fill(tokens[:, 1:] == UNKNOWN, PAD)  # what is not known is not to be written
        counted = int((goal != PAD).sum())
        loss = self.torch.nn.functional.cross_entropy(
            scores.flatten(0, 1), goal.flatten(), ignore_index=PAD, label_smoothing=smoothing, reduction="sum"
        )
        return loss / max(counted, 1), counted

    def _validation_loss(self) -> float:
        self.network.eval()
        total, tokens = 0.0, 0
        with self.torch.inference_mode():
            order = np.argsort(self.watched.lengths, kind="stable")
            for start in range(0, len(order), 64):
                loss, weight = self._loss(self.watched, order[start : start + 64], smoothing=0.0)
                total, tokens = total + float(loss) * weight, tokens + weight
        return total / max(tokens, 1)

    def _keep(self, latest: GeneratorEpoch) -> None:
        earlier = self.state.best
        self.state.epochs.append(latest)
        if earlier is None or latest.validation_loss < earlier.validation_loss:
            with replacing(self.folder / NETWORK) as path:
                self.files.save_file(self._weights(), path)
        write_card(self.folder, self.settings, **self.facts, epochs=[asdict(row) for row in self.state.epochs])
        self._save()
        self.tell(
            f"epoch {latest.epoch}: loss {latest.train_loss:.3f}, validation {latest.validation_loss:.3f}, "
            f"{latest.seconds:.0f} s"
        )

    def _weights(self) -> dict[str, Any]:
        return {name: value.contiguous() for name, value in self.network.state_dict().items()}

    def _save(self) -> None:
        """One file, so that weights and moments are always of one epoch; the log is its metadata."""
        named = dict(self.network.named_parameters())
        content = {f"weight.{name}": value for name, value in self._weights().items()}
        for name, parameter in named.items():
            for kind, value in self.optimizer.state[parameter].items():
                content[f"moment.{kind}.{name}"] = self.torch.as_tensor(value).contiguous()
        log = {"fingerprint": self.facts["fingerprint"], "run": json.dumps(asdict(self.state))}
        with replacing(self.folder / STATE) as path:
            self.files.save_file(content, path, metadata=log)

    def _resume(self) -> None:
        opened = require("safetensors", extra="models")
        path = self.folder / STATE
        try:
            with opened.safe_open(path, framework="pt") as file:
                log = file.metadata()
                stored = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118  (no mapping)
            run = json.loads(log["run"])
            weights = {n.removeprefix("weight."): v for n, v in stored.items() if n.startswith("weight.")}
            self.network.load_state_dict(weights)
        except (opened.SafetensorError, OSError, ValueError, KeyError, TypeError, RuntimeError) as error:
            raise ModelError(
                f"the training in {self.folder} cannot go on; delete {STATE} to start again: {error}"
            ) from error
        for name, parameter in self.network.named_parameters():
            kinds = ("step", "exp_avg", "exp_avg_sq")
            self.optimizer.state[parameter] = {kind: stored[f"moment.{kind}.{name}"] for kind in kinds}
        self.state = _Run(run["step"], [GeneratorEpoch(**epoch) for epoch in run["epochs"]])
        write_card(self.folder, self.settings, **self.facts, epochs=run["epochs"])
        self.tell(f"going on after epoch {len(self.state.epochs)}")


class _Tensors:
    """Studies as the network takes them."""

    def __init__(
        self,
        studies: Studies,
        words: ReportWords,
        predicted: NDArray[np.float32],
        vocabulary: Vocabulary,
        settings: GeneratorSettings,
        torch: Any,
    ) -> None:
        self.torch = torch
        self.rows = torch.from_numpy(np.ascontiguousarray(studies.rows))
        self.conditions = torch.from_numpy(words.conditions(predicted))
        self.numbers = [vocabulary.numbers(text, max_length=settings.longest) for text in studies.texts]
        self.lengths = np.array([len(row) for row in self.numbers])

    def tokens(self, chosen: NDArray[np.intp]) -> Any:
        length = int(self.lengths[chosen].max())
        padded = np.full((len(chosen), length), PAD, np.int64)
        for row, at in zip(padded, chosen, strict=True):
            row[: self.lengths[at]] = self.numbers[at]
        return self.torch.from_numpy(padded)


def _batches(lengths: NDArray[np.intp], size: int, rng: np.random.Generator) -> Iterator[NDArray[np.intp]]:
    """Studies in random order; those of a few batches are sorted by length, the batches drawn again."""
    order = rng.permutation(len(lengths))
    batches = []
    for start in range(0, len(order), size * _POOL):
        pool = order[start : start + size * _POOL]
        pool = pool[np.argsort(lengths[pool], kind="stable")]
        batches += [pool[at : at + size] for at in range(0, len(pool), size)]
    yield from (batches[at] for at in rng.permutation(len(batches)))

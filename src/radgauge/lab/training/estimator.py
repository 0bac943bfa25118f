"""Train a referenceless estimator on pairs: a transformer with COMET's head, or the head alone on sketches.

COMET's recipe (Rei et al. 2020; unbabel-comet 2.2.7): mean squared error, AdamW with a learning rate that falls
from layer to layer, the encoder frozen for the first 30 % of the first epoch, gradients clipped, and the epoch
with the highest Kendall tau on the validation pairs kept. A killed run goes on from its last saved step and ends
with the same weights.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy import stats

from radgauge.core.errors import InputError, ModelError, RadgaugeError, UsageError, require
from radgauge.core.files import make_folder, replacing, write_csv
from radgauge.core.progress import working
from radgauge.core.readings import Progress
from radgauge.encoders.checkpoints.weights import read_weights
from radgauge.lab.training.estimator_settings import EstimatorSettings
from radgauge.lab.training.learners import Learner, make_learner
from radgauge.lab.training.pair_files import PairTable

LOG_COLUMNS = ("epoch", "steps", "train_loss", "val_kendall", "val_spearman", "val_pearson", "seconds")
VERSION = 2
SAVE_SECONDS = 300  # a state is saved at least this often: steps of a large encoder are slow
FREE = ("epochs", "patience", "device", "save_every")


@dataclass(frozen=True)
class Epoch:
    """Figures of one epoch; correlations are of predictions with targets on the validation pairs."""

    epoch: int
    steps: int
    train_loss: float
    val_kendall: float
    val_spearman: float
    val_pearson: float
    seconds: float


@dataclass(frozen=True)
class Trained:
    """Result of training."""

    folder: Path  # With the checkpoint (or `comet_embedded.npz`), `log.csv` and `radgauge.json`
    epochs: tuple[Epoch, ...]  # Figures of every epoch
    best: Epoch  # The epoch whose weights were kept


@dataclass
class _Run:
    """State of a run; all of it is in the file from which a killed run resumes."""

    epoch: int = 0
    step: int = 0  # batches done in this epoch
    loss: float = 0.0
    seconds: float = 0.0
    epochs: list[Epoch] = field(default_factory=list)

    @property
    def best(self) -> Epoch | None:
        return max(self.epochs, key=lambda epoch: epoch.val_kendall, default=None)


@working("training")
def train_estimator(
    train: PairTable,
    validation: PairTable,
    *,
    folder: Path | str,
    settings: EstimatorSettings | None = None,
    about: Mapping[str, Any] | None = None,
    tell: Callable[[str], None] | None = None,
    progress: Progress | None = None,
) -> Trained:
    """Train, or go on with the training that `folder` holds.

    The same settings are asked for, but for more epochs or patience, with which a finished training goes on too.

    Args:
        train: Pairs to learn from.
        validation: Pairs that choose the epoch.
        folder: Where everything goes.
        settings: How.
        about: More facts for `radgauge.json` (where the pairs come from).
        tell: Called with one line per epoch.
        progress: Told after every step.
    """
    torch = require("torch", extra="models")
    chosen = settings or EstimatorSettings.for_embedded()
    if chosen.encoder == "embedded" and chosen.features == "auto":
        words = train.computed and chosen.start == "random"
        chosen = replace(chosen, features="words" if words else "claims")
    if len(validation) < 2 or np.ptp(_totals(validation.target)) == 0:
        raise InputError("validation needs at least two pairs with different targets to have a Kendall tau")
    path = Path(folder)
    make_folder(path)
    # The caller's random state is left alone.
    devices = list(range(torch.cuda.device_count())) if torch.cuda.is_available() else []
    with torch.random.fork_rng(devices=devices):
        torch.manual_seed(chosen.seed)
        learner = make_learner(chosen, train=train, validation=validation)
        saying = (tell or _silent, progress or _silent_progress)
        trainer = _Trainer(learner, train, validation, path, chosen, dict(about or {}), *saying)
        return trainer.run()


def _silent(line: str) -> None:
    """Say nothing."""


def _silent_progress(what: str, done: int, total: int) -> None:
    """Show nothing."""


class _Trainer:
    """The loop: state, steps, epochs."""

    def __init__(
        self,
        learner: Learner,
        train: PairTable,
        validation: PairTable,
        folder: Path,
        settings: EstimatorSettings,
        about: dict[str, Any],
        tell: Callable[[str], None],
        progress: Progress,
    ) -> None:
        self.torch = require("torch", extra="models")
        self.learner, self.train, self.validation = learner, train, validation
        self.folder, self.settings, self.about, self.tell = folder, settings, about, tell
        self.progress, self.saved = progress, time.monotonic()
        self.run_state = _Run()
        self.loss = self.torch.nn.functional.mse_loss
        if settings.counts:
            from radgauge.lab.training.count_heads import count_loss

            self.loss = count_loss
        self.optimizer = self.torch.optim.AdamW(learner.parameter_groups(), weight_decay=settings.weight_decay)
        self.mixed = learner.device.startswith("cuda")
        self.scaler = self.torch.amp.GradScaler(learner.device, enabled=self.mixed)
        self.fingerprint = _fingerprint(settings, train, validation)

    @property
    def state_file(self) -> Path:
        return self.folder / "state.ckpt"

    def run(self) -> Trained:
        if self.state_file.is_file():
            self._resume()
        while self.run_state.epoch < self.settings.epochs and not self._exhausted():
            self._epoch()
        best = self.run_state.best
        if best is None:
            raise InputError("nothing was trained")
        return Trained(self.folder, tuple(self.run_state.epochs), best)

    def _exhausted(self) -> bool:
        epochs, best = self.run_state.epochs, self.run_state.best
        return best is not None and epochs[-1].epoch - best.epoch >= self.settings.patience

    def _epoch(self) -> None:
        state, settings = self.run_state, self.settings
        order = np.random.default_rng((settings.seed, state.epoch)).permutation(len(self.train))
        batches = -(-len(order) // settings.batch_size)
        thaw_after = settings.frozen * (len(order) // settings.batch_size)
        self.learner.module.train()
        started = time.monotonic() - state.seconds
        while state.step < batches:
            self.learner.freeze(state.epoch == 0 and state.step <= thaw_after and settings.frozen > 0)
            chosen = order[state.step * settings.batch_size : (state.step + 1) * settings.batch_size]
            state.loss += self._step(chosen, last=state.step + 1 == batches) * len(chosen)
            state.step += 1
            state.seconds = time.monotonic() - started
            if state.step < batches and (state.step % settings.save_every == 0 or self._save_due()):
                self._save()
            self.progress(f"epoch {state.epoch + 1}", state.step, batches)
        self._end_epoch()

    def _save_due(self) -> bool:
        return time.monotonic() - self.saved > SAVE_SECONDS

    def _step(self, chosen: Any, *, last: bool) -> float:
        torch, state = self.torch, self.run_state
        target = torch.from_numpy(self.train.target[chosen]).to(self.learner.device)
        with torch.autocast(self.learner.device.partition(":")[0], enabled=self.mixed):
            predicted = self.learner.predict(self.train.candidate[chosen], self.train.reference[chosen])
            loss = self.loss(predicted.float(), target)
        self.scaler.scale(loss / self.settings.accumulate).backward()
        if last or (state.step + 1) % self.settings.accumulate == 0:
            self.scaler.unscale_(self.optimizer)
            torch.nn.utils.clip_grad_norm_(self.learner.module.parameters(), self.settings.clip)
            self.scaler.step(self.optimizer)
            self.scaler.update()
            self.optimizer.zero_grad(set_to_none=True)
        value = float(loss.detach())
        if not np.isfinite(value):
            raise RadgaugeError(
                f"the loss is {value} in epoch {state.epoch + 1}, step {state.step + 1}: training has diverged; "
                "lower the learning rates and start again in another folder"
            )
        return value

    def _end_epoch(self) -> None:
        state = self.run_state
        predictions = self.predictions()
        goal = _totals(self.validation.target)
        figures = Epoch(
            epoch=state.epoch + 1,
            steps=state.step,
            train_loss=state.loss / len(self.train),
            val_kendall=_defined(stats.kendalltau, predictions, goal),
            val_spearman=_defined(stats.spearmanr, predictions, goal),
            val_pearson=_defined(stats.pearsonr, predictions, goal),
            seconds=state.seconds,
        )
        earlier = state.best
        state.epochs.append(figures)
        if earlier is None or figures.val_kendall > earlier.val_kendall:
            self.learner.save(self.folder, about=self._facts(figures, predictions))
        self.tell(
            f"epoch {figures.epoch}: loss {figures.train_loss:.4f}, validation tau {figures.val_kendall:.4f}, "
            f"{figures.seconds:.0f} s"
        )
        self._log()
        state.epoch, state.step, state.loss, state.seconds = state.epoch + 1, 0, 0.0, 0.0
        self._save()

    def predictions(self) -> Any:
        """Scores of the validation pairs."""
        self.learner.module.eval()
        with self.torch.inference_mode():
            return self.learner.validate(self.validation.candidate, self.validation.reference)

    def _facts(self, figures: Epoch, predictions: Any) -> dict[str, Any]:
        low, high = np.quantile(predictions, [0.005, 0.995])
        return {
            "target": self.settings.target,
            "higher_is_better": self.settings.higher_is_better,
            "range": [round(float(low), 3), round(float(high), 3)],
            "validation": asdict(figures),
            "pairs": {"train": len(self.train), "val": len(self.validation)},
            "settings": asdict(self.settings),
            **self.about,
        }

    def _log(self) -> None:
        write_csv(
            self.folder / "log.csv",
            LOG_COLUMNS,
            ([getattr(epoch, name) for name in LOG_COLUMNS] for epoch in self.run_state.epochs),
        )

    def _save(self) -> None:
        torch, state = self.torch, self.run_state
        gradients = {
            name: parameter.grad
            for name, parameter in self.learner.module.named_parameters()
            if parameter.grad is not None
        }
        content = {
            "fingerprint": self.fingerprint,
            "run": {**asdict(state)},
            "module": self.learner.module.state_dict(),
            "gradients": gradients,  # a state may be saved between two accumulated steps
            "optimizer": self.optimizer.state_dict(),
            "scaler": self.scaler.state_dict(),
            "random": torch.get_rng_state(),
            "random_gpu": torch.cuda.get_rng_state_all() if self.mixed else [],
        }
        with replacing(self.state_file) as path:
            torch.save(content, path)
        self.saved = time.monotonic()

    def _resume(self) -> None:
        torch = self.torch
        content = self._stored()
        if content.get("fingerprint") != self.fingerprint:
            raise UsageError(
                f"{self.folder} holds a training with other settings or other pairs; "
                "choose another folder, or delete it to start again"
            )
        run = dict(content["run"])
        self.run_state = _Run(**{**run, "epochs": [Epoch(**row) for row in run["epochs"]]})
        self.learner.module.load_state_dict(content["module"])
        self.optimizer.load_state_dict(content["optimizer"])
        self.scaler.load_state_dict(content["scaler"])
        parameters = dict(self.learner.module.named_parameters())
        for name, gradient in content["gradients"].items():
            parameters[name].grad = gradient.to(self.learner.device)
        torch.set_rng_state(content["random"].cpu())
        if self.mixed:
            torch.cuda.set_rng_state_all([row.cpu() for row in content["random_gpu"]])
        state = self.run_state
        self.tell(f"going on after epoch {state.epoch}" + (f" and {state.step} steps" if state.step else ""))

    def _stored(self) -> dict[str, Any]:
        try:
            return read_weights(self.state_file)
        except ModelError as error:
            raise ModelError(f"the training cannot go on; delete its state to start again: {error}") from None


def _fingerprint(settings: EstimatorSettings, *tables: PairTable) -> str:
    """Fingerprint of a stored state's training; how long to train and how often to save may change."""
    fixed = {name: value for name, value in asdict(settings).items() if name not in FREE}
    digest = hashlib.sha256(json.dumps([VERSION, fixed]).encode())
    for table in tables:
        digest.update("\0".join(table.texts).encode())
        for column in (table.reference, table.candidate, table.target):
            digest.update(np.ascontiguousarray(column).tobytes())
    return digest.hexdigest()


def _totals(target: Any) -> Any:
    """One value per pair: the target, or the sum of its counts."""
    values = target.astype(np.float64)
    return values if values.ndim == 1 else np.nansum(values, axis=1)


def _defined(coefficient: Callable[..., Any], x: Any, y: Any) -> float:
    """A correlation; -1 where it is undefined because all predictions are equal, so that it is never the best."""
    return -1.0 if np.ptp(x) == 0 else float(coefficient(x, y).statistic)

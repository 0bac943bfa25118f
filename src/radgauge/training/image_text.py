"""Train an image-text encoder on studies with pictures and reports; it becomes one file that runs without torch.

Each pass draws its order, its copies and its dropout from the seed and its own number, and leaves its state on
disk, so a run that was stopped and started again ends with the same weights as one that was not. The last pass is
kept: nothing is chosen by the validation studies, they are only watched.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, astuple, dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from radgauge import __version__
from radgauge.errors import RadgaugeError, UsageError, require
from radgauge.files import make_folder, replacing, write_csv
from radgauge.models.checkpoints.hub import pick_device
from radgauge.models.image.embedded_image_text import (
    EmbeddedImageText,
    ImageText,
    network_input,
    save_image_text,
    unit,
)
from radgauge.reading import Progress
from radgauge.training.image_network import folded
from radgauge.training.image_text_data import Material, changed_copies, read_squares
from radgauge.training.image_text_figures import Matching, largest_area, matching, mean_by_study
from radgauge.training.image_text_settings import ImageTextSettings
from radgauge.training.image_text_start import canonical_start
from radgauge.training.image_text_towers import Towers, text_material

torch = require("torch", extra="models")

FILE, LOG, STATE = "image_text.npz", "log.csv", "training_state.pt"
OTHERS = 50  # other reports that each training study is paired with to find VLScore's constant
_AT_ONCE = 8  # pictures; with 64 the caches of a processor overflow and each takes more than twice the time
_Stored = list[Any]  # pictures as tensors: their squares, or what the frozen stages made of them


@dataclass(frozen=True)
class Pass:
    """Figures of one pass: losses on the training studies, matching on the validation studies."""

    epoch: int
    loss: float
    global_loss: float
    local_loss: float
    claims_loss: float
    auroc: float
    recall_1: float
    recall_5: float
    recall_10: float
    median_rank: float
    text_recall_1: float
    text_recall_5: float
    text_recall_10: float
    text_median_rank: float
    seconds: float


@dataclass(frozen=True)
class TrainedImageText:
    """What training leaves.

    Attributes:
        file: The encoder, for `vlscore:encoder=FILE`.
        passes: Figures of every pass.
        shipped: Matching of the validation studies by the file itself, as it will be used.
        constant: VLScore's C.
    """

    file: Path
    passes: tuple[Pass, ...]
    shipped: Matching
    constant: float


def train_image_text(
    material: Material,
    output: Path | str,
    *,
    settings: ImageTextSettings | None = None,
    about: Mapping[str, Any] | None = None,
    progress: Progress | None = None,
    tell: Callable[[str], None] | None = None,
) -> TrainedImageText:
    """Train, or go on with the training that `output` holds.

    Args:
        material: Studies to learn from and to watch.
        output: Folder for the encoder, the log and the state of the run.
        settings: How.
        about: More facts for the file (where the studies come from).
        progress: Told after every picture decoded and every step.
        tell: Called with one line per pass.
    """
    chosen = settings or ImageTextSettings()
    folder = Path(output)
    make_folder(folder)
    devices = list(range(torch.cuda.device_count())) if torch.cuda.is_available() else []
    with torch.random.fork_rng(devices=devices):  # the caller's random state is left alone
        torch.manual_seed(chosen.seed)
        trainer = _Trainer(material, folder, chosen, dict(about or {}), progress or _silent_progress)
        return trainer.run(tell or _silent)


def _silent(line: str) -> None:
    """Say nothing."""


def _silent_progress(what: str, done: int, total: int) -> None:
    """Say nothing."""


class _Trainer:
    """Material as tensors, and the loop over passes."""

    def __init__(
        self,
        material: Material,
        folder: Path,
        settings: ImageTextSettings,
        about: dict[str, Any],
        progress: Progress,
    ) -> None:
        self.material, self.folder, self.settings = material, folder, settings
        self.about, self.progress = about, progress
        self.device = pick_device(settings.device)
        self.text = text_material(material.train, least=settings.least, least_label=settings.least_label)
        self.towers = Towers(
            settings,
            columns=self.text.claims.dimensions,
            claims=len(self.text.claims.vocabulary),
            labels=len(self.text.labels),
        )
        self.towers.to(self.device)
        network = [each for each in self.towers.stages.parameters() if each.requires_grad]
        heads = [*self.towers.image.parameters(), *self.towers.text.parameters()]
        labels = [] if self.towers.labels is None else list(self.towers.labels.parameters())
        groups = ((network, settings.learning_rate), (heads, settings.head_rate), (labels, settings.label_rate))
        self.optimizer = torch.optim.AdamW(
            [{"params": params, "lr": rate, "top": rate} for params, rate in groups if params],
            weight_decay=settings.weight_decay,
        )
        self.passes: list[Pass] = []
        self.fingerprint = json.dumps(
            [asdict(settings), [each.id for each in material.train], [each.id for each in material.validation]]
        )

    def run(self, tell: Callable[[str], None]) -> TrainedImageText:
        self._resume(tell)
        train, validation = self.material.train, self.material.validation
        squares, owners = read_squares(train, size=self.settings.size, progress=self.progress)
        watched, watched_owners = read_squares(validation, size=self.settings.size, progress=self.progress)
        self.pictures = [np.flatnonzero(owners == study) for study in range(len(train))]
        plain = self._below(squares, "pictures")
        if not self.passes:
            self._begin(plain, owners)
        if len(self.passes) < self.settings.epochs:
            copies = [self._copy(squares, number) for number in range(self.settings.copies)]
            below = self._below(watched, "watched pictures")
        while len(self.passes) < self.settings.epochs:
            self._pass(copies)
            self._end_pass(below, watched_owners, tell)
        constant = self._constant(plain, owners)
        file = self._write(constant)
        # Measured once more with the file itself: weights in 16 bits, run by numpy.
        encoder = EmbeddedImageText(str(file))
        shipped = matching(
            unit(mean_by_study(encoder.embed_images(list(watched)), watched_owners, studies=len(validation))),
            encoder.embed_texts([study.texts[0] for study in validation]),
        )
        (self.folder / STATE).unlink(missing_ok=True)
        return TrainedImageText(file, tuple(self.passes), shipped, constant)

    def _begin(self, plain: _Stored, owners: NDArray[np.intp]) -> None:
        """Layers of both sides start where pictures and reports correlate most."""
        self.towers.train(False)
        found = []
        with torch.inference_mode():
            for start in range(0, len(plain[0]), _AT_ONCE):
                part = self._values([each[start : start + _AT_ONCE] for each in plain])
                found.append(self.towers.means(*part)[1].cpu().numpy())
        first = [forms[0] for forms in self.text.forms]
        self.towers.begin(
            canonical_start(
                np.vstack(found),
                owners,
                self.text.rows[first],
                dimensions=self.settings.dimensions,
                picture_ridge=self.settings.picture_ridge,
                report_ridge=self.settings.report_ridge,
            )
        )

    def _copy(self, squares: NDArray[np.uint8], number: int) -> _Stored:
        changed = changed_copies(squares, seed=self.settings.seed * 1009 + number)
        return self._below(changed, f"copy {number + 1} of {self.settings.copies}")

    def _below(self, squares: NDArray[np.uint8], what: str) -> _Stored:
        """Squares through the frozen stages: what comes out, and means; the squares themselves if none is."""
        if not self.settings.frozen:
            return [torch.from_numpy(squares)]
        self.towers.train(False)
        found = []
        for start in range(0, len(squares), _AT_ONCE):
            batch = torch.from_numpy(network_input(squares[start : start + _AT_ONCE])).to(self.device)
            values, means = self.towers.below(batch)
            found.append((values.half().cpu(), means.cpu()))
            self.progress(what, min(start + _AT_ONCE, len(squares)), len(squares))
        return [torch.cat(part) for part in zip(*found, strict=True)]

    def _values(self, stored: _Stored) -> tuple[Any, Any]:
        if self.settings.frozen:
            return stored[0].to(self.device), stored[1].to(self.device)
        values = torch.from_numpy(network_input(stored[0].numpy())).to(self.device)
        return values, values.new_zeros(len(values), 0)

    def _pass(self, copies: list[_Stored]) -> None:
        settings, number = self.settings, len(self.passes)
        torch.manual_seed(settings.seed * 10_007 + number + 1)
        rng = np.random.default_rng((settings.seed, number))
        order = rng.permutation(len(self.material.train))
        size = min(settings.batch_size, len(order))
        steps = len(order) // size  # an incomplete batch has fewer others to tell apart: it is left out
        totals = dict.fromkeys(("global", "local", "claims"), 0.0)
        self.started = time.monotonic()
        self.towers.train(True)
        for step in range(steps):
            self._set_rates((number * steps + step) / (settings.epochs * steps))
            terms = self.towers.loss(*self._batch(order[step * size : (step + 1) * size], copies, rng))
            loss = sum(terms.values())
            value = float(loss.detach())
            if not math.isfinite(value):
                raise RadgaugeError(
                    f"the loss is {value} in pass {number + 1}, step {step + 1}: training has diverged; "
                    "lower the learning rates and start again in another folder"
                )
            self.optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(self.towers.parameters(), 1.0)
            self.optimizer.step()
            for name, term in terms.items():
                totals[name] += float(term.detach()) / steps
            self.progress("training", number * steps + step + 1, settings.epochs * steps)
        self.totals = totals

    def _set_rates(self, done: float) -> None:
        """A short warm-up, then down to zero along a cosine."""
        factor = min(1.0, (done + 0.005) / 0.05) * (0.5 + 0.5 * math.cos(math.pi * done))
        for group in self.optimizer.param_groups:
            group["lr"] = group["top"] * factor

    def _batch(
        self, studies: NDArray[np.intp], copies: list[_Stored], rng: np.random.Generator
    ) -> tuple[Any, ...]:
        text, device = self.text, self.device
        pictures = [self.pictures[study] for study in studies]
        share = np.zeros((len(studies), sum(map(len, pictures))), np.float32)
        at = 0
        for row, mine in enumerate(pictures):
            share[row, at : at + len(mine)] = 1 / len(mine)
            at += len(mine)
        which = rng.integers(len(copies), size=at)
        chosen = np.concatenate(pictures)
        values = [
            torch.stack([copies[copy][part][picture] for copy, picture in zip(which, chosen, strict=True)])
            for part in range(len(copies[0]))
        ]
        forms = [int(rng.choice(text.forms[study])) for study in studies]
        rows = torch.from_numpy(text.rows[forms]).to(device)
        columns = text.labels
        targets = torch.from_numpy(text.rows[forms][:, columns] / text.scale[columns]).to(device)
        spoken: list[int] = []
        owners: list[int] = []
        for row, study in enumerate(studies):
            mine = rng.permutation(text.spoken[study])[: self.settings.sentences].tolist()
            spoken += mine
            owners += [row] * len(mine)
        return (
            *self._values(values),
            torch.from_numpy(share).to(device),
            rows,
            targets,
            torch.from_numpy(text.sentences[spoken]).to(device),
            torch.tensor(owners, dtype=torch.long, device=device),
        )

    def _vectors(self, stored: _Stored) -> NDArray[np.float32]:
        found = []
        with torch.inference_mode():
            for start in range(0, len(stored[0]), _AT_ONCE):
                part = self._values([each[start : start + _AT_ONCE] for each in stored])
                found.append(self.towers.pictures(*part)[0].cpu().numpy())
        return unit(np.vstack(found))

    def _reports(self, texts: list[str]) -> NDArray[np.float32]:
        rows = torch.from_numpy(self.text.claims.rows(texts) * self.text.scale).to(self.device)
        with torch.inference_mode():
            found: NDArray[np.float32] = self.towers.reports(rows).cpu().numpy()
        return found

    def _end_pass(self, below: _Stored, owners: NDArray[np.intp], tell: Callable[[str], None]) -> None:
        self.towers.train(False)
        validation = self.material.validation
        pictures = unit(mean_by_study(self._vectors(below), owners, studies=len(validation)))
        found = asdict(matching(pictures, self._reports([study.texts[0] for study in validation])))
        found.pop("studies")
        done = Pass(
            epoch=len(self.passes) + 1,
            loss=sum(self.totals.values()),
            global_loss=self.totals["global"],
            local_loss=self.totals["local"],
            claims_loss=self.totals["claims"],
            **found,
            seconds=time.monotonic() - self.started,
        )
        self.passes.append(done)
        tell(
            f"pass {done.epoch}: loss {done.loss:.3f}; validation AUROC {done.auroc:.3f}, R@1/5/10 "
            f"{done.recall_1:.3f}/{done.recall_5:.3f}/{done.recall_10:.3f}; {done.seconds:.0f} s"
        )
        write_csv(self.folder / LOG, [each.name for each in fields(Pass)], map(astuple, self.passes))
        state = {
            "fingerprint": self.fingerprint,
            "towers": self.towers.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "passes": [asdict(each) for each in self.passes],
        }
        with replacing(self.folder / STATE) as path:
            torch.save(state, path)

    def _resume(self, tell: Callable[[str], None]) -> None:
        path = self.folder / STATE
        if not path.is_file():
            return
        state = torch.load(path, map_location=self.device, weights_only=True)
        if state["fingerprint"] != self.fingerprint:
            raise UsageError(
                f"{self.folder} holds a training with other settings or other studies; choose another folder, or "
                "delete it to start again"
            )
        self.towers.load_state_dict(state["towers"])
        self.optimizer.load_state_dict(state["optimizer"])
        self.passes = [Pass(**each) for each in state["passes"]]
        tell(f"going on after pass {len(self.passes)}")

    def _constant(self, plain: _Stored, owners: NDArray[np.intp]) -> float:
        """On the training studies' pictures as they are, not on changed copies."""
        self.towers.train(False)
        train = self.material.train
        pictures = mean_by_study(self._vectors(plain), owners, studies=len(train))
        reports = self._reports([study.texts[0] for study in train])
        return largest_area(pictures, reports, others=OTHERS, seed=self.settings.seed)

    def _write(self, constant: float) -> Path:
        towers, text = self.towers.train(False).cpu(), self.text
        matrix = towers.text.weight.detach().numpy().T * text.scale[:, None]
        about = {
            "constant": constant,
            "studies": len(self.material.train),
            "settings": {**asdict(self.settings), "start": Path(self.settings.start).name},
            "radgauge": __version__,
            **self.about,
        }
        model = ImageText(
            folded(towers.stages, *towers.image_matrix()),
            text.claims,
            np.ascontiguousarray(matrix),
            towers.text_bias().detach().numpy(),
            self.settings.size,
            about,
        )
        file = self.folder / FILE
        save_image_text(file, model)
        self.towers.to(self.device)
        return file

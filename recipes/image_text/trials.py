"""Trials of the embedded encoder: does it agree with raters better with right images than with wrong ones?

    python recipes/image_text/trials.py FOLDER DATA

FOLDER is what prepare.py wrote, DATA the development data. Every variant is fitted on two thirds of the training
studies and tried on the rest (validation studies: on all of them), so that no judged pair and no calibration is of
a study that was learned from. Prints tau-b with the rating, with right images, images at random (20 deals within
the part) and one mean image; the difference with its 95 % interval (studies drawn); how often an image lies nearer
to its own report; how often to the right side; and mean scores of changed validation reports, with C the 99 %
quantile of areas to another study's report in the part that was not learned from.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import numpy as np

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "benchmarks"))

from judged_data import judged_sources  # noqa: E402

import radgauge.lab.training.image_text_fit as closed_form  # noqa: E402
from radgauge.analysis.image_ablation import mirrored  # noqa: E402
from radgauge.analysis.perturb import perturb_reports  # noqa: E402
from radgauge.encoders.image import convolutions  # noqa: E402
from radgauge.encoders.image.embedded_image_text import load_image_text, picture_numbers, squared  # noqa: E402
from radgauge.encoders.text.report_claims import ReportClaims, claim_vocabulary  # noqa: E402
from radgauge.images import grey  # noqa: E402
from radgauge.lab.training.image_text_reports import reworded  # noqa: E402
from radgauge.lab.training.image_text_views import view_direction  # noqa: E402
from radgauge.metrics._triangle import triangle_area  # noqa: E402
from radgauge.reader import ReportReader  # noqa: E402
from radgauge.stats.coefficients import association, weighted_association  # noqa: E402

Array = np.ndarray
Sides = tuple[Callable[[Array], Array], Callable[[Array], Array]]
"""Studies (their numbers) to points, rows of reports to points."""
KINDS = ("remove_pathology", "normal_report", "flip_negation", "change_severity")
FOLDS, DEALS, RESAMPLES = 3, 20, 500


def unit(vectors: Array) -> Array:
    """Rows at length one."""
    return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)


class Quarters(convolutions._Chain):
    """The image network, with the means of the last two stages over each quarter of the picture besides."""

    def __call__(self, picture: Array) -> Array:
        """Numbers of one picture."""
        numbers = super().__call__(picture)
        stages = [*(self._fields[number + 1] for number in self._network.taps), self._fields[-1]][-2:]
        parts = []
        for field in stages:
            height, width = field.shape[:2]
            for rows in (slice(0, (height + 1) // 2), slice(height // 2, height)):
                for columns in (slice(0, width // 2), slice(width - width // 2, width)):
                    parts.append(field[rows, columns].mean(axis=(0, 1)))
        return np.concatenate([numbers, *parts])


class Trials:
    """Features of all studies, and what is measured of a pair of sides."""

    def __init__(self, folder: Path, data: Path) -> None:
        lines = (folder / "studies.jsonl").read_text(encoding="utf-8").splitlines()
        records = [json.loads(line) for line in lines]
        self.n = len(records)
        self.train = np.array([record["split"] == "train" for record in records])
        findings = [record["findings"] for record in records]
        both = [" ".join(filter(None, (record["findings"], record["impression"]))) for record in records]
        reader = ReportReader()
        claims = ReportClaims(
            claim_vocabulary(reader.read([t for t, s in zip(both, self.train, strict=True) if s]), min_count=4)
        )
        self.claims = len(claims.vocabulary)
        self.findings, self.both = claims.rows(findings), claims.rows(both)
        self.reworded = claims.rows(reworded(reader.read(both), seed=0))
        changed = perturb_reports({str(i): text for i, text in enumerate(both)}, KINDS, seed=1).perturbed
        self.changed = {
            kind: _with_rows(claims, [(int(s), done.text) for (s, k), done in changed.items() if k == kind])
            for kind in KINDS
        }
        sided = [(i, mirrored(text)) for i, text in enumerate(both) if mirrored(text) != text]
        self.changed["sides"] = _with_rows(claims, sided)
        judgments = judged_sources(data)["iu_pairs"]
        ratings = judgments.mean_ratings()
        rated = dict(zip(ratings.keys, ratings.values[:, 0], strict=True))
        number = {re.match(r"CXR(\d+)_", record["id"])[1]: i for i, record in enumerate(records)}
        pairs = [c for c in judgments.cases if c.id in number and not np.isnan(rated[c.key])]
        self.pairs = np.array([number[case.id] for case in pairs])
        self.ratings = np.array([rated[case.key] for case in pairs])
        self.candidates = claims.rows([case.candidate for case in pairs])
        self.references = claims.rows([case.references[0] for case in pairs])
        self._pictures(folder, records)
        order = np.random.default_rng(0).permutation(np.flatnonzero(self.train))
        self.part = np.full(self.n, -1)
        self.part[order] = np.arange(len(order)) % FOLDS
        shares = (self.both[self.train][:, : self.claims] > 0).mean(axis=0).clip(0.01)
        self.scale = np.ones(self.both.shape[1], np.float32)
        self.scale[: self.claims] = 1 / 8 / np.sqrt(shares)
        self.scale[self.claims : (self.claims + len(self.scale)) // 2] = 2

    def _pictures(self, folder: Path, records: list[dict]) -> None:
        model = load_image_text()
        paths = [(i, folder / "images" / name) for i, record in enumerate(records) for name in record["images"]]
        self.owners = np.array([i for i, _ in paths])
        self.width = model.network.width
        wide = SimpleNamespace(
            layers=model.network.layers,
            taps=model.network.taps,
            width=self.width + 4 * sum(len(model.network.layers[n].weight) for n in (model.network.taps[-1], -1)),
        )
        convolutions._Chain = Quarters
        parts = [paths[at : at + 64] for at in range(0, len(paths), 64)]
        squares = (np.stack([squared(grey(path), model.size) for _, path in part]) for part in parts)
        self.numbers = np.vstack([picture_numbers(wide, each, threads=2) for each in squares])
        first = np.r_[True, self.owners[1:] != self.owners[:-1]]
        self.frontal = view_direction(self.numbers[:, : self.width], first)(self.numbers[:, : self.width]) > 0

    def weights(self, text: str) -> Array:
        """Weights of the columns of reports: all, the reader's labels alone, or words alone."""
        label = np.arange(len(self.scale)) < self.claims
        return self.scale * {"all": label | True, "claims": label, "words": ~label}[text]

    def run(self, name: str, fit: Callable[[Array], Sides]) -> None:
        """Fit, measure and print one variant."""
        area, flat = np.full(len(self.pairs), np.nan), np.full(len(self.pairs), np.nan)
        dealt = np.full((DEALS, len(self.pairs)), np.nan)
        rng, sides, own, means = np.random.default_rng(2), [], np.nan, {}
        for part in (*range(FOLDS), -1):
            image, text = fit(np.flatnonzero(self.train & (self.part != part)))
            tried = np.flatnonzero(self.part == part)
            at = np.zeros((self.n, image(tried[:1]).shape[1]))
            at[tried] = image(tried)
            mine = np.isin(self.pairs, tried)
            one, two, study = text(self.candidates[mine]), text(self.references[mine]), self.pairs[mine]
            reports = text(self.findings[tried])
            scale = np.quantile(triangle_area(at[tried], reports, np.roll(reports, -7, axis=0)), 0.99)
            if mine.any():
                area[mine] = triangle_area(at[study], one, two) / scale
                flat[mine] = triangle_area(np.tile(at[tried].mean(axis=0), (len(study), 1)), one, two) / scale
                for deal in dealt:
                    order = rng.permutation(tried)
                    given = dict(zip(order, np.roll(order, 1), strict=True))
                    deal[mine] = triangle_area(at[[given[s] for s in study]], one, two) / scale
            whole = text(self.both)
            studies, rows = self._changed("sides", tried)
            near = ((at[studies] - whole[studies]) ** 2).sum(axis=1)
            sides += list(near < ((at[studies] - text(rows)) ** 2).sum(axis=1))
            if part == -1:
                squares = (at[tried] ** 2).sum(axis=1)[:, None] + (reports**2).sum(axis=1)[None]
                squares = squares - 2 * at[tried] @ reports.T
                own = (np.diag(squares)[:, None] < squares).sum() / (len(tried) * (len(tried) - 1))
                for kind in self.changed:
                    studies, rows = self._changed(kind, tried)
                    areas = triangle_area(at[studies], whole[studies], text(rows))
                    means[kind] = np.maximum(1 - areas / scale, 0).mean()
        self._print(name, area, flat, dealt, own, float(np.mean(sides)), means)

    def _changed(self, kind: str, tried: Array) -> tuple[Array, Array]:
        studies, rows = self.changed[kind]
        mine = np.isin(studies, tried)
        return studies[mine], rows[mine]

    def _print(
        self, name: str, area: Array, flat: Array, dealt: Array, own: float, side: float, means: dict[str, float]
    ) -> None:
        tau = association(-area, self.ratings)
        taus = np.mean([association(-deal, self.ratings) for deal in dealt])
        _, index = np.unique(self.pairs, return_inverse=True)
        rng, units = np.random.default_rng(1), index.max() + 1
        draws = np.stack(
            [np.bincount(rng.integers(0, units, units), minlength=units)[index] for _ in range(RESAMPLES)]
        )

        def drawn(values: Array) -> Array:
            return weighted_association(-values, self.ratings, draws.astype(float), kind="kendall_b")

        apart = drawn(area) - np.mean([drawn(deal) for deal in dealt], axis=0)
        low, high = np.nanquantile(apart, [0.025, 0.975])
        cells = [f"{tau:.3f}", f"{taus:.3f}", f"{association(-flat, self.ratings):.3f}"]
        cells += [f"{tau - taus:+.3f} [{low:+.3f}, {high:+.3f}]", f"{own:.3f}", f"{side:.3f}"]
        cells += [f"{means[kind]:.2f}" for kind in ("remove_pathology", "normal_report", "sides")]
        print(f"| {name} | {' | '.join(cells)} |", flush=True)

    def closed(
        self,
        *,
        text: str = "all",
        quarters: bool = False,
        dimensions: int = 128,
        power: float = 2.0,
        picture: float = 6.0,
        view: float = 2.0,
        rewording: float = 0.3,
        image_unit: bool = True,
        text_unit: bool = True,
    ) -> Callable[[Array], Sides]:
        """The closed form that made the encoder that ships, with other settings."""
        numbers = self.numbers if quarters else self.numbers[:, : self.width]
        weights = self.weights(text)

        def fit(learned: Array) -> Sides:
            closed_form._POWER = power
            place = np.zeros(self.n, int)
            place[learned] = np.arange(len(learned))
            inside, scaled, owners, scales = np.isin(self.owners, learned), [], [], []
            for mine in (self.frontal, ~self.frontal):
                part = numbers[inside & mine].astype(float)
                scales.append((part.mean(axis=0), part.std(axis=0) + 1e-3))
                scaled.append((part - scales[-1][0]) / scales[-1][1])
                owners.append(place[self.owners[inside & mine]])
            settings = SimpleNamespace(
                picture_ridge=picture,
                report_ridge=2.0,
                view_ridge=view,
                rewording=rewording,
                dimensions=dimensions,
            )
            layers = closed_form.fit_layers(
                tuple(scaled),
                tuple(owners),
                self.findings[learned] * weights,
                (self.reworded[learned] - self.both[learned]) * weights,
                settings=settings,
            )

            def image(studies: Array) -> Array:
                total, count = np.zeros((self.n, dimensions)), np.zeros(self.n)
                chosen = np.isin(self.owners, studies)
                for mine, matrix, (mean, spread) in zip(
                    (self.frontal, ~self.frontal), layers.views, scales, strict=True
                ):
                    points = ((numbers[chosen & mine] - mean) / spread) @ matrix
                    np.add.at(total, self.owners[chosen & mine], unit(points) if image_unit else points)
                    np.add.at(count, self.owners[chosen & mine], 1)
                found = total[studies] / np.maximum(count[studies], 1)[:, None]
                return unit(found) if image_unit else found

            def words(rows: Array) -> Array:
                found = (rows * weights - layers.centre) @ layers.text
                return unit(found) if text_unit else found

            return image, words

        return fit

    def contrastive(
        self, *, hard: float = 1.0, quarters: bool = False, decay: float = 0.1, drop: float = 0.3, k: int = 300
    ) -> Callable[[Array], Sides]:
        """Linear sides trained on own against other reports, and on own against changed reports (`hard`)."""
        import torch
        from torch.nn import functional

        numbers = self.numbers if quarters else self.numbers[:, : self.width]

        def fit(learned: Array) -> Sides:
            torch.manual_seed(0)
            beside = np.zeros((self.n, 2, numbers.shape[1]), np.float32)
            for view, mine in enumerate((self.frontal, ~self.frontal)):
                total = np.zeros((self.n, numbers.shape[1]))
                np.add.at(total, self.owners[mine], numbers[mine])
                count = np.bincount(self.owners[mine], minlength=self.n)
                mean, known = total / np.maximum(count, 1)[:, None], count[learned] > 0
                centre, spread = mean[learned][known].mean(axis=0), mean[learned][known].std(axis=0) + 1e-3
                beside[:, view] = np.where((count > 0)[:, None], (mean - centre) / spread, 0)
            flat = beside.reshape(self.n, -1)
            _, _, right = np.linalg.svd(flat[learned], full_matrices=False)
            images = flat @ right[:k].T
            images = torch.from_numpy((images / images[learned].std(axis=0)).astype(np.float32))
            weights, centre = self.weights("all"), (self.both[learned] * self.scale).mean(axis=0)
            _, strength, right = np.linalg.svd(self.both[learned] * weights - centre, full_matrices=False)
            basis = right[:k].T / ((strength[:k] + 0.1 * strength[0]) / np.sqrt(len(learned)))

            def reduced(rows: Array) -> torch.Tensor:
                return torch.from_numpy(((rows * weights - centre) @ basis).astype(np.float32))

            forms = [reduced(rows) for rows in (self.both, self.findings, self.reworded)]
            wrong = [(studies, reduced(rows)) for studies, rows in self.changed.values()]
            one, two = torch.nn.Linear(images.shape[1], 64), torch.nn.Linear(basis.shape[1], 64)
            steps = torch.optim.AdamW([*one.parameters(), *two.parameters()], lr=2e-3, weight_decay=decay)
            rng = np.random.default_rng(0)
            for _ in range(40):
                for batch in np.array_split(rng.permutation(learned), max(1, len(learned) // 256)):
                    at = functional.normalize(one(functional.dropout(images[batch], drop)), dim=1)
                    own = functional.dropout(forms[rng.integers(3)][batch], drop)
                    near = at @ functional.normalize(two(own), dim=1).T / 0.1
                    target = torch.arange(len(batch))
                    loss = functional.cross_entropy(near, target) + functional.cross_entropy(near.T, target)
                    for studies, rows in wrong if hard else ():
                        mine = np.flatnonzero(np.isin(batch, studies))
                        if len(mine) > 2:
                            place = np.searchsorted(studies, batch[mine])
                            other = functional.normalize(two(rows[place]), dim=1)
                            right_one = functional.normalize(two(forms[0][batch[mine]]), dim=1)
                            margin = (at[mine] * (other - right_one)).sum(dim=1)
                            loss = loss + hard * functional.softplus(margin / 0.1).mean()
                    steps.zero_grad()
                    loss.backward()
                    steps.step()

            def image(studies: Array) -> Array:
                with torch.no_grad():
                    return functional.normalize(one(images[studies]), dim=1).numpy().astype(float)

            def words(rows: Array) -> Array:
                with torch.no_grad():
                    return functional.normalize(two(reduced(rows)), dim=1).numpy().astype(float)

            return image, words

        return fit


def _with_rows(claims: ReportClaims, made: list[tuple[int, str]]) -> tuple[Array, Array]:
    made = sorted(made)
    return np.array([study for study, _ in made]), claims.rows([text for _, text in made])


def main() -> None:
    """All variants, a line each."""
    trials = Trials(Path(sys.argv[1]), Path(sys.argv[2]))
    closed = trials.closed
    trials.run("as it ships", closed())
    trials.run("words, without the reader's labels", closed(text="words"))
    trials.run("the reader's labels alone", closed(text="claims"))
    trials.run("16 directions", closed(dimensions=16))
    trials.run("power 0.5", closed(power=0.5))
    trials.run("ridges x 7", closed(picture=40, view=20))
    trials.run("images not at length one", closed(image_unit=False))
    trials.run("nothing at length one", closed(image_unit=False, text_unit=False))
    trials.run("nothing at length one, power 1", closed(image_unit=False, text_unit=False, power=1))
    trials.run("the same, rewording 1", closed(image_unit=False, text_unit=False, power=1, rewording=1))
    trials.run("the same, words", closed(image_unit=False, text_unit=False, power=1, text="words"))
    trials.run("contrastive", trials.contrastive(hard=0))
    trials.run("contrastive, hard negatives", trials.contrastive())
    trials.run(
        "hard negatives, quarters of the picture", trials.contrastive(quarters=True, decay=1, drop=0.6, k=100)
    )


if __name__ == "__main__":
    main()

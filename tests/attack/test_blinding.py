"""A rater who has the program, the reports and all options of the study, and tries to learn who wrote what."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from study_support import CANDIDATES, two_systems

from radgauge.study import Store, new_study

pytestmark = pytest.mark.process

STUDIES = int(os.environ.get("RADGAUGE_STUDIES", "100"))  # benchmarks/attacks.py makes 1,000
GUESSES = STUDIES * len(CANDIDATES["alpha"])
CHANCE = (0.5 - 2.5 / math.sqrt(GUESSES), 0.5 + 2.5 / math.sqrt(GUESSES))
"""Shares of right guesses between which pure chance stays: five standard errors each way."""

Seen = list[tuple[str, dict[str, str]]]


def shown(path: Path) -> tuple[Seen, dict[tuple[str, str], str]]:
    """What a rater's page shows: keys in order, label -> text; and the truth: (key, label) -> system."""
    with closing(Store(path)) as store:
        seen, truth = [], {}
        for place in (each for each in store.places("rater-1") if not each.training):
            view = store.case("rater-1", place.key)
            seen.append((place.key, {each.label: each.text for each in view.candidates}))
            truth |= {(place.key, label): system for label, system in store.key("rater-1", place.key).items()}
    return seen, truth


def studies(folder: Path, **settings: int) -> Iterator[tuple[Seen, dict[tuple[str, str], str]]]:
    for number in range(STUDIES):
        path = folder / f"{number}.sqlite"
        new_study(path, two_systems(), raters=1, **settings)
        yield shown(path)
        path.unlink()


def share(right: list[bool]) -> float:
    assert len(right) == GUESSES
    return sum(right) / len(right)


Guess = Callable[[Seen, Seen, dict[tuple[str, str], str]], dict[str, str]]


def by_position(seen: Seen, twin: Seen, known: dict[tuple[str, str], str]) -> dict[str, str]:
    """Case n of my study is case n of the twin that I made with the same options."""
    return {key: known[other, "A"] for (key, _), (other, _) in zip(seen, twin, strict=True)}


def by_key(seen: Seen, twin: Seen, known: dict[tuple[str, str], str]) -> dict[str, str]:
    """Keys in their order are the cases in theirs."""
    pairs = zip(sorted(key for key, _ in seen), sorted(key for key, _ in twin), strict=True)
    return {key: known[other, "A"] for key, other in pairs}


def by_study(seen: Seen, twin: Seen, known: dict[tuple[str, str], str]) -> dict[str, str]:
    """The same texts stand in the same order, whatever the keys are."""
    of_texts = {frozenset(texts.values()): known[key, "A"] for key, texts in twin}
    return {key: of_texts[frozenset(texts.values())] for key, texts in seen}


@pytest.mark.parametrize("settings", [{}, {"seed": 0}], ids=["default", "seed 0, which everybody would try"])
def test_a_rater_who_makes_the_study_again_guesses_no_better_than_by_tossing_a_coin(
    settings: dict[str, int], tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    new_study(tmp_path / "twin.sqlite", two_systems(), raters=1, **settings)
    twin, known = shown(tmp_path / "twin.sqlite")
    guesses: dict[str, list[bool]] = {guess.__name__: [] for guess in (by_position, by_key, by_study)}
    firsts: list[bool] = []
    ranks: list[bool] = []
    keys: set[str] = set()
    cases = zip(*map(dict.values, CANDIDATES.values()), strict=True)
    rank_of = {frozenset(texts): rank for rank, texts in enumerate(cases)}
    for seen, truth in studies(tmp_path, **settings):
        for guess in (by_position, by_key, by_study):
            said = guess(seen, twin, known)
            guesses[guess.__name__] += [truth[key, "A"] == system for key, system in said.items()]
        firsts += [truth[key, "A"] == "alpha" for key, _ in seen]
        drawn = [rank_of[frozenset(texts.values())] for _, texts in sorted(seen)]
        ranks += [drawn[n] == n for n in range(len(drawn))]
        keys.update(key for key, _ in seen)
    best = max(share(right) for right in guesses.values())
    record_property(f"best guess of a rater over {STUDIES:,} studies (a coin: 0.5), share right", best)
    for name, right in guesses.items():
        assert CHANCE[0] < share(right) < CHANCE[1], name
    assert CHANCE[0] < share(firsts) < CHANCE[1]
    assert 0.14 < share(ranks) < 0.36  # keys say nothing of the order in the reports: one in four by chance
    assert len(keys) == GUESSES  # and no key comes twice

"""A trained generator on disk: a folder of numbers, words and a card in JSON; nothing in it can hold code.

    generator.json        the card: settings, studies, what was left out, hashes, log
    words.npz             the ridge regression from pictures to words
    reports.jsonl         reports of the training studies: what retrieval hands out, what consensus compares with
    network.safetensors   weights of the decoder, of the epoch with the lowest validation loss
    vocabulary.txt        its tokens
    expected-GAIN.npz     expected gains of a pool of reports, once `generate --choose expected` has run
    state.safetensors     where a training stands that is not finished (weights, moments), with state.json

Reports may be those of patients: files are for their owner only, and the folder is as private as the reports are.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from radgauge import __version__
from radgauge.core.errors import InputError, ModelError, RadgaugeError, UsageError, require
from radgauge.core.files import sha256_of, write_file
from radgauge.core.parsing import parse_json
from radgauge.encoders.image.report_words import ReportWords, load_words, save_words
from radgauge.encoders.image.study_numbers import numbers_signature
from radgauge.encoders.text.report_tokens import SPECIAL, Vocabulary
from radgauge.lab.training.generator_settings import GeneratorSettings

CARD, WORDS, REPORTS = "generator.json", "words.npz", "reports.jsonl"
NETWORK, VOCABULARY = "network.safetensors", "vocabulary.txt"
FORMAT = 1


@dataclass(frozen=True, eq=False)
class Generator:
    """A generator as its folder holds it."""

    folder: Path
    settings: GeneratorSettings  # How it was trained
    card: Mapping[str, Any]  # Everything that is known of it
    words: ReportWords
    ids: tuple[str, ...]
    reports: tuple[str, ...]

    @property
    def signature(self) -> str:
        """Kind, register, size, and a hash of the files that its reports depend on."""
        digest = hashlib.sha256()
        for name in (WORDS, REPORTS, VOCABULARY, NETWORK):
            if (self.folder / name).is_file():
                digest.update(sha256_of(self.folder / name).encode())
        made = f"{self.settings.kind}|register:{self.settings.register}|studies:{len(self.ids)}"
        return f"generator|{made}|files:{digest.hexdigest()[:12]}|pictures:{self.card['pictures']}|v:{__version__}"


def write_card(folder: Path, settings: GeneratorSettings, **facts: Any) -> None:
    """Write the card."""
    card = {
        "format": FORMAT,
        "radgauge": __version__,
        "pictures": numbers_signature(),
        "settings": asdict(settings),
        **facts,
    }
    write_file(folder / CARD, json.dumps(card, ensure_ascii=False, indent=1) + "\n")


def read_card(folder: Path) -> dict[str, Any]:
    """The card of a folder.

    Raises:
        InputError: There is none.
        ModelError: It is damaged or of another version.
    """
    path = folder / CARD
    if not path.is_file():
        raise InputError(
            f"{folder} must be a folder that `radgauge train generator` wrote; it has no {CARD}: train one first"
        )
    try:
        card: dict[str, Any] = parse_json(path.read_text(encoding="utf-8"))
        if card["format"] != FORMAT:
            raise ModelError(
                f"{path} is of form {card['format']}, this radgauge reads form {FORMAT}; train it again"
            )
        return card
    except (ValueError, KeyError, TypeError) as error:
        raise ModelError(f"{path} must be the card of a generator that radgauge trained, got: {error}") from error


def settings_of(card: Mapping[str, Any]) -> GeneratorSettings:
    """The settings that a card names."""
    try:
        return GeneratorSettings(**card["settings"])
    except (KeyError, TypeError) as error:
        names = ", ".join(setting.name for setting in fields(GeneratorSettings))
        raise ModelError(f"the card of a generator must have the settings {names}, got: {error}") from error


def write_reports(folder: Path, ids: Sequence[str], texts: Sequence[str]) -> None:
    """Write the training reports."""
    lines = [json.dumps({"id": i, "report": t}, ensure_ascii=False) for i, t in zip(ids, texts, strict=True)]
    write_file(folder / REPORTS, "\n".join(lines) + "\n")


def write_index(folder: Path, ids: Sequence[str], texts: Sequence[str], words: ReportWords) -> None:
    """Write what every kind of generator has: regression and reports."""
    save_words(folder / WORDS, words)
    write_reports(folder, ids, texts)


def load_generator(folder: Path | str) -> Generator:
    """A generator from its folder.

    Raises:
        InputError: The folder holds none.
        ModelError: A file is damaged, or made for another version of the image network.
    """
    path = Path(folder)
    card = read_card(path)
    if card.get("pictures") != numbers_signature():
        raise ModelError(
            f"{path} was trained on pictures as {card.get('pictures')} sees them, this radgauge has "
            f"{numbers_signature()}; train it again"
        )
    words = load_words(path / WORDS)
    try:
        records = [parse_json(line) for line in (path / REPORTS).read_text(encoding="utf-8").splitlines()]
        ids, reports = (tuple(str(record[name]) for record in records) for name in ("id", "report"))
    except (OSError, RadgaugeError, ValueError, KeyError, TypeError) as error:
        raise ModelError(f"{path / REPORTS} must hold the training reports, got: {error}") from error
    if len(ids) != len(words.training):
        raise ModelError(
            f"{path} must hold one report per study of its regression, got {len(ids)} reports and "
            f"{len(words.training)} studies; train it again"
        )
    return Generator(path, settings_of(card), card, words, ids, reports)


def read_vocabulary(folder: Path) -> Vocabulary:
    """The tokens of the network."""
    try:
        vocabulary = Vocabulary(tuple((folder / VOCABULARY).read_text(encoding="utf-8").split("\n")[:-1]))
    except OSError as error:
        raise ModelError(f"{folder} must hold the network's tokens, got: {error}") from error
    if vocabulary.tokens[: len(SPECIAL)] != SPECIAL:
        raise ModelError(f"{folder / VOCABULARY} must begin with {' '.join(SPECIAL)}; train it again")
    return vocabulary


def load_network(folder: Path) -> tuple[Any, Vocabulary]:
    """The decoder with its best weights, ready to write, and its tokens."""
    files = require("safetensors.torch", extra="models")
    damaged = require("safetensors", extra="models").SafetensorError
    card, vocabulary = read_card(folder), read_vocabulary(folder)
    network = new_network(settings_of(card), vocabulary, load_words(folder / WORDS))
    if not (folder / NETWORK).is_file():
        raise UsageError(f"{folder} holds no finished network ({NETWORK}); run the same training again to go on")
    try:
        network.load_state_dict(files.load_file(folder / NETWORK))
    except (damaged, RuntimeError, OSError) as error:
        raise ModelError(f"{folder / NETWORK} does not hold the network of its card: {error}") from error
    return network.train(False), vocabulary


def new_network(settings: GeneratorSettings, vocabulary: Vocabulary, words: ReportWords) -> Any:
    """A decoder for these settings and data, with random weights."""
    from radgauge.encoders.image.report_decoder import ReportDecoder

    numbers = words.matrix.shape[0] // 2
    return ReportDecoder(settings, tokens=len(vocabulary.tokens), numbers=numbers, words=len(words.words))

"""The embedded writer as a translator: a sentence that it keeps is no lay text."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from radgauge.core.errors import InputError
from radgauge.lay.build import build_reports, build_sets
from radgauge.lay.encoder import FindingEncoder
from radgauge.lay.language_words import FOLDER, words_hash
from radgauge.lay.plain_sentences import mixed_text, write_plain
from radgauge.lay.prompts import lay_prompts
from radgauge.lay.refine import Refinement
from radgauge.lay.translators import EmbeddedTranslator
from radgauge.llm.prompts import Prompt

KEPT = "The quixotic catheter sits near the cardiac apex."
WRITTEN = "No pneumothorax."
PLAIN = "There is no air leak around your lungs."
ENCODER = FindingEncoder()
HOW = Refinement(EmbeddedTranslator(), ("fidelity",), ENCODER)


def test_a_kept_sentence_has_no_lay_text() -> None:
    written, kept, both, none = EmbeddedTranslator().translate([WRITTEN, KEPT, f"{WRITTEN} {KEPT}", "..."])
    assert (written.value, written.why) == (PLAIN, "")
    assert kept.value == ""
    assert kept.why.startswith("the writer keeps the sentence (")
    assert both.value == ""
    assert both.why.startswith("the writer keeps a sentence (1 of 2, first: ")
    assert (none.value, none.why) == ("", "the writer found nothing to say")


def test_headings_of_a_report_keep_it_from_nothing() -> None:
    [found] = EmbeddedTranslator().translate([f"FINDINGS:\n\n{WRITTEN}"])
    assert found.value.endswith(PLAIN)


def test_the_signature_follows_the_words() -> None:
    assert EmbeddedTranslator().signature.endswith(f"|words:en-{words_hash('en')}")
    assert words_hash("en") != words_hash("de")
    assert (FOLDER / "en.toml").is_file()


def test_a_set_counts_what_is_kept_and_a_mixed_report_says_so(tmp_path: Path) -> None:
    built = build_sets({"1": f"{WRITTEN} {KEPT}", "2": WRITTEN}, tmp_path, how=HOW, encoder=ENCODER)
    assert (built.pairs, built.lay_reports) == (1, 1)
    assert (built.said, built.translated) == (3, 2)
    assert built.reasons == {"the writer keeps the sentence": 1}
    first, second = (json.loads(line) for line in (tmp_path / "reports.jsonl").read_text("utf-8").splitlines())
    assert first["lay"] is None
    assert first["why"].startswith("a sentence has no accepted lay text: the writer keeps the sentence (")
    assert first["mixed"] == f"{PLAIN} {KEPT}"
    assert (first["said"], first["translated"]) == (2, 1)
    assert second["lay"] == second["mixed"] == PLAIN


def test_whole_reports_with_a_kept_sentence_are_not_lay(tmp_path: Path) -> None:
    built = build_reports({"1": f"{WRITTEN} {KEPT}", "2": WRITTEN}, tmp_path, how=HOW)
    assert (built.lay_reports, built.reasons) == (1, {"the writer keeps a sentence": 1})


def test_mixed_text_has_no_advice_and_no_gloss() -> None:
    assert mixed_text(write_plain(f"{WRITTEN} {KEPT}")) == f"{PLAIN} {KEPT}"
    assert mixed_text(()) == ""


def test_a_file_can_replace_the_whole_prompt(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(
        '[translate]\nuser = "Sentences: {items} Say each in other words."\n'
        '[check]\nsystem = "Be strict."\nuser = "Original: {items.report} Plain: {items.plain}"\n',
        encoding="utf-8",
    )
    prompts = lay_prompts(own=path)
    assert prompts["translate"] == Prompt("", "Sentences: {items} Say each in other words.")
    assert prompts["revise"] == lay_prompts()["revise"]
    asked = prompts["check"].fill([{"report": "No effusion.", "plain": "No fluid."}])
    assert " ".join(asked.split()) == 'Original: { "0": "No effusion." } Plain: { "0": "No fluid." }'
    path.write_text('[translate]\nuser = "Nothing to fill."\n', encoding="utf-8")
    with pytest.raises(InputError, match=r"which holds \{items\}"):
        lay_prompts(own=path)

"""Packed readings hold places in the report, not its words."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from radgauge.core.cache import Cache
from radgauge.core.packing import pack_without_words, unpack_with_words
from radgauge.core.readings import Readings
from radgauge.reader import ReportReader

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@given(JSON, st.text())
def test_any_value_comes_back_whatever_the_text(value: object, text: str) -> None:
    assert unpack_with_words(pack_without_words(value, text), text) == value


@given(st.text(), st.data())
def test_parts_of_the_text_become_places(text: str, data: st.DataObject) -> None:
    start, end = sorted(data.draw(st.tuples(st.integers(0, len(text)), st.integers(0, len(text)))))
    packed = pack_without_words([text[start:end]], text)
    assert re.fullmatch(rb'\["(@\d+\+\d+)?"\]', packed)
    assert unpack_with_words(packed, text) == [text[start:end]]


def test_words_are_found_without_accents_and_one_by_one() -> None:
    text = "Mrs. Müller-Ōta: no effusion"
    packed = pack_without_words({"name": "muller - ota", "tokens": "Mrs. no effusion"}, text)
    assert packed == b'{"name":"^5+6 @11+1 ^12+3","tokens":"@0+4 @17+2 @20+8"}'
    assert unpack_with_words(packed, text) == {"name": "muller - ota", "tokens": "Mrs. no effusion"}


def test_words_glued_to_other_signs_are_found() -> None:
    packed = pack_without_words(["left![UNK]", "[UNK]left x", "a-b"], "The left! \U0001fac1")
    assert packed == b'["@4+4 &=![ &=UNK &=]","=[ &=UNK &=] &@4+4 =x","a-b"]'
    assert unpack_with_words(packed, "The left! \U0001fac1") == ["left![UNK]", "[UNK]left x", "a-b"]


@pytest.mark.parametrize("packed", [b'["@3+99"]', b'["@x+1"]', b"\xff", b"[", b'["@1+1 z"]'])
def test_other_bytes_are_a_value_error(packed: bytes) -> None:
    with pytest.raises(ValueError):
        unpack_with_words(packed, "effusion")


def test_no_word_of_a_report_is_in_the_packed_reading() -> None:
    text = "Mrs. Quibblewick, 2 cm nodule in the LEFT upper lobe, no pleural effusion. Tell Dr. Zanzibarov."
    reader = ReportReader()
    (reading,) = reader.read([text])
    packed = reader.pack(reading, text)
    for word in ("Quibblewick", "Zanzibarov", "nodule", "effusion", "pleural", "lobe", "LEFT", "left"):
        assert not re.search(rb'["= ]' + word.encode() + rb'["= ]', packed)
    assert b"Quibble" not in packed
    assert b"anzibar" not in packed
    assert reader.unpack(packed, text) == reading


def test_a_cache_that_held_words_is_started_anew(tmp_path: Path) -> None:
    import sqlite3

    cache = Cache(tmp_path)
    cache.put("old", {"text": b"Quibblewick"})
    with sqlite3.connect(cache.path) as db:
        db.execute("pragma user_version = 0")
    db.close()
    Readings(cache=cache).of(ReportReader(), ["No effusion."])
    (signature,) = cache.info().readers
    assert signature.startswith(ReportReader().signature)
    assert all(b"Quibblewick" not in path.read_bytes() for path in cache.folder.glob("readings*"))

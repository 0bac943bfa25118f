"""What is kept of reports on disk holds none of their words, and comes back whole with the text."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from radgauge.core.cache import Cache
from radgauge.core.packing import seal, unseal
from radgauge.core.readings import Readings
from radgauge.reader import ReportReader

REPORT = "Mrs. Quibblewick, 2 cm nodule in the LEFT upper lobe, no pleural effusion. Tell Dr. Zanzibarov."


@given(st.binary(max_size=300), st.text(max_size=50))
def test_what_is_sealed_comes_back(content: bytes, key: str) -> None:
    sealed = seal(content, key=key)
    assert unseal(sealed, key=key) == content
    assert sealed != seal(content, key=key)  # equal readings cannot be told by their bytes


@pytest.mark.parametrize("sealed", [b"", b"short", b"\xff" * 30], ids=["empty", "short", "other"])
def test_other_bytes_and_other_texts_are_a_value_error(sealed: bytes) -> None:
    with pytest.raises(ValueError, match="not sealed by this text"):
        unseal(sealed, key=REPORT)
    with pytest.raises(ValueError, match="not sealed by this text"):
        unseal(seal(b"effusion", key="another text"), key=REPORT)


def test_no_word_of_a_report_is_in_the_cache(tmp_path: Path) -> None:
    (reading,) = Readings(cache=Cache(tmp_path)).of(ReportReader(), [REPORT])
    content = b"".join(path.read_bytes() for path in tmp_path.glob("readings*")).lower()
    assert content
    for word in ("quibble", "zanzibar", "nodule", "effusion", "pleural", "lobe"):
        assert word.encode() not in content
    (again,) = Readings(cache=Cache(tmp_path)).of(ReportReader(), [REPORT])
    assert again == reading


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

"""Sentences of the rater's pages in other languages: none is missing, and none is left over."""

from __future__ import annotations

import re
from importlib.resources import files

import pytest
from study_support import two_systems

from radgauge.study import new_study
from radgauge.study.design import LANGUAGES
from radgauge.study.design_file import DesignError, design_text, load_design
from radgauge.study.web.pages import CANNOT_JUDGE, translated, words

WEB = files("radgauge.study.web")
SCRIPT = (WEB / "static" / "study.js").read_text(encoding="utf-8")
TEMPLATES = "\n".join(
    path.read_text(encoding="utf-8") for path in (WEB / "templates").iterdir() if path.name.endswith(".j2")
)
OTHERS = [language for language in LANGUAGES if language != "en"]


@pytest.mark.parametrize("language", OTHERS)
def test_every_sentence_is_there_with_its_places(language: str) -> None:
    table = words(language)
    asked = {*re.findall(r'\bt\("([^"{}]+|[^"]*\{0\}[^"]*)"', SCRIPT + TEMPLATES), *CANNOT_JUDGE}
    asked |= {*re.findall(r'\b(?:tell|status)\("([^"]+)"', SCRIPT)}
    assert {text.rstrip() for text in asked} <= table.keys()
    for english, said in table.items():
        assert sorted(re.findall(r"\{\d\}", english)) == sorted(re.findall(r"\{\d\}", said)), english
        assert said.strip() == said != ""


def test_no_sentence_is_left_over() -> None:
    python = "".join((WEB / name).read_text(encoding="utf-8") for name in ("app.py", "pages.py", "said.py"))
    for english in words("de"):
        assert english in SCRIPT + TEMPLATES + python, english
    assert words("de").keys() == words("fr").keys() == words("es").keys()


def test_a_design_names_its_language(tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("design")
    own = folder / "own.toml"
    own.write_text(f'language = "de"\n{design_text("errors")}')
    assert load_design(own).language == "de"
    assert load_design("errors").language == "en"
    assert new_study(folder / "s.sqlite", two_systems(), design=own).path.exists()
    own.write_text(f'language = "la"\n{design_text("errors")}')
    with pytest.raises(DesignError, match="language must be one of 'en', 'de', 'fr', 'es'"):
        load_design(own)
    assert translated("de", "Case {0} of {1}", 3, 50) == "Fall 3 von 50"
    assert translated("en", "Case {0} of {1}", 3, 50) == "Case 3 of 50"

"""The lexicon: its schema check, what a user's file may do, and the built-in files themselves."""

from __future__ import annotations

from pathlib import Path

import pytest

from radgauge.reader import LexiconError, load_lexicon, read_report
from radgauge.reader.compile import load_vocabulary
from radgauge.reader.lexicon.__main__ import main
from radgauge.reader.lexicon.load import built_in_files, check_lexicon


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    return tmp_path / "mine.toml"


def concept(path: Path, **fields: object) -> Path:
    lines = [
        f"{key} = {value!r}" if not isinstance(value, bool) else f"{key} = {str(value).lower()}"
        for key, value in fields.items()
    ]
    with path.open("a", encoding="utf-8") as file:
        file.write("\n".join(["[[concept]]", *lines, ""]))
    return path


def problems(path: Path) -> list[str]:
    return check_lexicon([path])[1]


def test_the_built_in_lexicon_is_sound() -> None:
    concepts, found = check_lexicon(built_in_files())
    assert found == []
    assert all(each.tier for each in concepts.values() if each.is_finding)
    assert all(each.lay for each in concepts.values() if each.kind != "normality")


def test_compositions_and_regions_name_concepts() -> None:
    lexicon = load_lexicon()
    tables = lexicon.tables["compositions"]
    for rule in tables["composition"]:
        assert rule["concept"] in lexicon, rule
        assert all(each in lexicon and lexicon[each].kind == "anatomy" for each in rule["anatomy"]), rule
    for rule in lexicon.tables["polarity"]["composition"]:
        assert rule["concept"] in lexicon, rule
        known = {
            "*",
            "cervical_vertebra",
            "thoracic_vertebra",
            "lumbar_vertebra",
            *lexicon.concepts,
        }  # joined levels
        assert known.issuperset(rule.get("anatomy", ())), rule
    for rule in tables["sense"]:
        assert rule["concept"] == "part" or lexicon[rule["concept"]].kind == "anatomy", rule
        assert all(each in lexicon for each in rule["near"]), rule
    for rule in tables["region"]:
        assert {rule["said"], rule["concept"]} <= lexicon.concepts.keys(), rule


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"id": "Bad Id"}, "concept 'Bad Id': id must be snake_case"),
        ({"kind": "disease"}, "concept number 1: id must be snake_case"),
        ({"id": "x", "kind": "disease"}, "concept 'x': field 'name' is missing"),
        ({"id": "x", "kind": "illness", "name": "x"}, "kind must be one of anatomy, abnormality.*; got 'illness'"),
        (
            {"id": "x", "kind": "disease", "name": "x", "colour": "red"},
            "unknown field 'colour'; known fields: id, kind",
        ),
        ({"id": "x", "kind": "disease", "name": "X ray"}, "name must be lower case, got 'X ray'"),
        (
            {"id": "x", "kind": "disease", "name": "x", "synonyms": "y"},
            "synonyms must be a list of non-empty strings",
        ),
        (
            {"id": "x", "kind": "disease", "name": "x", "tier": "soon"},
            "tier must be one of urgent, .*; got 'soon'",
        ),
        ({"id": "x", "kind": "disease", "name": "x", "paired": "yes"}, "paired must be true or false, got 'yes'"),
        ({"id": "x", "kind": "disease", "name": 3}, "name must be a string, got 3"),
        ({"id": "x", "kind": "disease", "name": "x", "parents": ["y"]}, "parents names 'y', which is no concept"),
        ({"id": "x", "kind": "disease", "name": "x", "denies": ["x"]}, "denies belongs to normality and anatomy"),
        (
            {"id": "x", "kind": "disease", "name": "x", "location": ["x"]},
            "location must be anatomy, 'x' is disease",
        ),
        ({"id": "x", "kind": "disease", "name": "..", "synonyms": []}, None),
    ],
)
def test_what_is_wrong_is_named(mine: Path, fields: dict[str, object], message: str | None) -> None:
    found = problems(concept(mine, **fields))
    if message is None:
        assert found == []
        return
    assert len(found) == 1
    assert found[0].startswith("mine.toml: ")
    with pytest.raises(LexiconError, match=message):
        raise LexiconError(found)


def test_terms_belong_to_one_concept_in_every_spelling(mine: Path) -> None:
    concept(mine, id="a", kind="abnormality", name="pulmonary oedema")
    concept(mine, id="b", kind="abnormality", name="pulmonary-edemas", abbreviations=["PE"])
    concept(mine, id="c", kind="abnormality", name="c", abbreviations=["PE"])
    assert problems(mine) == [
        "mine.toml: concept 'b': term 'pulmonary-edemas' already belongs to 'a' (mine.toml, as "
        "'pulmonary oedema')",
        "mine.toml: concept 'c': abbreviation 'PE' already belongs to 'b' (mine.toml)",
    ]


def test_cycles_and_kinds_of_parents(mine: Path) -> None:
    concept(mine, id="a", kind="abnormality", name="a", parents=["b"])
    concept(mine, id="b", kind="abnormality", name="b", parents=["a"])
    concept(mine, id="c", kind="anatomy", name="c", parents=["a"])
    assert problems(mine) == [
        "mine.toml: concept 'c': parents of anatomy cannot be abnormality 'a'",
        "mine.toml: concept 'b': parents form a cycle: a -> b -> a",
    ]


def test_an_id_is_used_once(mine: Path) -> None:
    concept(mine, id="a", kind="abnormality", name="a")
    concept(mine, id="a", kind="abnormality", name="b")
    assert problems(mine) == ["mine.toml: concept 'a': id is already used in mine.toml"]


def test_files_that_are_no_lexicon(mine: Path, tmp_path: Path) -> None:
    mine.write_text("[[concept]\n")
    assert "not valid TOML" in problems(mine)[0]
    mine.write_text("concept = 3\nother = 1\n")
    assert problems(mine) == [
        "mine.toml: unknown table 'other'; a lexicon file holds [[concept]] tables",
        "mine.toml: 'concept' must be a list of tables ([[concept]])",
    ]
    with pytest.raises(LexiconError, match=r"nowhere\.toml: cannot be read: No such file"):
        load_lexicon((tmp_path / "nowhere.toml",))


@pytest.mark.long
def test_a_users_file_overrides_fields_and_adds_concepts(mine: Path) -> None:
    concept(mine, id="cardiomegaly", lay="a heart that is too large")
    concept(mine, id="zorb", kind="device", name="zorb implant", tier="benign", lay="an implant")
    lexicon = load_lexicon((mine,))
    ours = load_lexicon()
    assert lexicon["cardiomegaly"].lay == "a heart that is too large"
    assert lexicon["cardiomegaly"].synonyms == ours["cardiomegaly"].synonyms
    assert len(lexicon) == len(ours) + 1
    assert lexicon.hash != ours.hash
    reading = read_report("A zorb implant is seen.", lexicon=mine)
    assert [mention.concept for mention in reading.mentions] == ["zorb"]


@pytest.mark.long
def test_a_users_term_wins_over_ours(mine: Path) -> None:
    concept(mine, id="fluid_in_chest", kind="abnormality", name="effusion")
    reading = read_report("No effusion.", lexicon=load_lexicon((mine,)))
    assert [mention.concept for mention in reading.mentions] == ["fluid_in_chest"]


def test_a_users_file_with_problems_is_refused_with_all_of_them(mine: Path) -> None:
    for number in range(22):
        concept(mine, id=f"a{number}", kind="nothing", name=f"zorb {number}")
    with pytest.raises(LexiconError, match=r"the lexicon has 22 problem\(s\)") as caught:
        load_lexicon((mine,))
    assert "and 2 more" in str(caught.value)
    assert len(caught.value.problems) == 22


def test_ancestors_are_nearest_first() -> None:
    lexicon = load_lexicon()
    above = lexicon.ancestors("right_lower_lobe")
    assert "lung" in above
    assert lexicon.is_a("right_lower_lobe", "lung")
    assert lexicon.is_a("lung", "lung")
    assert not lexicon.is_a("lung", "right_lower_lobe")
    assert lexicon.ancestors("no such concept") == ()


@pytest.mark.long
def test_the_check_as_a_command(mine: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 0
    assert "0 problem(s)" in capsys.readouterr().out
    concept(mine, id="x", kind="nothing", name="zorb")
    assert main([str(mine)]) == 1
    assert "mine.toml: concept 'x': kind must be one of" in capsys.readouterr().err


@pytest.mark.long
def test_the_compiled_form_is_kept_and_never_trusted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mine: Path
) -> None:
    monkeypatch.setenv("RADGAUGE_CACHE", str(tmp_path / "cache"))
    concept(mine, id="zorb", kind="device", name="zorb implant")

    def fresh() -> list[str]:
        from radgauge.reader import compile as compiler
        from radgauge.reader.lexicon import load

        load._load.cache_clear()
        compiler._load.cache_clear()
        load_vocabulary((mine,))
        found = [mention.concept for mention in read_report("No zorb implant or edema.", lexicon=mine).mentions]
        load._load.cache_clear()
        compiler._load.cache_clear()
        return found

    first = fresh()
    files = sorted((tmp_path / "cache" / "lexicon").iterdir())
    assert len(files) == 2
    assert fresh() == first == ["zorb", "edema"]
    for file in files:
        file.write_text("{ no JSON")
    assert fresh() == first
    monkeypatch.setenv("RADGAUGE_CACHE", str(mine))  # a file, not a folder: nothing can be kept
    assert fresh() == first

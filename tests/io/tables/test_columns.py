"""Which column is what: aliases, ambiguity, overrides."""

from __future__ import annotations

import pytest

from radgauge.core.errors import InputError, UsageError
from radgauge.io.tables.column_names import looks_like_files, looks_like_report, shown_names
from radgauge.io.tables.columns import Columns, check_roles, parse_columns, resolve


def roles(names: str, **options: object) -> Columns:
    return resolve({name: ["x"] for name in names.split()}, name="r.csv", **options)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        ("id reference candidate", ("id", "reference", "candidate")),
        ("study_id ground_truth model_prediction", ("study_id", "ground_truth", "model_prediction")),
        ("uid gt hyp", ("uid", "gt", "hyp")),
        ("Study-ID Ref Hypothesis", ("Study-ID", "Ref", "Hypothesis")),
        ("id study_id reference candidate", ("id", "reference", "candidate")),  # the plain name wins
        ("filename report generated", ("filename", "report", "generated")),
        ("report_id findings prediction", ("report_id", "findings", "prediction")),
        ("id reference report candidate prediction", ("id", "reference", "candidate")),
    ],
)
def test_names_of_the_field(names: str, expected: tuple[str, str, str]) -> None:
    found = roles(names)
    assert (found.id, found.references, found.candidates) == (
        expected[0],
        ((expected[1],),),
        ((expected[2],),),
    )


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        ("id reference_2 reference_1 candidate", ("reference_1", "reference_2")),
        ("id reference reference_2 candidate", ("reference", "reference_2")),
        ("id gt1 gt2 gt10 candidate", ("gt1", "gt2", "gt10")),
        ("id report ref_1 ref_2 candidate", ("ref_1", "ref_2")),
        ("id reference reference_cleaned candidate", ("reference",)),
    ],
)
def test_several_references(names: str, expected: tuple[str, ...]) -> None:
    assert roles(names).references == tuple((name,) for name in expected)


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (
            "study_id uid reference candidate",
            "2 columns could be the id; choose columns={'id': 'study_id'} or columns=",
        ),
        (
            "id ref gt candidate",
            "could be the reference; choose columns={'reference': 'ref'} or columns={'reference': 'gt'}$",
        ),
        ("id ref hyp pred", "choose .* or candidate_columns=\\['hyp', 'pred'\\] for one system each"),
        ("id report text candidate", "could be the reference; choose columns={'reference': 'report'}"),
        (
            "system reference candidate",
            "no id column; expected one of id, study_id.*name it with columns={'id': NAME}",
        ),
        (
            "id findings impression candidate",
            "choose with section='findings', section='impression' or section='both'",
        ),
        ("id reference other", "no candidate column.*got columns id, reference, other; name it with"),
    ],
)
def test_what_is_unclear_is_refused(names: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        roles(names)


def test_sections_in_columns() -> None:
    rexrank = "id report section_findings section_impression model_prediction"
    assert roles(rexrank).references == (("report",),)
    assert roles(rexrank, section="whole").references == (("report",),)
    findings = roles(rexrank, section="findings")
    assert (findings.references, findings.sectioned) == ((("section_findings",),), {"reference"})
    both = roles("id findings impression candidate", section="both")
    assert both.references == (("findings", "impression"),)
    assert both.as_dict()["reference"] == "findings + impression"
    assert roles("id reference findings candidate", section="findings").references == (("reference",),)
    with pytest.raises(InputError, match="section='impression'"):
        roles("id findings candidate", section="impression")
    with pytest.raises(InputError, match="section='both'"):
        roles("id impression candidate", section="both")
    with pytest.raises(InputError, match=r"columns={'reference': 'findings'}"):
        roles("id findings section_findings candidate")


def test_sides_of_a_join() -> None:
    found = roles("study_id report", mode="candidates")
    assert found.candidates == (("report",),)
    own = roles("id reference candidate", mode="candidates")
    assert (own.references, own.ignored) == ((), {"reference"})
    assert roles("id report prediction", mode="references").ignored == {"prediction"}
    with pytest.raises(InputError, match="ground_truth"):
        roles("id candidate", mode="references")
    sectioned = roles("id findings impression", mode="candidates", section="impression")
    assert (sectioned.candidates, sectioned.sectioned) == ((("impression",),), {"candidate"})


def test_wide_tables() -> None:
    found = roles("id reference model ours", candidate_columns=["ours", "model"])
    assert (found.candidates, found.system, found.wide) == ((("ours",), ("model",)), None, True)
    with pytest.raises(UsageError, match="exclude each other"):
        roles("id reference model ours", candidate_columns=["ours"], user_roles={"system": ("model",)})


def test_overrides() -> None:
    given = check_roles({"id": "uid", "reference": ["a", "b"], "candidate": "c"})
    found = roles("id uid a b c", user_roles=given)
    assert (found.id, found.references, found.candidates) == ("uid", (("a",), ("b",)), (("c",),))
    with pytest.raises(InputError, match=r"^r.csv: no column 'uidd'"):
        roles("uid reference candidate", user_roles={"id": ("uidd",)})
    with pytest.raises(UsageError, match="'refrence'; did you mean 'reference'"):
        check_roles({"refrence": "a"})
    with pytest.raises(UsageError, match="'id' takes one column, got a, b"):
        check_roles({"id": ["a", "b"]})


def test_the_text_of_an_override() -> None:
    assert parse_columns(" id = uid , reference=gt report,") == {"id": ("uid",), "reference": ("gt report",)}
    with pytest.raises(UsageError, match="id=uid,reference=gt_report, got 'uid'"):
        parse_columns("uid")


def test_images() -> None:
    sample: dict[str, list[object]] = {
        "id": ["1"],
        "candidate": ["a"],
        "image": ["Xray Chest PA and Lateral"],
    }
    assert resolve(sample, name="r").images == ()
    assert resolve({**sample, "image": ["a/0.png"]}, name="r").images == ("image",)
    paths: dict[str, list[object]] = {"image_path": [["a.png", "b.png"]], "key_image_path": ["a.png"]}
    assert resolve({"id": ["1"], "candidate": ["a"], **paths}, name="r").images == ("image_path",)
    assert looks_like_files(['["a.png"]', None])


def test_what_looks_like_a_report() -> None:
    assert looks_like_report("ours", ["the lungs are clear", None, "no large effusion seen"])
    assert not looks_like_report("ours", ["clear", "normal"])
    assert not looks_like_report("indication", ["the lungs are clear"])
    assert not looks_like_report("reference_cleaned", ["the lungs are clear"])
    assert not looks_like_report("empty", [None, ""])


def test_a_message_names_a_bounded_number_of_columns() -> None:
    text = shown_names([f"c{number}" for number in range(20_000)])
    assert text.endswith("c98, c99, and 19900 more")

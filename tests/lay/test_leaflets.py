"""Leaflets: every report a row, pages that are safe and say whether they are signed, signatures that hold."""

from __future__ import annotations

import csv
import json
import re
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from radgauge.core.errors import InputError, UsageError
from radgauge.lay.encoder import FindingEncoder
from radgauge.lay.leaflets import (
    NOT_YET,
    Decision,
    EmbeddedWriter,
    GivenWriter,
    Leaflet,
    ModelWriter,
    PageStyle,
    leaflet_page,
    page_names,
    read_leaflets,
    side_by_side_page,
    sign_leaflets,
    write_leaflets,
)
from radgauge.lay.leaflets.checking import check_sentences
from radgauge.lay.leaflets.leaflet import from_record
from radgauge.lay.leaflets.writers import MAX_CHARACTERS, Written, refused
from radgauge.lay.plain_sentences import Gloss, PlainSentence
from radgauge.lay.refine import Refinement
from radgauge.llm.numbered import Outcome
from radgauge.render.printing import BROWSERS, pdf_printer

EFFUSION = "Small left pleural effusion. No pneumothorax."
REPORTS = {
    "12": EFFUSION,
    "empty": "  ",
    "a/b": "Cardiomegaly.",
    "es": "El corazón es de tamaño normal y no hay derrame pleural en la placa de hoy.",
    "dots": "... 12 ...",
    "long": "No effusion. " * (MAX_CHARACTERS // 12),
}


def table_of(folder: Path) -> list[dict[str, str]]:
    with (folder / "leaflets.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def write(folder: Path, reports: Mapping[str, str] = REPORTS, **more: object) -> object:
    return write_leaflets(reports, folder, writer=EmbeddedWriter(), **more)  # type: ignore[arg-type]


def decision(folder: Path, study: str, **changes: object) -> Decision:
    leaflet = next(each for each in read_leaflets(folder)[1] if each.id == study)
    said = Decision(study, "Dr Ada Example", "2026-11-18T09:30:00+00:00", leaflet.report, leaflet.plain, True)
    return replace(said, **changes)  # type: ignore[arg-type]


def test_every_report_is_a_row_with_a_leaflet_or_a_reason(tmp_path: Path) -> None:
    found = write(tmp_path / "out")
    rows = table_of(tmp_path / "out")
    assert [row["id"] for row in rows] == list(REPORTS)
    assert {row["id"]: (row["status"], row["why"]) for row in rows} == {
        "12": ("unsigned", ""),
        "empty": ("not written", "the report is empty"),
        "a/b": ("unsigned", ""),
        "es": ("not written", "the report does not look English, which the writer reads"),
        "dots": ("not written", "the report holds no word"),
        "long": ("not written", "the report has more than 50,000 characters"),
    }
    for row in rows:
        assert bool(row["page"]) is (row["status"] == "unsigned")
        if row["page"]:
            assert (tmp_path / "out" / row["page"]).is_file()
            assert (tmp_path / "out" / row["side_by_side"]).is_file()
    assert (found.reports, found.written, found.new_pages) == (6, 2, 2)  # type: ignore[attr-defined]
    assert sum(found.reasons.values()) == 4  # type: ignore[attr-defined]
    cases = [json.loads(line) for line in (tmp_path / "out" / "to_sign.jsonl").read_text("utf-8").splitlines()]
    assert [(case["id"], case["reference"]) for case in cases] == [("12", EFFUSION), ("a/b", "Cardiomegaly.")]


def test_files_are_for_their_owner_only(tmp_path: Path) -> None:
    write(tmp_path / "out")
    for path in (tmp_path / "out").rglob("*"):
        assert path.stat().st_mode & 0o077 == 0, path


def test_an_unsigned_leaflet_says_so_on_screen_and_on_every_printed_page(tmp_path: Path) -> None:
    write(tmp_path / "out")
    page = (tmp_path / "out/pages/12.html").read_text("utf-8")
    assert page.count("DRAFT: not yet checked by a radiologist. Do not give to the patient.") == 2
    assert "DRAFT, NOT SIGNED" in page
    assert ".every-page { display: table-footer-group" in page
    assert "signed by" not in page


def test_pages_fetch_nothing_and_run_nothing(tmp_path: Path) -> None:
    hostile = '<script>alert(1)</script> & "quoted" <img src=x onerror=y>'
    reports = {f"<i>{hostile}": f"Left pleural effusion {hostile}. No pneumothorax."}
    write_leaflets(reports, tmp_path, writer=EmbeddedWriter(), style=PageStyle(hospital=hostile))
    for path in [*tmp_path.glob("pages/*.html"), *tmp_path.glob("side_by_side/*.html")]:
        page = path.read_text("utf-8")
        assert not re.search(r"<(script|img|iframe|link|object|i)\b", page)
        assert not re.search(r"(src|href|url\()\s*=?", page.split("</style>")[1].replace("src=x", ""))
        assert "default-src 'none'" in page
        assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    (name,) = [path.name for path in tmp_path.glob("pages/*.html")]
    assert re.fullmatch(r"[A-Za-z0-9_-]+\.html", name)


def test_a_kept_sentence_is_named_with_its_gloss_under_ask_your_doctor() -> None:
    gloss = Gloss(0, 8, "Kerley B", "lines", "kerley_b_lines")
    kept = PlainSentence(0, 9, "Kerley B.", "Kerley B (lines).", (gloss,), True, ("a word is unknown",), "Ask:")
    refers = PlainSentence(10, 29, "This may be edema.", "This may be fluid.")
    plain = PlainSentence(30, 42, "No effusion.", "No fluid.")
    leaflet = Leaflet("1", "Kerley B. This may be edema. No effusion.", (kept, kept, refers, plain), "radgauge")
    page = leaflet_page(leaflet, PageStyle())
    assert page.count("Ask your doctor about") == 1
    asked = page[page.index("Ask your doctor about") :]
    assert asked.count('<q lang="en">Kerley B.</q>') == 1
    assert "<b>Kerley B</b>: lines" in asked
    assert "This may be fluid." in asked  # it refers to what was kept
    assert "No fluid." not in asked
    assert "a word is unknown" not in page
    beside = side_by_side_page(leaflet, PageStyle())
    assert "Kept because a word is unknown." in beside
    assert 'class="as-reported"' in beside
    assert leaflet.plain == "No fluid. Ask: Kerley B (lines). This may be fluid."
    assert from_record(json.loads(json.dumps(leaflet.record()))) == leaflet


def test_findings_and_impression_are_said_once() -> None:
    text = "FINDINGS: Cardiomegaly. No effusion. IMPRESSION: 1. Cardiomegaly. 2. Scoliosis."
    [written] = EmbeddedWriter().write({"1": text})
    page = leaflet_page(Leaflet("1", text, written), PageStyle())  # type: ignore[arg-type]
    assert re.findall("<h3>(.*)</h3>", page) == ["What was seen", "In short"]
    assert page.count("Your heart is larger than normal") == 1
    assert page.index("In short") < page.index("curve")
    assert "Said above" in side_by_side_page(Leaflet("1", text, written), PageStyle())  # type: ignore[arg-type]


def test_an_exception_goes_with_what_it_excepts() -> None:
    text = "There is minimal XXXX opacity in the left lung base. Lungs are otherwise clear. No pneumothorax."
    [written] = EmbeddedWriter().write({"1": text})
    page = leaflet_page(Leaflet("1", text, written), PageStyle())  # type: ignore[arg-type]
    asked = page[page.index("Ask your doctor about") :]
    assert "Otherwise, your lungs are clear." in asked
    assert '<q lang="en">There is minimal [...] opacity in the left lung base.</q>' in asked


def test_a_leaflet_that_would_hide_a_finding_is_not_written() -> None:
    def one(text: str) -> object:
        [found] = EmbeddedWriter().write({"1": text})
        return found

    assert "fewer than half" in str(one("Quixotic hila. Quixotic bones. No pneumothorax."))
    assert "no sentence" in str(one("Quixotic hila."))
    assert "not about the chest" in str(one("Gallstones. The liver is normal. The spleen is normal."))
    finding = PlainSentence(0, 21, "Quixotic pneumonitis.", "…", (), True, ("unknown",))
    plain = PlainSentence(22, 38, "No pneumothorax.", "No air leak.")
    text = "Quixotic pneumonitis. No pneumothorax."
    assert "could neither be put in plain words nor be explained" in refused(text, (finding, plain))
    gloss = Gloss(9, 20, "pneumonitis", "inflammation of the lung")
    assert refused(text, (finding._replace(glosses=(gloss,)), plain)) == ""


def test_the_same_run_changes_nothing_and_other_reports_are_refused(tmp_path: Path) -> None:
    write(tmp_path)
    before = {path: path.stat().st_mtime_ns for path in tmp_path.glob("pages/*")}
    assert write(tmp_path).new_pages == 0  # type: ignore[attr-defined]
    assert {path: path.stat().st_mtime_ns for path in tmp_path.glob("pages/*")} == before
    with pytest.raises(UsageError, match="holds leaflets of other reports"):
        write(tmp_path, {"99": "Cardiomegaly."})
    assert (tmp_path / "pages/12.html").is_file()
    write(tmp_path, {"99": "Cardiomegaly."}, replace_others=True)
    assert [path.name for path in (tmp_path / "pages").iterdir()] == ["99.html"]
    assert [row["id"] for row in table_of(tmp_path)] == ["99"]


def test_a_folder_with_other_things_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("mine", encoding="utf-8")
    with pytest.raises(UsageError, match="holds other files"):
        write(tmp_path)
    with pytest.raises(UsageError, match="leaflets go into a folder"):
        write(tmp_path / "thesis.txt")
    write(tmp_path, replace_others=True)
    assert (tmp_path / "thesis.txt").read_text(encoding="utf-8") == "mine"
    with pytest.raises(InputError, match="there is no report to write"):
        write(tmp_path, {})


class Interrupted(EmbeddedWriter):
    """Somebody presses Ctrl-C after the first report."""

    @property
    def chunk(self) -> int:
        return 1

    def write(self, reports: Mapping[str, str]) -> list[Written]:
        if "a/b" in reports:
            raise KeyboardInterrupt
        return super().write(reports)


def test_a_stopped_run_says_what_is_missing_and_goes_on(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        write_leaflets(REPORTS, tmp_path, writer=Interrupted())
    assert [(row["id"], row["why"]) for row in table_of(tmp_path)][:3] == [
        ("12", ""),
        ("empty", "the report is empty"),
        ("a/b", NOT_YET),
    ]
    assert write(tmp_path).new_pages == 1  # type: ignore[attr-defined]
    assert table_of(tmp_path)[2]["status"] == "unsigned"


def test_a_signature_says_who_and_when_and_holds_for_the_text_only(tmp_path: Path) -> None:
    write(tmp_path)
    found, notes = sign_leaflets(tmp_path, [decision(tmp_path, "12")])
    assert (found.signed, found.new_pages, notes) == (1, 1, [])
    page = (tmp_path / "pages/12.html").read_text("utf-8")
    assert "Checked against the report and signed by Dr Ada Example on 18 November 2026." in page
    assert "DRAFT" not in page
    [row] = [row for row in table_of(tmp_path) if row["id"] == "12"]
    assert (row["status"], row["signed_by"], row["signed_at"]) == (
        *("signed", "Dr Ada Example", "2026-11-18T09:30:00+00:00"),
    )
    assert write(tmp_path).signed == 1  # type: ignore[attr-defined]  # written again, still the same text
    given = GivenWriter({"12": "There is a lot of fluid. No air leak.", "a/b": "The heart is big."})
    again = write_leaflets(REPORTS, tmp_path, writer=given)
    assert (again.signed, again.written) == (0, 2)
    assert "DRAFT" in (tmp_path / "pages/12.html").read_text("utf-8")


def test_what_was_not_released_stays_marked(tmp_path: Path) -> None:
    write(tmp_path)
    no = decision(tmp_path, "12", released=False, why="the size is missing", by="Dr B")
    found, _ = sign_leaflets(tmp_path, [decision(tmp_path, "12"), no])
    assert (found.signed, found.refused) == (0, 1)
    page = (tmp_path / "pages/12.html").read_text("utf-8")
    assert "NOT RELEASED by Dr B on 18 November 2026." in page
    assert "DRAFT, NOT SIGNED" in page
    assert next(row for row in table_of(tmp_path) if row["id"] == "12")["why"] == "the size is missing"


def test_a_judgment_of_another_text_signs_nothing(tmp_path: Path) -> None:
    write(tmp_path)
    other = [decision(tmp_path, "12", plain="Something else."), decision(tmp_path, "12", id="77")]
    found, notes = sign_leaflets(tmp_path, other)
    assert found.signed == 0
    assert notes[0].startswith("id '77' of the study is not in")
    assert notes[1] == "id '12': another text was judged than the leaflet has; it is not signed"
    with pytest.raises(InputError, match="holds no leaflets"):
        sign_leaflets(tmp_path / "pages", other)


class Model:
    """A translator that is right about the effusion and wrong about the rest."""

    has_more = False
    chunk = 10
    signature = "llm:scripted|prompts:1"

    def translate(self, sentences: Sequence[str]) -> list[Outcome]:
        good = {"Small left pleural effusion.": "There is a little fluid around the left lung."}
        return [Outcome(good.get(each, "The liver is big.")) for each in sentences]

    def revise(self, items: Sequence[tuple[str, str, str]]) -> list[Outcome]:
        return [Outcome("", "no") for _ in items]


def test_a_language_model_is_checked_and_what_fails_is_the_embedded_writers() -> None:
    writer = ModelWriter(Refinement(Model(), ("fidelity",), FindingEncoder()))
    first, second = writer.write({"1": EFFUSION, "2": ""})
    assert second == "the report is empty"
    assert not isinstance(first, str)
    assert first[0].plain == "There is a little fluid around the left lung."
    [[_, embedded]] = EmbeddedWriter().write({"1": EFFUSION})
    assert first[1].plain == embedded.plain  # type: ignore[union-attr]
    assert "the language model's text was not taken: " in first[1].reasons[-1]
    assert writer.name == "the language model scripted"


def test_every_report_goes_to_the_model_also_where_the_embedded_writer_has_no_words() -> None:
    class Knows(Model):
        def translate(self, sentences: Sequence[str]) -> list[Outcome]:
            assert "There is tricompartmental narrowing." in sentences
            return [Outcome("The joint space is narrower in all three parts of the joint.") for _ in sentences]

    hard = {"1": "There is tricompartmental narrowing."}
    [embedded] = EmbeddedWriter().write(hard)
    assert isinstance(embedded, str)
    [written] = ModelWriter(Refinement(Knows(), (), FindingEncoder())).write(hard)
    assert [each.plain for each in written] == [  # type: ignore[union-attr]
        "The joint space is narrower in all three parts of the joint."
    ]


def test_given_texts_stand_beside_their_sentences() -> None:
    writer = GivenWriter({"1": "A little fluid on the left. No air leak.", "2": "Only one sentence."})
    first, second, third, fourth = writer.write({"1": EFFUSION, "2": EFFUSION, "3": EFFUSION, "4": ""})
    assert [(part.source, part.plain) for part in first] == [  # type: ignore[union-attr]
        ("Small left pleural effusion.", "A little fluid on the left."),
        ("No pneumothorax.", "No air leak."),
    ]
    assert [part.source for part in second] == [EFFUSION]  # type: ignore[union-attr]
    assert (third, fourth) == ("no plain text was given for this report", "the report is empty")


def test_large_print_paper_and_language() -> None:
    [written] = EmbeddedWriter().write({"1": EFFUSION})
    leaflet = Leaflet("1", EFFUSION, written)  # type: ignore[arg-type]
    page = leaflet_page(leaflet, PageStyle(large=True, paper="letter"))
    assert 'class="large"' in page
    assert "size: letter;" in page
    assert "size: A4;" in leaflet_page(leaflet, PageStyle())
    german = leaflet_page(
        replace(leaflet, decision=Decision("1", "Dr A", "2026-03-01", "", "", True)), PageStyle("de")
    )
    assert '<html lang="de">' in german
    assert "unterschrieben von Dr A am 1. März 2026." in german
    with pytest.raises(UsageError, match=r"the embedded writer writes .*en.*, got 'xx'"):
        EmbeddedWriter("xx")
    with pytest.raises(UsageError, match=r"language must be one of .*got 'xx'"):
        PageStyle("xx")


def test_file_names_are_safe_and_told_apart() -> None:
    names = page_names(["1", "a", "A", "../etc", "con", "ü" * 90, ".", "x" * 90])
    assert names["1"] == "1"
    assert len({name.lower() for name in names.values()}) == len(names)
    assert all(re.fullmatch(r"[A-Za-z0-9_-]{1,70}", name) for name in names.values())
    assert names["con"] != "con"


def test_the_check_stands_beside_given_texts_and_not_beside_our_own(tmp_path: Path) -> None:
    reports = {
        "right": "Small left pleural effusion. No pneumothorax.",
        "wrong": "Small left pleural effusion. Mild cardiomegaly.",
    }
    given = GivenWriter(
        {
            "right": "There is a little fluid around your left lung. There is no air leak around your lungs.",
            "wrong": "There is a little fluid around your right lung. There is a broken rib.",
        }
    )
    found = write_leaflets(reports, tmp_path / "given", writer=given)
    assert (found.differing, found.unjudged) == (1, 0)
    _, (right, wrong) = read_leaflets(tmp_path / "given")
    assert right.checked is not None
    assert wrong.checked is not None
    assert (right.checked.verdict, right.checked.kept) == ("agrees", 2)
    assert wrong.checked.changed == ("side: left, but the plain text says right",)
    assert wrong.checked.lost == ("cardiomegaly",)
    assert wrong.checked.added == ("broken",)
    rows = list(csv.DictReader((tmp_path / "given" / "leaflets.csv").read_text("utf-8").splitlines()))
    assert [row["check"] for row in rows] == ["agrees", "differs: 1 told otherwise, 1 lost, 1 added"]
    page = (tmp_path / "given" / "side_by_side" / "wrong.html").read_text("utf-8")
    assert "What an independent check reads: differs" in page
    assert "<li>side: left, but the plain text says right</li>" in page
    assert "independent check" not in (tmp_path / "given" / "pages" / "wrong.html").read_text("utf-8")
    write_leaflets(reports, tmp_path / "own", writer=EmbeddedWriter())
    assert [each.checked for each in read_leaflets(tmp_path / "own")[1]] == [None, None]


def test_a_text_in_another_language_is_not_judged() -> None:
    said = PlainSentence(0, 16, "No pneumothorax.", "Es gibt keinen Luftaustritt um die Lunge.")
    checked = check_sentences([said], language="de")
    assert checked.summary == "not judged: 1 not judged"
    assert checked.unread == ("the plain text: the check reads English",)


@pytest.mark.browser
@pytest.mark.parametrize("width", [1280, 768, 375])
def test_the_radiologists_page_is_readable_at_every_width(width: int, tmp_path: Path) -> None:
    playwright = pytest.importorskip("playwright.sync_api")
    if (program := next(filter(None, map(shutil.which, BROWSERS)), None)) is None:
        pytest.skip("no browser on this machine")
    report = "Quixotic hila with a rather long quixotic description. No pneumothorax. Small left pleural effusion."
    write_leaflets({"1": report}, tmp_path, writer=EmbeddedWriter())
    with playwright.sync_playwright() as session:
        browser = session.chromium.launch(executable_path=program, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": width, "height": 900})
        page.goto((tmp_path / "side_by_side/1.html").as_uri())
        wide = page.evaluate("[...document.querySelectorAll('td')].map(e => e.getBoundingClientRect().width)")
        total = page.evaluate("document.documentElement.scrollWidth")
        browser.close()
    assert len(wide) == 6
    assert min(wide) > 0.38 * width
    assert total <= width


@pytest.mark.browser
def test_one_browser_prints_several_pages() -> None:
    if not any(map(shutil.which, BROWSERS)):
        pytest.skip("no browser on this machine")
    with pdf_printer(of="leaflet") as printed:
        first, second = printed("<p>one</p>"), printed("<p>two</p>" * 5000)
    assert first.startswith(b"%PDF")
    assert len(second) > len(first)

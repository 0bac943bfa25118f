"""MIMIC-CXR's section rules on reports written here in its layout."""

from __future__ import annotations

import pytest

from radgauge.text.mimic_sections import mimic_sections, published_text, section_name, split_mimic_sections

REPORT = """                                 FINAL REPORT
 EXAMINATION:  CHEST (PA AND LAT)

 INDICATION:  Cough.  // Evaluate for pneumonia.

 COMPARISON:  ___.

 FINDINGS:

 The lungs are clear.  HEART: normal size.

 IMPRESSION:

 No acute process.
"""


def test_a_report_with_all_sections() -> None:
    assert mimic_sections(REPORT) == {
        "preamble": "FINAL REPORT",
        "examination": "CHEST (PA AND LAT)",
        "indication": "Cough.  // Evaluate for pneumonia.",
        "comparison": "___.",
        "findings": "The lungs are clear.  HEART: normal size.",
        "impression": "No acute process.",
    }
    assert published_text(mimic_sections(REPORT)) == "No acute process."


def test_a_report_without_findings_and_impression_has_a_last_paragraph() -> None:
    report = " FINAL REPORT\n INDICATION:  Cough.\n \n The lungs are clear.\n \n No effusion.\n"
    sections = mimic_sections(report)
    assert sections["indication"] == "Cough."
    assert sections["last_paragraph"] == "The lungs are clear.\n \n No effusion."
    assert published_text(sections) == sections["last_paragraph"]


def test_empty_sections_go_and_the_last_of_two_counts() -> None:
    report = " X\n FINDINGS: \n IMPRESSION:  First.\n IMPRESSION:  Second.\n"
    assert [part.name for part in split_mimic_sections(report)] == ["preamble", "impression", "impression"]
    assert mimic_sections(report)["impression"] == "Second."


def test_no_headings() -> None:
    assert mimic_sections("Clear.") == {"preamble": "Clear."}
    assert mimic_sections("") == {}
    assert published_text({}) == ""
    assert published_text({"comparison": "None."}) == "None."


@pytest.mark.parametrize(
    ("heading", "name"),
    [
        ("CONCLUSION", "impression"),
        ("FINDINGS/IMPRESSION", "impression"),
        ("FINDINGS AND IMPRESSION", "impression"),
        ("CHEST, TWO VIEWS", "findings"),
        ("PORTABLE UPRIGHT", "findings"),
        ("REFERENCE EXAM", "comparison"),
        ("PFI", "history"),
        ("REASON FOR EXAM", "indication"),
        ("IMPRESION", "impression"),
        ("FINDNGS", "findings"),
        ("COMPARRISON", "comparison"),
        ("NDICATION", "indication"),  # the published table says impression; see the module
        ("BRIEF CLINICAL HISTORY", "history"),
        ("DOSE", "dose"),
    ],
)
def test_names(heading: str, name: str) -> None:
    assert section_name(heading) == name

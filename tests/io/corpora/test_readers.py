"""Corpora as released: files in their layout, written here, and the real ones where they are at hand."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from radgauge.core.errors import InputError, UsageError
from radgauge.io.case_files import read_cases, read_references
from radgauge.io.corpora import Study, read_studies
from radgauge.io.corpora.mimic import read_mimic_reports, read_mimic_sectioned
from radgauge.io.corpora.recognise import (
    clean_iu,
    clean_mimic,
    read_indiana,
    read_openi,
    read_padchest,
    read_r2gen,
    read_rexrank,
)


def put(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8", newline="")
    return path


# --- Study ------------------------------------------------------------------------------------------------


def test_the_text_of_a_study() -> None:
    study = Study("1", {"report": "Findings: A. Impression: B."}, split="test", meta={"age": "50"})
    assert [study.text(name) for name in ("findings", "impression", "both", "whole")] == [
        *["A.", "B.", "A.\nB."],
        "Findings: A. Impression: B.",
    ]
    assert Study("1", {"report": "Clear."}).text("findings") == "Clear."
    assert Study("1", {"findings": "A.", "report": "R"}).text("findings") == "A."
    assert Study("1", {}).text("both") == ""
    with pytest.raises(UsageError, match="section must be one of findings"):
        study.text("conclusion")
    case = study.as_case("clear", section="findings", system="ours")
    assert (case.key, case.references, case.meta) == (("1", "ours"), ("A.",), {"split": "test", "age": "50"})


# --- R2Gen ------------------------------------------------------------------------------------------------

ANNOTATION = {
    "train": [{"id": "a", "report": "Clear.", "image_path": ["a/0.png", "a/1.png"]}],
    "test": [{"id": "b", "report": "Normal.", "image_path": ["b/0.png"], "subject_id": 7}],
}


def test_r2gen(tmp_path: Path) -> None:
    path = put(tmp_path, "annotation.json", json.dumps(ANNOTATION))
    studies = read_r2gen(path)
    assert [(study.id, study.split, study.text()) for study in studies] == [
        ("a", "train", "Clear."),
        ("b", "test", "Normal."),
    ]
    assert studies[0].images == (Path("a/0.png"), Path("a/1.png"))
    assert read_r2gen(path, split="test") == [studies[1]] == read_studies(path)[1:]
    with pytest.raises(InputError, match=r"annotation.json \(split dev\) holds no studies"):
        read_r2gen(path, split="dev")
    with pytest.raises(InputError, match="must be splits"):
        read_r2gen(put(tmp_path, "x.json", '[{"id": "1"}]'))


@pytest.mark.parametrize(
    ("report", "cleaned"),
    [
        ("Heart size is normal. No effusion.", "heart size is normal . no effusion ."),
        ("1. Clear lungs. 2. No effusion.", "clear lungs . no effusion ."),
        ('Lungs: clear; (heart) "normal".. X-XXXX\'s', "lungs clear heart normal . x-xxxxs ."),
        ("", " ."),
    ],
)
def test_r2gen_cleaning(report: str, cleaned: str) -> None:
    assert clean_iu(report) == cleaned


def test_r2gen_cleaning_of_mimic() -> None:
    assert clean_mimic("Heart   size\nis ___ normal.") == "heart size is  normal ."


def test_r2gen_cleaning_matches_the_published_references(shared_data: Path) -> None:
    with (shared_data / "iu_xray_systems" / "test590_systems.csv").open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    for row in rows:  # those were cut at 59 words, and rare words replaced
        expected = row["reference_r2gen_cleaned"].split()
        found = clean_iu(row["reference"]).split()[:59]
        assert len(found) == len(expected)
        assert all(one == two or two == "<unk>" for one, two in zip(found, expected, strict=True))


def test_the_real_r2gen_file(shared_data: Path) -> None:
    path = shared_data / "iu_xray" / "r2gen_annotation.json"
    counts = [len(read_r2gen(path, split=split)) for split in ("train", "val", "test")]
    assert counts == [2069, 296, 590]
    systems = shared_data / "iu_xray_systems" / "test590_systems.csv"
    found = read_cases(systems, references=path, split="test", candidate_columns=["moerad"])
    wide = read_cases(systems, candidate_columns=["moerad"])
    assert [(c.key, c.candidate, c.references) for c in found.cases] == [
        (c.key, c.candidate, c.references) for c in wide.cases
    ]
    assert all(len(case.images) == 2 for case in found.cases)


# --- ReXrank ----------------------------------------------------------------------------------------------

REXRANK = {
    "s1": {
        "image_path": ["a/0.png", "a/1.png"],
        "key_image_path": "a/0.png",
        "section_findings": "Clear.",
        "section_impression": float("nan"),
        "report": "Findings: Clear. Impression: None.",
        "context": "Age:50-60.Gender:F.Indication: Cough.Comparison: None.",
        "frontal_lateral": ["Frontal", "Lateral"],
        "split": "test",
        "subject_id": 7,
        "model_prediction": "Findings: Lungs clear. Impression: Normal.",
    },
}


def test_rexrank(tmp_path: Path) -> None:
    path = put(tmp_path, "model.v1.json", json.dumps(REXRANK))
    assert "NaN" in path.read_text()
    study = read_rexrank(path)[0]
    assert study.sections == {
        "findings": "Clear.",
        "report": "Findings: Clear.",
        "age": "50-60",
        "gender": "F",
        "indication": "Cough.",
        "comparison": "None.",
    }
    assert (study.patient, study.split, study.meta) == ("7", "test", {"views": "Frontal; Lateral"})
    assert read_studies(path) == [study]
    early = {"s1": {"findings": "Clear.", "impression": "Normal.", "context": ""}}
    assert read_rexrank(put(tmp_path, "early.json", json.dumps(early)))[0].text("both") == "Clear.\nNormal."
    with pytest.raises(InputError, match="section_findings"):
        read_rexrank(put(tmp_path, "x.json", '{"s1": {"a": 1}}'))
    with pytest.raises(InputError, match="holds no studies"):
        read_rexrank(path, split="train")


# --- Indiana / Open-i -------------------------------------------------------------------------------------

XML = """<?xml version="1.0" encoding="utf-8"?>
<eCitation><uId id="CXR7"/><MedlineCitation><Article><Abstract>
<AbstractText Label="COMPARISON">None.</AbstractText>
<AbstractText Label="INDICATION">Cough &amp; fever</AbstractText>
<AbstractText Label="FINDINGS">Lungs are <i>clear</i>.</AbstractText>
<AbstractText Label="IMPRESSION"/>
</Abstract></Article></MedlineCitation>
<MeSH><major>Opacity/lung/base</major><major>Calcinosis</major><automatic>opacity</automatic></MeSH>
<parentImage id="CXR7_IM-1-1001"/><parentImage id="CXR7_IM-1-1002"/></eCitation>
"""


def test_openi(tmp_path: Path) -> None:
    put(tmp_path, "xml/10.xml", XML.replace("CXR7", "CXR10"))
    put(tmp_path, "xml/7.xml", XML)
    studies = read_openi(tmp_path / "xml")
    assert [study.id for study in studies] == ["CXR7", "CXR10"]
    assert studies[0] == Study(
        id="CXR7",
        sections={"comparison": "None.", "indication": "Cough & fever", "findings": "Lungs are clear."},
        images=(Path("CXR7_IM-1-1001.png"), Path("CXR7_IM-1-1002.png")),
        labels=("Opacity/lung/base", "Calcinosis"),
        meta={"automatic": "opacity"},
    )
    assert read_studies(tmp_path / "xml") == studies
    with pytest.raises(InputError, match=r"broken.xml: not valid XML"):
        read_openi(put(tmp_path, "broken.xml", "<a>"))
    with pytest.raises(InputError, match=r"other.xml: no uId"):
        read_openi(put(tmp_path, "other.xml", "<a/>"))


def test_indiana(tmp_path: Path) -> None:
    path = put(
        tmp_path,
        "indiana_reports.csv",
        "uid,MeSH,Problems,image,indication,comparison,findings,impression\n"
        "7,Opacity/lung;Calcinosis,Opacity;Calcinosis,Xray Chest PA,Cough,,Clear.,\n",
    )
    assert read_indiana(path)[0].images == ()
    put(tmp_path, "indiana_projections.csv", "uid,filename,projection\n7,7_a.png,Frontal\n7,7_b.png,Lateral\n")
    study = read_indiana(path)[0]
    assert study.images == (Path("7_a.png"), Path("7_b.png"))
    assert study.labels == ("Opacity/lung", "Calcinosis")
    assert study.sections == {"indication": "Cough", "findings": "Clear."}
    assert study.meta["views"] == "Frontal; Lateral"
    assert read_studies(path) == [study]
    with pytest.raises(InputError, match=r"is not indiana_reports.csv"):
        read_indiana(tmp_path / "indiana_projections.csv")
    with pytest.raises(InputError, match="must have the columns uid, filename and projection"):
        read_indiana(path, projections=path)


def test_the_real_indiana_file(shared_data: Path) -> None:
    studies = read_studies(shared_data / "iu_xray" / "indiana_reports.csv")
    assert len(studies) == 3851
    assert sum(len(study.images) for study in studies) == 7466
    systems = shared_data / "iu_xray_systems" / "mrg_rl_test382_systems.csv"
    found = read_cases(
        systems,
        references=shared_data / "iu_xray" / "indiana_reports.csv",
        candidate_columns=["template"],
        section="both",
        missing="subset",
    )
    assert len(found.cases) == 382
    assert "3469 of 3851 studies were left out: no system has reported them" in found.provenance.warnings


# --- MIMIC-CXR --------------------------------------------------------------------------------------------


SPLIT = "dicom_id,study_id,subject_id,split\n"
METADATA = "dicom_id,subject_id,study_id,ViewPosition\n"


def mimic(tmp_path: Path) -> Path:
    """Three studies of two patients, the tables one folder above the reports, as on PhysioNet."""
    for study, patient in (("1", "10000001"), ("2", "10000001"), ("3", "10000002")):
        put(tmp_path, f"files/p10/p{patient}/s{study}.txt", f" FINDINGS: Lungs {study}.\n\n IMPRESSION: Normal.\n")
    put(
        tmp_path,
        "mimic-cxr-2.0.0-split.csv",
        SPLIT + "a,1,10000001,train\nb,1,10000001,train\nc,2,10000001,validate\nd,3,10000002,test\n",
    )
    put(
        tmp_path,
        "mimic-cxr-2.0.0-metadata.csv",
        METADATA + "z,10000001,1,LATERAL\nb,10000001,1,AP\na,10000001,1,PA\nc,10000001,2,\n",
    )
    return tmp_path / "files"


def test_mimic_splits_and_pictures_are_joined(tmp_path: Path) -> None:
    first, second, third = read_studies(mimic(tmp_path))
    assert [each.split for each in (first, second, third)] == ["train", "val", "test"]
    assert [image.as_posix() for image in first.images] == [
        f"p10/p10000001/s1/{name}.jpg" for name in ("a", "b", "z")
    ]
    assert first.meta["views"] == "PA; AP; LATERAL"
    assert second.meta["views"] == "-"
    assert third.images == ()


def test_splits_are_pooled(tmp_path: Path) -> None:
    folder = mimic(tmp_path)
    assert [case.id for case in read_references(folder, split="train,val").cases] == ["1", "2"]
    with pytest.raises(InputError, match="no studies of split 'dev'"):
        read_references(folder, split="train,dev")


def test_mimic_study_in_two_splits(tmp_path: Path) -> None:
    folder = mimic(tmp_path)
    put(tmp_path, "mimic-cxr-2.0.0-split.csv", SPLIT + "a,1,10000001,train\nb,1,10000001,test\n")
    with pytest.raises(InputError, match="the study '1' is in two splits, train and test"):
        read_studies(folder)


def test_sectioned_table_with_a_split_column_or_beside_a_split_table(tmp_path: Path) -> None:
    header = "study,impression,findings,last_paragraph,comparison"
    own = put(
        tmp_path, "own/mimic_cxr_sectioned.csv", f"{header},split\ns1,Normal.,,,,train\ns2,Edema.,,,,validate\n"
    )
    assert [case.id for case in read_references(own, split="val", section="impression").cases] == ["2"]
    mimic(tmp_path)
    plain = put(tmp_path, "mimic_cxr_sectioned.csv", f"{header}\ns1,Normal.,,,\ns3,Edema.,,,\n")
    assert [study.split for study in read_studies(plain)] == ["train", "test"]


def test_mimic_report_folder(tmp_path: Path) -> None:
    folder = tmp_path / "files"
    put(folder, "p10/p10000032/s50414267.txt", " FINAL REPORT\n FINDINGS:  Clear.\n IMPRESSION:  Normal.\n")
    put(folder, "p10/p10000032/s50414268.txt", " FINAL REPORT\n INDICATION:  Cough.\n \n Lungs clear.\n")
    put(folder, "p10/p10000032/sums.txt", "not a report")
    studies = read_mimic_reports(folder)
    assert [(study.id, study.patient) for study in studies] == [
        ("50414267", "10000032"),
        ("50414268", "10000032"),
    ]
    assert studies[0].text("both") == "Clear.\nNormal."
    assert studies[1].sections["last_paragraph"] == "Lungs clear."
    assert read_studies(folder) == studies
    candidates = put(tmp_path, "ours.csv", "study_id,report\n50414267,clear\n50414268,x\n")
    found = read_cases(candidates, references=folder, section="findings")
    assert [case.references for case in found.cases] == [("Clear.",), ("",)]
    assert found.provenance.sources[0].format == "mimic folder"
    assert len(found.provenance.sources[0].sha256) == 64
    (folder / "p10" / "p10000032" / "s50414268.txt").write_bytes(b"\xff")
    with pytest.raises(InputError, match=r"s50414268.txt is not UTF-8 text"):
        read_mimic_reports(folder)


def test_a_folder_of_something_else(tmp_path: Path) -> None:
    candidates = put(tmp_path, "ours.csv", "study_id,report\n1,clear\n")
    with pytest.raises(InputError, match=r"is a folder without Open-i reports \(\*.xml\) or MIMIC-CXR reports"):
        read_cases(candidates, references=tmp_path)
    with pytest.raises(InputError, match="is a folder; give the file to read"):
        read_cases(tmp_path)


def test_mimic_sectioned(tmp_path: Path) -> None:
    path = put(
        tmp_path,
        "mimic_cxr_sectioned.csv",
        "study,impression,findings,last_paragraph,comparison\n"
        "s50414267,Normal.,Clear.,,\ns50414268,,,Lungs ok.,\n",
    )
    studies = read_mimic_sectioned(path)
    assert [(study.id, dict(study.sections)) for study in studies] == [
        ("50414267", {"impression": "Normal.", "findings": "Clear."}),
        ("50414268", {"last_paragraph": "Lungs ok."}),
    ]
    assert read_studies(path) == studies
    candidates = put(tmp_path, "ours.csv", "study_id,report\n50414267,clear\n50414268,x\n")
    found = read_cases(candidates, references=path, section="impression")
    assert [case.references for case in found.cases] == [("Normal.",), ("",)]
    with pytest.raises(InputError, match=r"mimic_cxr_sectioned.csv; got columns study_id"):
        read_mimic_sectioned(candidates)


# --- PadChest ---------------------------------------------------------------------------------------------

PADCHEST = (
    ",ImageID,ImageDir,StudyID,PatientID,Projection,ReportID,Report,MethodLabel,Labels,Localizations\n"
    "0,a.png,3,st1,p1,PA,77,torax normal .,Physician,\"['normal', ' scoliosis']\",\"['loc spine']\"\n"
    "1,b.png,3,st1,p1,L,77,torax normal .,Physician,\"['normal']\",[]\n"
    "2,c.png,4,st2,p2,PA,78,,RNN_model,nan,nan\n"
)


def test_padchest(tmp_path: Path) -> None:
    path = put(tmp_path, "padchest.csv", PADCHEST)
    studies = read_padchest(path)
    assert [study.id for study in studies] == ["77", "78"]
    assert studies[0].images == (Path("3/a.png"), Path("3/b.png"))
    assert studies[0].labels == ("normal", "scoliosis")
    assert studies[0].text() == "torax normal ."
    assert studies[0].meta["views"] == "PA; L"
    assert studies[0].meta["locations"] == "loc spine"
    assert (studies[1].labels, studies[1].text()) == ((), "")
    assert read_studies(path) == studies
    candidates = put(tmp_path, "ours.csv", "report_id,report\n78,x\n77,y\n")
    found = read_cases(candidates, references=path)
    assert [(case.id, case.references) for case in found.cases] == [("77", ("torax normal .",)), ("78", ("",))]
    differing = PADCHEST.replace("L,77,torax normal .", "L,77,otro .")
    with pytest.raises(InputError, match="line 3: the report '77'"):
        read_padchest(put(tmp_path, "d.csv", differing))
    with pytest.raises(InputError, match=r"\['normal'\], got 'what'"):
        read_padchest(put(tmp_path, "l.csv", PADCHEST.replace("RNN_model,nan", "RNN_model,what")))
    with pytest.raises(InputError, match="is not the PadChest table: no column ImageID, ReportID, Labels"):
        read_padchest(put(tmp_path, "n.csv", "Report\nx\n"))


def test_unknown_corpora(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"x.csv is none of the corpora known: R2Gen.*got"):
        read_studies(put(tmp_path, "x.csv", "id,a\n1,2\n"))


def test_repeated_studies(tmp_path: Path) -> None:
    path = put(tmp_path, "m.csv", "study,impression,findings,last_paragraph\ns1,a,b,\ns1,a,b,\n")
    with pytest.raises(InputError, match=r"m.csv: the study '1' occurs more than once"):
        read_mimic_sectioned(path)

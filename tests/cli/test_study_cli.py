"""`radgauge study` from the command line: a whole study without a server, from reports to `agree`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from study_support import REFERENCES, Rater, study_ids, two_systems
from typer.testing import CliRunner

from radgauge.cli import app
from radgauge.core.errors import InputError, RadgaugeError, UsageError
from radgauge.io.case_files import write_cases
from radgauge.study import Store, load_design


def _run(*arguments: object, code: int = 0) -> str:
    done = CliRunner().invoke(app, [str(each) for each in arguments])
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    assert done.exit_code == code, done.output
    return done.stdout


@pytest.fixture
def reports(tmp_path: Path) -> Path:
    write_cases(tmp_path / "reports.csv", two_systems())
    return tmp_path / "reports.csv"


@pytest.fixture
def study(reports: Path) -> Path:
    path = reports.with_name("study.sqlite")
    _run("study", "new", reports, "-o", path, "--rater", "Ann", "--rater", "Bob", "--seed", "3")
    with Store(path) as store:
        for number in (1, 2):
            rater = Rater(store, f"rater-{number}")
            rater.train()
            for study_id, case in study_ids(store).items():
                if study_id in REFERENCES:
                    for system, count in (("alpha", number), ("beta", number + int(study_id[1]))):
                        if study_id == "s2":
                            count = 1
                        said = {"field": "errors", "part": "omission/significant", "value": count}
                        rater.act(case, "set", candidate=rater.label(case, system), **said)
                    rater.submit(case)
    return path


def test_a_study_is_made_and_its_tokens_are_told_once(reports: Path) -> None:
    path = reports.with_name("new.sqlite")
    told = json.loads(_run("study", "new", reports, "-o", path, "--raters", "3", "-n", "3", "--json"))
    assert len(told["tokens"]) == 4
    with Store(path) as store:
        assert store.person_of_token(told["tokens"]["rater-3"]).name == "Rater 3"  # type: ignore[union-attr]
        sources = store.about["provenance"]["sources"]
        assert sources[0]["name"] == "reports.csv"
        assert len(sources[0]["sha256"]) == 64
    with pytest.raises(InputError, match="a study is never overwritten"):
        _run("study", "new", reports, "-o", path)


def test_check_export_align_and_report(study: Path) -> None:
    assert "each as it is kept" in _run("study", "check", study)
    table = study.with_name("judgments.csv")
    assert "wrote" in _run("study", "export", study, "-o", table)
    direct = json.loads(
        _run("agree", study, "-m", "bleu", "-t", "total", "--resamples", "20", "--json", "--no-cache")
    )
    again = json.loads(
        _run("agree", "-j", table, "-m", "bleu", "-t", "total", "--resamples", "20", "--json", "--no-cache")
    )
    one, two = (found["alignment"]["lines"][0]["correlation"]["interval"] for found in (direct, again))
    assert one["value"] == pytest.approx(two["value"])
    assert one["n"] == 8
    page = study.with_name("report.html")
    reports = study.with_name("reports.csv")
    _run("report", reports, "--judgments", study, "-m", "bleu", "-o", page, "--resamples", "20", "--no-cache")
    assert "radiologist" in page.read_text(encoding="utf-8").lower()


def test_a_damaged_study_is_named_and_not_exported(study: Path) -> None:
    with Store(study) as store:
        store._connection.execute("UPDATE states SET version = 99 WHERE person = 'rater-1'")
    assert "is not what the events give" in _run("study", "check", study, code=3)
    with pytest.raises(InputError, match="cannot be trusted"):
        _run("study", "export", study, "-o", study.with_name("x.csv"))


def test_tokens_can_be_made_revoked_and_listed(study: Path) -> None:
    token = _run("study", "token", study, "Ann").strip()
    with Store(study) as store:
        assert store.person_of_token(token).name == "Ann"  # type: ignore[union-attr]
    assert "2 tokens are no longer valid" in _run("study", "token", study, "Ann", "--revoke")
    with Store(study) as store:
        assert store.person_of_token(token) is None
    chief = _run("study", "token", study, "Dr Chief", "--add", "adjudicator").strip()
    with Store(study) as store:
        person = store.person_of_token(chief)
        assert person is not None
        assert (person.role, len(store.places(person.id))) == ("adjudicator", 4)
    assert token not in _run("study", "token", study)
    with pytest.raises(UsageError, match="name the person"):
        _run("study", "token", study, "--revoke")


def test_sheets_go_out_and_come_back(study: Path, tmp_path: Path) -> None:
    _run("study", "sheet", study, "-o", tmp_path / "sheets", "--rater", "Ann")
    (file,) = (tmp_path / "sheets").iterdir()
    assert file.name == "rater-1-ann.html"
    content = file.read_text(encoding="utf-8").partition('id="content">')[2].partition("</script>")[0]
    form = json.loads(content)
    cases = {case["key"]: case["state"] for case in form["cases"]}
    answers = tmp_path / "answers.json"
    answers.write_text(json.dumps({**form["head"], "cases": cases}))
    lines = json.loads(_run("study", "collect", study, answers, "--json"))
    assert (lines[0]["changed"], lines[0]["submitted"], lines[0]["problems"]) == (0, 4, [])


def test_a_backup_is_checked(study: Path) -> None:
    assert "checked" in _run("study", "backup", study, study.with_name("copy.sqlite"))


def test_designs_are_listed_shown_and_checked(tmp_path: Path) -> None:
    listed = _run("study", "designs")
    for name in ("errors", "rexval", "radevalx", "radpref", "preference", "lay", "rate_eval"):
        assert name in listed
    assert "omitted_uncertainty" in _run("study", "designs", "radevalx")
    written = tmp_path / "replication.toml"
    _run("study", "designs", "rexval", "-o", written)
    assert load_design(written) == load_design("rexval")
    with pytest.raises(RadgaugeError, match="a new file, and the name of the design"):
        _run("study", "designs", "rexval", "-o", written)
    own = tmp_path / "own.toml"
    own.write_text('title = "x"\n[[field]]\nkey = "Bad Key"\nkind = "stars"\nunknown = 1\n')
    with pytest.raises(RadgaugeError) as wrong:
        _run("study", "designs", own)
    assert "kind must be one of 'counts'" in str(wrong.value)
    assert "must have instructions" in str(wrong.value)


def test_four_oracles_make_a_rexval_study(reports: Path, tmp_path: Path) -> None:
    """`oracle` output of four metrics, merged; the export is ReXVal's own layout."""
    corpus = tmp_path / "corpus.csv"
    corpus.write_text("id,report\n" + "".join(f"c{n},{text}\n" for n, text in enumerate(REFERENCES.values())))
    queries = tmp_path / "queries.csv"
    queries.write_text("id,report\nq1,Left effusion.\nq2,The lungs are clear.\n")
    files: list[Any] = []
    for metric in ("bleu2_cxr", "radgraph", "chexbert_similarity", "bertscore"):
        out = tmp_path / f"{metric}.jsonl"
        _run("oracle", "--corpus", corpus, "--queries", queries, "-m", metric, "-o", out, "--no-cache")
        files += ["--candidates", out]
    path = tmp_path / "study.sqlite"
    _run("study", "new", "--references", queries, *files, "-o", path, "--raters", "1")
    with Store(path) as store:
        rater = Rater(store, "rater-1")
        rater.train()
        for case in list(study_ids(store).values())[:2]:
            assert len(store.case("rater-1", case).candidates) == 4
            rater.submit(case)
    _run("study", "export", path, "-o", tmp_path / "rexval", "--form", "rexval")
    head = (tmp_path / "rexval" / "50_samples_gt_and_candidates.csv").read_text().splitlines()[0]
    assert head.replace('"', "") == "study_id,gt_report,radgraph,bertscore,s_emb,bleu"


def test_status_shows_progress_and_agreement(study: Path) -> None:
    told = _run("study", "status", study)
    assert "agreement so far" in told
    assert "Ann and Bob" in told
    found = json.loads(_run("study", "status", study, "--json"))
    assert [each["submitted"] for each in found["progress"]] == [4, 4]
    total = found["agreement"][0]
    assert (total["question"], total["cases"]) == ("errors: total", 8)
    assert total["pairs"][0]["equal"] == 0.25  # only s2, where both count one
    assert found["disagreements"][0]["spread"] == 1.0

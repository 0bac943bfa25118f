"""Out again: what raters said goes through files and `agree` as the numbers that were entered."""

from __future__ import annotations

import csv
import json
import sqlite3
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from study_support import Rater, study_ids
from typer.testing import CliRunner

from radgauge.analysis.agreement import agree
from radgauge.cli.commands import app
from radgauge.core.cases import Case
from radgauge.core.errors import InputError, RadgaugeError, UsageError
from radgauge.core.scores import Results, Scores
from radgauge.io.judgments import read_judgments
from radgauge.io.judgments.targets import default_targets
from radgauge.study import NewStudy, Store, load_design, new_study
from radgauge.study.check import check_study
from radgauge.study.export import export_study
from radgauge.study.judgments import study_judgments

Make = Callable[..., NewStudy]

# rater -> study -> system -> (omissions significant, insignificant)
COUNTS = {
    "rater-1": {"s1": {"alpha": (0, 0), "beta": (2, 1)}, "s3": {"alpha": (0, 1), "beta": (1, 0)}},
    "rater-2": {"s1": {"alpha": (0, 0), "beta": (1, 0)}, "s3": {"alpha": (0, 0), "beta": (3, 1)}},
}


def _count(store: Store) -> None:
    for name, studies in COUNTS.items():
        rater = Rater(store, name)
        rater.train()
        for study, systems in studies.items():
            case = study_ids(store)[study]
            for system, numbers in systems.items():
                label = rater.label(case, system)
                for level, number in zip(("significant", "insignificant"), numbers, strict=True):
                    rater.act(case, "set", candidate=label, field="errors", part=f"omission/{level}", value=number)
            rater.submit(case)
        open_case = study_ids(store)["s4"]
        rater.act(open_case, "set", candidate="A", field="errors", part="omission/significant", value=9)
        unable = study_ids(store)["s2"]
        rater.act(unable, "cannot_judge", candidate=rater.label(unable, "beta"), reason="cut off")
        rater.submit(unable)


def test_judgments_are_the_numbers_entered_and_nothing_else(make: Make) -> None:
    made = make(raters=2)
    with Store(made.path) as store:
        _count(store)
    found = study_judgments(made.path)
    assert found.raters == ("Rater 1", "Rater 2")
    place = {case.key: number for number, case in enumerate(found.cases)}
    for name, studies in COUNTS.items():
        scores = found.errors[f"Rater {name[-1]}"]
        for study, systems in studies.items():
            for system, (grave, other) in systems.items():
                at = place[study, system]
                assert scores.column("errors_total")[at] == grave + other
                assert scores.column("errors_omission_significant")[at] == grave
        for key in (("s2", "beta"), ("s4", "alpha"), ("s4", "beta")):  # not judged, or not submitted
            assert np.isnan(scores.column("errors_total")[place[key]])
        assert scores.column("errors_total")[place["s2", "alpha"]] == 0
        assert np.isnan(scores.column("errors_false_uncertainty")).all()  # not asked for
    assert "2 candidates could not be judged, with a reason: not judged, not 0 errors" in found.notes
    assert "3 of 8 candidates are judged by nobody so far" in found.notes


@pytest.mark.parametrize("name", ["judgments.csv", "judgments.jsonl"])
def test_a_table_reads_back_as_the_study_itself(make: Make, tmp_path: Path, name: str) -> None:
    made = make(raters=2)
    with Store(made.path) as store:
        _count(store)
    written = export_study(made.path, tmp_path / name)
    direct, again = study_judgments(made.path), read_judgments(tmp_path / name)
    known = {case.key: place for place, case in enumerate(direct.cases)}
    pairs = {("s1", "alpha"), ("s1", "beta"), ("s2", "alpha"), ("s3", "alpha"), ("s3", "beta")}
    assert {case.key for case in again.cases} == pairs
    for rater, scores in again.errors.items():
        theirs = direct.errors[rater].values[[known[key] for key in scores.keys]]
        np.testing.assert_array_equal(scores.values, theirs)
    assert again.cases[0].candidate
    assert again.cases[0].meta["modality"] in ("CR", "CT")
    about = json.loads((tmp_path / f"{name}.about.json").read_text())
    assert about["study"]["design"]["name"] == "errors"
    assert about["events"] == check_study(made.path).events
    assert len(about["last_event_hash"]) == 64
    assert "secret" not in json.dumps(about)
    assert written.rows == 2 * 5 * 12


def test_columns_of_the_reports_do_not_pass_for_answers(tmp_path: Path) -> None:
    meta = {"rating": "9", "rater": "nobody", "category": "location", "age": "50"}
    cases = [Case(f"s{n}", "Clear.", ("Clear lungs.",), "a", meta=meta) for n in range(2)]
    made = new_study(tmp_path / "s.sqlite", cases, raters=1, design="radpref")
    with Store(made.path) as store:
        rater = Rater(store, "rater-1")
        rater.train()
        cases_of_rater = rater.keys()
        for case in cases_of_rater:
            rater.act(case, "set", candidate="A", field="rating", value=3)
            rater.submit(case)
    export_study(made.path, tmp_path / "judgments.csv")
    again = read_judgments(tmp_path / "judgments.csv")
    assert again.raters == ("Rater 1",)
    assert list(again.ratings["Rater 1"].headline) == [3.0, 3.0]
    assert again.errors["Rater 1"].column("errors_total").sum() == 0
    assert (again.cases[0].meta["meta_rating"], again.cases[0].meta["age"]) == ("9", "50")


def test_align_on_a_study_gives_what_a_pencil_gives(make: Make) -> None:
    made = make(raters=2)
    with Store(made.path) as store:
        _count(store)
    judgments = study_judgments(made.path)
    keys = tuple(case.key for case in judgments.cases)
    # mean errors: s1 alpha 0, s1 beta 2, s2 alpha 0, s3 alpha 0.5, s3 beta 2.5
    values = {("s1", "alpha"): 5.0, ("s1", "beta"): 2.0, ("s2", "alpha"): 4.0, ("s3", "alpha"): 1.0}
    values |= {("s3", "beta"): 0.0}
    column = np.array([[values.get(key, 9.0)] for key in keys])
    metric = Scores("m", "m", keys, column, column, ("m",), True)
    found = agree(Results({"m": metric}), judgments, targets=["total"], resamples=10)
    # Pairs of the five judged: one is tied on errors (s1 alpha, s2 alpha); of the other nine, metric and errors
    # disagree only on (s1 beta, s3 alpha). tau-b = (8 - 1) / sqrt(9 * 10).
    assert found.lines[0].correlation.value == pytest.approx(7 / np.sqrt(90))
    assert found.lines[0].not_judged == 3


def test_rexval_layout_goes_both_ways(tmp_path: Path) -> None:
    texts = {
        "oracle radgraph_combined": "a.",
        "oracle bertscore_f": "b.",
        "oracle chexbert": "c.",
        "oracle bleu": "d.",
    }
    cases = [Case(study, text, ("reference.",), system) for study in ("p", "q") for system, text in texts.items()]
    made = new_study(tmp_path / "s.sqlite", cases, raters=2)
    with Store(made.path) as store:
        for number in (1, 2):
            rater = Rater(store, f"rater-{number}")
            rater.train()
            for study in ("p", "q"):
                case = study_ids(store)[study]
                label = rater.label(case, "oracle bleu")
                rater.act(
                    case, "set", candidate=label, field="errors", part="severity/insignificant", value=number
                )
                rater.submit(case)
    export_study(made.path, tmp_path / "rexval", form="rexval")
    again = read_judgments(tmp_path / "rexval")
    assert again.name == "ReXVal"
    means = again.mean_errors()
    assert {
        key: value for key, value in zip(means.keys, means.column("errors_severity"), strict=True) if value
    } == {
        ("p", "bleu"): 1.5,
        ("q", "bleu"): 1.5,
    }
    assert means.column("errors_significant").sum() == 0


def test_layouts_refuse_what_they_cannot_hold(make: Make, tmp_path: Path) -> None:
    made = make(raters=1)
    with Store(made.path) as store:
        _count_one(store)
    with pytest.raises(InputError, match="has alpha, beta; write a table"):
        export_study(made.path, tmp_path / "x", form="rexval")
    with pytest.raises(InputError, match="holds findings marked"):
        export_study(made.path, tmp_path / "x.json", form="radpref")
    with pytest.raises(UsageError, match=r"written as \.csv or \.jsonl"):
        export_study(made.path, tmp_path / "x.txt")


def _count_one(store: Store) -> None:
    rater = Rater(store, "rater-1")
    rater.train()
    rater.submit(rater.keys()[0])


def test_radpref_layout_goes_both_ways(make: Make, tmp_path: Path) -> None:
    made = make(raters=1, design="radpref")
    with Store(made.path) as store:
        rater = Rater(store, "rater-1")
        rater.train()
        case = study_ids(store)["s1"]
        alpha, beta = rater.label(case, "alpha"), rater.label(case, "beta")

        def mark(**entry: object) -> None:
            rater.act(case, "add", candidate=beta, field="findings", entry=entry)

        mark(unit=0, category="attribute", attribute="location", significance="negligible")
        mark(unit=0, category="attribute", attribute="severity", significance="significant")
        missing = {"unit": 1, "significance": "urgent"}
        rater.act(case, "add", candidate=beta, field="missing", entry=missing)
        rater.act(
            case, "add", candidate=alpha, field="missing", entry={"text": "rib", "significance": "benign_expected"}
        )
        for label, value in ((alpha, 4), (beta, 2)):
            rater.act(case, "set", candidate=label, field="rating", value=value)
        rater.submit(case)
    export_study(made.path, tmp_path / "radpref.json", form="radpref")
    again, direct = read_judgments(tmp_path / "radpref.json"), study_judgments(made.path)
    names = {"C1": "alpha", "C2": "beta"}
    place = {case.key: number for number, case in enumerate(direct.cases)}
    order = [place[study, names[name]] for study, name in again.errors["Rater 1"].keys]
    np.testing.assert_array_equal(again.errors["Rater 1"].values, direct.errors["Rater 1"].values[order])
    np.testing.assert_array_equal(again.ratings["Rater 1"].values, direct.ratings["Rater 1"].values[order])
    beta_at = place["s1", "beta"]
    assert direct.errors["Rater 1"].column("errors_total")[beta_at] == 2  # one finding, wrong twice; one missing
    assert direct.errors["Rater 1"].column("errors_significant")[beta_at] == 2
    assert direct.errors["Rater 1"].column("errors_location")[beta_at] == 1


def test_every_answer_is_exported_and_runs_in_no_spreadsheet(make: Make, tmp_path: Path) -> None:
    made = make(raters=1, design="preference")
    with Store(made.path) as store:
        rater = Rater(store, "rater-1")
        rater.train()
        case = study_ids(store)["s3"]
        choice = {"choice": rater.label(case, "beta"), "reason": "=cmd|' /C calc'!A0"}
        rater.act(case, "set", field="preference", value=choice)
        rater.act(case, "time", seconds=4)
        rater.submit(case)
    export_study(made.path, tmp_path / "answers.csv", form="answers")
    (row,) = csv.DictReader((tmp_path / "answers.csv").read_text().splitlines())
    assert (row["id"], row["value"], row["seconds"]) == ("s3", "beta", "4.0")
    assert row["reason"].startswith("'=")
    export_study(made.path, tmp_path / "events.jsonl", form="events")
    assert len((tmp_path / "events.jsonl").read_text().splitlines()) == check_study(made.path).events


def test_preference_becomes_a_rating(make: Make) -> None:
    made = make(raters=1, design="preference")
    with Store(made.path) as store:
        rater = Rater(store, "rater-1")
        rater.train()
        for study, choice in (("s1", "alpha"), ("s2", "equal")):
            case = study_ids(store)[study]
            label = choice if choice == "equal" else rater.label(case, choice)
            rater.act(case, "set", field="preference", value={"choice": label, "reason": "r"})
            rater.submit(case)
    found = study_judgments(made.path)
    values = dict(zip((case.key for case in found.cases), found.ratings["Rater 1"].headline, strict=True))
    assert (values["s1", "alpha"], values["s1", "beta"]) == (1.0, 0.0)
    assert values["s2", "alpha"] == values["s2", "beta"] == 0.5
    assert np.isnan(values["s3", "alpha"])


def test_errors_over_potential_errors_are_exported_sentence_by_sentence(make: Make, tmp_path: Path) -> None:
    made = make(raters=2, design="rate_eval")
    # rater -> (potential, errors) of each sentence of alpha in s1; the last has more errors than are possible
    answers = {"rater-1": ((4, 1), (2, 0)), "rater-2": ((4, 3), (1, 2))}
    with Store(made.path) as store:
        for name, sentences in answers.items():
            rater = Rater(store, name)
            rater.train()
            case = study_ids(store)["s1"]
            for system, counted in (("alpha", sentences), ("beta", ((5, 5),))):
                label = rater.label(case, system)
                for unit, (potential, errors) in enumerate(counted):
                    rater.act(case, "set", candidate=label, field="potential", unit=unit, value=potential)
                    act = {"field": "sentence_errors", "unit": unit, "part": "severity", "value": errors}
                    rater.act(case, "set", candidate=label, **act)
                rater.act(case, "set", candidate=label, field="rating", value=4 if system == "alpha" else 1)
            rater.submit(case)
    written = export_study(made.path, tmp_path / "out", form="rate_eval")
    assert written.notes == ("1 answers left out: more errors than potential errors in the sentence",)
    sentences = read_judgments(tmp_path / "out", format="rate_eval_sentence")
    assert sentences.mean_ratings().headline.tolist() == [0.5, 1.0, 0.0]
    assert {case.id for case in sentences.cases} == {"s1"}
    whole = {case.key: case.candidate for case in study_judgments(made.path).cases}
    assert all(case.candidate in whole["s1", "alpha"] for case in sentences.cases[:2])
    assert read_judgments(tmp_path / "out", format="rate_eval").mean_ratings().headline.tolist() == [4.0, 1.0]
    program = CliRunner().invoke(
        app, ["agree", str(tmp_path / "out"), "-m", "bleu", "--ratings", "form=rate_eval_sentence", "--json"]
    )
    assert program.exit_code == 0, program.output
    counts = make(raters=1)
    with pytest.raises(InputError, match="needs errors and potential errors per sentence"):
        export_study(counts.path, tmp_path / "no", form="rate_eval")


def test_lay_and_sentence_answers_become_shares_and_sums(make: Make) -> None:
    lay, rate = make(raters=1, design="lay"), make(raters=1, design="rate_eval")
    with Store(lay.path) as store:
        rater = Rater(store, "rater-1")
        rater.train()
        case = study_ids(store)["s1"]
        for system, answers in (("alpha", ("yes", "no")), ("beta", ("yes",))):
            label = rater.label(case, system)
            for unit, said in enumerate(answers):
                rater.act(case, "set", candidate=label, field="sentence_match", unit=unit, value={"choice": said})
            for field in ("right", "complete"):
                rater.act(case, "set", candidate=label, field=field, value={"choice": "partly"})
            rater.act(case, "set", candidate=label, field="understandable", value=3)
        rater.submit(case)
    found = study_judgments(lay.path)
    values = dict(zip((case.key for case in found.cases), found.ratings["Rater 1"].headline, strict=True))
    assert (values["s1", "alpha"], values["s1", "beta"]) == (0.5, 1.0)
    with Store(rate.path) as store:
        rater = Rater(store, "rater-1")
        rater.train()
        case = study_ids(store)["s1"]
        for system, sentences in (("alpha", 2), ("beta", 1)):
            label = rater.label(case, system)
            for unit in range(sentences):
                rater.act(case, "set", candidate=label, field="potential", unit=unit, value=3)
                said = {"field": "sentence_errors", "unit": unit, "part": "severity", "value": unit + 1}
                rater.act(case, "set", candidate=label, **said)
            rater.act(case, "set", candidate=label, field="rating", value=2)
        rater.submit(case)
    scores = study_judgments(rate.path).errors["Rater 1"]
    totals = dict(zip(scores.keys, scores.column("errors_severity"), strict=True))
    assert (totals["s1", "alpha"], totals["s1", "beta"]) == (3.0, 1.0)
    assert np.isnan(scores.column("errors_significant")).all()  # nobody was asked
    assert default_targets(study_judgments(rate.path)) == ["rating", "total"]


def test_adjudicated_judgments_take_the_adjudicator_where_there_is_one(make: Make, tmp_path: Path) -> None:
    made = make(raters=2, adjudicators=["Chief"])
    with Store(made.path) as store:
        _count(store)
        chief = Rater(store, "adjudicator-1")
        case = study_ids(store)["s1"]
        label = chief.label(case, "beta")
        chief.act(case, "set", candidate=label, field="errors", part="omission/significant", value=7)
        chief.submit(case)
    plain = study_judgments(made.path)
    assert plain.raters == ("Rater 1", "Rater 2")
    assert any("adjudicator has decided 1 cases" in note for note in plain.notes)
    found = study_judgments(made.path, adjudicated=True)
    values = dict(
        zip((c.key for c in found.cases), found.errors["adjudicated"].column("errors_total"), strict=True)
    )
    assert (values["s1", "beta"], values["s1", "alpha"]) == (7.0, 0.0)
    assert (values["s3", "alpha"], values["s3", "beta"]) == (0.5, 2.5)  # the mean of the two
    export_study(made.path, tmp_path / "a.csv", adjudicated=True)
    assert read_judgments(tmp_path / "a.csv").raters == ("adjudicated",)


def test_a_check_finds_what_was_changed_behind_the_studys_back(make: Make, tmp_path: Path) -> None:
    made = make(raters=2)
    with Store(made.path) as store:
        _count(store)
    assert check_study(made.path).problems == ()

    def tampered(*statements: str) -> tuple[str, ...]:
        copy = tmp_path / "copy.sqlite"
        copy.unlink(missing_ok=True)
        with Store(made.path) as store:
            store.backup(copy)
        connection = sqlite3.connect(copy)
        for trigger in ("events_stay", "events_remain"):
            connection.execute(f"DROP TRIGGER {trigger}")
        for statement in statements:
            connection.execute(statement)
        connection.commit()
        connection.close()
        with pytest.raises(InputError, match="cannot be trusted"):
            export_study(copy, tmp_path / "x.csv")
        return check_study(copy).problems

    wrong = tampered("UPDATE events SET payload = replace(payload, '\"value\":2', '\"value\":0')")
    assert any("was changed" in problem for problem in wrong)
    assert any("is not what the events give" in problem for problem in wrong)
    assert any("missing" in problem for problem in tampered("DELETE FROM events WHERE seq = 12"))
    assert tampered("UPDATE states SET state = replace(state, '\"submitted\":true', '\"submitted\":false')")
    assert tampered("DELETE FROM states WHERE person = 'rater-1'")
    swapped = 'UPDATE assignments SET systems = \'["beta","alpha"]\' WHERE systems = \'["alpha","beta"]\''
    assert any("which candidate is whose" in problem for problem in tampered(swapped))
    assert any("texts" in problem for problem in tampered("UPDATE candidates SET text = 'Other.' WHERE rowid = 9"))
    assert tampered('UPDATE assignments SET systems = \'["alpha","alpha"]\' WHERE rowid = 5')


def test_a_design_without_use_for_align_says_so(make: Make, tmp_path: Path) -> None:
    own = tmp_path / "own.toml"
    own.write_text(
        'instructions = "Say."\n[[field]]\nkey = "note"\nkind = "choice"\ntitle = "Fine?"\n'
        'options = { yes = "yes", no = "no" }\n'
    )
    assert load_design(own).name == "own"
    made = make(raters=1, design=own)
    with pytest.raises(InputError, match="says of no field"):
        study_judgments(made.path)


def test_a_damaged_file_is_refused_or_read_whatever_is_wrong_with_it(make: Make, tmp_path: Path) -> None:
    made = make(raters=2)
    with Store(made.path) as store:
        _count(store)
        whole = store.backup(tmp_path / "whole.sqlite").read_bytes()
    rng = np.random.default_rng(0)
    before = study_judgments(made.path)
    refused = 0
    for _ in range(60):
        content = bytearray(whole)
        for at in rng.integers(100, len(content), size=rng.integers(1, 30)):
            content[at] = rng.integers(256)
        if rng.random() < 0.3:
            content = content[: rng.integers(100, len(content))]
        copy = tmp_path / "damaged.sqlite"
        copy.write_bytes(content)
        try:
            found = study_judgments(copy)
        except RadgaugeError:
            refused += 1
            continue
        for rater, scores in found.errors.items():  # what is read is what was said
            np.testing.assert_array_equal(scores.values, before.errors[rater].values)
        for name in ("damaged.sqlite-wal", "damaged.sqlite-shm"):
            (tmp_path / name).unlink(missing_ok=True)
    assert refused > 20


def test_an_exported_table_runs_in_no_spreadsheet_and_reads_as_it_was(tmp_path: Path) -> None:
    texts = ["=HYPERLINK(1)", "- Clear.", "+1", "@SUM(1)", "'=1", "\tClear.", "'tis clear"]
    cases = [Case(f"={n}", text, (text,), "-a", meta={"note": text}) for n, text in enumerate(texts)]
    made = new_study(tmp_path / "s.sqlite", cases, raters=["=Ann"], design="radpref")
    with Store(made.path) as store:
        rater = Rater(store, "rater-1")
        rater.train()
        keys = rater.keys()
        for key in keys:
            rater.act(key, "set", candidate="A", field="rating", value=3)
            rater.submit(key)
    export_study(made.path, tmp_path / "judgments.csv")
    with (tmp_path / "judgments.csv").open(newline="") as file:
        cells = [cell for row in csv.reader(file) for cell in row]
    assert not [cell for cell in cells if cell.startswith(("=", "+", "-", "@", "\t"))]
    again = read_judgments(tmp_path / "judgments.csv")
    assert again.raters == ("=Ann",)
    assert sorted((case.id, case.candidate, case.references[0], case.meta["note"]) for case in again.cases) == [
        (f"={n}", text, text, text) for n, text in enumerate(texts)
    ]
    assert {case.system for case in again.cases} == {"-a"}

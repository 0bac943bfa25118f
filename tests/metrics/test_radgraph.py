"""RadGraph F1: definitions by hand, letter case, empty graphs, the published JSON, changes it must notice."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import radgauge as rg
from radgauge.cli import app
from radgauge.cli.options import ReportForm
from radgauge.cli.read import write_table_graphs
from radgauge.core.errors import InputError, UsageError
from radgauge.metrics.radgraph import RadGraph, f1_of_items
from radgauge.reader.graph_json import graph_items, read_graphs, write_graphs


def graph(*entities: tuple[str, str, list[tuple[str, int]]]) -> dict:
    """A graph from (tokens, label, [(relation, number of the target, from 1)])."""
    return {
        "text": " ".join(words for words, _, _ in entities),
        "entities": {
            str(number): {
                "tokens": words,
                "label": label,
                "start_ix": number - 1,
                "end_ix": number - 1,
                "relations": [[kind, str(target)] for kind, target in relations],
            }
            for number, (words, label, relations) in enumerate(entities, start=1)
        },
    }


LEFT = graph(("Small", "OBS-DP", [("modify", 2)]), ("effusion", "OBS-DP", []), ("left", "ANAT-DP", []))
RIGHT = graph(("small", "OBS-DP", [("modify", 2)]), ("effusion", "OBS-DP", []))


@pytest.mark.parametrize(
    ("case", "expected"),
    [
        # yu: entities 1 of 3 and 1 of 2 -> 0.4, relations differ in case -> 0; mean 0.2
        # simple: the same 0.4; partial: (effusion) alone -> 0.4; complete: effusion and the lower-cased relation
        ("release", [0.2, 0.4, 0.4, 0.8]),
        ("2026-07", [0.2, 0.8, 0.8, 0.8]),
    ],
)
def test_definitions_by_hand(case: str, expected: list[float]) -> None:
    values = f1_of_items([graph_items(LEFT, case=case)], [graph_items(RIGHT, case=case)])
    assert values[0] == pytest.approx(expected)


def test_duplicates_count_once() -> None:
    twice = graph(("effusion", "OBS-DP", []), ("effusion", "OBS-DP", []))
    once = graph(("effusion", "OBS-DP", []))
    # no relation on either side makes the relation half of yu 0, as published
    assert f1_of_items([graph_items(twice)], [graph_items(once)])[0].tolist() == [0.5, 1.0, 1.0, 1.0]


def test_empty_graphs_are_not_judged_unless_asked() -> None:
    nothing, something = graph_items({"entities": {}}), graph_items(LEFT)
    assert np.isnan(f1_of_items([nothing, something], [something, nothing])).all()
    assert (f1_of_items([nothing], [something], empty="zero") == 0).all()


def score(candidate: str, reference: str, spec: str = "radgraph") -> np.ndarray:
    cases = [{"id": "1", "candidate": candidate, "reference": reference}]
    return rg.score(cases, [spec])["radgraph"].values[0]


def test_a_copy_is_perfect() -> None:
    text = "Small left pleural effusion. No pneumothorax."
    assert score(text, text).tolist() == [1.0, 1.0, 1.0, 1.0]


@pytest.mark.parametrize(
    "worse",
    [
        "No left pleural effusion. No pneumothorax.",
        "Small right pleural effusion. No pneumothorax.",
        "Large left pleural effusion. No pneumothorax.",
        "Small left pleural effusion. Pneumothorax.",
    ],
)
def test_notices_negation_side_severity(worse: str) -> None:
    text = "Small left pleural effusion. No pneumothorax."
    assert (score(worse, text) < 1).all()


def test_headline_is_the_chosen_variant() -> None:
    names = RadGraph(variant="partial").columns
    assert names[0] == "radgraph_partial_embedded"
    assert set(names) == set(RadGraph().columns)
    text, other = "Small left effusion.", "Small right effusion."
    plain, chosen = score(text, other), score(text, other, "radgraph:variant=complete")
    assert chosen[0] == plain[3]


def test_reasons() -> None:
    cases = [
        {"id": "1", "candidate": "Thank you.", "reference": "No effusion."},
        {"id": "2", "candidate": "No effusion.", "reference": "Thank you."},
    ]
    reasons = rg.score(cases, ["radgraph"])["radgraph"].reasons
    assert reasons["1", "system"] == "no entities found in the candidate"
    assert reasons["2", "system"] == "no entities found in the reference"


def test_zero_for_empty_counts_an_empty_candidate() -> None:
    assert score("", "No effusion.", "radgraph:empty=zero").tolist() == [0, 0, 0, 0]


def test_a_report_of_100_kb() -> None:
    text = "The heart is enlarged. Small left effusion. " * 2300
    assert len(text) > 100_000
    assert score(text, "The heart is enlarged. Small left effusion.")[1] == pytest.approx(1.0)


def test_published_json_round_trip_and_scoring(tmp_path: Path) -> None:
    dump = tmp_path / "graphs.json"
    write_graphs(dump, {"a": LEFT, "b": RIGHT}, source="test")
    stored = read_graphs(dump)
    assert stored["a"]["entities"] == LEFT["entities"]
    assert stored["a"]["data_source"] == "test"
    assert stored["a"]["data_split"] == "inference"
    cases = [{"id": "1", "candidate": "Small\neffusion left", "reference": "small effusion"}]
    scores = rg.score(cases, [RadGraph(models=str(dump))])["radgraph"]
    assert scores.columns[0] == "radgraph_yu"
    assert scores.values[0] == pytest.approx([0.2, 0.4, 0.4, 0.8])
    cases.append({"id": "2", "candidate": "Clear lungs", "reference": "small effusion"})
    scores = rg.score(cases, [RadGraph(models=str(dump))])["radgraph"]
    assert scores.values[0] == pytest.approx([0.2, 0.4, 0.4, 0.8])
    assert np.isnan(scores.values[1]).all()
    assert scores.reasons["2", "system"] == "candidate: graphs.json holds no graph of this report"


def test_an_oracle_on_stored_graphs_goes_on_after_a_report_without_one(tmp_path: Path) -> None:
    dump = tmp_path / "graphs.json"
    write_graphs(dump, {"a": LEFT, "b": RIGHT}, source="test")
    corpus = {"1": "small effusion", "2": "Clear lungs"}
    queries = {"x": "Clear lungs", "y": "Small effusion left"}
    lost, found = rg.oracle(corpus, queries, metric=RadGraph(models=str(dump)))
    assert np.isnan(lost.score)
    assert lost.note == "reference: graphs.json holds no graph of this report"
    assert (found.corpus_id, found.score) == ("1", pytest.approx(0.2))


def test_graphs_of_a_table_with_one_report_per_row(tmp_path: Path) -> None:
    table, dump = tmp_path / "reports.csv", tmp_path / "graphs.json"
    table.write_text("id,report\n1,Small left effusion.\n2,\n3,No edema.\n")
    done = CliRunner().invoke(app, ["read", str(table), "--graphs", str(dump)])
    assert done.exit_code == 0, done.output
    graphs = read_graphs(dump)
    assert list(graphs) == ["1", "3"]
    assert {entity["tokens"] for entity in graphs["3"]["entities"].values()} == {"edema"}


def test_graphs_of_a_table_are_written_and_scored_again(tmp_path: Path) -> None:
    table, dump = tmp_path / "reports.csv", tmp_path / "graphs.json"
    table.write_text("id,reference,candidate\n1,Small left effusion.,Left effusion.\n2,No edema.,\n")
    done = CliRunner().invoke(app, ["read", str(table), "--graphs", str(dump)])
    assert done.exit_code == 0, done.output
    assert done.stdout.endswith("graphs.json: 3 graphs\n")  # an empty report has none
    assert sorted(read_graphs(dump)) == ["1/reference", "1/reports", "2/reference"]
    cases = [{"id": "1", "candidate": "Left effusion.", "reference": "Small left effusion."}]
    stored = rg.score(cases, ["radgraph"], models=str(dump))["radgraph"]
    assert stored.columns[0] == "radgraph_yu_embedded"  # a file does not make them published
    assert stored.values.tolist() == rg.score(cases, ["radgraph"])["radgraph"].values.tolist()


def test_a_table_of_single_reports_keeps_their_ids(tmp_path: Path) -> None:
    table, dump = tmp_path / "reports.csv", tmp_path / "graphs.json"
    table.write_text("id,report\n7,Small left effusion.\n")
    arguments = ["read", str(table), "--graphs", str(dump), "--columns", "candidate=report"]
    assert CliRunner().invoke(app, arguments).exit_code == 0
    assert list(read_graphs(dump)) == ["7"]
    with pytest.raises(UsageError, match=r"graphs are written as \.json"):
        write_table_graphs(table, tmp_path / "x.txt", models="embedded", form=ReportForm())


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "must be JSON"),
        ("[]", "must map document keys to graphs, got a list"),
        ('{"x": {"entities": []}}', "document 'x' must be a graph with 'text' and 'entities'"),
        ('{"x": {"text": "", "entities": {"1": {}}}}', "entity '1' must have tokens, label"),
    ],
)
def test_bad_dumps_say_what_is_wrong(tmp_path: Path, content: str, message: str) -> None:
    path = tmp_path / "graphs.json"
    path.write_text(content)
    with pytest.raises(InputError, match=message):
        read_graphs(path)


def test_a_relation_to_nowhere_is_refused(tmp_path: Path) -> None:
    broken = graph(("small", "OBS-DP", [("modify", 7)]))
    path = tmp_path / "graphs.json"
    path.write_text(json.dumps({"x": broken}))
    with pytest.raises(InputError, match="modify points at '7', which is no entity"):
        read_graphs(path)


@pytest.mark.parametrize("setting", ["variant", "network", "case", "empty"])
def test_unknown_settings_are_refused(setting: str) -> None:
    with pytest.raises(UsageError, match=f"radgraph: {setting} must be one of .*, got 'best'"):
        RadGraph(**{setting: "best"})


def test_explanation_names_what_differs() -> None:
    case = rg.Case("1", "Small right effusion.", ("Small left effusion.",))
    notes = RadGraph().explain(case, reading=rg.Readings()).notes
    said = {(note.kind, note.text) for note in notes}
    assert ("missing", "only in the reference: left (ANAT-DP)") in said
    assert ("added", "only in the candidate: right (ANAT-DP)") in said

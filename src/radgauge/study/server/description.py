"""The OpenAPI document of the service, and the page that shows it: one file, no script, nothing from elsewhere."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, select_autoescape

from radgauge import __version__
from radgauge.study.server.requests import Limits

STYLE = (Path(__file__).parent / "page.css").read_text(encoding="utf-8")

_TEXT, _NUMBER, _TRUTH = {"type": "string"}, {"type": ["number", "null"]}, {"type": "boolean"}
_TEXTS = {"type": "array", "items": _TEXT}
_NAMED_NUMBERS = {"type": "object", "additionalProperties": _NUMBER}
_NAMED_TEXTS = {"type": "object", "additionalProperties": _TEXT}


def _object(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "additionalProperties": False}


def _listed(schema: str) -> dict[str, Any]:
    return {"type": "array", "items": {"$ref": f"#/components/schemas/{schema}"}}


_SCHEMAS: dict[str, Any] = {
    "Case": {
        **_object(
            id={"type": ["string", "integer"], "description": "Of the study; the row number if it is missing."},
            system={"type": "string", "default": "system", "description": "Who wrote the candidate."},
            candidate={"type": ["string", "null"], "description": "The report that is judged."},
            reference={"type": ["string", "null"], "description": "What the radiologist wrote."},
            references={**_TEXTS, "description": "Instead of reference: alternatives, of which the best counts."},
        ),
        "required": ["candidate"],
    },
    "JudgedCase": _object(
        id=_TEXT,
        system=_TEXT,
        values={**_NAMED_NUMBERS, "description": "One number per output; null = not judged, never 0."},
        not_judged={**_NAMED_TEXTS, "description": "Metric -> why it did not judge this case."},
        explanations={
            "type": "array",
            "items": {"type": "object"},
            "description": "With explain: notes and places.",
        },
        notes={**_TEXTS, "description": "In streams: what is odd about the texts."},
    ),
    "Summary": _object(
        system=_TEXT,
        judge=_TEXT,
        column=_TEXT,
        value=_NUMBER,
        low=_NUMBER,
        high=_NUMBER,
        level={"type": "number"},
        judged={"type": "integer"},
        not_judged={"type": "integer"},
        not_applicable={"type": "integer", "description": "Judged cases that this output says nothing about."},
        reasons={"type": "array", "items": _object(reason=_TEXT, cases={"type": "integer"})},
        higher_is_better=_TRUTH,
        signature=_TEXT,
        truncated={"type": "integer", "description": "Cases with a report longer than an encoder reads."},
        method={"type": "string", "description": "How the interval was made; empty without one."},
    ),
    "Scores": _object(
        cases=_listed("JudgedCase"), summary=_listed("Summary"), metrics={"type": "object"}, notes=_TEXTS
    ),
    "Error": _object(error=_TEXT),
}


def description(metrics: Mapping[str, Mapping[str, Any]], limits: Limits, *, reward: str) -> dict[str, Any]:
    """The service as an OpenAPI 3.1 document.

    Args:
        metrics: The metrics that are served, with signature, columns and direction.
        limits: What one request may cost.
        reward: The metric behind `/get_reward`; "" if there is none.
    """
    names = list(metrics)
    chosen = {"type": "array", "items": {"type": "string", "enum": names}, "default": names}
    options = {
        "metrics": {**chosen, "description": "Some of the metrics that are served."},
        "explain": {**_TRUTH, "default": False, "description": "Why each case got its values."},
        "level": {"type": "number", "minimum": 0.5, "maximum": 0.999, "default": 0.95},
        "resamples": {"type": "integer", "minimum": 0, "maximum": 10_000, "default": 1000},
        "seed": {"type": "integer", "minimum": 0, "default": 0},
    }
    request = {**_object(cases={**_listed("Case"), "maxItems": limits.cases}, **options), "required": ["cases"]}
    paths: dict[str, Any] = {
        "/score": {
            "post": {
                "summary": "Judge cases",
                "description": (
                    f"JSON with up to {limits.cases} cases and {limits.body} bytes, answered as one object; or "
                    f"JSON lines, one case per line and up to {limits.streamed_cases} of them, answered line by "
                    "line while they arrive, and at the end by one line with summary, metrics and notes (or "
                    "error). Lines take the options from the address: /score?metrics=errors&explain=true."
                ),
                "requestBody": {
                    "required": True,
                    "content": {
                        "application/json": {
                            "schema": request,
                            "example": {
                                "cases": [
                                    {"id": "1", "candidate": "No effusion.", "reference": "Small left effusion."}
                                ],
                                "explain": True,
                            },
                        },
                        "application/x-ndjson": {"schema": {"$ref": "#/components/schemas/Case"}},
                    },
                },
                "responses": _responses("Scores", "The values, intervals and reasons."),
            }
        },
        "/health": {"get": {"summary": "Is the process alive?", "security": [], "responses": _plain("It is.")}},
        "/ready": {
            "get": {
                "summary": "Are the metrics loaded?",
                "security": [],
                "responses": {**_plain("They are; which, with signatures."), "503": {"description": "Not yet."}},
            }
        },
    }
    if reward:
        paths["/get_reward"] = {
            "post": {
                "summary": f"Rewards for training (OpenRLHF's remote reward), by {reward}",
                "description": (
                    "A query is the prompt and the answer; labels are the references. Rewards lie between 0 and "
                    "1, 1 = best; what cannot be judged gets the floor."
                ),
                "requestBody": {
                    "required": True,
                    "content": {
                        "application/json": {
                            "schema": _object(query=_TEXTS, prompts=_TEXTS, labels={"type": "array"}),
                            "example": {"query": ["No effusion."], "prompts": [""], "labels": ["No effusion."]},
                        }
                    },
                },
                "responses": _responses("", "rewards, scores and extra_logs."),
            }
        }
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "radgauge",
            "version": __version__,
            "description": "Measures machine-written radiology reports. Served: "
            + "; ".join(f"{name} ({about['signature']})" for name, about in metrics.items()),
        },
        "paths": paths,
        "security": [{"token": []}],
        "components": {"schemas": _SCHEMAS, "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}}},
    }


def _plain(about: str) -> dict[str, Any]:
    return {"200": {"description": about, "content": {"application/json": {"schema": {"type": "object"}}}}}


def _responses(schema: str, about: str) -> dict[str, Any]:
    form = {"$ref": f"#/components/schemas/{schema}"} if schema else {"type": "object"}
    told = {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}}
    reasons = {
        "400": "The request is not as it should be; the message says where, and shows no text of a report.",
        "401": "No token, or a wrong one.",
        "413": "Too large.",
        "503": "Too many requests, or it took longer than it may; come again.",
    }
    return {
        "200": {"description": about, "content": {"application/json": {"schema": form}}},
        **{code: {"description": why, "content": told} for code, why in reasons.items()},
    }


@cache
def _template() -> Any:
    source = (Path(__file__).parent / "page.html").read_text(encoding="utf-8")
    return Environment(autoescape=select_autoescape(default=True)).from_string(source)


def page(document: Mapping[str, Any]) -> str:
    """The document as a page for people."""
    return str(_template().render(document=document))

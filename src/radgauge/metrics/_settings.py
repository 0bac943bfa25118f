"""Checks that metrics which rest on models share: settings, and texts that hold nothing to read."""

from __future__ import annotations

from radgauge.text.words import has_words

EMBEDDED = "embedded"


def settle(metric: object, setting: str, *, embedded: str, published: str) -> None:
    """Replace "auto" by what the model profile means, so that the signature names the true value."""
    if getattr(metric, setting) == "auto":
        chosen = embedded if getattr(metric, "models", EMBEDDED) == EMBEDDED else published
        object.__setattr__(metric, setting, chosen)


def label_columns(names: tuple[str, ...], models: str) -> tuple[str, ...]:
    """Column names, marked when the numbers rest on embedded parts.

    >>> label_columns(("radgraph_yu",), "embedded")
    ('radgraph_yu_embedded',)
    """
    return tuple(f"{name}_embedded" for name in names) if models == EMBEDDED else names


def wordless(candidate: str, references: tuple[str, ...]) -> str:
    """Why a case whose texts hold no words cannot be judged; "" if that is not the reason."""
    if not has_words(candidate):
        return "candidate has no words"
    if not any(has_words(text) for text in references):
        return "reference has no words"
    return ""

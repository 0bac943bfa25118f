"""Records of what was changed in a report, and the kinds of change there are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of change."""

    name: str
    title: str
    significant: bool  # True if a reader of the report must care; an edit of a benign finding may still say no
    category: int  # Number of the ReXVal error category; 0 if the change is no error of one category
    paper: bool = False  # True for the six kinds of VLScore (section 4.2)
    harmless: bool = False  # True if the report says the same in another form: no metric should move

    @property
    def family(self) -> str:
        """`significant`, `harmless` or "" for the other insignificant kinds."""
        return "significant" if self.significant else "harmless" if self.harmless else ""


_ALL = (
    Kind("remove_pathology", "remove every sentence that states a pathology", True, 2, True),
    Kind("remove_insignificant", "remove a sentence that says nothing about the image", False, 0, True),
    Kind("change_location", "change a side or a location", True, 3, True),
    Kind("change_severity", "change a severity", True, 4, True),
    Kind("unknown_word", "replace a non-informative word by [UNK]", False, 0, True),
    Kind("normal_report", "replace a normal report by the standard normal report", False, 0, True),
    Kind("remove_normal", "remove a sentence that states only what is normal", False, 0),
    Kind("flip_negation", "deny a finding, or state a denied one", True, 0),
    Kind("add_finding", "add a false finding", True, 1),
    Kind("swap_report", "take another study's report", True, 0),
    Kind("change_measurement", "change a measurement", True, 4),
    Kind("add_comparison", "add a comparison with a prior", True, 5),
    Kind("drop_comparison", "drop a comparison with a prior", True, 6),
    Kind("hedge", "make a stated finding uncertain", True, 7),
    Kind("assert", "state an uncertain finding", True, 8),
    Kind("reorder", "exchange two sentences", False, 0, harmless=True),
    Kind("paraphrase", "say the same with synonyms", False, 0, harmless=True),
    Kind("bullets", "put every sentence on a line behind a dash", False, 0, harmless=True),
    Kind("key_value", "write sentences as name and value, one per line", False, 0, harmless=True),
    Kind("other_voice", "turn sentences into the other voice", False, 0, harmless=True),
    Kind("abbreviate", "abbreviate what has a usual abbreviation", False, 0, harmless=True),
    Kind("move_section", "put the impression in front of the findings", False, 0, harmless=True),
)
KINDS: dict[str, Kind] = {kind.name: kind for kind in _ALL}
"""All kinds by name, the six of the paper first."""


class Proposal(NamedTuple):
    """A change that could be made: text[start:end] becomes `after`."""

    start: int
    end: int
    after: str
    category: int
    significant: bool


@dataclass(frozen=True, slots=True)
class Edit:
    """One change at one place."""

    kind: str  # Name of the kind
    span: Span  # Characters of the original that were replaced; empty where something was inserted
    before: str
    after: str  # What stands there now
    result_span: Span  # Characters of the result that hold `after`
    significant: bool  # True if a reader of the report must care
    category: int  # Number of the ReXVal error category (7 and 8: Calamida et al. 2023), 0 for none or several.


@dataclass(frozen=True, slots=True)
class Perturbed:
    """A changed report and what was changed in it."""

    kind: str
    original: str
    text: str
    edits: tuple[Edit, ...]

    @property
    def significant(self) -> bool:
        """True if any of the edits is significant."""
        return any(edit.significant for edit in self.edits)


def apply(text: str, kind: str, proposals: list[Proposal]) -> Perturbed:
    """The text with the changes made; they must not overlap."""
    edits = []
    parts: list[str] = []
    done = length = 0
    for start, end, after, category, significant in sorted(proposals):
        parts += (text[done:start], after)
        length += start - done
        edits.append(
            Edit(kind, (start, end), text[start:end], after, (length, length + len(after)), significant, category)
        )
        length += len(after)
        done = end
    parts.append(text[done:])
    return Perturbed(kind, text, "".join(parts), tuple(edits))

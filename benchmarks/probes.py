"""Claims of short texts that the reader gets right, by kind: `python benchmarks/probes.py --data DIR`.

A probe is a text and every claim it makes. A claim counts as read if a mention of the same or a related concept is
there (the claim's name is read by the reader itself, or two of its words stand in the mention), as right if the
assertion agrees too. The side is judged among right claims that have one.
"""

from __future__ import annotations

import argparse
import json
import re
from collections import Counter, defaultdict
from pathlib import Path

from radgauge.reader import Mention, load_lexicon, read_report

_STOP = frozenset({"of", "the", "in", "a", "an", "and", "with", "left", "right", "bilateral", "acute", "chronic"})
_STATES = {
    "present": "present",
    "absent": "absent",
    "uncertain": "uncertain",
    "resolved_or_removed": "absent",
    "historical": "history",
}


def _words(text: str) -> set[str]:
    return {word.rstrip("s") for word in re.findall(r"[a-z]+", text.lower())} - _STOP


def _findings(text: str) -> list[Mention]:
    return [mention for mention in read_report(text).mentions if mention.kind != "anatomy"]


def _hits(claim: str, mentions: list[Mention]) -> list[Mention]:
    """The mentions that a claim of this name may be."""
    lexicon = load_lexicon()
    named = {mention.concept for mention in _findings(claim)}
    related = named.union(*(lexicon.ancestors(each) for each in named))
    wanted = _words(claim)
    return [
        mention
        for mention in mentions
        if mention.concept in related
        or not named.isdisjoint(lexicon.ancestors(mention.concept))
        or len(_words(mention.text) & wanted) >= min(2, len(wanted))
    ]


def score_probes(path: Path) -> dict[str, Counter[str]]:
    """Counts by kind of probe: n, read, right, sided, side."""
    table: dict[str, Counter[str]] = defaultdict(Counter)
    for line in path.read_text(encoding="utf-8").splitlines():
        probe = json.loads(line)
        mentions = _findings(probe["text"])
        row = table[probe["kind"]]
        for claim in probe["claims"]:
            row["n"] += 1
            hits = _hits(claim["finding"], mentions)
            row["read"] += bool(hits)
            states = {
                "history" if mention.attributes.context != "current" else mention.assertion for mention in hits
            }
            gone = any(mention.attributes.change == "resolved" for mention in hits)
            right = _STATES[claim["status"]] in states or (claim["status"] == "resolved_or_removed" and gone)
            row["right"] += right
            if right and claim["side"] in ("left", "right"):
                row["sided"] += 1
                row["side"] += any(claim["side"] in mention.attributes.laterality for mention in hits)
    return dict(table)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    default = Path(__file__).resolve().parents[2] / "shared" / "data"
    parser.add_argument("--data", type=Path, default=default, help="folder with the data")
    path = parser.parse_args().data / "judged" / "probes.jsonl"
    if not path.exists():
        print(f"probes: no file {path}")
        return
    table = score_probes(path)
    total = sum(table.values(), Counter[str]())
    for kind, row in sorted(table.items(), key=lambda item: item[1]["right"] / item[1]["n"]):
        shares = f"read {row['read'] / row['n']:.2f}  right {row['right'] / row['n']:.2f}"
        print(f"  {kind[:60]:60} claims {row['n']:3}  {shares}")
    side = total["side"] / max(1, total["sided"])
    print(
        f"probes: {total['n']} claims, read {total['read'] / total['n']:.3f}, "
        f"right {total['right'] / total['n']:.3f}, side right {side:.3f} of {total['sided']}"
    )


if __name__ == "__main__":
    main()

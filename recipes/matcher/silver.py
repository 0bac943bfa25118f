"""Write statements about real reports, labelled by the rules of `errors`: see README.md beside this file.

Reports of Indiana University that no judged pair and no test split uses. A statement is a sentence of the report
with one change of the perturbation laboratory, or a sentence of another report, judged by aligning findings.
"""

from __future__ import annotations

import argparse
import csv
import json
from pathlib import Path

import numpy as np

from radgauge.analysis.perturb import perturb
from radgauge.findings.claims import findings_of
from radgauge.findings.error import FALSE
from radgauge.findings.findings import Findings, knowledge_for
from radgauge.findings.match import align_findings
from radgauge.findings.profile import profile_of
from radgauge.findings.rules import TIERS
from radgauge.reader import load_lexicon, read_report
from radgauge.text.sentences import split_sentences

EDITS = {
    "flip_negation": ("contradicted", "negation"),
    "change_location": ("contradicted", "location"),
    "change_severity": ("contradicted", "severity"),
    "change_measurement": ("contradicted", "size"),
    "paraphrase": ("supported", "none"),
}
KNOWN = knowledge_for(load_lexicon())
Item = dict[str, str]


def main() -> None:
    """Write the file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path, help="folder with iu_xray and iu_xray_systems")
    parser.add_argument("output", type=Path)
    parser.add_argument("--reports", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    rng = np.random.default_rng(given.seed)
    texts = training_reports(given.data)
    chosen = [texts[at] for at in rng.permutation(len(texts))[: given.reports]]
    told = sorted({text[start:end] for text in texts for start, end in split_sentences(text) if end - start > 12})
    some = [told[at] for at in rng.permutation(len(told))[:4000]]
    read = {line: findings_of(read_report(line), KNOWN) for line in some}
    abnormal = [line for line, found in read.items() if found.present]
    normal = [line for line, found in read.items() if found.denied and not found.present]
    with given.output.open("w", encoding="utf-8") as stream:
        for text in chosen:
            items = [*edited(text, rng), *foreign(text, abnormal, normal, read, rng)]
            for at in rng.permutation(len(items))[:7]:
                stream.write(json.dumps({"region": "chest", "context": text, **items[at]}) + "\n")


def training_reports(data: Path) -> list[str]:
    """Findings and impression of every study that is in no test split, each text once."""
    annotated = json.loads((data / "iu_xray" / "r2gen_annotation.json").read_text(encoding="utf-8"))
    used = {each["id"].split("_")[0].removeprefix("CXR") for each in annotated["test"]}
    with (data / "iu_xray_systems" / "mrg_rl_test382_systems.csv").open(encoding="utf-8") as stream:
        used |= {row["uid"] for row in csv.DictReader(stream)}
    with (data / "iu_xray" / "indiana_reports.csv").open(encoding="utf-8") as stream:
        rows = [row for row in csv.DictReader(stream) if row["uid"] not in used]
    return sorted({" ".join([row["findings"], row["impression"]]).strip() for row in rows if row["findings"]})


def edited(text: str, rng: np.random.Generator) -> list[Item]:
    """Sentences of the report with one change."""
    found: list[Item] = []
    for kind, (label, error) in EDITS.items():
        done = perturb(text, kind, rng=rng)
        if done is None:
            continue
        place = done.edits[0].result_span[0]
        for start, end in split_sentences(done.text):
            if start <= place < end:
                line = done.text[start:end]
                said = findings_of(read_report(line), KNOWN)
                grave = tier_of(said) if said.present else "normal"
                if kind == "flip_negation" and not said.present:
                    grave = "actionable" if done.significant else "not_actionable"
                found.append({"statement": line, "label": label, "error": error, "tier": grave})
                break
    return found


def tier_of(found: Findings) -> str:
    """The gravest tier of its findings."""
    return TIERS[min(KNOWN.rules.tier(each.concept) for each in found.present)]


def foreign(
    text: str, abnormal: list[str], normal: list[str], read: dict[str, Findings], rng: np.random.Generator
) -> list[Item]:
    """Sentences of other reports, with the verdict of the rules; undecided ones are left out."""
    report = findings_of(read_report(text), KNOWN)
    found: list[Item] = []
    lines = [*(abnormal[int(at)] for at in rng.integers(0, len(abnormal), 5))]
    lines += [*(normal[int(at)] for at in rng.integers(0, len(normal), 3))]
    for line in lines:
        said = read[line]
        aligned = align_findings(report, said, KNOWN)
        profile = profile_of(aligned, report, said, KNOWN)
        against = [each for each in profile.errors if each.category != 1 or each.denied]
        if not said.present:
            if any(each.category == 1 and each.denied for each in profile.errors):
                worst = TIERS[min(each.tier for each in profile.errors if each.denied)]
                found.append({"statement": line, "label": "contradicted", "error": "negation", "tier": worst})
            elif said.topics and said.topics <= report.topics and said.ruled_out & report.ruled_out:
                found.append({"statement": line, "label": "supported", "error": "none", "tier": "normal"})
            elif not said.topics & report.topics:
                found.append({"statement": line, "label": "unmentioned", "error": "none", "tier": "normal"})
        elif not against and aligned.matched and min(each.similarity for each in aligned.matched) > 0.85:
            found.append({"statement": line, "label": "supported", "error": "none", "tier": tier_of(said)})
        elif against:
            worst = min(against, key=lambda each: each.tier)
            tier = TIERS[worst.tier]
            if worst.category == FALSE:
                denied = worst.spans or worst.denied
                label, error = ("contradicted", "negation") if denied else ("unmentioned", "added")
                found.append({"statement": line, "label": label, "error": error, "tier": tier})
            elif worst.significant:
                found.append({"statement": line, "label": "contradicted", "error": "other_finding", "tier": tier})
    return found


if __name__ == "__main__":
    main()

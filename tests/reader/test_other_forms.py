"""The same report in another form is read alike; one statement turned round is not."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

import radgauge as rg
from radgauge.reader import read_report

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
DATA = Path(__file__).parents[3] / "shared" / "data"
REPORTS = (
    "FINDINGS: The heart size is normal. Small left effusion - unchanged. No pneumothorax. There is mild edema.",
    "CT abdomen. The liver is normal. A 12 mm cyst in the right kidney. No hydronephrosis. Small hiatal hernia.",
    "Left knee: Horizontal tear of the medial meniscus. The patient's cruciate ligament is intact. No fracture.",
)


@pytest.fixture(scope="module")
def metamorphic() -> Iterator[ModuleType]:
    sys.path.insert(0, str(BENCHMARKS))
    yield importlib.import_module("metamorphic")
    sys.path.remove(str(BENCHMARKS))


def test_no_form_costs_quality_and_every_flip_does(metamorphic: ModuleType) -> None:
    for name, form in metamorphic.FORMS.items():
        assert metamorphic.losses(REPORTS, form, "errors")[1] == 0, name
    for name, flip in metamorphic.FLIPS.items():
        changed, missed = metamorphic.missed_flips(REPORTS, flip)
        assert (changed > 0, missed) == (True, 0), name


@pytest.mark.parametrize("metric", ["bleu", "rouge", "ratescore", "radgraph", "chexbert"])
def test_what_nobody_sees_moves_no_metric(metamorphic: ModuleType, metric: str) -> None:
    cases = [
        rg.Case(f"{name} {number}", metamorphic.FORMS[name](text), (text,))
        for name in metamorphic.ENCODINGS
        for number, text in enumerate(REPORTS)
    ]
    same = [rg.Case(case.id, case.references[0], case.references) for case in cases]
    values = [rg.score(each, [metric])[metric].headline.tolist() for each in (cases, same)]
    assert values[0] == pytest.approx(values[1], nan_ok=True)


def test_headings_hold_however_lines_end() -> None:
    plain = read_report("HISTORY: Prior pneumonia. FINDINGS: Small effusion.").mentions
    for text in (
        "## History\n\nPrior pneumonia.\n\n## Findings\n\nSmall effusion.",
        "HISTORY:,Prior pneumonia.,FINDINGS:,Small effusion.",
        "HISTORY:\nPrior\npneumonia.\nFINDINGS:\nSmall\neffusion.",
    ):
        mentions = read_report(text).mentions
        assert [(m.concept, m.attributes.context) for m in mentions] == [
            (m.concept, m.attributes.context) for m in plain
        ]


@pytest.mark.nightly
@pytest.mark.skipif(not (DATA / "iu_xray").is_dir(), reason="the reports are not part of the project")
def test_real_reports_hold_their_quality(metamorphic: ModuleType) -> None:
    chest = metamorphic.chest_reports(DATA, 300)
    shares = {}
    for name, form in metamorphic.FORMS.items():
        changed, lost = metamorphic.losses(chest, form, "errors") if metamorphic.changed(chest, form) else (1, 0)
        shares[name] = lost / changed
    assert {name: share for name, share in shares.items() if share > metamorphic.LIMITS["chest"]} == {}


@pytest.mark.parametrize(
    ("text", "concept", "assertion"),
    [
        (
            "The heart size is within normal limits for technique, no\nmediastinal widening is seen.",
            "mediastinal_widening",
            "absent",
        ),
        ("COPD.\nNo acute abnormality.", "copd", "present"),
        (
            "Neurological and general examination today: No\nlymphadenopathy, right inguinal hernia or wheeze.",
            "inguinal_hernia",
            "absent",
        ),
    ],
)
def test_a_wrapped_line_is_no_value_of_a_label(text: str, concept: str, assertion: str) -> None:
    said = [mention.assertion for mention in read_report(text).mentions if mention.concept == concept]
    assert said == [assertion]


def test_blanks_do_not_matter_to_what_a_sentence_is_about() -> None:
    text = "Overexposure  limits evaluation  for subtle infiltrates. No  effusion."
    values = rg.score([rg.Case("1", text, (" ".join(text.split()),))], ["errors"])["errors"]
    assert (values.headline[0], values.column("errors_total")[0]) == (1.0, 0.0)

"""Real system outputs for the lexical metrics."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from radgauge.core.cases import Case


def _wide(path: Path, *, reference: str, study: str) -> dict[str, list[Case]]:
    with path.open(newline="", encoding="utf-8") as file:
        records = list(csv.DictReader(file))
    systems = [name for name in records[0] if name != study and not name.startswith("reference")]
    return {
        system: [
            Case(f"{row}-{record[study]}", record[system], (record[reference],), system)
            for row, record in enumerate(records)
        ]
        for system in systems
    }


@pytest.fixture(scope="session")
def mrg_rl(shared_data: Path) -> dict[str, list[Case]]:
    """Eight systems on 382 studies, texts as their authors cleaned them."""
    return _wide(
        shared_data / "iu_xray_systems" / "mrg_rl_test382_systems.csv", reference="reference", study="uid"
    )


@pytest.fixture(scope="session")
def iu590(shared_data: Path) -> dict[str, list[Case]]:
    """Four systems on the 590 studies of the R2Gen test split, raw references."""
    return _wide(shared_data / "iu_xray_systems" / "test590_systems.csv", reference="reference", study="id")


PUBLISHED = {
    "template": "manual_template_target_b4rouge__test_summary",
    "template_sentence_fusion": "template_sentence_fusion_b4rouge_fast__test_metrics",
    "qwen_dino_rag_logp": "qwen_dino_sft_rag_top20_copy_oracle_cw1_lr2e5_logp_top20__test_metrics",
    "qwen_dino_rag_number": "qwen_dino_sft_rag_top20_number_cw1_lr5e5_infer_beam1__test_metrics",
    "qwen_dino_rag_number_ep0": "qwen_dino_sft_rag_top20_number_cw1_lr5e5_infer_epoch0_beam1__test_metrics",
}
"""Systems whose authors published corpus values beside the outputs (the other three have none)."""


@pytest.fixture(params=sorted(PUBLISHED))
def published(
    request: pytest.FixtureRequest, shared_data: Path, mrg_rl: dict[str, list[Case]]
) -> tuple[list[Case], dict[str, float]]:
    """One system's cases and the corpus values its authors published."""
    import json

    path = shared_data / "iu_xray_systems" / "published_values" / f"{PUBLISHED[request.param]}.json"
    return mrg_rl[request.param], json.loads(path.read_text())

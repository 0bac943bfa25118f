"""The code in the pages of the documentation does what the pages say."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[1] / "docs"
REPORTS = (
    "id,reference,candidate\n1,No pleural effusion or edema.,No pleural effusion or edema.\n"
    "2,The heart is mildly enlarged.,The heart is normal.\n3,Clear lungs.,\n"
)


@pytest.mark.parametrize("page", ["python.md", "rewards.md", "integrations.md", "coming_from.md"])
def test_the_code_of_a_page_runs_and_prints_what_it_shows(
    page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    needed = {
        "integrations.md": ("torchmetrics", "evaluate", "inspect_ai"),
        "coming_from.md": ("sacrebleu", "pycocoevalcap", "rouge_score"),
    }
    for package in needed.get(page, ("pandas",)):
        pytest.importorskip(package)
    monkeypatch.setenv("HF_HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "reports.csv").write_text(REPORTS)
    (tmp_path / "green.csv").write_text("id,green\n1,0.9\n2,0.2\n3,0.5\n")
    blocks = re.findall(r"```python\n(.*?)```", (DOCS / page).read_text(encoding="utf-8"), flags=re.DOTALL)
    assert len(blocks) >= 3
    test = doctest.DocTestParser().get_doctest("".join(blocks), {}, page, page, 0)
    said: list[str] = []
    result = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE).run(test, out=said.append)
    assert result.failed == 0, "".join(said)
    assert result.attempted >= 9

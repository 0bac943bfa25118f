"""What trainers call, with the arguments that they pass."""

from __future__ import annotations

import subprocess
import sys

import pytest

from radgauge.analysis.rewards import for_openrlhf, for_trl, for_verl, for_verl_batch
from radgauge.analysis.rewards.reward import reward

REFERENCE = "Small left pleural effusion."
CHAT = [{"role": "user", "content": "Report?"}, {"role": "assistant", "content": REFERENCE}]


def test_trl_calls_with_keywords_and_columns() -> None:
    logged: dict[str, float] = {}
    judge = for_trl(reward("rouge", name="overlap"), reference="truth")
    values = judge(
        prompts=["p"] * 4,
        completions=[REFERENCE, CHAT, None, ""],
        completion_ids=[[1]] * 4,
        trainer_state=object(),
        log_extra=None,
        log_metric=logged.__setitem__,
        truth=[REFERENCE, [REFERENCE, "Clear."], REFERENCE, REFERENCE],
        study=["1", "2", "3", "4"],
    )
    assert values == [1.0, 1.0, -1.0, -1.0]
    assert logged == {"overlap/floor": 0.5}
    assert judge.__name__ == "overlap"
    with pytest.raises(ValueError, match="the data set must have the column 'truth'"):
        judge(prompts=["p"], completions=["a"], label=["a"])


def test_verl_calls_once_or_in_batches() -> None:
    one = for_verl(reward("rouge"))
    assert one("mimic", REFERENCE, REFERENCE, extra_info={"index": 3}) == {"score": 1.0, "judged": 1.0}
    assert one(data_source="mimic", solution_str="", ground_truth=REFERENCE) == {"score": -1.0, "judged": 0.0}
    many = for_verl_batch(reward("rouge"))
    found = many(
        data_sources=["m"] * 2,
        solution_strs=[REFERENCE, ""],
        ground_truths=[REFERENCE] * 2,
        extra_infos=[None] * 2,
    )
    assert found == [{"score": 1.0, "judged": 1.0}, {"score": -1.0, "judged": 0.0}]


@pytest.mark.models
def test_openrlhf_gets_tensors_and_never_an_exception() -> None:
    torch = pytest.importorskip("torch")
    judge = reward("rouge", floor=-0.5)
    call = for_openrlhf(judge)
    found = call(queries=[f"Report: {REFERENCE}"], prompts=["Report: "], labels=[REFERENCE])
    assert torch.equal(found["rewards"], torch.tensor([1.0]))
    assert torch.equal(found["extra_logs"]["judged"], torch.tensor([1.0]))
    broken = call(queries=["a"], prompts=["a", "b"], labels=[REFERENCE])
    assert broken["rewards"].tolist() == [-0.5]
    assert broken["scores"].tolist() == [0.0]
    assert judge.counts() == {"judged": 1, "failed (ValueError)": 1}


def test_no_trainer_is_imported() -> None:
    code = (
        "import sys, radgauge.analysis.rewards as r;"
        "r.for_trl(r.reward('rouge')); r.for_openrlhf(r.reward('rouge'));"
        "print(sorted({'trl', 'verl', 'openrlhf', 'torch', 'transformers'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"

"""Contracts with other frameworks, against the real ones where they are installed (`make test-integrations`)."""

from __future__ import annotations

import asyncio
import math
import os
import subprocess
import sys
from pathlib import Path

import pytest

import radgauge as rg
from radgauge.core.metric import sums
from radgauge.lab.integrations import evaluate_folder, lm_eval_folder

REFERENCES = ["Small left pleural effusion.", "The heart is enlarged.", "No pneumothorax.", "Clear lungs."]
CANDIDATES = ["Small left pleural effusion.", "The heart is normal.", "Small pneumothorax.", ""]


def expected(metric: str) -> float:
    scores = rg.score(references=REFERENCES, candidates=CANDIDATES, metrics=metric)[metric]
    return float(scores.corpus_scores(*sums(scores.rows))[0])


@pytest.mark.parametrize("metric", ["bleu", "errors"])
def test_torchmetrics_over_batches_is_the_corpus_value(metric: str) -> None:
    pytest.importorskip("torchmetrics")
    from radgauge.lab.integrations.lightning import ReportMetric

    judge = ReportMetric(metric)
    for start in (0, 2):
        judge.update(CANDIDATES[start : start + 2], REFERENCES[start : start + 2])
    assert float(judge.compute()) == pytest.approx(expected(metric))
    assert int(judge.not_judged) == 1
    assert math.isnan(float(judge.values[1][1]))
    judge.reset()
    assert math.isnan(float(judge.compute()))
    with pytest.raises(rg.UsageError, match="cider judges a case by the others"):
        ReportMetric("cider")


WORKER = """
import sys, torch.distributed as dist
from radgauge.lab.integrations.lightning import ReportMetric
rank, place, references, candidates = int(sys.argv[1]), sys.argv[2], eval(sys.argv[3]), eval(sys.argv[4])
dist.init_process_group("gloo", init_method=f"file://{place}", rank=rank, world_size=2)
judge = ReportMetric("bleu")
judge.update(candidates[2 * rank : 2 * rank + 2], references[2 * rank : 2 * rank + 2])
print(float(judge.compute()))
dist.destroy_process_group()
"""


def test_torchmetrics_in_two_processes(tmp_path: Path) -> None:
    pytest.importorskip("torchmetrics")
    places = [sys.executable, "-c", WORKER]
    given = [str(tmp_path / "meeting"), repr(REFERENCES), repr(CANDIDATES)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    runs = [
        subprocess.Popen([*places, str(rank), *given], stdout=subprocess.PIPE, text=True, env=environment)
        for rank in range(2)
    ]
    values = [float(run.communicate(timeout=300)[0]) for run in runs]
    assert values == [pytest.approx(expected("bleu"))] * 2


@pytest.mark.models
def test_transformers_gets_values_of_decoded_reports() -> None:
    transformers = pytest.importorskip("transformers")
    tokenizers = pytest.importorskip("tokenizers")
    import numpy as np

    from radgauge.lab.integrations.transformers import compute_metrics

    words = sorted({word for text in (*REFERENCES, *CANDIDATES) for word in text.split()})
    vocabulary = {word: number for number, word in enumerate(["[PAD]", "[UNK]", *words])}
    backend = tokenizers.Tokenizer(tokenizers.models.WordLevel(vocabulary, unk_token="[UNK]"))
    backend.pre_tokenizer = tokenizers.pre_tokenizers.WhitespaceSplit()
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_object=backend, pad_token="[PAD]", unk_token="[UNK]"
    )

    def ids(texts: list[str]) -> np.ndarray:
        rows = [[vocabulary[word] for word in text.split()] for text in texts]
        return np.array([row + [-100] * (6 - len(row)) for row in rows])

    predicted = transformers.EvalPrediction(predictions=ids(CANDIDATES), label_ids=ids(REFERENCES))
    found = compute_metrics(tokenizer, ["bleu", "errors"])(predicted)
    assert found["bleu_4"] == pytest.approx(expected("bleu"))
    assert found["errors_quality"] == pytest.approx(expected("errors"))
    assert found["errors_not_judged"] == 1.0


def test_evaluate_loads_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("datasets")
    evaluate = pytest.importorskip("evaluate")
    module = evaluate.load(evaluate_folder(), cache_dir=str(tmp_path))
    found = module.compute(predictions=CANDIDATES, references=REFERENCES, metric="bleu")
    assert found == {"bleu_4": pytest.approx(expected("bleu")), "bleu_not_judged": 1}


def test_inspect_scores_and_leaves_unscored() -> None:
    scorer = pytest.importorskip("inspect_ai.scorer")
    from inspect_ai.model import ModelName, ModelOutput
    from inspect_ai.solver import TaskState

    from radgauge.lab.integrations.inspect import report_score

    def state(text: str) -> TaskState:
        output = ModelOutput.from_content("mockllm/model", text)
        return TaskState(ModelName("mockllm/model"), sample_id=1, epoch=1, input="", messages=[], output=output)

    judge = report_score()
    found = asyncio.run(judge(state(REFERENCES[0]), scorer.Target(REFERENCES[0])))
    assert found.value == 1.0
    empty = asyncio.run(judge(state(""), scorer.Target(REFERENCES[0])))
    assert empty.explanation == "empty candidate"
    assert math.isnan(float(empty.value))


def test_the_task_of_lm_eval_names_functions_that_are_there() -> None:
    folder = Path(lm_eval_folder())
    sys.path.insert(0, str(folder))
    try:
        import radgauge_lm_eval as task
    finally:
        sys.path.remove(str(folder))
    named = [
        line.rpartition(".")[2] for line in (folder / "report_errors.yaml").read_text().split("\n") if "!f" in line
    ]
    assert all(callable(getattr(task, name)) for name in named)
    assert named == ["process_results", "mean_of_judged"]
    values = [
        task.process_results({"reference": reference}, [text])["errors_quality"]
        for reference, text in zip(REFERENCES, CANDIDATES, strict=True)
    ]
    assert values[0] == 1.0
    assert math.isnan(values[3])
    assert task.mean_of_judged(values) == pytest.approx(sum(values[:3]) / 3)


def test_lm_eval_loads_the_task() -> None:
    pytest.importorskip("lm_eval")
    from lm_eval.tasks import TaskManager

    assert "report_errors" in TaskManager(include_path=lm_eval_folder(), include_defaults=False).all_tasks


def test_a_hugging_face_dataset_is_scored() -> None:
    datasets = pytest.importorskip("datasets")
    data = datasets.Dataset.from_dict({"label": REFERENCES, "completion": CANDIDATES})
    assert rg.score(data, "bleu")["bleu"].keys[0] == ("1", "system")
    with pytest.raises(rg.InputError, match="choose a split of 'test'"):
        rg.score(datasets.DatasetDict({"test": data}), "bleu")


TRL = """
import sys, torch
from datasets import Dataset
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast
from trl import GRPOConfig, GRPOTrainer
from radgauge.analysis.rewards import for_trl
from radgauge.analysis.rewards.reward import reward

words = "[PAD] [EOS] Report: no small left right pleural effusion edema heart is enlarged clear . mass".split()
backend = Tokenizer(models.WordLevel({word: n for n, word in enumerate(words)}, unk_token="[PAD]"))
backend.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
tokenizer = PreTrainedTokenizerFast(tokenizer_object=backend, pad_token="[PAD]", eos_token="[EOS]")
torch.manual_seed(0)
model = GPT2LMHeadModel(
    GPT2Config(vocab_size=len(words), n_layer=1, n_head=2, n_embd=16, n_positions=64, bos_token_id=1,
               eos_token_id=1)
)
data = Dataset.from_dict({"prompt": ["Report:"] * 8, "reference": ["small left pleural effusion ."] * 8})
judge = reward("rouge")
settings = GRPOConfig(
    output_dir=sys.argv[1], max_steps=3, per_device_train_batch_size=4, num_generations=4, max_completion_length=8,
    report_to=[], save_strategy="no", use_cpu=True, bf16=False, disable_tqdm=True,
)
trainer = GRPOTrainer(
    model=model, reward_funcs=[for_trl(judge)], args=settings, train_dataset=data, processing_class=tokenizer
)
trainer.train()
print(trainer.state.global_step, sum(judge.counts().values()))
"""


def test_trl_trains_three_steps(tmp_path: Path) -> None:
    pytest.importorskip("trl")
    done = subprocess.run([sys.executable, "-c", TRL, str(tmp_path)], capture_output=True, text=True, timeout=800)
    assert done.returncode == 0, done.stderr[-3000:]
    steps, judged = done.stdout.split()[-2:]
    assert int(steps) == 3
    assert int(judged) == 12

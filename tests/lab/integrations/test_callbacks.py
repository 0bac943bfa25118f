"""Callbacks and tables against the real trainers and trackers (`make test-integrations`)."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import radgauge as rg
from radgauge.core.cases import Case
from radgauge.lab.integrations.held_out import HeldOut, values_of
from radgauge.lab.integrations.tables import mlflow_table, wandb_table

REFERENCES = ["Small left pleural effusion.", "The heart is enlarged.", "No pneumothorax.", "Clear lungs."]
CANDIDATES = ["Small left pleural effusion.", "The heart is normal.", "Small pneumothorax.", ""]
CASES = [
    Case(str(n), candidate, (reference,))
    for n, (candidate, reference) in enumerate(zip(CANDIDATES, REFERENCES, strict=True))
]


def expected(metric: str) -> dict[str, float]:
    return values_of(rg.score(references=REFERENCES, candidates=CANDIDATES, metrics=metric))


@pytest.mark.models
def test_held_out_studies_are_judged_at_every_step() -> None:
    told: list[tuple[Any, ...]] = []
    held_out = HeldOut(REFERENCES, ["bleu", "errors"], tables=[lambda *logged: told.append(logged)])
    found = held_out.judge(CANDIDATES, step=3)
    assert found["errors_recall"] == 0.5
    assert told[0][2] == found
    assert found == {**expected("bleu"), **expected("errors"), "distinct_reports": 3.0}
    assert held_out.judge(["Clear."] * 4, step=4)["distinct_reports"] == 1.0
    assert [step for _, step, _ in told] == [3, 4]
    assert told[0][0]["bleu"].keys[0] == ("1", "system")
    with pytest.raises(rg.InputError, match="4 studies are held out, got 1 reports"):
        held_out.judge(["Clear."], step=5)
    with pytest.raises(rg.InputError, match="got 1 and 4"):
        HeldOut(REFERENCES, ids=["a"])


class Tracker:
    """Stands for a run of Weights & Biases, an MLflow run and its client."""

    def __init__(self) -> None:
        self.values: dict[str, float] = {}
        self.info = SimpleNamespace(run_id="1")

    def log(self, values: dict[str, float], *, step: int) -> None:
        self.values |= values

    def log_metric(self, run: str, name: str, value: float, *, step: int) -> None:
        self.values[name] = value

    def log_table(self, run: str, table: object, name: str) -> None:
        self.values[name] = 0.0


@pytest.mark.parametrize("tracker", ["wandb", "mlflow"])
def test_trackers_get_recall_and_the_number_of_distinct_reports(
    tracker: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "wandb", SimpleNamespace(Table=lambda **table: 0.0))
    run: Any = Tracker()
    table = wandb_table(run) if tracker == "wandb" else mlflow_table(run, client=run)
    held_out = HeldOut(REFERENCES, ["errors"], tables=[table])
    held_out.judge([REFERENCES[0]] * 4, step=2)
    assert run.values["radgauge/distinct_reports"] == 1.0
    assert run.values["radgauge/errors_recall"] == 0.5
    assert {"radgauge/errors_f1", "radgauge/errors_precision", "radgauge/errors_quality"} <= set(run.values)
    assert run.values[f"radgauge{'/cases' if tracker == 'wandb' else '_cases_2.json'}"] == 0.0


TRAINER = """
import json, sys, torch
from datasets import Dataset
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments
from radgauge.lab.integrations.held_out import HeldOut
from radgauge.lab.integrations.transformers import report_callback

references, candidates = json.loads(sys.argv[2])
torch.manual_seed(0)
model = GPT2LMHeadModel(GPT2Config(vocab_size=20, n_layer=1, n_head=2, n_embd=16, n_positions=16))
data = Dataset.from_dict({"input_ids": [[1, 2, 3]] * 8, "labels": [[1, 2, 3]] * 8})
asked = []

def generate(model):
    asked.append(model.training)
    return candidates

settings = TrainingArguments(
    output_dir=sys.argv[1], max_steps=4, eval_strategy="steps", eval_steps=2, save_strategy="steps", save_steps=2,
    load_best_model_at_end=True, metric_for_best_model="errors_quality", greater_is_better=True, report_to=[],
    use_cpu=True, disable_tqdm=True, save_total_limit=1,
)
trainer = Trainer(
    model=model, args=settings, train_dataset=data, eval_dataset=data,
    callbacks=[report_callback(HeldOut(references, ["errors", "bleu"]), generate)],
)
trainer.train()
kept = [line for line in trainer.state.log_history if "eval_errors_quality" in line]
print(json.dumps([asked, kept, trainer.state.best_metric, model.training]))
"""


def test_transformers_evaluates_by_generated_reports(tmp_path: Path) -> None:
    for package in ("transformers", "accelerate", "datasets"):
        pytest.importorskip(package)
    given = json.dumps([REFERENCES, CANDIDATES])
    done = subprocess.run(
        [sys.executable, "-c", TRAINER, str(tmp_path), given], capture_output=True, text=True, timeout=600
    )
    assert done.returncode == 0, done.stderr[-3000:]
    asked, kept, best, _ = json.loads(done.stdout.strip().splitlines()[-1])
    assert asked == [False, False]
    assert [line["step"] for line in kept] == [2, 4]
    wanted = {**expected("errors"), **expected("bleu")}
    assert {name: kept[0][f"eval_{name}"] for name in wanted} == wanted
    assert best == wanted["errors_quality"]


LIGHTNING = """
import json, sys, torch
import lightning.pytorch as lightning
from torch.utils.data import DataLoader
from radgauge.lab.integrations.lightning import report_callback

references, candidates = json.loads(sys.argv[2])

class Writer(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(1, 1)
    def training_step(self, batch, batch_idx):
        return self.layer(batch.float()[:, None]).sum()
    def validation_step(self, batch, batch_idx):
        rows = batch.tolist()
        return {"candidates": [candidates[i] for i in rows], "references": [references[i] for i in rows]}
    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.01)

loader = DataLoader(range(4), batch_size=2)
best = lightning.callbacks.ModelCheckpoint(sys.argv[1], monitor="val_errors_quality", mode="max")
trainer = lightning.Trainer(
    max_epochs=2, accelerator="cpu", logger=False, enable_progress_bar=False, enable_model_summary=False,
    default_root_dir=sys.argv[1], callbacks=[report_callback(["errors", "bleu"]), best],
    devices=int(sys.argv[3]), strategy="ddp" if int(sys.argv[3]) > 1 else "auto",
)
trainer.fit(Writer(), loader, loader)
found = {name: float(value) for name, value in trainer.callback_metrics.items()}
if trainer.is_global_zero:
    print(json.dumps([found, float(best.best_model_score)]))
"""


@pytest.mark.parametrize("processes", [1, 2])
def test_lightning_logs_the_values_of_an_epoch(tmp_path: Path, processes: int) -> None:
    pytest.importorskip("lightning")
    script = tmp_path / "run.py"
    script.write_text(LIGHTNING)
    given = [str(tmp_path / "out"), json.dumps([REFERENCES, CANDIDATES]), str(processes)]
    done = subprocess.run([sys.executable, str(script), *given], capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr[-3000:]
    found, best = json.loads(next(line for line in done.stdout.splitlines() if line.startswith("[{")))
    for name, value in {**expected("errors"), **expected("bleu")}.items():
        assert found[f"val_{name}"] == pytest.approx(value)
    assert best == pytest.approx(expected("errors")["errors_quality"])


def test_lightning_says_what_a_validation_step_must_return() -> None:
    pytest.importorskip("lightning")
    from radgauge.lab.integrations.lightning import report_callback

    callback = report_callback("bleu")
    with pytest.raises(rg.InputError, match="validation_step"):
        callback.on_validation_batch_end(None, None, None, None, 0)


def test_mlflow_gets_values_and_a_table(tmp_path: Path) -> None:
    mlflow = pytest.importorskip("mlflow")
    client = mlflow.MlflowClient(tracking_uri=f"sqlite:///{tmp_path}/mlflow.db")
    try:
        experiment = client.create_experiment("reports", artifact_location=(tmp_path / "artifacts").as_uri())
    except Exception as error:
        if "sqlalchemy" not in str(error).lower():
            raise
        pytest.skip("this MLflow has no local store")
    run = client.create_run(experiment)
    results = rg.score(CASES, ["bleu", "errors"])
    mlflow_table(run, client=client)(results, 7)
    kept = client.get_run(run.info.run_id).data.metrics
    assert kept["radgauge/bleu_4"] == expected("bleu")["bleu_4"]
    assert kept["radgauge/errors_not_judged"] == 1.0
    folder = client.download_artifacts(run.info.run_id, "radgauge_cases_7.json", str(tmp_path))
    table = json.loads(Path(folder).read_text())
    assert table["columns"][:3] == ["id", "system", "bleu_4"]
    assert [row[0] for row in table["data"]] == ["0", "1", "2", "3"]
    assert "effusion" not in json.dumps(table)


def test_wandb_gets_values_and_a_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wandb = pytest.importorskip("wandb")
    monkeypatch.setenv("WANDB_ERROR_REPORTING", "false")
    run = wandb.init(mode="offline", dir=tmp_path, project="reports", settings=wandb.Settings(silent=True))
    results = rg.score(CASES, "bleu")
    wandb_table(run)(results, 2)
    wandb_table(run, name="texts", cases=CASES)(results, 3)  # a step is written when the next one begins
    assert run.summary["radgauge/bleu_4"] == expected("bleu")["bleu_4"]
    assert run.summary["radgauge/cases"]["nrows"] == 4
    run.finish()
    tables = [json.loads(path.read_text()) for path in tmp_path.rglob("*.table.json")]
    plain, full = sorted(tables, key=lambda table: len(table["columns"]))
    assert plain["columns"] == ["id", "system", "bleu_4", "bleu_1", "bleu_2", "bleu_3"]
    assert full["columns"][-2:] == ["reference", "candidate"]
    assert full["data"][1][-1] == "The heart is normal."
    assert "effusion" not in json.dumps(plain)


def test_texts_must_be_those_that_were_scored() -> None:
    results = rg.score(CASES, "bleu")
    with pytest.raises(rg.InputError, match="cases must be those that were scored, in their order"):
        wandb_table(None, cases=CASES[:2])(results, 1)

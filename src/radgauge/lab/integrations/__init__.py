"""radgauge inside other frameworks; each module imports its framework, this package none."""

from pathlib import Path


def evaluate_folder() -> str:
    """The folder that `evaluate.load` of Hugging Face takes."""
    return str(Path(__file__).parent / "hf_evaluate" / "radgauge_metric")


def lm_eval_folder() -> str:
    """The folder that lm-evaluation-harness takes as --include_path."""
    return str(Path(__file__).parent / "lm_eval")

"""The environment of the authors' packages: made once from the package registry, under parity/.envs."""

from __future__ import annotations

import os
import subprocess
import sys
import venv
from pathlib import Path

HERE = Path(__file__).parent
REQUIREMENTS = (
    *("transformers==4.57.6", "radgraph==0.1.18", "f1chexbert==0.0.2", "bert-score==0.3.13", "numpy<2"),
    *("scipy<1.14", "scikit-learn<1.6", "pandas<2.3", "safetensors", "huggingface_hub<1", "nltk"),
)


def peer_python() -> Path:
    """Interpreter of the peers' environment; $RADGAUGE_PEERS names one that exists already."""
    if chosen := os.environ.get("RADGAUGE_PEERS"):
        return Path(chosen)
    folder = HERE / ".envs" / "published"
    python = folder / "bin" / "python"
    if not (folder / "installed").exists():
        venv.create(folder, with_pip=True, clear=True)
        pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, "torch==2.13.0"], check=True)
        subprocess.run([*pip, *REQUIREMENTS], check=True)
        (folder / "installed").touch()
    return python


def run_peer(script: Path, folder: Path) -> None:
    """Run a peer's script on a folder with a job; the script writes result.json there."""
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false"}
    done = subprocess.run(
        [str(peer_python()), str(script), str(folder)], env=environment, capture_output=True, text=True
    )
    if done.returncode:
        sys.exit(f"{script} failed:\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}")

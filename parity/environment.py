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
    *("medspacy==1.3.1", "sentencepiece", "protobuf"),
)

VLSCORE = (
    *("transformers==4.57.6", "pandas", "pillow", "safetensors", "omegaconf==2.4.0", "opencv-python-headless"),
    *("numpy", "tqdm", "huggingface_hub<1", "ftfy"),
)
WITHOUT_DEPENDENCIES = {  # they would replace torch
    "published": ("RaTEScore==0.6.0",),
    "vlscore": ("vlscore-cxr==0.1.2", "torchvision==0.28.0", "open_clip_torch==3.3.0", "timm==1.0.30"),
}
WANTED = {"published": REQUIREMENTS, "vlscore": VLSCORE}


def peer_python(name: str = "published") -> Path:
    """Interpreter of a peer's environment; $RADGAUGE_PEERS (or $RADGAUGE_PEERS_VLSCORE) names one that exists."""
    variable = "RADGAUGE_PEERS" if name == "published" else f"RADGAUGE_PEERS_{name.upper()}"
    if chosen := os.environ.get(variable):
        return Path(chosen)
    folder = HERE / ".envs" / name
    python = folder / "bin" / "python"
    if not (folder / "installed").exists():
        venv.create(folder, with_pip=True, clear=True)
        pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, "torch==2.13.0"], check=True)
        subprocess.run([*pip, *WANTED[name]], check=True)
        if alone := WITHOUT_DEPENDENCIES.get(name):
            subprocess.run([*pip, "--no-deps", *alone], check=True)
        (folder / "installed").touch()
    return python


def run_peer(script: Path, folder: Path, *arguments: str, name: str = "published") -> None:
    """Run a peer's script on a folder with a job; the script writes result.json there.

    Args:
        script: What runs in the peer's environment.
        folder: Its last argument.
        arguments: Its arguments before the folder.
        name: The environment.
    """
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false"}
    command = [str(peer_python(name)), str(script), *arguments, str(folder)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{script} failed:\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}")

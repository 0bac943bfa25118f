"""Compare with unbabel-comet 2.2.7 in both directions and store its scores for the tests.

Usage: PYTHONPATH=src python parity/comet/make_fixtures.py. The first run makes parity/.envs/comet from the package
registry; $RADGAUGE_COMET names an interpreter that has the package already.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(HERE))
from checkpoints import PAIRS, VARIANTS, fill, hparams_of, write_encoder  # noqa: E402

from radgauge.encoders.text.estimator import DEFAULTS, build, load_estimator, save_estimator  # noqa: E402

FIXTURE = ROOT / "tests" / "models" / "data" / "comet_parity.json"
REQUIREMENTS = ("unbabel-comet==2.2.7", "transformers==4.57.6", "torch==2.13.0", "setuptools<81")
TOLERANCE = 1e-5


def peer_python() -> Path:
    if chosen := os.environ.get("RADGAUGE_COMET"):
        return Path(chosen)
    folder = ROOT / "parity" / ".envs" / "comet"
    python = folder / "bin" / "python"
    if not (folder / "installed").exists():
        venv.create(folder, with_pip=True, clear=True)
        subprocess.run([str(python), "-m", "pip", "install", "--quiet", *REQUIREMENTS], check=True)
        (folder / "installed").touch()
    return python


def our_scores(folder: Path) -> list[float]:
    import torch

    loaded = load_estimator(folder, device="cpu")
    texts = list(dict.fromkeys(text for pair in PAIRS for text in pair))
    with torch.inference_mode():
        vectors = np.vstack([loaded.network.embed(*loaded.tokens([text])).numpy() for text in texts])
    place = {text: at for at, text in enumerate(texts)}
    reference = np.array([place[reference] for reference, _ in PAIRS])
    candidate = np.array([place[candidate] for _, candidate in PAIRS])
    return loaded.head.score(vectors, candidate=candidate, reference=reference).tolist()


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for kind in ("bert", "xlmr"):
            write_encoder(folder / "encoders" / kind, kind)
        for variant, settings in VARIANTS.items():
            encoder = folder / "encoders" / settings["encoder"]
            hparams = {**DEFAULTS, **hparams_of(variant, encoder)}
            loaded = build(hparams, encoder=encoder, pretrained=False, device="cpu")
            fill(loaded.network)
            save_estimator(folder / "ours" / variant, loaded, about={"target": "radcliq"})
        subprocess.run(
            [str(peer_python()), str(HERE / "peer.py"), str(folder)],
            check=True,
            env={**os.environ, "HF_HUB_OFFLINE": "1", "PYTHONPATH": ""},
        )
        result = json.loads((folder / "result.json").read_text(encoding="utf-8"))
        worst = 0.0
        for variant, found in result.items():
            for side in ("theirs", "ours"):
                mine = our_scores(folder / side / variant)
                gap = float(np.abs(np.array(mine) - found[side]).max())
                spread = float(np.ptp(found[side]))
                worst = max(worst, gap)
                print(f"{variant:20} written by {side:6}: largest difference {gap:.1e}, spread {spread:.3f}")
        if worst > TOLERANCE:
            sys.exit(f"scores differ by {worst:.1e}, more than {TOLERANCE:.0e}")
    FIXTURE.parent.mkdir(parents=True, exist_ok=True)
    scores = {variant: found["theirs"] for variant, found in result.items()}
    about = "scores of unbabel-comet 2.2.7; rebuilt by parity/comet/make_fixtures.py"
    FIXTURE.write_text(json.dumps({"about": about, "scores": scores}, indent=1) + "\n", encoding="utf-8")
    print(f"wrote {FIXTURE.relative_to(ROOT)}")


if __name__ == "__main__":
    main()

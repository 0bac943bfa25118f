"""Rebuild tests/data/parity/ratescore.json: what the authors' RaTEScore 0.6.0 says about our report pairs.

    python parity/ratescore/run.py [--python an/environment/with/RaTEScore/bin/python]

Without --python the environment of the other published metrics is taken, and made if it is not there.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
FIXTURE = ROOT / "tests" / "data" / "parity" / "ratescore.json"


def main() -> None:
    """Build checkpoints, run the authors' code, write the fixture."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--python", type=Path)
    sys.path[:0] = [str(HERE), str(HERE.parent)]
    from environment import peer_python

    python = parser.parse_args().python or peer_python()
    from checkpoints import build_encoder, build_ner, words_of
    from reports import SENTENCES, report_pairs

    pairs = report_pairs()
    with tempfile.TemporaryDirectory() as made:
        work = Path(made)
        words = words_of(SENTENCES)
        job = {
            "ner": str(build_ner(work / "ner", words=words)),
            "encoder": str(build_encoder(work / "encoder", words=words)),
            "pairs": pairs,
        }
        (work / "job.json").write_text(json.dumps(job))
        subprocess.run([python, HERE / "authors.py", work], check=True)
        result = json.loads((work / "result.json").read_text())
    FIXTURE.parent.mkdir(parents=True, exist_ok=True)
    record = {
        "about": "RaTEScore 0.6.0, medspacy 1.3.1, transformers 4.57.6 on the checkpoints of parity/ratescore",
        "pairs": pairs,
        **result,
    }
    FIXTURE.write_text(json.dumps(record, ensure_ascii=False, separators=(",", ":")) + "\n", encoding="utf-8")
    kinds = {kind for found in result["candidate_entities"] for _, kind in found}
    print(f"wrote {FIXTURE.relative_to(ROOT)}: {len(pairs)} pairs, entity types {sorted(kinds)}")


if __name__ == "__main__":
    main()

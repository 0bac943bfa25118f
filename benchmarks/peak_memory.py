"""Peak memory of one case with a candidate and a reference of 200,000 characters, metric by metric.

Each metric runs in a process of its own; what the process needs before it judges (imports, weights, a short case)
is subtracted. Two shapes: a report over and over, and sentences that all differ.

    python benchmarks/peak_memory.py [metric ...]
"""

from __future__ import annotations

import resource
import subprocess
import sys
import time

SIZE = 200_000
SENTENCES = {
    "repeated": "There is a small left pleural effusion. The heart is mildly enlarged. No pneumothorax. ",
    "unlike": "A {n} mm nodule in the right lower lobe near the {n}th rib. ",
}


def text_of(shape: str) -> str:
    """About SIZE characters."""
    sentence = SENTENCES[shape]
    return "".join(sentence.format(n=number) for number in range(1, SIZE // len(sentence) + 2))[: SIZE - 10]


def peak_mb() -> float:
    """The largest resident set of this process so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def measure(name: str, shape: str) -> str:
    """One line of the table, from this process."""
    from radgauge.run.score import score

    text = text_of(shape)
    score([{"id": "0", "candidate": "No effusion. Heart is large.", "reference": "Small effusion."}], name)
    before, start = peak_mb(), time.process_time()
    scores = score([{"id": "1", "candidate": text, "reference": text + " Normal."}], name)
    (only,) = scores.judges.values()
    value = only.headline[0]
    why = next(iter(only.reasons.values()), "")
    seconds = time.process_time() - start
    return f"{name}\t{shape}\t{before:.0f}\t{peak_mb() - before:.0f}\t{seconds:.1f}\t{value:.3f}\t{why}"


def main() -> None:
    """Print the table."""
    if sys.argv[1:2] == ["--one"]:
        print(measure(sys.argv[2], sys.argv[3]))
        return
    from radgauge.core.registry import metric_names

    print("metric\tshape\tbefore, MB\tadded, MB\tseconds\tvalue\tnot judged")
    for name in sys.argv[1:] or [each for each in metric_names() if each != "vlscore"]:
        for shape in SENTENCES:
            done = subprocess.run(
                [sys.executable, __file__, "--one", name, shape], capture_output=True, text=True, check=False
            )
            print(done.stdout.strip() or f"{name}\t{shape}\tfailed: {done.stderr.strip()[-200:]}", flush=True)


if __name__ == "__main__":
    main()

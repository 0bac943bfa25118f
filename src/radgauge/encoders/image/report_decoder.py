"""The network that writes reports: a transformer decoder (Vaswani et al. 2017) over a study's numbers, in torch.

What it looks at are a few learned slots per source: frontal pictures, lateral pictures, and the words that the
ridge regression expects (`report_words`). Layers normalise before they add, input and output words share their
vectors. Written here in few lines because writing a report word by word needs the keys and values of earlier words
kept, which torch's own decoder layers do not do.
"""

from __future__ import annotations

from typing import Any

from radgauge.core.errors import require
from radgauge.encoders.image.decoder_size import DecoderSize
from radgauge.encoders.text.report_tokens import PAD

torch = require("torch", extra="models")
nn = torch.nn
functional = torch.nn.functional


class _Attention(nn.Module):  # type: ignore[misc, name-defined]
    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.query, self.both, self.out = (
            nn.Linear(width, width),
            nn.Linear(width, 2 * width),
            nn.Linear(width, width),
        )

    def split(self, values: Any) -> Any:
        return values.view(*values.shape[:2], self.heads, -1).transpose(1, 2)

    def keys(self, values: Any) -> tuple[Any, Any]:
        """Keys and values of what is looked at."""
        key, value = self.both(values).chunk(2, dim=-1)
        return self.split(key), self.split(value)

    def forward(self, asking: Any, seen: tuple[Any, Any], *, causal: bool = False) -> Any:
        query = self.split(self.query(asking))
        attended = functional.scaled_dot_product_attention(query, *seen, is_causal=causal)
        return self.out(attended.transpose(1, 2).flatten(2))


class _Layer(nn.Module):  # type: ignore[misc, name-defined]
    def __init__(self, size: DecoderSize) -> None:
        super().__init__()
        width = size.width
        self.words, self.study = _Attention(width, size.heads), _Attention(width, size.heads)
        self.one, self.two, self.three = (nn.LayerNorm(width) for _ in range(3))
        self.inner = nn.Sequential(nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width))
        self.drop = nn.Dropout(size.dropout)

    def forward(self, values: Any, study: tuple[Any, Any], past: tuple[Any, Any] | None) -> tuple[Any, Any]:
        normal = self.one(values)
        seen = self.words.keys(normal)
        if past is not None:
            seen = tuple(torch.cat(pair, dim=2) for pair in zip(past, seen, strict=True))
        values = values + self.drop(self.words(normal, seen, causal=past is None))
        values = values + self.drop(self.study(self.two(values), study))
        return values + self.drop(self.inner(self.three(values))), seen


class ReportDecoder(nn.Module):  # type: ignore[misc, name-defined]
    """Chances of each next token, given a study and the tokens so far.

    Args:
        size: Of its layers.
        tokens: Of the vocabulary.
        numbers: Of one view of a study.
        words: That the regression expects.
    """

    def __init__(self, size: DecoderSize, *, tokens: int, numbers: int, words: int) -> None:
        super().__init__()
        self.size, self.numbers = size, numbers
        self.tokens = nn.Embedding(tokens, size.width, padding_idx=PAD)
        self.places = nn.Embedding(size.longest, size.width)
        self.sources = nn.ModuleList(
            nn.Sequential(
                nn.Dropout(size.dropout),
                nn.Linear(dimension, size.narrow),
                nn.GELU(),
                nn.Dropout(size.dropout),
                nn.Linear(size.narrow, size.slots * size.width),
            )
            for dimension in (numbers, numbers, words)
        )
        self.layers = nn.ModuleList(_Layer(size) for _ in range(size.layers))
        self.norm, self.drop = nn.LayerNorm(size.width), nn.Dropout(size.dropout)
        nn.init.normal_(self.tokens.weight, std=0.05)
        nn.init.normal_(self.places.weight, std=0.05)

    def look(self, rows: Any, conditions: Any) -> list[tuple[Any, Any]]:
        """Keys and values of studies, for every layer.

        Args:
            rows: (studies, two views' numbers).
            conditions: (studies, words).
        """
        inputs = (rows[:, : self.numbers], rows[:, self.numbers :], conditions)
        slots = [
            source(features).view(len(rows), self.size.slots, self.size.width)
            for source, features in zip(self.sources, inputs, strict=True)
        ]
        memory = torch.cat(slots, dim=1)
        return [layer.study.keys(memory) for layer in self.layers]

    def forward(
        self, tokens: Any, studies: list[tuple[Any, Any]], past: list[tuple[Any, Any]] | None = None
    ) -> tuple[Any, list[tuple[Any, Any]]]:
        """Scores of the next token behind each given one, and what the next call needs of these.

        Args:
            tokens: (studies, number of tokens); with a `past` the newest only.
            studies: From `look`.
            past: From the last call.
        """
        begin = 0 if past is None else past[0][0].shape[2]
        positions = torch.arange(begin, begin + tokens.shape[1], device=tokens.device)
        values = self.drop(self.tokens(tokens) + self.places(positions))
        caches = []
        for number, layer in enumerate(self.layers):
            values, seen = layer(values, studies[number], None if past is None else past[number])
            caches.append(seen)
        return functional.linear(self.norm(values), self.tokens.weight), caches

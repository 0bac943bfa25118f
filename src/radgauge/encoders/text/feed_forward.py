"""The head of COMET's referenceless estimator in numpy: two vectors in, one score out.

Features are [h; s; h * s; |h - s|] of the candidate's vector h and the reference's vector s, followed by linear
layers with an activation between them (Rei et al. 2020, EMNLP). The parts of the first layer that see one text
only are computed once per text, so K candidates for one reference cost little more than one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from radgauge.core.errors import ModelError

Vectors = NDArray[np.float32]
Floats = NDArray[np.float64]
PAIRS_AT_ONCE = 256  # the features of one block stay in the processor's cache

ACTIVATIONS: Mapping[str, Callable[[Floats], Floats]] = MappingProxyType(
    {
        "tanh": np.tanh,
        "sigmoid": expit,
        "identity": lambda values: values,
        "softplus": lambda values: np.logaddexp(0, values),
        "softsign": lambda values: values / (1 + np.abs(values)),
    }
)


@dataclass(frozen=True, eq=False)
class Head:
    """A feed-forward regressor on two vectors."""

    # One matrix (out, in) per linear layer; the first has four times as many inputs as a vector
    weights: tuple[Vectors, ...]
    biases: tuple[Vectors, ...]  # One vector per linear layer
    activation: str = "tanh"  # Between the layers, a name of ACTIVATIONS in any case
    final_activation: str = ""  # After the last layer, "" for none

    def __post_init__(self) -> None:
        for name in filter(None, (self.activation, self.final_activation)):
            if name.lower() not in ACTIVATIONS:
                raise ModelError(f"activation must be one of {', '.join(ACTIVATIONS)}, got {name!r}")

    @property
    def dimensions(self) -> int:
        """Length of a text's vector."""
        return int(self.weights[0].shape[1]) // 4

    def score(
        self, vectors: Vectors, *, candidate: NDArray[np.intp], reference: NDArray[np.intp]
    ) -> NDArray[np.float64]:
        """One score per pair: the first output."""
        return self.outputs(vectors, candidate=candidate, reference=reference)[:, 0]

    def outputs(
        self, vectors: Vectors, *, candidate: NDArray[np.intp], reference: NDArray[np.intp]
    ) -> NDArray[np.float64]:
        """Every output of each pair.

        Args:
            vectors: One row per distinct text.
            candidate: Row of each pair's candidate.
            reference: Row of each pair's reference.
        """
        size = self.dimensions
        of_candidate, of_reference, product, distance = (
            np.ascontiguousarray(self.weights[0][:, part * size : (part + 1) * size].T, np.float64)
            for part in range(4)
        )
        wide = vectors.astype(np.float64)  # in single precision rounding would depend on the other rows
        alone = wide @ of_candidate, wide @ of_reference
        scores = np.empty((len(candidate), len(self.biases[-1])))
        for start in range(0, len(candidate), PAIRS_AT_ONCE):
            part = slice(start, start + PAIRS_AT_ONCE)
            candidate_rows, reference_rows = wide[candidate[part]], wide[reference[part]]
            hidden = (candidate_rows * reference_rows) @ product
            np.subtract(candidate_rows, reference_rows, out=candidate_rows)
            hidden += np.abs(candidate_rows, out=candidate_rows) @ distance
            hidden += alone[0][candidate[part]] + alone[1][reference[part]] + self.biases[0]
            scores[part] = self._rest(hidden)
        return scores

    def _rest(self, values: Floats) -> Floats:
        between = ACTIVATIONS[self.activation.lower()]
        for weight, bias in zip(self.weights[1:], self.biases[1:], strict=True):
            values = between(values) @ weight.T + bias
        return ACTIVATIONS[self.final_activation.lower()](values) if self.final_activation else values


def head_of(parameters: Sequence[tuple[Vectors, Vectors]], *, activation: str, final_activation: str = "") -> Head:
    """A head from (weight, bias) of each linear layer.

    >>> head = head_of([(np.ones((1, 4), np.float32), np.zeros(1, np.float32))], activation="tanh")
    >>> head.score(np.float32([[2], [3]]), candidate=np.array([0]), reference=np.array([1])).tolist()
    [12.0]
    """
    weights = tuple(np.asarray(weight, np.float32) for weight, _ in parameters)
    biases = tuple(np.asarray(bias, np.float32) for _, bias in parameters)
    return Head(weights, biases, activation, final_activation)

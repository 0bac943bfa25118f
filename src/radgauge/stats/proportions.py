"""Shares with intervals."""

from __future__ import annotations

from statistics import NormalDist


def wilson_interval(hits: int, total: int, *, level: float = 0.95) -> tuple[float, float]:
    """Interval of a share after Wilson (1927); it does not leave 0 to 1 and is not empty at the ends.

    >>> tuple(round(bound, 3) for bound in wilson_interval(490, 500))
    (0.964, 0.989)
    """
    z = NormalDist().inv_cdf((1 + level) / 2)
    share, more = hits / total, z * z / total
    middle, half = share + more / 2, z * ((share * (1 - share) + more / 4) / total) ** 0.5
    return (middle - half) / (1 + more), (middle + half) / (1 + more)

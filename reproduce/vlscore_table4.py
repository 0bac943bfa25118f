"""Table 4 of the VLScore paper: four ways to compare image, candidate and reference in one space, on ReXVal."""

from __future__ import annotations

from side_by_side import NO_IMAGES, Line, Settings, judged, kendall, run

PUBLISHED = {"cosine": 0.555, "sphere": 0.525, "image_cosine": 0.678, "triangle": 0.718}
NAMES = {
    "cosine": "cosine similarity of the reports",
    "sphere": "radius of the smallest sphere",
    "image_cosine": "cosine similarity seen from the image",
    "triangle": "area of the triangle (VLScore)",
}


def make(settings: Settings) -> list[Line]:
    """Four coefficients."""
    specs = {kind: f"vlscore:similarity={kind} as {kind}" for kind in PUBLISHED}
    found, missing = {}, {}
    if settings.images is not None:
        found, missing = kendall(judged(settings), list(specs.values()), settings, targets=["total"])
    return [
        Line(
            NAMES[kind],
            value,
            found.get((specs[kind], "total", "mean"), float("nan")),
            NO_IMAGES if settings.images is None else missing.get(specs[kind], ""),
        )
        for kind, value in PUBLISHED.items()
    ]


if __name__ == "__main__":
    run(make, title="VLScore, table 4", needs="the folder of ReXVal 1.0.0 (PhysioNet)")

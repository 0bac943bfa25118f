"""Tables 2 and 3 of the VLScore paper and figure 2: mean scores of the authors' 979 perturbed triplets.

Input: the folder of their control files (`perturbed_data`), `--reports mimic_cxr_sectioned.csv` for the
findings, and `--images` for VLScore. `--figures FOLDER` draws figure 2: each metric against VLScore on normal
reports. CheXpert's row is of our own reader's labels, or with `--labels FILE.csv` of those that the real labeler
wrote for all texts (`Reports` and 14 columns).

The published numbers are those of tables 2 and 3 and of section 4.2 as printed in the proceedings (NeurIPS 2024).
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from side_by_side import NO_IMAGES, Line, Settings, run, score_cases
from vlscore_controls import FILES, PUBLISHED, read_controls

from radgauge.core.errors import InputError
from radgauge.io.judgments.images import study_images
from radgauge.render.plots import scatter

METRICS = {
    "BLEU-1": ("bleu", "bleu_1"),
    "BLEU-4": ("bleu", "bleu_4"),
    "METEOR": ("meteor", "meteor"),
    "ROUGE-L": ("rouge", "rouge_l"),
    "BERTScore": ("bertscore", "bertscore_f1"),
    "CheXpert": ("chexbert:models=embedded", "chexbert_"),
    "CheXbert": ("chexbert_similarity", "chexbert_"),
    "RadGraph F1": ("radgraph", "radgraph_yu"),
    "VLScore": ("vlscore", "vlscore"),
}
MEANS = {
    "Insignificant": (0.75, 0.74, 0.49, 0.85, 0.89, 0.99, 0.97, 0.93, 0.84),
    "pathology": (0.76, 0.74, 0.48, 0.85, 0.88, 0.87, 0.90, 0.82, 0.69),
    "noninformative": (0.98, 0.95, 0.65, 0.98, 0.97, 0.99, 0.99, 0.97, 0.91),
    "location": (0.98, 0.95, 0.67, 0.98, 0.99, 1.0, 1.0, 0.93, 0.72),
    "severity": (0.97, 0.94, 0.65, 0.97, 0.99, 0.98, 0.99, 0.92, 0.79),
    "constantdata": (0.33, 0.15, 0.18, 0.33, 0.51, 0.91, 0.63, 0.23, 0.85),
}


def make(settings: Settings) -> list[Line]:
    """Nine metrics by six kinds, and how many triplets each file gave."""
    if settings.reports is None:
        raise InputError("give the findings: --reports mimic_cxr_sectioned.csv")
    images = study_images(settings.images) if settings.images is not None else {}
    found = read_controls(settings.place, settings.reports, images=images)
    specs = {name: spec for name, (spec, _) in METRICS.items() if name != "VLScore" or images}
    if settings.labels is not None:
        specs["CheXpert"] = f"chexbert:models={settings.labels}"
    results, missing = score_cases(found.cases, list(specs.values()), settings)
    kinds = np.array([case.system for case in found.cases])
    lines, values = [], {}
    for name, (spec, column) in METRICS.items():
        spec = specs.get(name, spec)
        if spec in results and name in specs:
            scores = results[spec]
            place = next(at for at, each in enumerate(scores.columns) if each.startswith(column))
            values[name] = scores.values[:, place]
        for file, means in MEANS.items():
            mine = values[name][kinds == FILES[file]] if name in values else np.array([])
            mine = mine[~np.isnan(mine)]
            note = NO_IMAGES if name not in specs else missing.get(spec, "" if len(mine) else "no triplet")
            ours = float(mine.mean()) if len(mine) else float("nan")
            lines.append(Line(f"{name}, {file}", means[list(METRICS).index(name)], ours, note))
    for file, count in PUBLISHED.items():
        made = int((kinds == FILES[file]).sum())
        lost = found.skipped.get(file, 0)
        note = f"{lost} instructions could not be followed" if lost else "" if made else "no such file"
        lines.append(Line(f"triplets, {file}", count, made, note))
    if settings.figures is not None and "VLScore" in values:
        draw(settings.figures, values, kinds == FILES["constantdata"])
    return lines


def draw(folder: Path, values: dict[str, np.ndarray], normal: np.ndarray) -> list[Path]:
    """Figure 2: each metric against VLScore on normal reports, as SVG."""
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for name in ("BLEU-4", "RadGraph F1", "BERTScore", "CheXpert"):
        if name not in values:
            continue
        points = [(float(x), float(y), 0, -1) for x, y in zip(values["VLScore"], values[name], strict=True)]
        plot = scatter(
            [point for point, mine in zip(points, normal, strict=True) if mine],
            key=f"figure2_{name.lower().replace(' ', '_')}",
            title=f"{name} and VLScore",
            note="equivalent normal reports",
            x_label="VLScore",
            y_label=name,
        )
        path = folder / f"{plot.key}.svg"
        path.write_text(plot.file(), encoding="utf-8")
        written.append(path)
    return written


if __name__ == "__main__":
    run(make, title="VLScore, tables 2 and 3", needs="the folder of the authors' control files (perturbed_data)")

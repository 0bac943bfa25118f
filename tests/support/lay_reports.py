"""Reports with lay texts of two systems, and a sentence set that is read at once."""

from __future__ import annotations

from pathlib import Path

REPORTS = "id,reference,candidate,system,training_size,series\n" + "".join(
    f"{study},{reference},{candidate},{system},{size},{series}\n"
    for system, size, series in (("small", 5000, "lay"), ("large", 50000, "lay"))
    for study, reference, candidate in (
        ("1", "No pneumothorax. Cardiomegaly.", "There is no pneumothorax."),
        ("2", "Small left pleural effusion.", "Small left effusion. Clear lungs."),
        ("3", "The lungs are clear.", "Right lower lobe pneumonia."),
        ("4", "Right rib fracture.", "Right rib fracture."),
    )
)


def write_file(folder: Path, name: str, text: str) -> str:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return str(path)


def lay_set(folder: Path) -> str:
    """A small sentence set: reading the embedded one takes seconds."""
    pairs = {
        "No pneumothorax.": "There is no air leak around the lung.",
        "Small left pleural effusion.": "There is a small amount of fluid around the lung on the left.",
        "Right rib fracture.": "There is a broken rib on the right.",
        "The lungs are clear.": "The lungs are clear.",
        "Right lower lobe pneumonia.": "There is pneumonia on the right.",
    }
    lines = ["professional\tlay", *("\t".join(pair) for pair in pairs.items())]
    return write_file(folder, "set.tsv", "\n".join(lines) + "\n")

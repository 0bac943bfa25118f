"""Studies of lay texts: agreement with people, training, and how easy a text is to read.

Zhao et al., Layman's RRG (2024), sections 3.5 and 3.6.
"""

from radgauge.lay.studies.agreement import LayAgreement, lay_agreement
from radgauge.lay.studies.grid import LayGrid, lay_grid, lay_versions
from radgauge.lay.studies.reading_ease import Ease, compare_ease
from radgauge.lay.studies.training import Size, TrainingRun, share_differences, training_runs

__all__ = [
    "Ease",
    "LayAgreement",
    "LayGrid",
    "Size",
    "TrainingRun",
    "compare_ease",
    "lay_agreement",
    "lay_grid",
    "lay_versions",
    "share_differences",
    "training_runs",
]

"""Studies of lay texts: agreement with people, training, and how easy a text is to read.

Zhao et al., Layman's RRG (2024), sections 3.5 and 3.6.
"""

from radgauge.lay_study.agreement import LayAgreement, lay_agreement
from radgauge.lay_study.reading_ease import Ease, compare_ease
from radgauge.lay_study.training import Size, TrainingRun, training_runs

__all__ = ["Ease", "LayAgreement", "Size", "TrainingRun", "compare_ease", "lay_agreement", "training_runs"]

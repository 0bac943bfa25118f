"""Rewards for training report generators: metrics as reward functions, with guards."""

from radgauge.analysis.rewards.adapters import for_openrlhf, for_trl, for_verl, for_verl_batch
from radgauge.analysis.rewards.audit import Audit, AuditLine, audit
from radgauge.analysis.rewards.guards import Guards
from radgauge.analysis.rewards.reward import Reward, Verdict, reward

__all__ = [
    "Audit",
    "AuditLine",
    "Guards",
    "Reward",
    "Verdict",
    "audit",
    "for_openrlhf",
    "for_trl",
    "for_verl",
    "for_verl_batch",
    "reward",
]

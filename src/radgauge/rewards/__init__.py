"""Rewards for training report generators: metrics as reward functions, with guards."""

from radgauge.rewards.adapters import for_openrlhf, for_trl, for_verl, for_verl_batch
from radgauge.rewards.audit import Audit, AuditLine, audit
from radgauge.rewards.guards import Guards
from radgauge.rewards.reward import Reward, Verdict, reward

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

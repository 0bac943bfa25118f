"""Rewards for training report generators: metrics as reward functions, with guards."""

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from radgauge.analysis.rewards.audit import Audit, AuditLine, audit
from radgauge.analysis.rewards.guards import Guards
from radgauge.analysis.rewards.reward import Reward, Verdict, reward
from radgauge.core.errors import InputError, require

# Rewards in the form that trainers call: nothing of theirs is imported until it is needed.

log = logging.getLogger(__name__)


def for_trl(reward: Reward, *, reference: str = "reference") -> Callable[..., list[float]]:
    """A reward function of TRL's GRPOTrainer (1.10 to 1.16): called with keywords, one value per completion.

    Completions are texts, conversations (the last turn of the assistant counts) or None. What cannot be judged
    gets the floor, never None: TRL logs prompt, completion and columns of such rows, and these are reports.

    Args:
        reward: What `radgauge.analysis.rewards.reward.reward` made.
        reference: The data set's column with the reference (a text, or a list of alternatives).
    """

    def judge(
        prompts: Any = None,
        completions: Sequence[Any] = (),
        completion_ids: Any = None,
        trainer_state: Any = None,
        log_extra: Any = None,
        log_metric: Callable[[str, float], None] | None = None,
        **columns: Any,
    ) -> list[float]:
        if reference not in columns:
            names = ", ".join(sorted(columns)) or "none"
            raise InputError(f"the data set must have the column {reference!r}; it has: {names}")
        verdicts = reward.judge([text_of(completion) for completion in completions], columns[reference])
        if log_metric is not None and verdicts:
            log_metric(
                f"{reward.name}/floor", sum(bool(completion.reason) for completion in verdicts) / len(verdicts)
            )
        return [completion.value for completion in verdicts]

    judge.__name__ = judge.__qualname__ = reward.name
    return judge


def for_verl(reward: Reward) -> Callable[..., dict[str, float]]:
    """verl's `compute_score` (0.8), one sample per call: score, and 1 if it was judged, 0 if it got the floor."""

    def compute_score(
        data_source: Any, solution_str: str, ground_truth: Any, extra_info: Any = None, **more: Any
    ) -> dict[str, float]:
        verdict = reward.judge([solution_str], [ground_truth])[0]
        return {"score": verdict.value, "judged": float(not verdict.reason)}

    return compute_score


def for_verl_batch(reward: Reward) -> Callable[..., list[dict[str, float]]]:
    """verl's `compute_score` for its batch manager: the same names in the plural, one answer per sample."""

    def compute_score(
        data_sources: Any,
        solution_strs: Sequence[str],
        ground_truths: Sequence[Any],
        extra_infos: Any = None,
        **more: Any,
    ) -> list[dict[str, float]]:
        verdicts = reward.judge(list(solution_strs), list(ground_truths))
        return [{"score": verdict.value, "judged": float(not verdict.reason)} for verdict in verdicts]

    return compute_score


def for_openrlhf(reward: Reward) -> Callable[..., dict[str, Any]]:
    """OpenRLHF's `reward_func(queries, prompts, labels)`: tensors; a query is prompt and response.

    OpenRLHF logs exceptions and goes on without a reward; here they become the floor, counted by `Reward.counts`.
    """

    def reward_func(
        queries: Sequence[str], prompts: Sequence[str], labels: Sequence[Any], **more: Any
    ) -> dict[str, Any]:
        torch = require("torch", extra="models")
        try:
            answers = [
                query[len(prompt) :] if query.startswith(prompt) else query
                for query, prompt in zip(queries, prompts, strict=True)
            ]
            verdicts = reward.judge(answers, list(labels))
        except Exception as error:  # would be swallowed one call above: count it, say its kind, give the floor
            log.warning("a reward failed (%s); its samples get the floor", type(error).__name__)
            verdicts = reward.failed(len(queries), error)
        values = torch.tensor([verdict.value for verdict in verdicts], dtype=torch.float32)
        judged = torch.tensor([float(not verdict.reason) for verdict in verdicts], dtype=torch.float32)
        return {"rewards": values, "scores": values.clamp(0.0, 1.0), "extra_logs": {"judged": judged}}

    return reward_func


def text_of(completion: Any) -> str | None:
    """The text of a completion: itself, or the last turn of the assistant in a conversation.

    >>> text_of([{"role": "assistant", "content": "Clear."}]), text_of("Clear."), text_of(None)
    ('Clear.', 'Clear.', None)
    """
    if completion is None or isinstance(completion, str):
        return completion
    turns = [turn for turn in completion if isinstance(turn, Mapping)]
    contents = [turn.get("content") for turn in turns if turn.get("role", "assistant") == "assistant"]
    last = contents[-1] if contents else None
    if isinstance(last, list | tuple):
        return "".join(str(part.get("text", "")) for part in last if isinstance(part, Mapping))
    return None if last is None else str(last)


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

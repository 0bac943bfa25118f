"""Language models behind any OpenAI-compatible server: answers are checked and kept, cost and rate are limited.

Nothing here runs unless the user names a server in the environment (docs/llm.md).
"""

from radgauge.llm.account import BudgetReached
from radgauge.llm.client import LanguageModel, LlmError
from radgauge.llm.journal import Journal
from radgauge.llm.limits import Limits, Usage
from radgauge.llm.numbered import Outcome, ask_all
from radgauge.llm.server import Server, server_from_environment
from radgauge.llm.sessions import Session, session

__all__ = [
    "BudgetReached",
    "Journal",
    "LanguageModel",
    "Limits",
    "LlmError",
    "Outcome",
    "Server",
    "Session",
    "Usage",
    "ask_all",
    "server_from_environment",
    "session",
]

"""Which server is asked, and who gets to see the key."""

from __future__ import annotations

import json
import pickle

import pytest

from radgauge.cli.options import to_json
from radgauge.core.errors import UsageError
from radgauge.llm.server import Secret, Server, server_from_environment

NAMED = {"RADGAUGE_LLM_URL": "http://127.0.0.1:1/v1", "RADGAUGE_LLM_MODEL": "m"}


def test_nothing_is_asked_unless_a_server_is_named() -> None:
    with pytest.raises(UsageError, match="set RADGAUGE_LLM_URL and RADGAUGE_LLM_MODEL"):
        server_from_environment({"OPENAI_API_KEY": "sk-other"})
    with pytest.raises(UsageError, match="set RADGAUGE_LLM_MODEL"):
        server_from_environment({"RADGAUGE_LLM_URL": "http://127.0.0.1/v1"})


def test_the_key_shows_nowhere() -> None:
    server = server_from_environment({**NAMED, "RADGAUGE_LLM_KEY": "sk-secret"})
    assert server.key.reveal() == "sk-secret"
    shown = [repr(server), str(server), server.signature, server.notice, to_json(server), f"{server.key}"]
    assert not any("sk-secret" in each for each in shown)
    assert json.loads(to_json(server))["key"] == "***"
    with pytest.raises(TypeError, match="not written"):
        pickle.dumps(server)


def test_the_key_of_openai_goes_to_openai_only(monkeypatch: pytest.MonkeyPatch) -> None:
    found = {**NAMED, "OPENAI_API_KEY": "sk-openai"}
    assert not server_from_environment(found).key
    monkeypatch.setenv("RADGAUGE_OFFLINE", "0")
    found["RADGAUGE_LLM_URL"] = "https://api.openai.com/v1"
    assert server_from_environment(found).key.reveal() == "sk-openai"
    found["RADGAUGE_LLM_KEY"] = "sk-own"
    assert server_from_environment(found).key.reveal() == "sk-own"
    found["RADGAUGE_LLM_URL"] = "https://api.openai.com.example.org/v1"
    del found["RADGAUGE_LLM_KEY"]
    assert not server_from_environment(found).key


@pytest.mark.parametrize("host", ["10.1.2.3", "example.org", "127.0.0.1.example.org", "[2001:db8::1]"])
def test_offline_allows_this_machine_only(host: str) -> None:
    with pytest.raises(UsageError, match="RADGAUGE_OFFLINE forbids asking"):
        server_from_environment({**NAMED, "RADGAUGE_LLM_URL": f"https://{host}/v1"})


@pytest.mark.parametrize("host", ["127.0.0.1:8080", "127.9.9.9", "localhost:1", "[::1]:8080"])
def test_this_machine(host: str) -> None:
    server = server_from_environment({**NAMED, "RADGAUGE_LLM_URL": f"http://{host}/v1"})
    assert server.is_local
    assert "nothing leaves it" in server.notice


def test_what_leaves_the_machine_is_said() -> None:
    assert "LEAVE THIS MACHINE: they go to example.org" in Server("https://example.org/v1", "m").notice
    assert "LEAVE THIS MACHINE, unencrypted" in Server("http://example.org/v1", "m").notice


@pytest.mark.parametrize(
    ("url", "said"),
    [("ftp://host/v1", "http or https"), ("host", "http or https"), ("http://user:pw@host/v1", "neither user")],
)
def test_addresses(url: str, said: str) -> None:
    with pytest.raises(UsageError, match=said) as raised:
        Server(url, "m")
    assert "pw" not in str(raised.value)


def test_a_secret_is_cut_out_of_messages() -> None:
    assert Secret("abc").hide_in("key abc is wrong") == "key *** is wrong"
    assert Secret("").hide_in("key") == "key"

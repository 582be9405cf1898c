"""A session that waits for an answer, in every agent's format: the strip, the fleet and notices agree."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from core.agents.registry import make_kit
from core.live.driver import Driver
from core.live.fleet.roster import Roster
from core.live.fleet.thread import once
from core.live.notices import Notifier, ShownNotice
from core.live.source import Followed
from core.settings import Settings
from core.timeline.run_inputs import InitialStates
from tests.core.agents import samples, samples_more, samples_recent, samples_rest
from tests.core.agents.reading_more import iso

QUESTION = "Should I drop the legacy table?"
CLAUDE = {"questions": [{"question": QUESTION, "header": "Table", "options": []}]}
ONE = {"question": QUESTION}

FORMATS: dict[str, tuple[list[Any], Any]] = {
    "claude": (
        [samples.says(0, "migrate the billing service")],
        samples.asks(2, "q1", "AskUserQuestion", CLAUDE),
    ),
    "codex": (
        [samples.codex_meta(0), samples.codex("event_msg", 1, type="user_message", message="migrate")],
        samples.codex_call(2, "q1", "request_user_input", CLAUDE),
    ),
    "gemini": (
        [
            samples_more.GEMINI_HEADER,
            {"id": "m1", "type": "user", "timestamp": iso(1), "content": [{"text": "migrate"}]},
        ],
        samples_more.gemini_answer(
            "m2", {**samples_more.gemini_call("q1", "ask_user", "executing", args=CLAUDE), "result": []}
        ),
    ),
    "pi": (
        [samples_more.PI_HEADER, samples_more.pi_entry(1, {"role": "user", "content": "migrate"})],
        samples_more.pi_entry(2, samples_more.pi_answer(("q1", "ask_user", ONE))),
    ),
    "copilot": (
        [
            samples_more.COPILOT_START,
            samples_more.copilot_event(1, "user.message", {"content": "migrate"}),
        ],
        samples_more.copilot_call(2, "q1", "ask_user", ONE),
    ),
    "droid": (
        [
            {"type": "session_start", "id": "s1", "title": "migrate", "cwd": "/home/ada/mill"},
            samples_recent.droid_message(1, "user", {"type": "text", "text": "migrate"}),
        ],
        samples_recent.droid_message(
            2, "assistant", samples_recent.droid_call("q1", "AskUser", question=QUESTION)
        ),
    ),
    "kimi": (
        [
            {"type": "metadata", "protocol_version": "1.1"},
            samples_recent.wire("TurnBegin", 0, user_input="migrate"),
            samples_recent.wire("StepBegin", 1, n=1),
        ],
        samples_recent.wire("ToolCall", 2, **samples_recent.wire_call("q1", "AskUserQuestion", **CLAUDE)),
    ),
    "openhands": (
        [
            samples_rest.openhands_file(
                1,
                "MessageEvent",
                llm_message={"role": "user", "content": [{"type": "text", "text": "migrate"}]},
            )
        ],
        samples_rest.openhands_call(2, "q1", "ask_user", question=QUESTION),
    ),
}


@pytest.mark.parametrize("name", FORMATS)
def test_an_open_question_is_seen_everywhere(name: str, tmp_path: Path) -> None:
    before, question = FORMATS[name]
    settings = Settings()
    log = tmp_path / ("wire.jsonl" if name == "kimi" else "log.jsonl")
    log.write_bytes(b"".join(_line(one) for one in before))
    told: list[ShownNotice] = []
    driver = Driver(
        Followed(log, make_kit(settings.ingest), settings),
        InitialStates(settings),
        notifier=Notifier(settings.response.notices, app=told.append),
    )
    _read(driver)
    assert not driver.status(driver.heard).needs_you
    with log.open("ab") as file:
        file.write(_line(question))
    _read(driver)
    status = driver.status(driver.heard)
    assert (status.word, status.level, status.need) == ("needs you", 3, "question")
    assert status.reason == f"asks: “{QUESTION}”"
    driver.ring(status)
    driver.ring(driver.status(driver.heard))
    assert [notice.text for notice in told] == [status.reason]
    (row,), _ = once(Roster(settings, {}, tmp_path, paths=[log], wall=lambda: driver.heard))
    assert (row.status.word, row.why) == (status.word, status.reason)


def test_a_plan_to_approve_is_one_and_says_so(tmp_path: Path) -> None:
    settings = Settings()
    log = tmp_path / "log.jsonl"
    plan = {"plan": "# Move the table\n\n1. Copy it"}
    log.write_bytes(_line(samples.says(0, "migrate")) + _line(samples.asks(2, "p1", "ExitPlanMode", plan)))
    driver = Driver(Followed(log, make_kit(settings.ingest), settings), InitialStates(settings))
    _read(driver)
    status = driver.status(driver.heard)
    assert status.need == "plan"
    assert status.reason == "has a plan for you to approve: “# Move the table”"


def test_secrets_in_a_question_are_taken_out(tmp_path: Path) -> None:
    settings = Settings()
    log = tmp_path / "log.jsonl"
    secret = "ghp_" + "a1B2" * 9
    asked = {"questions": [{"question": f"Use {secret}?\x1b[31m"}]}
    log.write_bytes(_line(samples.says(0, "go")) + _line(samples.asks(2, "q1", "AskUserQuestion", asked)))
    driver = Driver(Followed(log, make_kit(settings.ingest), settings), InitialStates(settings))
    _read(driver)
    reason = driver.status(driver.heard).reason
    assert "asks: “Use" in reason
    assert secret not in reason and "\x1b" not in reason


def _line(value: Any) -> bytes:
    return json.dumps(value).encode() + b"\n"


def _read(driver: Driver) -> None:
    list(driver.poll(1000))
    while driver.source.behind:
        list(driver.poll(1000))

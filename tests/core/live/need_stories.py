"""Sessions that come to need the person, in every agent's format: what comes before, and what tells it."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from tests.core.agents import samples, samples_more, samples_recent, samples_rest
from tests.core.agents import test_newer_agents as newer
from tests.core.agents.reading_more import iso
from tests.core.agents.test_opencode import _database as database
from tests.core.agents.test_opencode import _put as put

QUESTION = "Should I drop the legacy table?"
CLAUDE = {"questions": [{"question": QUESTION, "header": "Table", "options": []}]}
ONE = {"question": QUESTION}

FORMATS: dict[str, tuple[list[Any], Any]] = {
    "claude": ([samples.says(0, "migrate the billing service")], samples.asks(2, "q1", "AskUserQuestion", CLAUDE)),
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
        [samples_more.COPILOT_START, samples_more.copilot_event(1, "user.message", {"content": "migrate"})],
        samples_more.copilot_call(2, "q1", "ask_user", ONE),
    ),
    "droid": (
        [
            {"type": "session_start", "id": "s1", "title": "migrate", "cwd": "/home/ada/mill"},
            samples_recent.droid_message(1, "user", {"type": "text", "text": "migrate"}),
        ],
        samples_recent.droid_message(2, "assistant", samples_recent.droid_call("q1", "AskUser", question=QUESTION)),
    ),
    "kimi": (
        [
            {"type": "metadata", "protocol_version": "1.1"},
            samples_recent.wire("TurnBegin", 0, user_input="migrate"),
            samples_recent.wire("StepBegin", 1, n=1),
        ],
        samples_recent.wire("ToolCall", 2, **samples_recent.wire_call("q1", "AskUserQuestion", **CLAUDE)),
    ),
    "qwen": ([newer.qwen(0, "user", [{"text": "migrate"}])], newer.qwen_call(2, "q1", "ask_user_question", CLAUDE)),
    "cursor": (
        [{"role": "user", "message": {"content": [{"type": "text", "text": "migrate"}]}}],
        {"role": "assistant", "message": {"content": [{"type": "tool_use", "name": "AskQuestion", "input": ONE}]}},
    ),
    "antigravity": (
        newer.ANTIGRAVITY[:1],
        {
            **newer.ANTIGRAVITY[1],
            "tool_calls": [{"name": "notify_user", "args": {"Message": QUESTION, "BlockedOnUser": True}}],
        },
    ),
    "openhands": (
        [
            samples_rest.openhands_file(
                1, "MessageEvent", llm_message={"role": "user", "content": [{"type": "text", "text": "migrate"}]}
            )
        ],
        samples_rest.openhands_call(2, "q1", "ask_user", question=QUESTION),
    ),
}


PLAN = {"plan": "Copy the table, then switch over"}
PLANS: dict[str, tuple[list[Any], Any]] = {
    "claude": (FORMATS["claude"][0], samples.asks(2, "p1", "ExitPlanMode", PLAN)),
    "gemini": (
        FORMATS["gemini"][0],
        samples_more.gemini_answer(
            "m2", {**samples_more.gemini_call("p1", "exit_plan_mode", "executing", args=PLAN), "result": []}
        ),
    ),
    "droid": (
        FORMATS["droid"][0],
        samples_recent.droid_message(
            2, "assistant", samples_recent.droid_call("p1", "ExitSpecMode", plan=PLAN["plan"])
        ),
    ),
    "qwen": (FORMATS["qwen"][0], newer.qwen_call(2, "p1", "exit_plan_mode", PLAN)),
}
ERROR = "You have reached your limit; it resets at 11:30"
_LIMIT = {
    "id": "e1",
    "model": "<synthetic>",
    "stop_reason": "stop_sequence",
    "content": [{"type": "text", "text": ERROR}],
    "usage": {"input_tokens": 0, "output_tokens": 0},
}
ERRORS: dict[str, tuple[list[Any], Any]] = {
    "claude": (
        FORMATS["claude"][0],
        samples.claude("assistant", 2, message=_LIMIT, isApiErrorMessage=True, error="rate_limit"),
    ),
    "codex": (FORMATS["codex"][0], samples.codex("event_msg", 2, type="error", message=ERROR)),
    "gemini": (FORMATS["gemini"][0], {"id": "e1", "type": "error", "timestamp": iso(2), "content": ERROR}),
    "pi": (
        FORMATS["pi"][0],
        samples_more.pi_entry(2, {"role": "assistant", "content": [], "stopReason": "error", "errorMessage": ERROR}),
    ),
    "copilot": (
        FORMATS["copilot"][0],
        samples_more.copilot_event(2, "session.error", {"errorType": "quota", "message": ERROR}),
    ),
}
NEEDS = {"question": FORMATS, "plan": PLANS, "error": ERRORS}


class Story(NamedTuple):
    """A session that is written in two pieces: up to the question, and the question."""

    path: Path
    before: Callable[[], object]
    ask: Callable[[], object]


Shift = Callable[[Any], Any]
"""Moves the times in a record, for a session that goes on now."""


def lines(folder: Path, name: str, need: str = "question", shift: Shift = lambda value: value) -> Story:
    """A log of lines."""
    before, question = NEEDS[need][name]
    before, question = shift(before), shift(question)
    log = folder / ("wire.jsonl" if name == "kimi" else "log.jsonl")

    def ask() -> None:
        with log.open("ab") as file:
            file.write(line(question))

    return Story(log, lambda: log.write_bytes(b"".join(map(line, before))), ask)


def cline(folder: Path, shift: Shift = lambda value: value) -> Story:
    """A task, whose documents are rewritten whole."""
    task = folder / "tasks" / "1770000000000"
    task.mkdir(parents=True)
    log = task / "api_conversation_history.json"
    said: list[Any] = [
        {"role": "user", "ts": 1_770_000_000_000, "content": [{"type": "text", "text": "<task>migrate</task>"}]}
    ]
    asks = {"type": "tool_use", "id": "q1", "name": "ask_followup_question", "input": ONE}
    answer = {"role": "assistant", "ts": 1_770_000_002_000, "content": [asks]}
    shown: list[Any] = [{"ts": 1_770_000_000_000, "type": "say", "say": "task", "text": "migrate"}]
    followup = {"ts": 1_770_000_002_000, "type": "ask", "ask": "followup", "text": json.dumps(ONE)}

    def write(*more: list[Any]) -> None:
        for path, begun, added in zip((log, task / "ui_messages.json"), (said, shown), more or ([], []), strict=True):
            path.write_bytes(json.dumps(shift([*begun, *added])).encode())

    return Story(log, write, lambda: write([answer], [followup]))


def opencode(folder: Path, need: str = "question", shift: Shift = lambda value: value) -> Story:
    """A database whose rows change in place."""
    log = folder / "opencode.db"
    rows = samples_rest.OPENCODE.entries
    failed = {"role": "assistant", "time": {}, "error": {"name": "APIError", "data": {"message": ERROR}}}
    asks = (
        samples_rest.opencode_tool("prt_q", "question", "running", 9, input=CLAUDE)
        if need == "question"
        else samples_rest.opencode_row("message", "msg_2", failed, 9)
    )

    def ask() -> None:
        with closing(sqlite3.connect(log)) as there, there:
            put(there, shift(asks))

    return Story(log, lambda: database(log, shift([rows[0], *rows[2:5]])).close(), ask)


STORIES: dict[str, Callable[..., Story]] = {
    **{name: partial(lines, name=name) for name in FORMATS},
    "cline": cline,
    "opencode": opencode,
}
"""A question in every format."""
OTHERS: dict[tuple[str, str], Callable[..., Story]] = {
    **{(need, name): partial(lines, name=name, need=need) for need in ("plan", "error") for name in NEEDS[need]},
    ("error", "opencode"): partial(opencode, need="error"),
}
"""What else the log of a format can tell."""


def line(value: Any) -> bytes:
    """A record as a line of a log."""
    return json.dumps(value).encode() + b"\n"

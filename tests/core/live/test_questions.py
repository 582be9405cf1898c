"""A session that waits for an answer, in every agent's format: the strip, the fleet and notices agree."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from msgspec.structs import replace

from core.agents.registry import make_kit
from core.events import MAIN
from core.live.driver import Driver
from core.live.fleet.roster import Roster
from core.live.fleet.thread import once
from core.live.notices import Notifier, ShownNotice
from core.live.source import Followed
from core.live.status import Status
from core.settings import Settings
from core.timeline.run_inputs import InitialStates
from tests.core.agents import samples, samples_more, samples_recent, samples_rest
from tests.core.agents import test_newer_agents as newer
from tests.core.agents.reading_more import iso
from tests.core.agents.test_opencode import _database as database
from tests.core.agents.test_opencode import _put as put
from tui.feed.film import Film
from tui.feed.playhead import Playhead
from tui.feed.view import Subject
from tui.widgets.common.now_strip import NowStrip

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
    "qwen": (
        [newer.qwen(0, "user", [{"text": "migrate"}])],
        newer.qwen_call(2, "q1", "ask_user_question", CLAUDE),
    ),
    "cursor": (
        [{"role": "user", "message": {"content": [{"type": "text", "text": "migrate"}]}}],
        {
            "role": "assistant",
            "message": {"content": [{"type": "tool_use", "name": "AskQuestion", "input": ONE}]},
        },
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
                1,
                "MessageEvent",
                llm_message={"role": "user", "content": [{"type": "text", "text": "migrate"}]},
            )
        ],
        samples_rest.openhands_call(2, "q1", "ask_user", question=QUESTION),
    ),
}


class Story(NamedTuple):
    """A session that is written in two pieces: up to the question, and the question."""

    path: Path
    before: Callable[[], object]
    ask: Callable[[], object]


def lines(folder: Path, name: str) -> Story:
    """A log of lines."""
    before, question = FORMATS[name]
    log = folder / ("wire.jsonl" if name == "kimi" else "log.jsonl")

    def ask() -> None:
        with log.open("ab") as file:
            file.write(_line(question))

    return Story(log, lambda: log.write_bytes(b"".join(map(_line, before))), ask)


def cline(folder: Path) -> Story:
    """A task, whose documents are rewritten whole."""
    task = folder / "tasks" / "1770000000000"
    task.mkdir(parents=True)
    log = task / "api_conversation_history.json"
    said: list[Any] = [
        {
            "role": "user",
            "ts": 1_770_000_000_000,
            "content": [{"type": "text", "text": "<task>migrate</task>"}],
        }
    ]
    asks = {"type": "tool_use", "id": "q1", "name": "ask_followup_question", "input": ONE}
    answer = {"role": "assistant", "ts": 1_770_000_002_000, "content": [asks]}
    shown: list[Any] = [{"ts": 1_770_000_000_000, "type": "say", "say": "task", "text": "migrate"}]
    followup = {"ts": 1_770_000_002_000, "type": "ask", "ask": "followup", "text": json.dumps(ONE)}

    def write(*more: list[Any]) -> None:
        for path, begun, added in zip(
            (log, task / "ui_messages.json"), (said, shown), more or ([], []), strict=True
        ):
            path.write_bytes(json.dumps([*begun, *added]).encode())

    return Story(log, write, lambda: write([answer], [followup]))


def opencode(folder: Path) -> Story:
    """A database whose rows change in place."""
    log = folder / "opencode.db"
    made: list[Any] = []
    rows = samples_rest.OPENCODE.entries
    asks = samples_rest.opencode_tool("prt_q", "question", "running", 9, input=CLAUDE)

    def ask() -> None:
        put(made[0], asks)
        made[0].commit()

    return Story(log, lambda: made.append(database(log, [rows[0], *rows[2:5]])), ask)


STORIES: dict[str, Callable[[Path], Story]] = {
    **{name: partial(lines, name=name) for name in FORMATS},
    "cline": cline,
    "opencode": opencode,
}


@pytest.mark.parametrize("name", STORIES)
def test_an_open_question_is_seen_everywhere(name: str, tmp_path: Path) -> None:
    """By the driver that headless watching and the feed share, by notices, by the fleet, in the strip."""
    story = STORIES[name](tmp_path)
    settings = Settings()
    story.before()
    told: list[ShownNotice] = []
    driver = Driver(
        Followed(story.path, make_kit(settings.ingest), settings),
        InitialStates(settings),
        record=True,
        notifier=Notifier(settings.response.notices, app=told.append),
    )
    _read(driver)
    assert not driver.status(driver.heard).needs_you
    story.ask()
    _read(driver)
    status = driver.status(driver.heard)
    assert (status.word, status.level, status.need) == ("needs you", 3, "question")
    assert status.reason == f"asks: “{QUESTION}”"
    driver.ring(status)
    driver.ring(driver.status(driver.heard))
    assert [notice.text for notice in told] == [status.reason]
    assert "▲ NEEDS YOU" in strip(driver, status) and QUESTION in strip(driver, status)
    (row,), _ = once(Roster(settings, {}, tmp_path, paths=[story.path], wall=lambda: driver.heard))
    assert (row.status.word, row.why) == (status.word, status.reason)


def strip(driver: Driver, status: Status) -> str:
    """The two lines a low screen shows."""
    assert driver.timeline is not None
    film = Film(driver.timeline, Subject(), 60.0)
    head = Playhead(Settings().timeline.play, live=True)
    for event in driver.timeline.events:
        head.grow(event.at)
    view = replace(film.view(head, MAIN, driver.heard, (), driver.held()), status=status)
    return "\n".join("".join(text for text, _ in line) for line in NowStrip().lines(view, 80, 2))


@pytest.mark.parametrize("name", ["aider", "crush", "goose"])
def test_what_a_log_cannot_tell_is_said_in_the_docs(name: str) -> None:
    docs = (Path(__file__).parents[3] / "docs" / "formats.md").read_text()
    told = docs.partition("## Which logs tell that the agent waits for you")[2].partition("\n## ")[0]
    assert f"| {name}" in told.casefold()


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

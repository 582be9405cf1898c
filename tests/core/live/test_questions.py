"""A session that waits for an answer, in every agent's format: the strip, the fleet and notices agree."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from core.agents.registry import make_kit
from core.engine.response.reaction import Notice
from core.events import MAIN
from core.extension.hooks import Extension
from core.live.driver import Driver
from core.live.fleet.roster import Roster, once
from core.live.notices import Notifier, ShownNotice
from core.live.source import Followed
from core.live.status import Status
from core.settings import Settings
from core.timeline.run_inputs import InitialStates
from tests.core.agents import samples
from tests.core.live.need_stories import ERROR, OTHERS, QUESTION, STORIES, line
from tui.feed.feed import Film
from tui.feed.view import Subject
from tui.feed.viewpoint import Playhead
from tui.widgets.common.header import NowStrip


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


@pytest.mark.parametrize(("need", "name"), OTHERS)
def test_a_plan_and_an_error_that_stops_it_are_seen_too(need: str, name: str, tmp_path: Path) -> None:
    story = OTHERS[need, name](tmp_path)
    settings = Settings()
    story.before()
    driver = Driver(Followed(story.path, make_kit(settings.ingest), settings), InitialStates(settings), record=True)
    _read(driver)
    assert not driver.status(driver.heard).needs_you
    story.ask()
    _read(driver)
    status = driver.status(driver.heard)
    assert (status.word, status.level, status.need) == ("needs you", 3, need)
    assert "▲ NEEDS YOU" in strip(driver, status)
    assert (ERROR if need == "error" else "Copy the table") in status.reason
    (row,), _ = once(Roster(settings, {}, tmp_path, paths=[story.path], wall=lambda: driver.heard))
    assert (row.status.word, row.why) == (status.word, status.reason)


def strip(driver: Driver, status: Status) -> str:
    """The two lines a low screen shows."""
    assert driver.timeline is not None
    film = Film(driver.timeline, Subject(), 60.0)
    head = Playhead(Settings().timeline.play, live=True)
    for event in driver.timeline.events:
        head.grow(event.at)
    view = replace(film.view(head, MAIN, driver.heard, (), driver.pending_events()), status=status)
    return "\n".join("".join(text for text, _ in line) for line in NowStrip().lines(view, 80, 2))


@pytest.mark.parametrize("name", ["aider", "crush", "goose"])
def test_what_a_log_cannot_tell_is_said_in_the_docs(name: str) -> None:
    docs = (Path(__file__).parents[3] / "docs" / "formats.md").read_text()
    told = docs.partition("## Which logs show that the agent waits for you")[2].partition("\n## ")[0]
    assert f"| {name}" in told.casefold()


def test_a_plan_to_approve_is_one_and_says_so(tmp_path: Path) -> None:
    settings = Settings()
    log = tmp_path / "log.jsonl"
    plan = {"plan": "# Move the table\n\n1. Copy it"}
    log.write_bytes(line(samples.says(0, "migrate")) + line(samples.asks(2, "p1", "ExitPlanMode", plan)))
    driver = Driver(Followed(log, make_kit(settings.ingest), settings), InitialStates(settings))
    _read(driver)
    status = driver.status(driver.heard)
    assert status.need == "plan"
    assert status.reason == "shows a plan for you to approve: “Move the table”"


def test_secrets_in_a_question_are_taken_out(tmp_path: Path) -> None:
    settings = Settings()
    log = tmp_path / "log.jsonl"
    secret = "ghp_" + "a1B2" * 9
    asked = {"questions": [{"question": f"Use {secret}?\x1b[31m"}]}
    log.write_bytes(line(samples.says(0, "go")) + line(samples.asks(2, "q1", "AskUserQuestion", asked)))
    driver = Driver(Followed(log, make_kit(settings.ingest), settings), InitialStates(settings))
    _read(driver)
    reason = driver.status(driver.heard).reason
    assert "asks: “Use" in reason
    assert secret not in reason and "\x1b" not in reason


def _read(driver: Driver) -> None:
    list(driver.poll(1000))
    while driver.source.behind:
        list(driver.poll(1000))


class Listener(Extension):
    """Collects the notices a person would get."""

    name = "listener"
    layer = 0
    about = "collects notices"

    def __init__(self) -> None:
        self.notices: list[tuple[str, str]] = []

    def on_notice(self, notice: Notice) -> None:
        self.notices.append((notice.kind, notice.text))


@pytest.mark.parametrize(
    ("words", "failed", "notice"),
    [
        ("Should I drop the table?", False, ("needs_you", "asks: “Should I drop the table?”")),
        ("I could not make it work.", True, ("risk", "Gave up: could not do it: “I could not make it work.”")),
        ("All 31 tests pass.", False, ("done", "Done, and waiting for you.")),
    ],
)
def test_a_finished_turn_gives_one_notice_that_agrees_with_its_status(
    words: str, failed: bool, notice: tuple[str, str], tmp_path: Path
) -> None:
    settings = Settings()
    log = tmp_path / "log.jsonl"
    call = samples.asks(1, "b1", "Bash", {"command": "make"})
    result = samples.answers(2, "b1", "no", error=failed)
    end = samples.asks(3, "", "", {}, message="m9")
    end["message"] |= {"content": [{"type": "text", "text": words}], "stop_reason": "end_turn"}
    log.write_bytes(b"".join(map(line, (samples.says(0, "do it"), call, result, end))))
    listener = Listener()
    followed = Followed(log, make_kit(settings.ingest), settings)
    driver = Driver(followed, InitialStates(settings), extensions=[listener])
    driver._wall = lambda: driver.tracker.last
    _read(driver)
    driver.ring(driver.status(driver.heard))
    assert listener.notices == [notice]

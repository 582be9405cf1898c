"""A session that fails and recovers so fast that its affect is quarantined, seen through the product."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.agents.open_events import write
from core.engine.society import Society
from core.events import Event, Prompt, SessionStart, ToolUse
from core.settings import Settings
from core.settings.layers import with_value
from tests.core.hooks.calls import failure, hook, read, session, tool
from tui.cli import main

START = 1_750_000_000.0
HELD = "Not sent to the agent while its affect is unsettled"


def unsettled(calls: int = 200) -> list[Event]:
    """Six failures, six successes, two seconds apart, and again."""
    events: list[Event] = [
        SessionStart(at=START, session="unsettled", tool="nooscope", project="/p"),
        Prompt(at=START, characters=20, call=1),
    ]
    for number in range(calls):
        bad = number % 12 < 6
        events.append(
            ToolUse(
                at=START + 2.0 * number,
                id=f"c{number}",
                action="shell_exec",
                tool="Bash",
                program="pytest",
                purpose="test",
                outcome="failure" if bad else "success",
                exit_code=int(bad),
                call=7 if bad else 100 + number,
                shape=7,
                result=9 if bad else 100 + number,
                size=40,
            )
        )
    return events


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "unsettled.jsonl"
    path.write_bytes(b"".join(write(event, "unsettled") + b"\n" for event in unsettled()))
    return path


def test_the_extra_check_acts_under_the_settings_as_they_come() -> None:
    """Advice is held back and put to the person; where quarantine cannot begin, it is not."""
    held: dict[float, list[str]] = {}
    for enter in (Settings().affect.quarantine.enter, 2.0):
        society = Society(with_value(Settings(), "affect.quarantine.enter", enter))
        texts = [notice.text for event in unsettled() for notice in society.step(event).reaction.notices]
        held[enter] = [text for text in texts if text.startswith(HELD)]
        assert society.engine("main").affect.quarantined is (enter < 2.0)
    assert held == {Settings().affect.quarantine.enter: held[Settings().affect.quarantine.enter], 2.0: []}
    assert held[Settings().affect.quarantine.enter]


def test_every_way_to_look_shows_it(log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["analyze", str(log)]) == 0
    assert "affect    quarantined from " in capsys.readouterr().out
    assert main(["events", str(log), "--kind", "QuarantineBegan"]) == 0
    assert "quarantine began" in capsys.readouterr().out
    assert main(["frame", str(log), "--at", "-1"]) == 0
    assert "yes: too volatile to be used" in capsys.readouterr().out
    assert main(["watch", str(log), "--headless", "--all", "--idle", "0"]) == 0
    assert HELD in capsys.readouterr().out


def test_a_guarded_call_that_would_write_is_put_to_the_person() -> None:
    """The hooks' own session reaches quarantine by what they tell, and then doubts."""
    one = session()
    one.step(read(hook("UserPromptSubmit", prompt="make the tests pass")), START)
    doubts = []
    for number in range(110):
        bad = number % 12 < 6
        at = START + 2.0 * number
        call = failure(number, "pytest") if bad else tool("PostToolUse", number, "pytest", tool_response="ok")
        one.step(read(call), at)
        doubts.append(one.doubt())
    assert doubts[0] == "" and doubts[-1] == "its affect is quarantined"

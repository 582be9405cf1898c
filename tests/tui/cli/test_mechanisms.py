"""Mechanisms that few sessions show, each by the commands that show it, on made-up logs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from core.agents.open_events import write
from core.events import Action, Event, Outcome, Prompt, Purpose, SessionStart, ToolUse
from core.store.carry_over import AffectStore
from tests.tui.cli.test_watch import Live
from tui.cli import main

START = 1_767_261_600.0


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("NOOSCOPE_CONFIG", str(tmp_path / "settings.toml"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    return tmp_path


class Work:
    """A made-up session, call by call."""

    def __init__(self, session: str = "s-1", start: float = START) -> None:
        self.session = session
        self.at = start
        self.events: list[Event] = [SessionStart(at=start, session=session, tool="nooscope", project="/p")]
        self.prompt()

    def prompt(self, after: float = 1.0) -> None:
        self.at += after
        self.events.append(Prompt(at=self.at, characters=40, call=len(self.events)))

    def call(
        self,
        action: Action,
        outcome: Outcome = "success",
        purpose: Purpose = "",
        *,
        gap: float = 25.0,
        target: str = "",
        same: int = 0,
    ) -> None:
        """Add a call; calls with equal `same` are the same call with the same result."""
        self.at += gap
        number = same or 1000 + len(self.events)
        self.events.append(
            ToolUse(
                at=self.at,
                id=f"c{len(self.events)}",
                action=action,
                tool="Bash" if action == "shell_exec" else "Edit",
                program="pytest" if purpose == "test" else "make" if action == "shell_exec" else "",
                targets=(target,) if target else (),
                outcome=outcome,
                purpose=purpose,
                call=number,
                shape=number,
                result=number,
            )
        )

    def save(self, folder: Path) -> str:
        log = folder / f"{self.session}.jsonl"
        log.write_bytes(b"".join(write(event, self.session) + b"\n" for event in self.events))
        return str(log)


def shown(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """What a command prints."""
    assert main(list(words)) == 0
    return capsys.readouterr().out


def test_low_pleasure_brings_intensive_dreams_until_it_is_back(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    work = Work()
    for _ in range(15):
        work.call("file_edit", target="src/a.py")
        work.call("shell_exec", purpose="test")
    for _ in range(60):
        work.call("file_edit", target="src/a.py")
        work.call("shell_exec", "failure", "test")
    failing = len(work.events)
    for _ in range(15):
        work.call("file_edit", target="src/a.py")
        work.call("shell_exec", purpose="test")
    log = work.save(home)
    events = shown(capsys, "inspect", "events", log, "--kind", "Regulated", "--kind", "Dreamt").splitlines()
    (began,) = [place for place, line in enumerate(events) if "knob dream_mode, correction 1" in line]
    (ended,) = [place for place, line in enumerate(events) if "knob dream_mode, correction 0" in line]
    assert any("dreamt" in line and "pressure" in line for line in events[began:ended])
    assert "dreams are intensive" in shown(capsys, "inspect", "frame", log, "--at", str(failing))
    assert "dreams are intensive" not in shown(capsys, "inspect", "frame", log)


@pytest.mark.parametrize(("pause", "expired"), [(1799.0, False), (1800.0, False), (1801.0, True)])
def test_advice_that_was_not_given_in_time_wakes_the_mind(
    home: Path, capsys: pytest.CaptureFixture[str], pause: float, expired: bool
) -> None:
    """The agent was ended right after its loop was noticed, and goes on half an hour later."""
    work = Work()
    for _ in range(6):
        work.call("shell_exec", gap=5.0, same=7)
    work.prompt(pause)
    work.call("file_read", gap=5.0)
    log = work.save(home)
    events = shown(capsys, "inspect", "events", log, "--kind", "InterventionEnded", "--kind", "Woken")
    assert ("fate expired" in events) is expired
    assert ("woken: trigger deadline" in events) is expired
    told = shown(capsys, "inspect", "frame", log, "--json")
    assert ("advice not given in time" in told) is expired


@pytest.mark.parametrize("failed", [False, True])
def test_a_session_that_failed_wakes_its_neighbour(home: Path, failed: bool) -> None:
    first, second = Work(), Work("s-2", START + 300)
    for _ in range(8):
        first.call("shell_exec", "failure" if failed else "success", gap=5.0, same=7 if failed else 0)
    assert main(["watch", "--headless", first.save(home), "--idle", "0.05"]) == 0
    (left,) = AffectStore().neighbours("/p", "s-2", second.at, 1800.0)
    assert left.outcome == ("failure" if failed else "")
    live = Live(Path(second.save(home)), "--mind")
    try:
        second.prompt(60.0)
        second.call("file_read", gap=5.0)
        second.call("file_read", gap=5.0)
        second.save(home)
        told: list[dict[str, Any]] = []
        while sum(one["event"] == "ToolReturned" for one in told) < 2:
            told.append(live.next())
    finally:
        live.end()
    assert any(one["event"] == "TraceSeen" and one["cause"] == "peer" for one in told)
    triggers = [one["trigger"] for one in told if one["event"] == "Woken"]
    assert triggers == ["owner_message", "owner_message", *["peer_alarm"][: int(failed)]]


@pytest.mark.parametrize(("reach", "rounds"), [("10", 5), ("0", 6)])
def test_after_failures_affect_takes_patience_away(
    home: Path, capsys: pytest.CaptureFixture[str], reach: str, rounds: int
) -> None:
    """Failures lower affect's persistence, and a call that repeats itself is a loop one round earlier."""
    work = Work()
    for number in range(8):
        work.call("file_edit", "failure", target=f"src/{number % 2}.py")
        work.call("file_read")
    for _ in range(6):
        work.call("shell_exec", same=7)
    words = ("--set", f"affect.modulation.retries.reach={reach}", "--kind", "LoopFound")
    (first, *_) = shown(capsys, "inspect", "events", work.save(home), *words).splitlines()
    assert f"detector repeat, rounds {rounds}" in first


def test_a_line_of_the_playbook_is_forgotten_when_it_is_refuted(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Prompts and the first pattern end episodes; three times of four are enough for a line (.7), of five not."""
    work, line = Work(), "editing in src/ went well"
    ends = []
    outcomes: tuple[Outcome, ...] = ("success", "success", "failure", "failure")
    for outcome in outcomes:
        for _ in range(4):
            work.call("file_edit", outcome, target="src/a.py")
        work.call("shell_exec", outcome, "test")
        work.prompt()
        ends.append(len(work.events))
    log = work.save(home)
    pages = [shown(capsys, "inspect", "frame", log, "--at", str(end)) for end in ends]
    assert [line in page for page in pages] == [False, True, True, False]
    assert f"{line} 3 of 3 times" in pages[1] and f"{line} 3 of 4 times" in pages[2]

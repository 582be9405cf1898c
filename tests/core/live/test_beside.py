"""A live session hears of a neighbour and sees a file change on disk; its replay is equal to the byte."""

from __future__ import annotations

import os
from pathlib import Path

import cbor2
from msgspec.structs import replace

from bench.workload import session
from core.agents.registry import make_kit
from core.events import Event, Prompt, SessionStart, ToolUse
from core.live.carry_over import CarryOver
from core.live.driver import Driver
from core.live.source import Followed
from core.logs.finder import sessions
from core.logs.session import read_session
from core.settings import Settings
from core.store.carry_over import AffectLeft, AffectStore, CarryOverStore
from core.timeline.run_inputs import InitialStates
from core.timeline.timeline import Timeline
from tests.tui.conftest import lines

NOW = 1_800_000_000.0
SETTINGS = Settings()


def test_what_is_found_out_beside_the_log_is_replayed(tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (project / "a.py").write_text("x")
    os.utime(project / "a.py", (NOW - 5.0, NOW - 5.0))
    events: list[Event] = [one for one in session(40) if not isinstance(one, SessionStart)]
    events = [replace(one, at=one.at - events[-1].at + NOW - 60.0) for one in events]
    start = SessionStart(at=events[0].at, session="second", tool="codex", project=str(project))
    looked = ToolUse(at=NOW - 50.0, action="file_read", tool="Read", targets=("a.py",))
    log = tmp_path / "log.jsonl"
    log.write_bytes(lines([start, *events, looked]))
    affect, store = AffectStore(tmp_path / "affect"), CarryOverStore(tmp_path / "kept")
    driver = Driver(
        Followed(log, make_kit(SETTINGS.ingest), SETTINGS),
        InitialStates(SETTINGS, store=store),
        carry_over=CarryOver(SETTINGS, affect=affect),
    )
    for _ in range(2):
        list(driver.poll(1000))
    assert driver.caught_up and not driver.society.neighbours
    affect.leave(str(project), AffectLeft("first", "pi", NOW - 20.0, (0.4, 0.0, 0.0, 0.0, 0.3, 0.4, 0.0)))
    for told in (Prompt(at=NOW, characters=9), ToolUse(at=NOW + 1.0, action="shell_exec", program="ls")):
        with log.open("ab") as file:
            file.write(lines([told]))
        driver.source.look()
        causes = [step.thought.stimulus for _, step in driver.poll(1000)]
    assert driver.society.neighbours == (("first", NOW - 20.0),)
    (change,) = driver.inputs.later
    assert change.changed == (("a.py", NOW - 5.0),)
    assert causes[0] is not None and causes[0].cause == "peer"
    kept = InitialStates(SETTINGS, store=store).of("second")
    replay = Timeline(kept.settings, initial=kept.initial, later=kept.later)
    kit = make_kit(SETTINGS.ingest)
    (found,) = sessions([str(log)], kit, SETTINGS.ingest.lines)
    replay.extend(read_session(found, kit, SETTINGS.ingest.lines))
    assert cbor2.dumps(replay.society.dump()) == cbor2.dumps(driver.society.dump())

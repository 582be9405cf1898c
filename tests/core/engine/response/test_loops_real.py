"""The default limits on recorded runs whose outcome is known, and on everyday sessions."""

from __future__ import annotations

import gzip
from pathlib import Path

import msgspec

from core.agents.chat import ChatReader
from core.agents.registry import make_kit
from core.engine.response.loops import Loop, LoopDetector
from core.events import Event, Where
from core.logs.finder import sessions
from core.logs.session import read_session
from core.settings.loops import LoopSettings


class Run(msgspec.Struct):
    """What is known of a recorded run beside its messages."""

    run: str
    resolved: bool


def told(events: list[Event]) -> list[Loop]:
    detectors: dict[str, LoopDetector] = {}
    loops = []
    for event in events:
        detector = detectors.get(event.agent)
        if detector is None:
            detector = detectors[event.agent] = LoopDetector(LoopSettings())
        loop = detector.update(event)
        if loop is not None:
            loops.append(loop)
    return loops


def test_alarms_on_labelled_runs_are_mostly_right_and_rare_on_good_ones(shared_data: Path) -> None:
    kit = make_kit()
    decode = msgspec.json.Decoder(Run).decode
    runs = {True: 0, False: 0}
    alarmed = {True: 0, False: 0}
    with gzip.open(shared_data / "labelled_runs" / "dev.jsonl.gz") as lines:
        for number, line in enumerate(lines, 1):
            known = decode(line)
            reader = ChatReader(kit, session=known.run)
            events = reader.feed(line, Where("dev", 0, len(line)), number) + reader.finish()
            runs[known.resolved] += 1
            alarmed[known.resolved] += bool(told(events))
    assert runs[False] > runs[True] > 400
    assert alarmed[False] / (alarmed[False] + alarmed[True]) >= 0.9
    assert alarmed[True] / runs[True] <= 0.06
    assert alarmed[False] / runs[False] >= 0.25


def test_everyday_sessions_hardly_alarm(shared_data: Path) -> None:
    kit = make_kit()
    found = sessions([shared_data / "real_sessions"], kit)
    alarms = sum(len(told(list(read_session(session, kit)))) for session in found)
    assert len(found) >= 10
    assert alarms <= len(found) / 10

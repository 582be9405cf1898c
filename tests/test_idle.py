"""Nothing in core is idle: names have readers, and settings of the engine change an output."""

from __future__ import annotations

import re
from collections.abc import Iterable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import pytest
from blake3 import blake3

from bench.workload import session as workload
from core.agents.registry import make_kit
from core.engine.receptor import emotion
from core.engine.society import Society
from core.events import Event, Prompt, SessionStart, ToolUse, Turn
from core.logs.finder import sessions
from core.logs.session import read_session
from core.settings import Settings
from core.settings.layers import tunables, with_value

vulture = pytest.importorskip("vulture")

ROOT = Path(__file__).resolve().parents[1]
PRODUCT = ("core", "tui", "themes", "sample_sessions")
KINDS = frozenset(("function", "method", "class", "property", "import", "unreachable_code"))
MADE_BY_DECORATORS = ["@model_validator", "@field_validator"]

PUT_TOGETHER = ("survey_",)
"""How names begin that are put together from parts."""

READ_AS_A_WHOLE = ("mind.salience.relevance.", "governor.weights.")
"""Groups whose settings are looked up by names put together from parts."""


@cache
def source() -> str:
    """All of the product but where settings are declared."""
    found = [path for room in PRODUCT for path in sorted((ROOT / room).rglob("*.py"))]
    return "\n".join(path.read_text("utf-8") for path in found if path.parent.name != "settings")


def idle(paths: list[str]) -> set[str]:
    """Names of core that no code of the product uses, whether called by name or named in a string."""
    finder = vulture.Vulture(ignore_decorators=MADE_BY_DECORATORS)
    finder.scavenge(paths)
    quoted = set(re.findall(r"[\"\'](\w+)[\"\']", source())) | set(re.findall(r"cast\(\"(\w+)\[", source()))
    return {
        item.name
        for item in finder.get_unused_code()
        if item.typ in KINDS
        and item.name != "__getattr__"
        and "core" in Path(item.filename).parts
        and item.name not in quoted
        and not item.name.startswith(PUT_TOGETHER)
    }


def test_every_public_name_of_core_is_reached() -> None:
    paths = [str(ROOT / room) for room in PRODUCT]
    assert sorted(idle(paths)) == []


def test_an_idle_name_would_be_found(tmp_path: Path) -> None:
    room = tmp_path / "core"
    room.mkdir()
    (room / "one.py").write_text("def nobody_calls_this():\n    return 1\n")
    assert idle([str(room)]) == {"nobody_calls_this"}


def test_every_setting_is_read() -> None:
    words = set(re.findall(r"\.(\w+)\b", source())) | set(re.findall(r"[\"\'](\w+)[\"\']", source()))
    unread = [
        name for name in tunables() if name.rpartition(".")[2] not in words and not name.startswith(READ_AS_A_WHOLE)
    ]
    assert unread == []
    assert all(any(name.startswith(prefix) for name in tunables()) for prefix in READ_AS_A_WHOLE)


ENGINE = ("receptor.", "mind.", "governor.", "affect.", "response.")
OUTSIDE_THE_ENGINE = (
    "response.advice.",
    "response.guard.",
    "response.caps.",
    "response.phone.",
    "response.learning.",
    "response.prior.",
    "response.persona.",
    "response.notices.",
    "response.actions.likeness",
    "mind.clock.live_limit",
    "mind.episodes.remembered",
)
"""Settings that act in hooks, notices and between sessions, where their own tests look."""

NOT_PROVOKED = frozenset(
    (
        "receptor.heatmap.targets",
        "mind.stimuli.urgency.peer",
        "mind.stimuli.urgency.deadline",
        "mind.salience.trust_edit",
        "mind.habituation.collect_every",
        "mind.habituation.faded",
        "mind.sleep.intensive",
        "mind.dreams.kept",
        "mind.homeostasis.pleasure.on",
        "mind.fabric.capacity",
        "mind.episodes.playbook_share",
        "governor.inputs.interrupted",
        "governor.tempo",
        "response.loops.repeat.rounds",
        "response.loops.repeat.longest",
        "response.loops.failing.linger",
        "response.loops.oscillation.kept",
        "response.loops.retest.kept",
        "response.loops.rework.failures",
        "response.loops.rework.kept",
        "response.loops.stalled.kept",
        "response.loops.no_progress.troubles",
        "response.loops.no_progress.kept",
    )
)
"""Settings that no session here provokes: bounds of memory, and what is rare; none may be added lightly."""


def provocations() -> list[Event]:
    """What ordinary sessions lack: spikes, destruction, refused and repeated calls, edits outside, misses."""
    calls: list[dict[str, Any]] = [
        {"action": "shell_exec", "purpose": "destructive", "program": "rm"},
        {"action": "shell_exec", "program": "sudo"},
        {"action": "file_edit", "targets": ("/etc/hosts",)},
        {"action": "file_edit", "targets": ("a.py",), "outcome": "failure"},
        {"action": "file_read", "targets": ("b.py",), "outcome": "failure"},
        {"action": "memory_read", "outcome": "empty"},
        {"action": "shell_exec", "purpose": "build", "program": "make", "call": 9, "result": 9},
        *[{"action": "file_read", "targets": ("c.py",), "call": 7, "result": 7, "shape": 7}] * 6,
        *[{"action": "shell_exec", "program": "x", "outcome": "failure", "call": 5, "result": 5}] * 8,
    ]
    events: list[Event] = [SessionStart(at=1000.0, session="s", tool="t", project="/home/me/app")]
    at = 1000.0
    for round_ in range(12):
        at += 20.0
        events.append(Prompt(at=at, characters=500, call=round_, interrupt=round_ % 4 == 3))
        for number, fields in enumerate(calls):
            at += 4.0 + 40.0 * (number % 5 == 0)
            tokens = 200_000 if number == 3 else 2_000
            events.append(Turn(at=at, model="m", input_tokens=tokens, context_tokens=9_000 * number + 10_000, cost=2.0))
            events.append(ToolUse(at=at + 1.0, tool="T", **{"call": 100 * round_ + number, **fields}))
    return events


def outcome(stream: list[Event], settings: Settings) -> bytes:
    """Everything the engine says of a session, as one hash."""
    society, digest = Society(settings), blake3()
    for event in stream:
        digest.update(_encode(society.step(event)))
    digest.update(_encode((society.read(), [society.frame(agent) for agent in society.agents])))
    return digest.digest()


_encode = msgspec.msgpack.Encoder(enc_hook=repr).encode


def other_values(name: str) -> list[Any]:
    """The values that a setting is turned to."""
    tunable = tunables()[name]
    if isinstance(tunable.default, bool):
        return [not tunable.default]
    if isinstance(tunable.default, int | float):
        kind = type(tunable.default)
        return [kind(end) for end in (tunable.low, tunable.high) if end is not None and end != tunable.default]
    return [choice for choice in tunable.choices if choice != tunable.default][:2]


@cache
def streams() -> list[tuple[list[Event], bytes]]:
    """Sessions, each with what the engine says of it under the built-in settings."""
    found = sessions([str(ROOT / "sample_sessions" / "logs")], make_kit())
    logs = sorted([list(read_session(one, make_kit())) for one in found], key=len)
    return [(stream, outcome(stream, Settings())) for stream in (provocations(), *logs, workload(400))]


def idle_settings(names: Iterable[str]) -> list[str]:
    """Those whose other values change nothing in what the engine says of any session."""
    idle_names = []
    for name in names:
        turned = []
        for value in other_values(name):
            with suppress(ValueError):  # another setting forbids it
                turned.append(with_value(Settings(), name, value))
        if turned and not any(outcome(stream, settings) != plain for settings in turned for stream, plain in streams()):
            idle_names.append(name)
    return idle_names


def test_every_setting_of_the_engine_changes_an_output() -> None:
    """A value that is merely read does not pass: what the engine says of some session must differ."""
    inside = [name for name in tunables() if name.startswith(ENGINE) and not name.startswith(OUTSIDE_THE_ENGINE)]
    assert idle_settings(name for name in inside if name not in NOT_PROVOKED) == []
    assert set(tunables()) >= NOT_PROVOKED


def test_a_setting_that_changes_nothing_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that the engine never sees, and one that it still reads but no longer uses."""
    assert idle_settings(["screen.motion", "receptor.emotion.compaction_relief"]) == ["screen.motion"]
    if not str(emotion.__file__).endswith(".py"):
        pytest.skip("compiled classes cannot be changed")
    monkeypatch.setattr(emotion.EmotionEngine, "relieve", lambda *_: None)
    streams.cache_clear()
    assert idle_settings(["receptor.emotion.compaction_relief"]) == ["receptor.emotion.compaction_relief"]
    streams.cache_clear()

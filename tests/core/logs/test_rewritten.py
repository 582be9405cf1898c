"""A log gives the same events however its JSON is written: white space, order of names, escapes."""

from __future__ import annotations

import json
import os
import re
import shutil
import string
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec
import pytest

from bench.claude import lines
from core.agents.claude_code.lines import passes
from core.agents.registry import make_kit
from core.events import Event, SessionStart
from core.logs.finder import sessions
from core.logs.format import Diagnostics, Sample
from core.logs.lines import open_unpacked
from core.logs.session import read_session
from tests.core.agents.samples import answers, asks, claude, says

KIT = make_kit()
SAMPLES = Path(__file__).resolve().parents[3] / "sample_sessions" / "logs"
_ESCAPE = re.compile(r"(\\u[0-9a-f]{4}|\\.)")
_LETTERS = {ord(letter): f"\\u{ord(letter):04x}" for letter in string.ascii_letters + "<_"}


def turned(value: Any) -> Any:
    """The same with the names of every object in the opposite order."""
    if isinstance(value, dict):
        return {name: turned(value[name]) for name in reversed(value)}
    return [turned(item) for item in value] if isinstance(value, list) else value


def escaped(value: Any) -> str:
    """Every letter of every text as an escape."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{escaped(name)}: {escaped(each)}" for name, each in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(escaped, value)) + "]"
    if not isinstance(value, str):
        return json.dumps(value)
    pieces = _ESCAPE.split(json.dumps(value))
    return "".join(piece if place % 2 else piece.translate(_LETTERS) for place, piece in enumerate(pieces))


WAYS: dict[str, Callable[[Any], str]] = {
    "compact": lambda value: json.dumps(value, ensure_ascii=False, separators=(",", ":")),
    "spaced": lambda value: json.dumps(value, separators=(" , ", "\t: ")),
    "sorted": lambda value: json.dumps(value, sort_keys=True, separators=(",", ":")),
    "turned": lambda value: json.dumps(turned(value)),
    "escaped": escaped,
}


def rewrite(path: Path, way: Callable[[Any], str]) -> None:
    """Write the JSON of a file again, or of each of its lines; what is none stays."""
    status = path.stat()
    data = path.read_text("utf-8", "surrogateescape")
    pieces = data.split("\n") if path.suffix == ".jsonl" else [data]
    written = []
    for piece in pieces:
        try:
            written.append(way(json.loads(piece)))
        except ValueError:
            written.append(piece)
    path.write_text("\n".join(written), "utf-8", "surrogateescape")
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


def told(event: Event) -> dict[str, Any]:
    """An event without what counts bytes: its places and its size."""
    found: dict[str, Any] = msgspec.to_builtins(event)
    return {name: value for name, value in found.items() if name not in ("where", "called", "said", "size")}


def events(folder: Path) -> tuple[dict[str, Any], dict[str, int]]:
    kit = KIT.counting(Diagnostics())
    found = sessions([folder], kit)
    return (
        {f"{one.tool} {one.path.name} {one.id}": [told(event) for event in read_session(one, kit)] for one in found},
        kit.diagnostics.counts,
    )


def same_however_written(source: Path, place: Path) -> None:
    before = place / "first" / "log"
    shutil.copytree(source, before)
    for file in before.rglob("*.zst"):
        with open_unpacked(file) as stream:
            file.with_suffix("").write_bytes(stream.read())
        file.unlink()
    wanted = events(before)
    assert any(wanted[0].values())
    for name, way in WAYS.items():
        copy = place / name / "log"
        shutil.copytree(before, copy)
        for file in copy.rglob("*"):
            if file.is_file() and file.suffix in (".jsonl", ".json", ".traj"):
                rewrite(file, way)
        assert events(copy) == wanted, name


@pytest.mark.parametrize("sample", sorted(path.name for path in SAMPLES.iterdir() if path.is_dir()))
def test_samples(tmp_path: Path, sample: str) -> None:
    same_however_written(SAMPLES / sample, tmp_path)


def test_a_made_claude_log(tmp_path: Path) -> None:
    (tmp_path / "source").mkdir()
    (tmp_path / "source" / "s.jsonl").write_bytes(b"".join(islice(lines(3), 200)))
    same_however_written(tmp_path / "source", tmp_path)


@pytest.mark.parametrize(
    "agent",
    [
        *("claude-code", "codex", "copilot-cli", "gemini", "mini-swe-agent"),
        *("opencode", "openhands", "pi", "swe-agent", "droid", "kimi"),
        *("antigravity", "qwen", "cline-sdk", "openhands-v1"),
    ],
)
def test_real_logs(tmp_path: Path, shared_data: Path, agent: str) -> None:
    source = tmp_path / "source"
    source.mkdir()
    whole = shared_data / "real_sessions" / agent
    files = sorted((file.stat().st_size, file) for file in whole.rglob("*") if file.is_file())
    for _, file in files[:3]:
        copy = source / file.relative_to(whole)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(file, copy)
    same_however_written(source, tmp_path)


ASIDE: list[dict[str, Any]] = [
    {"type": "summary", "summary": "x", "leafUuid": "u9", "sessionId": "s-1"},
    {"type": "mode", "mode": "plan", "sessionId": "s-1"},
    {"type": "queue-operation", "operation": "enqueue", "sessionId": "s-1", "content": "later"},
    claude("progress", 1, data={"type": "hook_progress"}, parentToolUseID="t1"),
    claude("attachment", 1, attachment={"type": "diagnostics"}),
]
"""Lines in which nothing matters."""
HEARD: list[dict[str, Any]] = [
    {"type": "queue-operation", "sessionId": "s-1", "content": "<task-notification>x"},
    {"type": "progress", "data": {"type": "agent_progress", "agentId": "a1"}, "parentToolUseID": "t1"},
    claude("progress", 1, data={"type": "agent_progress", "agentId": "a1"}, parentToolUseID="t1"),
    claude("attachment", 1, attachment={"type": "queued_command", "prompt": "and this"}),
]
"""Lines of the same kinds in which something does."""


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("first", ASIDE, ids=lambda line: line["type"])
def test_a_line_that_does_not_matter_never_begins_a_session(tmp_path: Path, first: dict[str, Any], way: str) -> None:
    path = tmp_path / "s-1.jsonl"
    rest = [says(5, "go on"), asks(6, "t1", "Bash", {"command": "ls"}), answers(7, "t1", "done")]
    path.write_text("\n".join(WAYS[way](line) for line in [first, *rest]) + "\n")
    kit = KIT.counting(Diagnostics())
    [session] = sessions([path], kit)
    found = list(read_session(session, kit))
    starts = [event.at for event in found if isinstance(event, SessionStart)]
    assert starts == [found[1].at]
    assert starts[0] > 1_000_000_000.0
    assert kit.diagnostics.counts == {}


@pytest.mark.parametrize("way", WAYS.values(), ids=list(WAYS))
@pytest.mark.parametrize("line", HEARD, ids=lambda line: line["type"])
def test_a_line_that_matters_is_never_passed_over(line: dict[str, Any], way: Callable[[Any], str]) -> None:
    assert not passes(way(line).encode())


@pytest.mark.parametrize("line", [*ASIDE[:3]], ids=lambda line: line["type"])
def test_lines_as_the_agent_writes_them_are_passed_over_at_a_glance(line: dict[str, Any]) -> None:
    assert passes(WAYS["compact"](line).encode())


@pytest.mark.parametrize(
    ("written", "plain"),
    [
        (rb'{"\u0061":"\u005f\u003c"}', rb'{"a":"_<"}'),
        (rb'{"a":"\\u0061"}', rb'{"a":"\\u0061"}'),
        (rb'{"a":"\\\u0061"}', rb'{"a":"\\a"}'),
        (rb'{"a":"\u0022\u005c\u001b\u007f\u00e9"}', rb'{"a":"\u0022\u005c\u001b\u007f\u00e9"}'),
        (rb'{"a":"\u0020\u0021\u0023\u005b\u005d\u007e"}', rb'{"a":" !#[]~"}'),
    ],
)
def test_a_sample_is_written_plainly_and_means_the_same(written: bytes, plain: bytes) -> None:
    sample = Sample(written, Path("x"))
    assert sample.head == plain
    assert sample.document == json.loads(written)

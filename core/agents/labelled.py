"""Runs whose end is known: JSON lines with an outcome, or a folder of logs beside a file of labels."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from pathlib import Path
from typing import IO, NamedTuple, cast

import msgspec

from core.agents.registry import known_agents
from core.agents.values import decode, table, text
from core.errors import UnreadableLog
from core.events import Event, SessionEnd, ToolUse, Turn, Where
from core.logs.finder import sessions
from core.logs.format import Kit, Sample, recognise
from core.logs.session import read_session as read_session

LABELS = "labels.jsonl"
_GZIP = b"\x1f\x8b"


class RunSource(NamedTuple):
    """One run on disk: a line of its own, or a log and its label."""

    origin: str
    line: int
    label: bytes  # The line, or the line of the labels file.
    log: Path | None = None


class LabelledRun(NamedTuple):
    """A run and how it ended."""

    run: str
    model: str
    task: str
    resolved: bool
    events: list[Event]


def sources(paths: list[Path]) -> Iterator[RunSource]:
    """Every run in files and folders, in their order."""
    for path in paths:
        if path.is_dir():
            yield from _folder_runs(path)
        else:
            yield from _lines(path)


def _lines(path: Path) -> Iterator[RunSource]:
    try:
        with path.open("rb") as raw:
            packed = raw.read(2) == _GZIP
            raw.seek(0)
            file = cast("IO[bytes]", gzip.GzipFile(fileobj=raw)) if packed else raw
            for number, line in enumerate(file, 1):
                if line.strip():
                    yield RunSource(str(path), number, line)
    except (OSError, EOFError) as error:
        raise UnreadableLog(f"{path}: cannot be read ({getattr(error, 'strerror', None) or error})") from error


def _folder_runs(folder: Path) -> Iterator[RunSource]:
    labels = folder / LABELS
    if not labels.is_file():
        raise UnreadableLog(
            f'{folder}: has no {LABELS}; each line there is {{"log": FILE, "resolved": true or false, '
            '"model": NAME, "task": NAME}'
        )
    for source in _lines(labels):
        name = text(table(decode(source.label)).get("log"))
        yield source._replace(log=folder / name if name else None)


def labelled_run(source: RunSource, kit: Kit) -> LabelledRun | str:
    """Return the run with its events, or a message saying why it is not a run."""
    label = decode(source.label)
    place = f"{source.origin}:{source.line}"
    if not isinstance(label, dict):
        return f"{place}: is not a JSON object"
    if not isinstance(label.get("resolved"), bool):
        return f"{place}: resolved: missing; it must be true or false"
    name = text(label.get("run")) or text(label.get("log")) or place
    if source.log is not None:
        try:
            chosen = sessions([source.log], kit)
        except UnreadableLog as error:
            return f"{place}: {error}"
        events = list(read_session(chosen[0], kit))
    elif "traj" in label or "messages" in label:
        record = msgspec.json.encode(label["traj"]) if "traj" in label else source.label
        form = recognise(Sample(record, Path(source.origin)), known_agents())
        if form is None:
            return f"{place}: traj: no known agent's document"
        reader = form.reader(kit, session=name)
        events = [*reader.feed(record, Where(source.origin), source.line), *reader.finish()]
    else:
        return f"{place}: has neither messages nor traj"
    model, task = text(label.get("model")), text(label.get("task")) or name
    return LabelledRun(name, model, task, label["resolved"], without_finish(events))


def without_finish(events: list[Event]) -> list[Event]:
    """Return the events without the act of finishing, which would give the outcome away."""
    left = list(events)
    while left and isinstance(left[-1], SessionEnd | Turn):
        ended = isinstance(left.pop(), SessionEnd)
        if ended and left and isinstance(left[-1], ToolUse):
            left.pop()
    if left and isinstance(left[-1], ToolUse) and left[-1].outcome == "pending":
        left.pop()
        if left and isinstance(left[-1], Turn):
            left.pop()
    return left

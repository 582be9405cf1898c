"""Writes of several steps that can be undone as a whole, even after a crash in the middle."""

from __future__ import annotations

import base64
import fcntl
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Literal, NamedTuple

import msgspec
from blake3 import blake3

from core.errors import StoreError
from core.store import atomic

ChainState = Literal["active", "completed", "compensating", "compensated", "compensation_failed"]
Undo = Callable[[Mapping[str, str]], None]
"""Takes a step back; calling it twice must do no more than calling it once."""


class ChainEntry(msgspec.Struct, frozen=True, omit_defaults=True):
    """One line of the durable log."""

    chain: str
    what: Literal["step", "undone", "failed", "state"]
    step: str = ""
    key: str = ""
    kind: str = ""
    payload: dict[str, str] = {}
    state: ChainState = "active"
    problem: str = ""


class _Step(NamedTuple):
    name: str
    key: str
    kind: str
    payload: Mapping[str, str]


def idempotency_key(chain: str, step: str) -> str:
    """The same for the same step of the same chain, whoever asks."""
    return blake3(chain.encode() + b"\0" + step.encode()).hexdigest()


class Journal:
    """One chain's durable log: locked while its program lives, each line with a check of its own bytes."""

    def __init__(self, path: Path) -> None:
        self.path = path
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file = path.open("ab")
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            self._file.close()
            raise StoreError(f"{path}: another nooscope is at work on it") from error

    def add(self, entry: ChainEntry) -> None:
        """Write one entry and wait until it is on the disk."""
        body = msgspec.json.encode(entry)
        self._file.write(_check(body) + b" " + body + b"\n")
        self._file.flush()
        os.fsync(self._file.fileno())

    def read(self) -> tuple[list[ChainEntry], list[int]]:
        """Every whole entry, and the numbers of the lines that are damaged."""
        entries: list[ChainEntry] = []
        damaged: list[int] = []
        for number, line in enumerate(self.path.read_bytes().splitlines(), 1):
            check, _, body = line.partition(b" ")
            try:
                if check != _check(body):
                    raise msgspec.DecodeError
                entries.append(msgspec.json.decode(body, type=ChainEntry))
            except msgspec.DecodeError:
                damaged.append(number)
        return entries, damaged

    def close(self, *, keep: bool) -> None:
        """Done with; a log that nobody needs any more is taken away."""
        if not keep:
            self.path.unlink(missing_ok=True)
        self._file.close()


def _check(body: bytes) -> bytes:
    return blake3(body).hexdigest(8).encode()


def restore_file(payload: Mapping[str, str]) -> None:
    """Give a file back what it held, or take away one that was not there."""
    path = Path(payload["path"])
    if "content" in payload:
        atomic.replace(path, base64.b64decode(payload["content"]))
    else:
        path.unlink(missing_ok=True)


_SUFFIX = ".chain"
_ENDED = ("completed", "compensated", "compensation_failed")

UNDOES: Mapping[str, Undo] = {"restore_file": restore_file}


class Chain:
    """A run of steps, each with what takes it back; leave the `with` block by an error and all are undone."""

    def __init__(self, name: str, folder: Path, undoes: Mapping[str, Undo] = UNDOES) -> None:
        self.name = name
        self.state: ChainState = "active"
        self.problems: list[str] = []
        self._journal = Journal(folder / f"{name}{_SUFFIX}")
        self._undoes = undoes
        self._steps: list[_Step] = []

    def step(self, name: str, do: Callable[[], None], kind: str, payload: Mapping[str, str]) -> None:
        """Note how to take the step back, then take it."""
        if self.state != "active":
            raise StoreError(f"chain {self.name} is {self.state}: it takes no more steps")
        noted = _Step(name, idempotency_key(self.name, name), kind, dict(payload))
        self._journal.add(ChainEntry(self.name, "step", name, noted.key, kind, dict(payload)))
        self._steps.append(noted)
        do()

    def write(self, path: Path, content: bytes) -> None:
        """Replace one file as a step of the chain."""
        payload = {"path": str(path)}
        if path.exists():
            payload["content"] = base64.b64encode(path.read_bytes()).decode()
        self.step(f"write {path}", lambda: atomic.replace(path, content), "restore_file", payload)

    def complete(self) -> None:
        """All steps stand."""
        self._enter("completed")
        self._journal.close(keep=False)

    def rollback(self) -> ChainState:
        """Undo in reverse order, past the steps that cannot be undone, and say how it went."""
        self._enter("compensating")
        for step in reversed(self._steps):
            try:
                self._undoes[step.kind](step.payload)
            except (OSError, KeyError, ValueError, StoreError) as error:
                self.problems.append(f"{step.name}: {error}")
                self._journal.add(ChainEntry(self.name, "failed", step.name, step.key, problem=str(error)))
            else:
                self._journal.add(ChainEntry(self.name, "undone", step.name, step.key))
        self._enter("compensation_failed" if self.problems else "compensated")
        self._journal.close(keep=bool(self.problems))
        return self.state

    def pick_up(self) -> bool:
        """Go on from what the log says; True where something was left to undo."""
        entries, damaged = self._journal.read()
        self.problems += [f"line {number} of {self._journal.path} is damaged" for number in damaged]
        undone = {entry.key for entry in entries if entry.what == "undone"}
        ended = any(entry.what == "state" and entry.state in _ENDED for entry in entries)
        if ended or not entries:
            self._journal.close(keep=bool(entries) and entries[-1].state == "compensation_failed")
            return False
        self._steps = [
            _Step(entry.step, entry.key, entry.kind, entry.payload)
            for entry in entries
            if entry.what == "step" and entry.key not in undone
        ]
        self.rollback()
        return True

    def _enter(self, state: ChainState) -> None:
        self.state = state
        self._journal.add(ChainEntry(self.name, "state", state=state))

    def __enter__(self) -> Chain:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is None:
            self.complete()
        else:
            self.rollback()


def recover(folder: Path, undoes: Mapping[str, Undo] = UNDOES) -> list[Chain]:
    """Undo every chain that a crash left open; those another nooscope is at work on are left alone."""
    recovered: list[Chain] = []
    for path in sorted(folder.glob(f"*{_SUFFIX}")):
        try:
            chain = Chain(path.name.removesuffix(_SUFFIX), folder, undoes)
        except StoreError:
            continue
        if chain.pick_up():
            recovered.append(chain)
    return recovered

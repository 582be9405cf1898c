"""Writes of several steps that can be undone as a whole, even after a crash in the middle."""

from __future__ import annotations

import base64
import contextlib
import os
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from types import TracebackType
from typing import IO, Literal

import msgspec
from blake3 import blake3

from core.engine.mind.fabric import CompensationRollback
from core.errors import StoreError
from core.folders import make_private
from core.store import atomic

ChainState = Literal["active", "completed", "compensating", "compensated", "compensation_failed"]
Undo = Callable[[Mapping[str, str]], None]  # Takes a step back; calling it twice must do no more than calling it once.


class ChainEntry(msgspec.Struct, frozen=True, omit_defaults=True):
    """One line of the durable log."""

    chain: str
    what: Literal["checkpoint", "step", "undone", "failed", "restored", "state"]
    step: str = ""
    key: str = ""
    kind: str = ""
    payload: dict[str, str] = {}
    state: ChainState = "active"
    problem: str = ""


def idempotency_key(chain: str, step: str) -> str:
    """Return the key of a step, equal for the same step of the same chain."""
    return blake3(chain.encode() + b"\0" + step.encode()).hexdigest()


class Journal:
    """One chain's durable log: locked while its program lives, with a checksum per line."""

    def __init__(self, path: Path) -> None:
        self.path = path
        make_private(path.parent)
        self._file = _open_locked(path)

    def add(self, entry: ChainEntry) -> None:
        """Write one entry and wait until it is on the disk."""
        body = msgspec.json.encode(entry)
        atomic.append_whole(self._file.fileno(), _check(body) + b" " + body + b"\n")
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
        """Close the log, and delete it unless it is still needed."""
        if not keep:
            self.path.unlink(missing_ok=True)
        self._file.close()


def _open_locked(path: Path) -> IO[bytes]:
    """The log, locked; an error where another program has it."""
    while True:
        file = atomic.lock_alone(path)
        if file is None:
            raise StoreError(f"{path}: another nooscope process is using it")
        if os.fstat(file.fileno()).st_nlink:
            return file
        file.close()  # the one that had it took it away meanwhile


def _check(body: bytes) -> bytes:
    return blake3(body).hexdigest(8).encode()


def restore_file(payload: Mapping[str, str]) -> None:
    """Restore a file's content, or delete a file that did not exist."""
    path = Path(payload["path"])
    if "content" in payload:
        atomic.replace(path, base64.b64decode(payload["content"]))
    else:
        path.unlink(missing_ok=True)


def copy_aside(path: Path) -> Path | None:
    """Copy a file's content beside it, so that restoring a checkpoint loses nothing."""
    if not path.exists():
        return None
    aside = atomic.free_name(path, "replaced")
    atomic.replace(aside, path.read_bytes())
    return aside


_SUFFIX = ".chain"
_ENDED = ("completed", "compensated", "compensation_failed")


def _file_payload(path: Path) -> dict[str, str]:
    """Return a file's content, so that it can be restored."""
    if not path.exists():
        return {"path": str(path)}
    return {"path": str(path), "content": base64.b64encode(path.read_bytes()).decode()}


def _content_check(payload: Mapping[str, str]) -> str:
    content = payload.get("content")
    return blake3(b"" if content is None else b"=" + content.encode()).hexdigest(length=16)


ROLLBACKS: deque[CompensationRollback] = deque(maxlen=16)  # Those of this process that no listener took yet.
UNDOES: Mapping[str, Undo] = {"restore_file": restore_file}


class Chain:
    """Steps that can be undone; an error that leaves the `with` block undoes them all.

    The files named at the start are saved first. If undoing fails, they are restored and the error says so.
    """

    def __init__(
        self, name: str, folder: Path, undoes: Mapping[str, Undo] = UNDOES, *, files: Iterable[Path] = ()
    ) -> None:
        self.name = name
        self.state: ChainState = "active"
        self.problems: list[str] = []
        self.restored: list[str] = []  # Files restored from the checkpoint because undoing failed.
        self._journal = Journal(folder / f"{name}{_SUFFIX}")
        self._undoes = undoes
        self._steps: list[ChainEntry] = []
        self._checkpoint: list[Mapping[str, str]] = []
        try:
            for path in files:
                self._keep(path)
        except OSError:
            self._journal.close(keep=False)
            raise

    def _keep(self, path: Path) -> None:
        payload = _file_payload(path)
        payload["check"] = _content_check(payload)
        self._journal.add(ChainEntry(self.name, "checkpoint", payload=payload))
        self._checkpoint.append(payload)

    def step(self, name: str, do: Callable[[], None], kind: str, payload: Mapping[str, str]) -> None:
        """Note how to take the step back, then take it."""
        if self.state != "active":
            raise StoreError(f"chain {self.name} is {self.state}: no more steps are possible")
        entry = ChainEntry(self.name, "step", name, idempotency_key(self.name, name), kind, dict(payload))
        self._journal.add(entry)
        self._steps.append(entry)
        do()

    def write(self, path: Path, content: bytes) -> None:
        """Replace one file as a step of the chain."""
        self.step(f"write {path}", lambda: atomic.replace(path, content), "restore_file", _file_payload(path))

    def remove(self, path: Path) -> None:
        """Take one file away as a step of the chain."""
        self.step(f"remove {path}", path.unlink, "restore_file", _file_payload(path))

    def complete(self) -> None:
        """Finish the chain; all steps are final."""
        self._enter("completed")
        self._journal.close(keep=False)

    def rollback(self) -> ChainState:
        """Undo in reverse order, past the steps that cannot be undone, and say how it went."""
        self._enter("compensating")
        for step in reversed(self._steps):
            try:
                self._undoes[step.kind](step.payload)
            except (OSError, KeyError, ValueError, StoreError) as error:
                self.problems.append(f"{step.step}: {error}")
                self._note(ChainEntry(self.name, "failed", step.step, step.key, problem=str(error)))
            else:
                self._note(ChainEntry(self.name, "undone", step.step, step.key))
        ROLLBACKS.append(CompensationRollback(time.time(), self.name, len(self._steps) - len(self.problems)))
        if self.problems:
            self._restore()
        self._enter("compensation_failed" if self.problems else "compensated")
        self._journal.close(keep=bool(self.problems))
        return self.state

    def _restore(self) -> None:
        """Restore every file of the checkpoint that has changed; its content in between is saved beside it."""
        for payload in self._checkpoint:
            path = Path(payload["path"])
            try:
                if payload.get("check") != _content_check(payload):
                    raise ValueError("its checkpoint is damaged")
                if _file_payload(path).get("content") == payload.get("content"):
                    continue
                aside = copy_aside(path)
                restore_file(payload)
            except (OSError, ValueError) as error:
                self.problems.append(f"{path} could not be restored: {error}")
            else:
                self._note(ChainEntry(self.name, "restored", payload={"path": str(path)}))
                backup = f" (its content is in {aside.name})" if aside is not None else ""
                self.restored.append(f"{path} was restored{backup}")

    def pick_up(self) -> bool:
        """Resume from the log; return whether something was left to undo."""
        entries, damaged = self._journal.read()
        self.problems += [f"line {number} of {self._journal.path} is damaged" for number in damaged]
        undone = {entry.key for entry in entries if entry.what == "undone"}
        ended = any(entry.what == "state" and entry.state in _ENDED for entry in entries)
        if ended or not entries:
            self._journal.close(keep=bool(entries) and entries[-1].state == "compensation_failed")
            return False
        self._checkpoint = [entry.payload for entry in entries if entry.what == "checkpoint"]
        self._steps = [entry for entry in entries if entry.what == "step" and entry.key not in undone]
        self.rollback()
        return True

    def _enter(self, state: ChainState) -> None:
        self.state = state
        self._note(ChainEntry(self.name, "state", state=state))

    def _note(self, entry: ChainEntry) -> None:
        """Log an entry; a full disk must not prevent the remaining steps."""
        with contextlib.suppress(OSError):
            self._journal.add(entry)

    def __enter__(self) -> Chain:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is None:
            self.complete()
        elif self.rollback() == "compensation_failed" and isinstance(error, Exception):
            details = "; ".join([*self.problems, *self.restored])
            raise StoreError(
                f"{str(error) or type(error).__name__}; not all of it could be undone: {details}"
            ) from error


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

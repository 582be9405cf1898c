"""A fleet that is watched for hours: python -m bench.soak FILE [--minutes 120] [--sessions 40] [--rate 20].

The real screen runs in a terminal of its own, with hooks installed and served by it. Made-up sessions write logs and
call hooks; now and then one asks a question, and the time until its words are on the screen counts. Every minute one
line of JSON is added to FILE; the last line sums up the first and the last ten minutes.
"""

from __future__ import annotations

import argparse
import fcntl
import json
import os
import pty
import re
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import threading
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Any

from bench.claude import lines
from bench.hooks import ROOT
from core.hooks.agent_answers import HOOKS
from core.hooks.connection import IntakeFolder, call
from core.hooks.install import Installer

_LINES_PER_EVENT = 3.5  # Of a made-up log, as counted.
_STEP = 0.25
_ASKING = 15.0  # Seconds between two questions.
_LATEST = 30.0  # Seconds after which a question counts as never shown.
_ESCAPES = re.compile(rb"\x1b(?:\[[0-9;?<=>]*[ -/]*[@-~]|[\]P_][^\x07\x1b]*(?:\x07|\x1b\\)|.)")
_STAMP = re.compile(rb'"timestamp":"[^"]*"')


class Screen:
    """The program in a terminal, and what it drew last."""

    def __init__(self, environment: dict[str, str], rows: int) -> None:
        self.pid, self._terminal = pty.fork()
        if self.pid == 0:
            os.chdir(ROOT)
            os.execve(sys.executable, [sys.executable, "-m", "tui.cli", "fleet"], environment)  # noqa: S606 no shell is wanted
        fcntl.ioctl(self._terminal, termios.TIOCSWINSZ, struct.pack("4H", rows, 200, 0, 0))
        self._drawn = b""
        self._lock = threading.Lock()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        while True:
            try:
                data = os.read(self._terminal, 65_536)
            except OSError:
                return
            with self._lock:
                self._drawn = (self._drawn + data)[-400_000:]

    def shows(self, words: bytes) -> bool:
        """Whether these words were drawn lately."""
        with self._lock:
            drawn = self._drawn
        return words in _ESCAPES.sub(b"", drawn)


class Session:
    """A made-up session that writes its log now."""

    def __init__(self, home: Path, number: int) -> None:
        folder = home / ".claude" / "projects" / f"project-{number % 6}"
        folder.mkdir(parents=True, exist_ok=True)
        self.name = f"00000000-0000-4000-8000-{number + 1:012d}"
        self.path = folder / f"{self.name}.jsonl"
        self.asks = False
        self._lines = lines(number + 1)

    def write(self, count: int) -> None:
        """Write some lines more."""
        self._append(islice(self._lines, count))

    def _append(self, pieces: Iterator[bytes]) -> None:
        stamp = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z").encode()
        with self.path.open("ab") as file:
            file.write(b"".join(_STAMP.sub(b'"timestamp":"%b"' % stamp, piece) for piece in pieces))

    def tell(self, kind: str, part: dict[str, Any], uuid: str) -> None:
        """Write one line of a question or its answer."""
        message: dict[str, Any] = {"role": kind, "content": [part]}
        if kind == "assistant":
            message |= {"id": f"msg_{uuid}", "model": "claude-sonnet-4-5", "usage": {"output_tokens": 9}}
        line = {"type": kind, "uuid": uuid, "parentUuid": None, "isSidechain": False, "sessionId": self.name}
        record = {**line, "cwd": "/home/dev/api", "version": "2.1.30", "message": message, "timestamp": ""}
        self._append(iter([json.dumps(record, separators=(",", ":")).encode() + b"\n"]))


class Soak:
    """One run: writers, callers, questions, and what they saw since the last line."""

    def __init__(self, args: argparse.Namespace, home: Path) -> None:
        self.args = args
        self.place = IntakeFolder(home / "data" / "nooscope" / "intake")
        installer = Installer(home / "data" / "nooscope" / "hooks", self.place.folder, {}, home)
        installer.install(HOOKS["claude"], "guard")
        self.stub = str(home / "data" / "nooscope" / "hooks" / "claude-guard")
        self.sessions = [Session(home, number) for number in range(args.sessions)]
        for one in self.sessions:
            one.write(20)
        folders = {f"XDG_{kind}_HOME": str(home / kind.lower()) for kind in ("DATA", "CACHE", "CONFIG", "STATE")}
        plain = {key: os.environ[key] for key in ("PATH", "LANG") if key in os.environ}
        self.environment = {**plain, **folders, "HOME": str(home), "TERM": "xterm-256color", "PYTHONPATH": str(ROOT)}
        self.screen = Screen(self.environment, args.sessions + 20)
        self.ended = threading.Event()
        self.written = 0
        self.hooks: list[float] = []
        self.unanswered = 0
        self.guarded: list[str] = []
        self.questions: list[float] = []
        self.missed = 0

    def run(self, file: Path) -> int:
        """Run until the end; every minute is one line of the file."""
        while call(self.place, "sessions", {}) is None and _is_alive(self.screen.pid):
            time.sleep(0.1)
        for work in (self._write, self._call, self._ask):
            threading.Thread(target=work, daemon=True).start()
        began = time.time()
        samples: list[dict[str, Any]] = []
        used = _processor(self.screen.pid)
        while (minute := len(samples)) < self.args.minutes and _is_alive(self.screen.pid):
            time.sleep(max(0.0, began + 60.0 * (minute + 1) - time.time()))
            now = _processor(self.screen.pid)
            samples.append(self._sample(began, now - used))
            used = now
            with file.open("a") as out:
                out.write(json.dumps(samples[-1]) + "\n")
        alive = _is_alive(self.screen.pid)
        self.ended.set()
        summary = {"summary": True, "alive": alive, "first": _sum(samples[:10]), "last": _sum(samples[-10:])}
        with file.open("a") as out:
            out.write(json.dumps(summary) + "\n")
        if alive:
            os.kill(self.screen.pid, signal.SIGTERM)
        return 0 if alive else 1

    def _write(self) -> None:
        began, turn = time.monotonic(), 0
        while not self.ended.wait(_STEP):
            due = int((time.monotonic() - began) * self.args.rate * _LINES_PER_EVENT) - self.written
            for _ in range(due // 7):
                one = self.sessions[turn % len(self.sessions)]
                turn += 1
                if not one.asks:
                    one.write(7)
                self.written += 7

    def _call(self) -> None:
        """Half of the events are calls with two hooks each; once in a minute a dangerous one goes through the stub."""
        number, danger = 0, 0.0
        while not self.ended.wait(1.0 / self.args.rate):
            number += 1
            began = time.monotonic()
            session = self.sessions[number // 2 % len(self.sessions)].name
            value = {
                "session_id": session,
                "cwd": "/home/dev/api",
                "tool_name": "Bash",
                "tool_use_id": f"t{number // 2}",
                "hook_event_name": "PostToolUse" if number % 2 else "PreToolUse",
                "tool_response": {"stdout": "ok"},
                "tool_input": {"command": "git status --short"},
            }
            answer = call(self.place, "hook/claude/guard", value, 10.0)
            self.unanswered += answer is None
            self.hooks.append(1000.0 * (time.monotonic() - began))
            if began - danger > 60.0:
                danger = began
                value |= {"hook_event_name": "PreToolUse", "tool_input": {"command": "sudo rm -rf /etc"}}
                value["tool_use_id"] = f"danger{number}"
                said = subprocess.run(
                    [self.stub], input=json.dumps(value).encode(), capture_output=True, env=self.environment, timeout=60
                )
                decision = re.search(rb'"permissionDecision":\s*"(\w+)"', said.stdout)
                self.guarded.append(decision[1].decode() if decision else "passed")

    def _ask(self) -> None:
        number = 0
        while not self.ended.wait(_ASKING):
            number += 1
            one = self.sessions[number * 7 % len(self.sessions)]
            one.asks = True
            words = f"Deploy release {number:05d} now?"
            asked = {"questions": [{"question": words, "header": "Deploy", "options": []}]}
            part = {"type": "tool_use", "id": f"q{number}", "name": "AskUserQuestion", "input": asked}
            one.tell("assistant", part, f"ask-{number}")
            began = time.monotonic()
            while not self.screen.shows(words.encode()) and time.monotonic() - began < _LATEST:
                time.sleep(0.02)
            waited = time.monotonic() - began
            if waited < _LATEST:
                self.questions.append(waited)
            else:
                self.missed += 1
            one.tell("user", {"type": "tool_result", "tool_use_id": f"q{number}", "content": "yes"}, f"told-{number}")
            one.asks = False

    def _sample(self, began: float, used: float) -> dict[str, Any]:
        """Return the figures of the last minute, and forget what they were made of."""
        hooks, self.hooks = self.hooks, []
        questions, self.questions = self.questions, []
        guarded, self.guarded = self.guarded, []
        pid = self.screen.pid
        sample = {
            "at": datetime.now(UTC).isoformat(timespec="seconds"),
            "minute": round((time.time() - began) / 60.0, 1),
            "memory_mb": _memory(pid),
            "cpu_percent": round(100.0 * used / 60.0, 1),
            "descriptors": _entries(f"/proc/{pid}/fd"),
            "threads": _entries(f"/proc/{pid}/task"),
            "lines": self.written,
            "hook_calls": len(hooks),
            "hook_ms": _spread(hooks),
            "hooks_unanswered": self.unanswered,
            "dangerous_calls": guarded,
            "questions": len(questions),
            "question_s": _spread(questions),
            "questions_never_shown": self.missed,
            "load": round(os.getloadavg()[0], 1),
        }
        self.unanswered = self.missed = 0
        return sample


def _spread(values: list[float]) -> dict[str, float]:
    ordered = sorted(values)
    if not ordered:
        return {}
    return {"median": round(ordered[len(ordered) // 2], 3), "longest": round(ordered[-1], 3)}


def _sum(samples: list[dict[str, Any]]) -> dict[str, Any]:
    """The mean of what is a figure, the most of what is a spread, the sum of what is counted."""
    means = ("memory_mb", "cpu_percent", "descriptors", "threads", "load")
    counts = ("hook_calls", "hooks_unanswered", "questions", "questions_never_shown")
    spreads = ("hook_ms", "question_s")
    decisions = [one for sample in samples for one in sample["dangerous_calls"]]
    return {
        **{key: round(sum(sample[key] for sample in samples) / max(1, len(samples)), 1) for key in means},
        **{key: sum(sample[key] for sample in samples) for key in counts},
        **{
            key: {
                kind: max((sample[key].get(kind, 0.0) for sample in samples), default=0.0)
                for kind in ("median", "longest")
            }
            for key in spreads
        },
        "dangerous_calls": {one: decisions.count(one) for one in set(decisions)},
    }


def _entries(folder: str) -> int:
    return sum(1 for _ in Path(folder).iterdir()) if Path(folder).exists() else 0


def _is_alive(pid: int) -> bool:
    return os.waitpid(pid, os.WNOHANG) == (0, 0) if Path(f"/proc/{pid}/stat").exists() else False


def _processor(pid: int) -> float:
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _memory(pid: int) -> float:
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return 0.0
    size = re.search(r"VmRSS:\s+(\d+)", status)
    return round(int(size[1]) / 1024, 1) if size else 0.0


def main() -> int:
    """Run in a folder of its own, which is deleted afterwards."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--minutes", type=int, default=120)
    parser.add_argument("--sessions", type=int, default=40)
    parser.add_argument("--rate", type=int, default=20)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="soak-", ignore_cleanup_errors=True) as folder:
        return Soak(args, Path(folder)).run(args.file)


if __name__ == "__main__":
    sys.exit(main())

"""Claude Code sessions as they would lie in somebody's home, each with a story of its own."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

NOW = 1_760_000_000.0
"""When the stories are looked at."""


class Log:
    """One session's log, written line by line."""

    def __init__(self, home: Path, project: str, number: int, at: float) -> None:
        self.id = f"00000000-0000-4000-8000-{number:012d}"
        self.path = home / ".claude" / "projects" / project / f"{self.id}.jsonl"
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.at = at
        self.context = 20_000
        self._folder = f"/home/dev/{project}"
        self._count = 0
        self._last: str | None = None
        self._call = ""
        self._lines: list[str] = []

    def prompt(self) -> None:
        self._line("user", {"role": "user", "content": "do it please"})

    def interrupt(self) -> None:
        self._line("user", {"role": "user", "content": [{"type": "text", "text": "[Request interrupted by user]"}]})

    def call(self, name: str, **arguments: object) -> None:
        """A tool is called; without `result` it stays open."""
        self._call = f"toolu_{self.id[-4:]}{self._count}"
        part = {"type": "tool_use", "id": self._call, "name": name, "input": arguments}
        self._answer(part, "tool_use")

    def result(self, text: str, *, failed: bool = False) -> None:
        part = {"tool_use_id": self._call, "type": "tool_result", "content": text, "is_error": failed}
        told = f"Error: {text}" if failed else {"stdout": text, "stderr": ""}
        self._line("user", {"role": "user", "content": [part]}, toolUseResult=told)

    def say(self, stop: str | None = "end_turn") -> None:
        self._answer({"type": "text", "text": "done"}, stop)

    def say_text(self, text: str, stop: str | None = "end_turn") -> None:
        self._answer({"type": "text", "text": text}, stop)

    def edit(self, number: int) -> None:
        self.call("Edit", file_path=f"{self._folder}/m{number}.py", old_string=f"a{self._count}", new_string="b")

    def work(
        self, count: int, *, gap: float = 6.0, same: bool = False, wrong: Callable[[int], bool] | None = None
    ) -> Log:
        """So many calls; `same` fails the same way each time."""
        for number in range(count):
            self.at += gap - 1.0
            if same or number % 5 == 3:
                self.call("Bash", command="pytest -q" if same else f"pytest -q tests/{number}")
            elif number % 5 == 2:
                self.call("Read", file_path=f"{self._folder}/m{number % 9}.py")
            else:
                self.edit(number % 7)
            self.at += 1.0
            failed = same or (wrong is not None and wrong(number))
            self.result("Exit code 1\nE assert 3 == 4" if same else f"said {number}", failed=failed)
        return self

    def write(self) -> Log:
        """Put on disk what was not there yet; its file was changed at the last line's time."""
        with self.path.open("a") as file:
            file.write("".join(line + "\n" for line in self._lines))
        self._lines.clear()
        os.utime(self.path, (self.at, self.at))
        return self

    def _answer(self, part: object, stop: str | None) -> None:
        self.context += 900
        usage = {
            "input_tokens": 4,
            "cache_creation_input_tokens": 900,
            "cache_read_input_tokens": self.context,
            "output_tokens": 200,
        }
        message = {"model": "claude-sonnet-4-5", "id": f"msg{self._count}", "role": "assistant"}
        self._line("assistant", {**message, "content": [part], "stop_reason": stop, "usage": usage})

    def _line(self, kind: str, message: object, **more: object) -> None:
        self._count += 1
        uuid = f"{self.id[-4:]}-{self._count}"
        stamp = datetime.fromtimestamp(self.at, UTC).isoformat(timespec="milliseconds")
        record = {
            "parentUuid": self._last,
            "isSidechain": False,
            "cwd": self._folder,
            "sessionId": self.id,
            "version": "2.1.30",
            "type": kind,
            "message": message,
            **more,
            "uuid": uuid,
            "timestamp": stamp.replace("+00:00", "Z"),
        }
        self._lines.append(json.dumps(record))
        self._last = uuid


def begin(home: Path, project: str, number: int, ago: float, count: int = 30, gap: float = 6.0) -> Log:
    """A session that has worked well until so many seconds ago; not yet on disk."""
    log = Log(home, project, number, NOW - ago - count * gap)
    log.prompt()
    return log.work(count, gap=gap)


STORIES = {
    "asks": "needs you",
    "permits": "may need you",
    "circles": "looping",
    "tests": "idle",
    "hangs": "may need you",
    "brims": "working",
    "finished": "done",
    "flows": "working",
    "abandoned": "ended",
}
"""What each project's session is to be called."""


def tell(home: Path) -> None:
    """All stories on disk."""
    asks = begin(home, "asks", 1, 40)
    asks.call("AskUserQuestion", questions=[])
    permits = begin(home, "permits", 2, 30)
    permits.edit(3)
    circles = begin(home, "circles", 3, 100, count=3).work(16, same=True)
    tests = begin(home, "tests", 4, 120)
    tests.call("Bash", command="make test")
    hangs = begin(home, "hangs", 5, 400)
    hangs.call("Bash", command="make all")
    brims = begin(home, "brims", 6, 8)
    brims.context = 152_000
    brims.work(6, gap=1.0)
    finished = begin(home, "finished", 7, 200)
    finished.say()
    flows = begin(home, "flows", 8, 4, count=60)
    abandoned = begin(home, "abandoned", 9, 9000)
    for log in (asks, permits, circles, tests, hangs, brims, finished, flows, abandoned):
        log.write()

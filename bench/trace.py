"""Follow one appended line of Claude Code to the screen: `python -m bench.trace LOG`.

Prints how many modules of core and tui run for it, and the deepest way to its event; a function that calls
itself counts once.
"""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
import threading
import time
from datetime import UTC, datetime
from pathlib import Path
from types import FrameType
from typing import Any

from core.live.source import Target
from core.settings import Settings
from core.store.bookmarks import Bookmarks
from tui.app import NooscopeApp

_ROOT = Path(__file__).resolve().parent.parent
_ROOMS = (f"{_ROOT}/core/", f"{_ROOT}/tui/")
_SETTLED = 8.0  # Seconds until a log of some hundred lines is shown and the screen rests.


class Trace:
    """What runs while it is on."""

    def __init__(self) -> None:
        self.on = False
        self.calls = 0
        self.modules: set[str] = set()
        self.deepest: list[str] = []

    def __call__(self, frame: FrameType, event: str, _: object) -> None:
        """Note one call of a function of the project."""
        if not self.on or event != "call" or not frame.f_code.co_filename.startswith(_ROOMS):
            return
        self.calls += 1
        self.modules.add(frame.f_code.co_filename)
        chain: dict[str, None] = {}
        caller: FrameType | None = frame
        while caller is not None:
            code = caller.f_code
            if code.co_filename.startswith(_ROOMS) and not code.co_name.startswith("<"):
                chain[f"{Path(code.co_filename).relative_to(_ROOT)}: {code.co_qualname}"] = None
            caller = caller.f_back
        if len(chain) > len(self.deepest):
            self.deepest = list(chain)


def until_now(lines: list[bytes]) -> list[bytes]:
    """The lines as if the last had been written just now."""
    records = [json.loads(line) for line in lines]
    stamps = [datetime.fromisoformat(record["timestamp"]).timestamp() for record in records if "timestamp" in record]
    shift = time.time() - stamps[-1] - _SETTLED
    for record in records:
        if "timestamp" in record:
            at = datetime.fromisoformat(record["timestamp"]).timestamp() + shift
            record["timestamp"] = datetime.fromtimestamp(at, UTC).isoformat()
    return [json.dumps(record).encode() + b"\n" for record in records]


async def follow(log: Path, trace: Trace) -> None:
    """Show a log without its last result, append it, and wait until it is on the screen."""
    lines = until_now(log.read_bytes().splitlines())
    last = max(number for number, line in enumerate(lines) if b'"tool_result"' in line)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        folder = Path(name)
        copy = folder / log.name
        copy.write_bytes(b"".join(lines[:last]))
        app: Any = NooscopeApp(
            Target(copy), Settings(), bookmarks=lambda key: Bookmarks(key, folder), theme_folder=folder
        )
        async with app.run_test(size=(120, 40)) as pilot:
            await pilot.pause(_SETTLED)
            before, trace.on = app.view.total, True
            with copy.open("ab") as file:
                file.write(lines[last])
            while app.view.total == before:
                await asyncio.sleep(0.02)
            await asyncio.sleep(0.3)
            trace.on = False


def main() -> None:
    """Print the modules, calls and the deepest way."""
    trace = Trace()
    threading.setprofile(trace)
    sys.setprofile(trace)
    asyncio.run(follow(Path(sys.argv[1]), trace))
    sys.setprofile(None)
    print(f"{len(trace.modules)} modules, {trace.calls} calls, {len(trace.deepest)} deep")
    print("\n".join(f"  {step}" for step in reversed(trace.deepest)))


if __name__ == "__main__":
    main()

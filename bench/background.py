"""Compile the engine while the program already runs: `python -m bench.background start|stop`.

`make run` starts it and goes on at once. The build has the lowest priority, runs once, and waits for nothing:
tests and benchmarks stop it, and the next `make run` starts it again. `build/engine.json` says how far it is;
`nooscope doctor` and the line of keys show that.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build"
FOLDER = BUILD / "compiled"
STATUS = BUILD / "engine.json"
LOG = BUILD / "compiled.log"
NEEDS = ("mypy", "setuptools", "hatchling")


def write_status(state: str, why: str = "") -> None:
    """Replace the status file as a whole."""
    BUILD.mkdir(exist_ok=True)
    part = STATUS.with_suffix(f".{os.getpid()}")
    part.write_text(json.dumps({"state": state, "why": why, "pid": os.getpid()}))
    part.replace(STATUS)


def read_status() -> dict[str, object]:
    """Return the last status; empty if there is none."""
    with suppress(OSError, ValueError):
        status = json.loads(STATUS.read_text())
        return status if isinstance(status, dict) else {}
    return {}


def is_alive(process: object) -> bool:
    """Whether a build with this process id is still running."""
    try:
        os.kill(int(str(process)), 0)
    except (OSError, ValueError):
        return False
    return True


def newest_source() -> float:
    """Return when a file of core was last changed."""
    return max(path.stat().st_mtime for path in (ROOT / "core").rglob("*") if path.suffix != ".pyc")


def is_due() -> bool:
    """Whether a build should start: none is ready, running, or known to fail for these sources."""
    status = read_status()
    if status.get("state") == "compiling" and is_alive(status.get("pid")):
        return False
    changed = newest_source()
    made = FOLDER / ".made"
    if made.exists() and made.stat().st_mtime >= changed:
        return False
    return status.get("state") != "failed" or STATUS.stat().st_mtime < changed


def start() -> None:
    """Start the build as a process of its own, unless it is not needed or not possible."""
    if not is_due():
        return
    if shutil.which("cc") is None:
        write_status("failed", "there is no C compiler (cc)")
        return
    BUILD.mkdir(exist_ok=True)
    words = [sys.executable, "-m", "bench.background", "build"]
    with LOG.open("wb") as log:
        subprocess.Popen(words, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)


def stop() -> None:
    """End a running build and everything it started."""
    status = read_status()
    if status.get("state") == "compiling" and is_alive(status.get("pid")):
        with suppress(OSError):
            os.killpg(int(str(status["pid"])), signal.SIGTERM)
        STATUS.unlink(missing_ok=True)


def build() -> None:
    """Install what compiles, compile into a fresh folder, then put it in place."""
    os.nice(19)
    write_status("compiling")
    fresh = BUILD / "compiling"
    pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--constraint", "constraints.txt"]
    for words in ([*pip, *NEEDS], ["-m", "bench.compiled", str(fresh)]):
        if subprocess.run([sys.executable, *words], cwd=ROOT, check=False).returncode:
            write_status("failed", f"see {LOG.relative_to(ROOT)}")
            return
    shutil.rmtree(FOLDER, ignore_errors=True)
    fresh.rename(FOLDER)
    (FOLDER / ".made").touch()
    write_status("ready")


if __name__ == "__main__":
    {"start": start, "stop": stop, "build": build}[sys.argv[1]]()

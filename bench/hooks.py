"""What hooks add to a tool call: by shell program, by its socket alone, where nobody serves, with many agents at once.

python -m bench.hooks [--calls 200] [--agents 50]; beside each stand bare programs measured in the same run,
because on a busy machine the difference to those counts.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from core.hooks.agent_answers import HOOKS
from core.hooks.connection import HEADER, IntakeFolder, call
from core.hooks.install import Installer

ROOT = Path(__file__).resolve().parents[1]


def main() -> int:
    """Print the figures, with how busy the machine was."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=200)
    parser.add_argument("--agents", type=int, default=50)
    args = parser.parse_args()
    print(f"load before: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    print(f"{'':<44} {'p50':>8} {'p99':>8} {'processor':>10}   (ms)")
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        place = IntakeFolder(home / "nooscope" / "intake")
        installer = Installer(home / "nooscope" / "hooks", place.folder, {}, home)
        for mode in ("advise", "guard"):
            installer.install(HOOKS["claude"], mode)
        stubs = {mode: str(home / "nooscope" / "hooks" / f"claude-{mode}") for mode in ("advise", "guard")}
        _show("a shell that does nothing", _timed(args.calls, lambda _: _run(["sh", "-c", ":"], b"")))
        _show("curl that only names itself", _timed(args.calls, lambda _: _run(["curl", "--version"], b"")))
        for mode, stub in stubs.items():
            _show(f"{mode} hook, nobody serves", _timed(args.calls, partial(_send, stub)))
        server = _serve(home)
        try:
            _served(args, place, stubs, server.pid)
        finally:
            server.send_signal(signal.SIGTERM)
            server.wait(30)
    print(f"load after: {os.getloadavg()[0]:.1f}")
    return 0


def _served(args: argparse.Namespace, place: IntakeFolder, stubs: dict[str, str], pid: int) -> None:
    for mode, stub in stubs.items():
        timed = _timed(args.calls, partial(_send, stub))
        _show(f"{mode} hook, served by socket", timed)
    before = _processor(pid)
    times = _timed(args.calls, lambda number: _post(place, _call(number)))
    _show("a connection a call", times)
    used = 1000 * (_processor(pid) - before) / args.calls
    print(f"{'  of which in nooscope, processor time a call':<44} {'':>8} {'':>8} {used:>10.2f}")
    done: list[float] = []
    lock = threading.Lock()

    def agent(number: int) -> None:
        for turn in range(10):
            began = time.perf_counter()
            _post(place, _call(turn, f"agent-{number}"))
            with lock:
                done.append(1000 * (time.perf_counter() - began))

    threads = [threading.Thread(target=agent, args=(number,)) for number in range(args.agents)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    _show(f"{args.agents} agents at once", (done, 0.0))
    _hostile(place, pid)


def _hostile(place: IntakeFolder, pid: int) -> None:
    """Callers who mean ill, while a good one calls: what they get, and what they cost."""
    before = _memory(pid)
    answers: dict[str, str] = {}
    threads = [
        threading.Thread(target=_attack, args=(answers, name, place, head, sent))
        for name, head, sent in (
            ("no token", "Host: 127.0.0.1\r\nContent-Length: 2", 1),
            ("wrong host", f"Host: evil.example\r\n{HEADER}: {place.token()}\r\nContent-Length: 2", 1),
            ("a page", f"Host: 127.0.0.1\r\nOrigin: http://x\r\n{HEADER}: {place.token()}", 1),
            ("1 GB without token", f"Host: 127.0.0.1\r\nContent-Length: {1 << 30}", 1 << 30),
            ("1 GB with token", f"Host: 127.0.0.1\r\n{HEADER}: {place.token()}\r\nContent-Length: {1 << 30}", 1 << 30),
            ("slow drip", "", -1),
        )
    ]
    for thread in threads:
        thread.start()
    _show("a call, beside hostile callers", _timed(50, lambda number: _post(place, _call(number))))
    for thread in threads:
        thread.join()
    for name, answer in answers.items():
        print(f"  {name:<20} {answer}")
    print(f"  memory of nooscope: {before:.0f} MB before, {_memory(pid):.0f} MB after")


def _attack(answers: dict[str, str], name: str, place: IntakeFolder, head: str, sent: int) -> None:
    began = time.monotonic()
    with socket.socket(socket.AF_UNIX) as line:
        line.settimeout(60)
        line.connect(str(place.socket))
        try:
            if sent < 0:
                for piece in b"POST /hook/claude/guard HTTP/1.1\r\n" * 10:
                    line.sendall(bytes((piece,)))
                    time.sleep(0.1)
            else:
                line.sendall(f"POST /hook/claude/guard HTTP/1.1\r\n{head}\r\n\r\n".encode())
                block = b"x" * 65_536
                for _ in range(0, sent, len(block)):
                    line.sendall(block[:sent])
        except OSError:
            pass
        try:
            said = line.recv(200).split(b"\r\n")[0].decode() or "hung up on"
        except OSError:
            said = "hung up on"
    answers[name] = f"{said} after {time.monotonic() - began:.1f} s"


def _call(number: int, session: str = "bench") -> dict[str, Any]:
    return {
        "session_id": session,
        "cwd": "/project",
        "hook_event_name": "PreToolUse" if number % 2 else "PostToolUse",
        "tool_name": "Bash",
        "tool_input": {"command": "make test"},
        "tool_use_id": f"toolu_{number // 2}",
        "tool_response": {"stdout": "ok\n" * 200},
    }


def _send(stub: str, number: int) -> None:
    _run([stub], json.dumps(_call(number)).encode())


def _run(words: list[str], given: bytes) -> None:
    subprocess.run(words, input=given, stdout=subprocess.DEVNULL, check=True)


def _post(place: IntakeFolder, value: dict[str, Any]) -> None:
    assert call(place, "hook/claude/guard", value, 30.0) is not None


def _timed(calls: int, work: Callable[[int], object]) -> tuple[list[float], float]:
    """Milliseconds of each call, and processor time of the programs it started, a call."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    times = []
    for number in range(calls):
        began = time.perf_counter()
        work(number)
        times.append(1000 * (time.perf_counter() - began))
    now = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = now.ru_utime + now.ru_stime - used.ru_utime - used.ru_stime
    return times, 1000 * spent / calls


def _show(name: str, timed: tuple[list[float], float]) -> None:
    times = sorted(timed[0])
    own = f"{timed[1]:>10.2f}" if timed[1] else ""
    print(f"{name:<44} {times[len(times) // 2]:>8.1f} {times[int(0.99 * len(times))]:>8.1f} {own}", flush=True)


def _serve(home: Path) -> subprocess.Popen[str]:
    environment = {**os.environ, "XDG_DATA_HOME": str(home), "PYTHONPATH": str(ROOT), "HOME": str(home)}
    program = subprocess.Popen(
        [sys.executable, "-m", "tui.cli", "listen"], env=environment, stderr=subprocess.PIPE, text=True
    )
    assert program.stderr is not None
    said = program.stderr.readline()
    assert "serving hooks" in said, said
    return program


def _processor(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _memory(pid: int) -> float:
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1]) / 1024
    return 0.0


if __name__ == "__main__":
    sys.exit(main())

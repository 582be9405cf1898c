"""`python -m bench.compare_tools`: the same logs through nooscope and through tools that npm and PyPI have.

Prints a table in Markdown; `--keep` writes it into docs/figures.md. A tool that cannot be installed is left out.
"""

from __future__ import annotations

import argparse
import os
import platform
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

from bench.measure import machine
from bench.trees import REAL, write_sessions
from core.report.checkup import engine_compiled

PAGE = Path(__file__).resolve().parents[1] / "docs" / "figures.md"
SIZE = 230_000_000
_ROUNDS = 3
_BARE = """
import orjson, pathlib, sys
for path in pathlib.Path(sys.argv[1]).rglob("*.jsonl"):
    for line in path.open("rb"):
        try:
            orjson.loads(line)
        except orjson.JSONDecodeError:
            pass
"""
_TOKSCALE = "require(process.argv[1]).parseLocalSources({homeDir: process.argv[2], sources: ['claude']})"
_INSTALL_SECONDS = 60


class Spent(NamedTuple):
    """What one run of a command took."""

    seconds: float
    processor: float  # Seconds of processor time over all of its processes.


class Tool(NamedTuple):
    """A command line beside ours, in an environment where the home folder contains the logs."""

    name: str
    computes: str
    words: list[str]
    cold: bool = False  # Whether its own folders are deleted before each run.


def timed(words: list[str], environment: Mapping[str, str]) -> Spent:
    """Run a command to its end; raises if it fails."""
    variables = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.perf_counter()
    subprocess.run(
        words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True, env={**variables, **environment}
    )
    seconds = time.perf_counter() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return Spent(seconds, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def ccusage(folder: Path) -> list[str]:
    """Install ccusage's program for this machine, and return its command; empty if there is none."""
    processor = {"x86_64": "x64", "aarch64": "arm64"}.get(platform.machine(), platform.machine())
    name = f"@ccusage/ccusage-{platform.system().lower()}-{processor}"
    program = folder / "node_modules" / name / "bin" / "ccusage"
    if not _installs("npm", "install", "--silent", "--prefix", str(folder), name) or not program.is_file():
        return []
    program.chmod(0o755)
    return [str(program), "daily", "--json", "--offline"]


def _installs(*words: str) -> bool:
    if shutil.which(words[0]) is None:
        return False
    try:
        return subprocess.run(words, capture_output=True, check=False, timeout=_INSTALL_SECONDS).returncode == 0
    except subprocess.TimeoutExpired:
        return False


def _tools(folder: Path, home: Path) -> list[Tool]:
    logs = str(home / ".claude" / "projects")
    ours = [sys.executable, "-c", "import sys; from tui.cli import main; sys.exit(main())"]
    tools = [
        Tool("a bare orjson pass", "nothing: each line decoded and dropped", [sys.executable, "-c", _BARE, logs]),
        Tool(
            "nooscope cost, cold",
            "dollars and tokens by day, sub-agents, unpriced turns, forecast",
            [*ours, "cost", "--json", logs],
            cold=True,
        ),
        Tool("nooscope cost, warm", "the same again, nothing changed", [*ours, "cost", "--json", logs]),
        Tool(
            "nooscope analyze, cold",
            "every event through the model: outcome, loops, failures, context, cost",
            [*ours, "analyze", "--json", logs],
            cold=True,
        ),
        Tool("nooscope analyze, warm", "the same again, nothing changed", [*ours, "analyze", "--json", logs]),
    ]
    if words := ccusage(folder / "ccusage"):
        tools.append(Tool("ccusage (native)", "dollars and tokens by day", words))
    core = folder / "tokscale"
    if _installs("npm", "install", "--silent", "--ignore-scripts", "--prefix", str(core), "@tokscale/core"):
        place = str(core / "node_modules" / "@tokscale" / "core")
        about = "tokens of each message, without prices (its command needs bun)"
        tools.append(Tool("tokscale (native core, from Node)", about, ["node", "-e", _TOKSCALE, place, str(home)]))
    python = folder / "python"
    if _installs(sys.executable, "-m", "venv", str(python)):
        pip = (str(python / "bin" / "pip"), "install", "--quiet")
        if _installs(*pip, "cc-statistics"):
            about = "tokens, dollars, times, tools and changed lines over all sessions"
            tools.append(Tool("cc-statistics (Python)", about, [str(python / "bin" / "cc-stats"), "--all"]))
    return tools


def table(size: int, report: Callable[[str], None]) -> str:
    """Measure every tool in turn, several rounds, and return the page's table."""
    with tempfile.TemporaryDirectory(prefix="nooscope-tools-") as name:
        folder = Path(name)
        home = folder / "home"
        written = write_sessions(home / ".claude" / "projects", size)
        tools = _tools(folder, home)
        runs: dict[str, list[Spent]] = {}
        failed: set[str] = set()
        for number in range(_ROUNDS):
            for tool in tools:
                report(f"round {number + 1}: {tool.name}")
                if tool.cold:
                    shutil.rmtree(folder / "own", ignore_errors=True)
                own = {name: str(folder / "own" / name) for name in ("XDG_CACHE_HOME", "XDG_DATA_HOME")}
                try:
                    spent = timed(tool.words, {**own, "HOME": str(home), "CLAUDE_CONFIG_DIR": str(home / ".claude")})
                except subprocess.CalledProcessError:
                    failed.add(tool.name)
                    continue
                runs.setdefault(tool.name, []).append(spent)
    kind = "real logs" if REAL.is_dir() else "made-up logs"
    engine = "compiled" if engine_compiled() else "plain"
    load = os.getloadavg()[0] / (os.cpu_count() or 1)
    lines = [
        f"{machine()}, {engine} engine, {written / 1e6:.0f} MB of {kind} of Claude Code, medians of {_ROUNDS} rounds. "
        f"The machine's load was {load:.1f} per core.",
        "",
        "| tool | what it computes | time | processor time |",
        "| --- | --- | --- | --- |",
    ]
    for tool in tools:
        if tool.name in failed:
            continue
        wall, processor = (statistics.median(values) for values in zip(*runs[tool.name], strict=True))
        lines.append(f"| {tool.name} | {tool.computes} | {wall:.2f} s | {processor:.2f} s |")
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.compare_tools")
    parser.add_argument("--size", type=float, default=SIZE / 1e6, metavar="MB", help="megabytes of logs (default: 230)")
    parser.add_argument("--keep", action="store_true", help="write the table into docs/figures.md")
    args = parser.parse_args()
    text = table(int(args.size * 1e6), lambda doing: print(doing, file=sys.stderr, flush=True))
    print(text)
    if args.keep:
        head, end = "<!-- beside-tools -->\n", "\n<!-- end-tools -->"
        page = PAGE.read_text("utf-8")
        pattern = re.escape(head) + ".*?" + re.escape(end)
        PAGE.write_text(re.sub(pattern, lambda _: head + text + end, page, flags=re.DOTALL), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())

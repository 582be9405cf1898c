"""`python -m bench.suite NAME`: one suite's figures as JSON.

It has a process to itself, so that no suite's memory weighs on the next one's figures.
"""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
from pathlib import Path

from bench.measure import Figure

NAMES = ("engine", "ingest", "analyze", "timeline", "million", "screen", "tuning", "fleet")


def measure(name: str) -> list[Figure]:
    """Run one suite in a fresh process."""
    root = Path(__file__).resolve().parents[1]
    words = [sys.executable, "-m", "bench.suite", name]
    done = subprocess.run(words, stdout=subprocess.PIPE, text=True, check=True, cwd=root)
    return [Figure(**each) for each in json.loads(done.stdout.splitlines()[-1])]


def main() -> int:
    figures = importlib.import_module(f"bench.suites.{sys.argv[1]}").figures()
    print(json.dumps([each._asdict() for each in figures]))
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""A store whose writer is killed at any step holds the old or the new, whole, and can be written again."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[3]
LEAST = 4
"""Steps a write to any store has at least: a lock or a file made, it written out, it put in place."""


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """What was left of every store after every kill."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.core.store.killed", str(tmp_path_factory.mktemp("stores"))],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.mark.parametrize(
    "name",
    [
        "bookmarks",
        "labels",
        "learned",
        "prior",
        "persona",
        "profiles",
        "episodes",
        "cache",
        "carry_over",
        "affect",
        "trail",
        "checkpoints",
        "spend",
    ],
)
def test_kill_nine_at_every_step(name: str, told: list[dict[str, Any]]) -> None:
    *killed, through = [each for each in told if each["store"] == name]
    assert len(killed) >= LEAST and not through["killed"]
    new = through["after"]
    for each in killed:
        assert each["killed"]
        assert each["after"] in (each["before"], new)
        assert each["next"] != each["before"] or name == "persona"

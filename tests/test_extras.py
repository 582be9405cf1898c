"""The base installation imports no extra, and names the one that is missing."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
EXTRAS = (
    "nats",
    "duckdb",
    "dask",
    "distributed",
    "aiohttp",
    "textual_serve",
    "opentelemetry",
    "prometheus_client",
)
WITHOUT = f"""
import sys
class Nothing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {EXTRAS!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Nothing())
from tui.cli import main
code = main(sys.argv[1:])
met = [name for name in {EXTRAS!r} if name in sys.modules]
sys.exit(f"imported {{met}}" if met else code)
"""


def without(home: Path, *words: str) -> subprocess.CompletedProcess[str]:
    call = [sys.executable, "-c", WITHOUT, *words]
    return subprocess.run(call, cwd=ROOT, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("words", "extra"),
    [
        (("ship", "--to", "nats://127.0.0.1:1"), "nats"),
        (("fleet", "--from", "nats://127.0.0.1:1"), "nats"),
        (("analyze", "good.jsonl", "--parquet", "dataset"), "batch"),
        (("query", "signals", "--on", "dataset"), "batch"),
        (("serve",), "web"),
    ],
)
def test_a_missing_extra_is_named_with_the_command_that_brings_it(
    log: Path, home: Path, words: tuple[str, ...], extra: str
) -> None:
    places = {"good.jsonl": str(log), "dataset": str(home / "dataset")}
    done = without(home, *(places.get(word, word) for word in words))
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert f"pip install 'nooscope[{extra}]'" in done.stderr


@pytest.mark.parametrize("words", [("analyze",), ("sessions",), ("fleet", "--once"), ("frame",), ("export",)])
def test_the_base_goes_without_any_extra(log: Path, home: Path, words: tuple[str, ...]) -> None:
    more = () if words[0] in ("sessions",) else (str(log),)
    done = without(home, *words, *more)
    assert (done.returncode, done.stderr.partition("imported")[1]) == (0, ""), done.stderr


def test_every_extra_that_is_named_exists() -> None:
    from typing import get_args

    from core.extras import Extra

    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert set(get_args(Extra)) <= set(project["optional-dependencies"])
    base = " ".join(project["dependencies"])
    assert not any(name.replace("_", "-") in base for name in EXTRAS)

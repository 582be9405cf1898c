"""The base installation imports no extra, and names the one that is missing."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import pytest

from bench.claude import lines

ROOT = Path(__file__).resolve().parents[1]
EXTRAS = ("nats", "duckdb", "dask", "distributed", "aiohttp", "textual_serve", "opentelemetry", "prometheus_client")
WITHOUT = f"""
import json, os, sys
class Nothing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {EXTRAS!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Nothing())
from tui.cli import main
told = os.dup(1)
for words in json.loads(sys.argv[1]):
    with open("said", "w+b") as said:
        os.dup2(said.fileno(), 1)
        os.dup2(said.fileno(), 2)
        code = main(words)
        sys.stdout.flush()
        sys.stderr.flush()
        said.seek(0)
        met = [name for name in {EXTRAS!r} if name in sys.modules]
        os.write(told, json.dumps([code, said.read().decode(), met]).encode() + b"\\n")
"""
LACKING = {
    ("ship", "--to", "nats://127.0.0.1:1"): "nats",
    ("fleet", "--from", "nats://127.0.0.1:1"): "nats",
    ("analyze", "good.jsonl", "--parquet", "dataset"): "batch",
    ("query", "signals", "--on", "dataset"): "batch",
    ("serve",): "web",
}
BASE = (
    ("analyze", "good.jsonl"),
    ("sessions",),
    ("fleet", "--once", "good.jsonl"),
    ("frame", "good.jsonl"),
    ("export", "good.jsonl"),
)


class Told(NamedTuple):
    """What came of a command where no extra is installed."""

    code: int
    said: str
    met: list[str]
    """Extras that were imported all the same."""


@pytest.fixture(scope="module")
def without(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, ...], Told]:
    """Every command, one after the other in one process."""
    place = tmp_path_factory.mktemp("home")
    (place / "good.jsonl").write_bytes(b"".join(islice(lines(1), 240)))
    own = {name: str(place / name.lower()) for name in ("HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME")}
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT, json.dumps([*LACKING, *BASE])],
        cwd=place,
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, **own, "XDG_CACHE_HOME": str(place / "cache"), "PYTHONPATH": str(ROOT)},
    )
    told = [Told(*json.loads(line)) for line in done.stdout.splitlines()]
    return dict(zip([*LACKING, *BASE], told, strict=True))


@pytest.mark.parametrize(("words", "extra"), LACKING.items())
def test_a_missing_extra_is_named_with_the_command_that_brings_it(
    words: tuple[str, ...], extra: str, without: dict[tuple[str, ...], Told]
) -> None:
    told = without[words]
    assert (told.code, told.met) == (1, [])
    assert told.said.count("\n") == 1
    assert f"pip install 'nooscope[{extra}]'" in told.said


@pytest.mark.parametrize("words", BASE)
def test_the_base_goes_without_any_extra(words: tuple[str, ...], without: dict[tuple[str, ...], Told]) -> None:
    assert (without[words].code, without[words].met) == (0, []), without[words].said


def test_every_extra_that_is_named_exists() -> None:
    from typing import get_args

    from core.extras import Extra

    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert set(get_args(Extra)) <= set(project["optional-dependencies"])
    base = " ".join(project["dependencies"])
    assert not any(name.replace("_", "-") in base for name in EXTRAS)

"""What every test shares."""

from __future__ import annotations

import gc
import os
import signal
from collections.abc import Callable
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from bench.claude import lines
from core.report.checkup import engine_compiled
from core.store import kept_answers
from tests import pilots

for name in list(os.environ):
    ours = name.startswith(("TEXTUAL", "NOOSCOPE")) and not name.startswith("TEXTUAL_SNAPSHOT")
    if ours or name in {"NO_COLOR", "COLUMNS", "LINES"}:
        del os.environ[name]
os.environ["OPENBLAS_NUM_THREADS"] = "1"
"""As `make fit` has it: threads for matrices as small as these only wait for each other."""
os.environ["LANGUAGE"] = "C"
"""Or every word of a command's help is looked for in folders of translations, at each call of it."""

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as in the background of a shell
    signal.signal(signal.SIGINT, signal.default_int_handler)
if hasattr(signal, "SIGHUP") and signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:  # as under nohup
    signal.signal(signal.SIGHUP, signal.SIG_DFL)

settings.register_profile(
    "full", deadline=None, derandomize="CI" in os.environ, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("quick", settings.get_profile("full"))
settings.load_profile("quick")
pilots.install()


def pytest_addoption(parser: pytest.Parser) -> None:
    """An option for the long comparison of outputs."""
    parser.addoption("--every", action="store_true", help="compare outputs at every event of every real log")


@pytest.fixture
def every(request: pytest.FixtureRequest) -> bool:
    """Whether outputs are compared at every event of every real log, not only at the telling ones."""
    return bool(request.config.getoption("--every"))


def _fewer_examples(tests: set[Any]) -> None:
    """A quarter of the random examples that a property asks for, but at least ten."""
    for test in tests:
        asked = getattr(test, "_hypothesis_internal_use_settings", None)
        if asked is not None:
            fewer = max(min(asked.max_examples, 10), asked.max_examples // 4)
            test._hypothesis_internal_use_settings = settings(asked, max_examples=fewer)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Slow tests run last; in the profile `quick` every property tries fewer examples."""
    if engine_compiled():
        for item in items:
            if item.get_closest_marker("plain") is not None:
                item.add_marker(pytest.mark.skip(reason="the engine is compiled"))
    items.sort(key=lambda item: item.get_closest_marker("slow") is not None)
    if settings.get_current_profile_name() == "quick":
        _fewer_examples({item.function for item in items if isinstance(item, pytest.Function)})


def pytest_collection_finish() -> None:
    """Collected tests are there to stay: garbage is looked for less often, never among them."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(100_000, 50, 20)
    pilots.let_apps_go()


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Real logs that live beside the project, where they exist."""
    folder = Path(__file__).resolve().parents[2] / "shared" / "data"
    if not folder.is_dir():
        pytest.skip("no real logs beside the project")
    return folder


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home and a working folder of one's own, and nothing remembered of what is installed in another."""
    kept_answers.code_stamp.cache_clear()
    for name in ("HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME"):
        monkeypatch.setenv(name, str(tmp_path / name.lower()))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@cache
def _claude_lines() -> bytes:
    return b"".join(islice(lines(1), 240))


@pytest.fixture
def log(home: Path) -> Path:
    """A Claude Code log of 240 lines there."""
    path = home / "good.jsonl"
    path.write_bytes(_claude_lines())
    return path


Run = Callable[..., tuple[int, str, str]]
"""A command in this process: its code, what it printed, what it complained about."""


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    from tui.cli import main

    def call(*words: str) -> tuple[int, str, str]:
        try:
            code = main(list(words))
        except SystemExit as ended:
            code = ended.code if isinstance(ended.code, int) else 1
        said = capsys.readouterr()
        return code, said.out, said.err

    return call

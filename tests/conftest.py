"""What every test shares."""

from __future__ import annotations

import os
from itertools import islice
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from bench.claude import lines

for name in list(os.environ):
    ours = name.startswith(("TEXTUAL", "NOOSCOPE")) and not name.startswith("TEXTUAL_SNAPSHOT")
    if ours or name in {"NO_COLOR", "COLUMNS", "LINES"}:
        del os.environ[name]

settings.register_profile(
    "calm", deadline=None, derandomize="CI" in os.environ, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("calm")


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Real logs that live beside the project, where they exist."""
    folder = Path(__file__).resolve().parents[2] / "shared" / "data"
    if not folder.is_dir():
        pytest.skip("no real logs beside the project")
    return folder


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home and a working folder of one's own."""
    for name in ("HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME"):
        monkeypatch.setenv(name, str(tmp_path / name.lower()))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def log(home: Path) -> Path:
    """A Claude Code log of 240 lines there."""
    path = home / "good.jsonl"
    path.write_bytes(b"".join(islice(lines(1), 240)))
    return path

"""What the narrator's tests share."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.workload import session
from core.engine.society import Society
from core.engine.society.engine import Frame
from core.settings import Settings
from tests.core.extras.narrator.routing import Bench


@pytest.fixture(scope="module")
def frame() -> Frame:
    society = Society(Settings())
    for event in session(120):
        society.step(event)
    return society.frame()


@pytest.fixture
def at(tmp_path: Path, frame: Frame) -> Bench:
    return Bench(tmp_path, frame)

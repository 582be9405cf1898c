"""A server that runs, in a home of the test's own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.core.extras.hosts.servers import NatsServer


@pytest.fixture
def server(home: Path) -> Iterator[NatsServer]:
    one = NatsServer(home / "jetstream")
    one.start()
    yield one
    one.kill()

"""The shortcut to nooscope's own folders leads where the platform's library does."""

from __future__ import annotations

from pathlib import Path

import pytest
from platformdirs import user_cache_path, user_config_path, user_data_path

from core.folders import own_folder


@pytest.mark.parametrize("value", [None, "", " ", "/tmp/else where", "below/here", "~/mine"])  # noqa: S108
def test_it_is_where_the_platform_says(value: str | None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME"):
        monkeypatch.delenv(name, raising=False)
        if value is not None:
            monkeypatch.setenv(name, value)
    assert own_folder("cache") == user_cache_path("nooscope", appauthor=False)
    assert own_folder("config") == user_config_path("nooscope", appauthor=False)
    assert own_folder("data") == user_data_path("nooscope", appauthor=False)

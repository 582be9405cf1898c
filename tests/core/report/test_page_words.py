"""A summary names outcomes and actions in words, not by the names of fields."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.core.live.need_stories import STORIES
from tui.cli import main


def test_no_field_name_is_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    story = STORIES["claude"](tmp_path)
    story.before()
    story.ask()
    assert main(["analyze", str(story.path), "--plain"]) == 0
    said = capsys.readouterr().out
    assert "1 without a result" in said and "other calls 1" in said
    assert "deep_work" not in said and "shell_exec" not in said

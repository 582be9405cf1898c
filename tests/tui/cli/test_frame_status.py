"""`nooscope frame` says how the session stands, as the screen does."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.core.live.need_stories import ERROR, OTHERS, QUESTION, STORIES
from tui.cli import main


@pytest.mark.parametrize(
    ("need", "said"),
    [
        ("question", f"needs you: asks: “{QUESTION}”"),
        ("error", "needs you"),
        ("plan", "needs you: shows a plan for you to approve"),
    ],
)
def test_a_need_is_said(need: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    story = STORIES["claude"](tmp_path) if need == "question" else OTHERS[need, "claude"](tmp_path)
    story.before()
    story.ask()
    assert main(["frame", str(story.path), "--plain"]) == 0
    status = capsys.readouterr().out.splitlines()[1]
    assert status.startswith(f"status  {said}")
    assert need != "error" or ERROR in status

"""Files of the watched project open in the person's own editor, and nothing else does."""

from __future__ import annotations

from pathlib import Path

import pytest

from tui.screens.dialogs import editor_command


def test_the_editor_gets_the_whole_path(tmp_path: Path) -> None:
    (tmp_path / "a b.py").write_text("")
    project = str(tmp_path)
    assert editor_command({"EDITOR": "code -w"}, project, "a b.py") == ["code", "-w", f"{project}/a b.py"]
    assert editor_command({"EDITOR": "vi", "VISUAL": "em"}, "/", f"{project}/a b.py")[0] == "em"


@pytest.mark.parametrize("path", ["absent.py", "", "..", "-x"])
def test_what_is_no_file_is_not_opened(tmp_path: Path, path: str) -> None:
    with pytest.raises(OSError, match="no such file"):
        editor_command({"EDITOR": "vi"}, str(tmp_path), path)
    with pytest.raises(OSError, match="no such file"):
        editor_command({"EDITOR": "vi"}, "", "relative.py")


def test_without_an_editor_it_says_what_to_set(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="set the variable EDITOR"):
        editor_command({}, str(tmp_path), "a.py")

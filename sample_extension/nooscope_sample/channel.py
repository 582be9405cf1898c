"""A notice channel: it is called in a thread of its own with words that are redacted already."""

from __future__ import annotations

from platformdirs import user_data_path

from core.live.notices import ShownNotice


def write_notice(notice: ShownNotice) -> None:
    """Write every notice to a file."""
    path = user_data_path("nooscope", appauthor=False, ensure_exists=True) / "notices.log"
    with path.open("a", encoding="utf-8") as stream:
        stream.write(notice.line + "\n")

"""What is going on at the playhead in the log's own words, read only while somebody looks."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from core.agents.words import word_logs
from core.events import Event
from core.live.need_words import with_now
from core.live.status import Status
from core.logs.session import LogSession
from core.report.now import NowReader
from tui.feed.messages import ReadWords
from tui.feed.view import View


class WordsAtPlayhead:
    """Knows whether words may be shown and whether a panel in sight shows them."""

    def __init__(self) -> None:
        self.wanted = ReadWords(shown=True, watched=False)
        self._now = NowReader()

    def put_into(
        self, view: View, session: LogSession | None, events: Sequence[Event], held: tuple[Event, ...]
    ) -> View:
        """The view with its words, its title and the session's files."""
        shown, reads = self.wanted.shown, self.wanted.shown and self.wanted.watched
        logs = word_logs(session) if session is not None else ()
        if reads:
            self._now.allow(logs)
        title = (view.subject.title or self._now.title(events)) if reads else ""
        return replace(
            view,
            now=self._now.now(events, view.index, view.at, view.agent, held, words=reads),
            words=shown,
            logs=tuple(log.path for log in session.logs) if session is not None else (),
            word_logs=logs,
            subject=replace(view.subject, title=title),
        )

    def hide_in(self, status: Status) -> Status:
        """The status without words where none may be shown."""
        return status if self.wanted.shown else status.wordless()


def status_with_need(view: View) -> Status | None:
    """The status at the playhead with the words of what the person is needed for."""
    status, now = view.status, view.now
    if status is None or (status.need != "error" and not now.running):
        return status
    return with_now(status, now)

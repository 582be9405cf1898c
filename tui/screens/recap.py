"""The recap: what has happened since the person last looked, in words."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from textual.binding import BindingType
from textual.widget import Widget
from textual.worker import get_current_worker

from core.agents.words import WordReader
from core.report.formatting import count, plain, span
from core.report.outcome import OutcomeReader
from core.report.story import SessionStory, story
from core.settings import Settings
from core.settings.program import ScreenSettings
from core.store.bookmarks import Look
from tui.draw.line import Line, section
from tui.feed.messages import Failed
from tui.feed.view import View
from tui.keys import bind
from tui.screens.board import Board
from tui.widgets.common.panel import TextPage

if TYPE_CHECKING:
    from core.extras.narrator.router import Told

_TITLES = (
    ("asked", "What was asked"),
    ("done", "What was done, and where"),
    ("failed", "What failed, and how it was solved"),
    ("ended", "How it ended"),
)


class RecapScreen(Board):
    """A recap of the events since the last look, or of the whole session."""

    DEFAULT_CSS = "RecapScreen #page { height: 1fr; }"
    AUTO_FOCUS = "TextPage"
    HAS_TIMELINE = False
    BINDINGS: ClassVar[list[BindingType]] = [
        replace(bind("play.start", "app.seek(0)", "play", "Play it from the start"), priority=True),
        bind("fold", "whole", "whole session", "Show the whole session, or only what is new", show=True),
        bind("view", "prose", "prose", "Show sentences that cite their events", show=True),
    ]

    def __init__(
        self,
        look: Look | None,
        now: float,
        settings: ScreenSettings | None = None,
        all_settings: Settings | None = None,
    ) -> None:
        super().__init__(settings)
        self._all_settings = all_settings or Settings()
        self._look = look
        self._now = now
        self._all = look is None

    def body(self) -> Iterable[Widget]:
        yield TextPage(id="page")

    def watch_recording(self) -> None:
        """Write the recap once; the page does not change while events come."""
        if self.recording is not None and self.is_mounted:
            self._tell()

    def watch_view(self, before: View | None, view: View | None) -> None:
        """Hide or show the words of the page."""
        if before is not None and view is not None and before.words != view.words and self.is_mounted:
            self._tell()

    @property
    def idle_keys(self) -> frozenset[str]:
        """Nothing to choose from while everything is new, or nothing is."""
        new = self.recording is not None and self._look is not None and self._look.events < len(self.recording)
        return frozenset() if new else frozenset(("fold",))

    def action_whole(self) -> None:
        if self.idle_keys:
            self.post_message(Failed("this is the whole session already"))
        else:
            self._all = not self._all
            self._tell()

    def action_prose(self) -> None:
        """Write prose in a thread; the page stays until it is done."""
        timeline = self.recording
        if timeline is None or not len(timeline) or (self.view is not None and not self.view.words):
            return
        stop = len(timeline)
        look = None if self._all else self._look
        start = look.events if look is not None and look.events < stop else 0
        page = self.query_one(TextPage)
        page.border_subtitle = "asking a model" if self._all_settings.narrator.on else "writing prose"

        def work() -> None:
            from core.extras.narrator.router import Router, tell_recap, tell_why

            router = Router(self._all_settings)
            sections = [("What happened", tell_recap(router, timeline, start, stop))]
            sections.append(("Why it is stuck, if it is", tell_why(router, timeline, stop)))
            if not get_current_worker().is_cancelled:
                self.app.call_from_thread(self._show_prose, sections, stop - start)

        self.run_worker(work, name="recap", group="recap", thread=True, exclusive=True)

    def _show_prose(self, sections: list[tuple[str, Told]], events: int) -> None:
        if self.is_attached and (self.view is None or self.view.words):
            page = self.query_one(TextPage)
            page.border_subtitle = count(events, "event")
            page.show(lambda width: _prose_page(sections, width))

    def _tell(self) -> None:
        """Write the recap in a thread, so that a slow disk does not block the screen."""
        page = self.query_one(TextPage)
        timeline = self.recording
        events = [] if timeline is None else list(timeline.events)
        look = None if self._all else self._look
        if look is None:
            page.border_title = "The whole session"
        else:
            page.border_title = f"Since you last looked, {span(max(0.0, self._now - look.when))} ago"
        if look is not None and look.events >= len(events):
            page.border_title = f"Nothing {str(page.border_title).lower()}; the whole session"
            look = None
        since = min(len(events), look.events) if look is not None else 0
        page.border_subtitle = count(len(events) - since, "event")
        start = events[0].at if events else 0.0
        view = self.view
        if view is not None and not view.words:
            self.workers.cancel_group(self, "recap")
            page.show(lambda _: [[("words are hidden: h shows them", "quiet")]])
            return
        reader = WordReader(() if view is None else view.word_logs)

        def work() -> None:
            recap = story(events[since:], start, reader.words)
            outcome = OutcomeReader(reader)
            outcome.feed(events)
            came = outcome.at(len(events)).lines()
            if not get_current_worker().is_cancelled:
                self.app.call_from_thread(self._show, recap, len(events) == since, came)

        self.run_worker(work, name="recap", group="recap", thread=True, exclusive=True)

    def _show(self, recap: SessionStory, nothing: bool, came: list[str]) -> None:
        if self.is_attached and (self.view is None or self.view.words):
            self.query_one(TextPage).show(lambda width: _page(recap, nothing, came, width))


def _prose_page(sections: list[tuple[str, Told]], width: int) -> list[Line]:
    lines: list[Line] = []
    for title, prose in sections:
        claims = [(claim, "plain", "") for claim in prose.claims]
        claims += [(claim, "quiet", "left out, not supported by the facts: ") for claim in prose.left]
        sentences = [
            (before + plain(claim.words) + (f" [{', '.join(map(str, claim.events))}]" if claim.events else ""), ink)
            for claim, ink, before in claims
        ]
        sentences.append((plain(f"written by {prose.who} ({prose.tier}); {prose.reason}"), "quiet"))
        lines += section(title, sentences, width)
    return [*lines, [("  [12] is event 12: press / and type 12 to go there", "quiet")]]


def _page(recap: SessionStory, nothing: bool, came: list[str], width: int) -> list[Line]:
    if nothing:
        return [[("nothing has happened since", "quiet")]]
    parts = [*((title, getattr(recap, name)) for name, title in _TITLES), ("Outcome", came)]
    shown = [(title, answers) for title, answers in parts if answers]
    return [line for title, answers in shown for line in section(title, [(one, "plain") for one in answers], width)]

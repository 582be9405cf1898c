"""The command palette's results: every key as a command, and the session's marks, paths and bookmarks."""

from __future__ import annotations

import asyncio
import os
import shlex
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from itertools import islice
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeAlias, cast

from msgspec.structs import replace
from textual.app import App
from textual.binding import Binding
from textual.command import DiscoveryHit, Hit, Hits, Provider
from textual.content import Content
from textual.dom import DOMNode
from textual.message import Message
from textual.screen import Screen

from core.agents.registry import known_agents
from core.engine.receptor.readings import NodeReading
from core.errors import NooscopeError
from core.events import MAIN, ToolUse
from core.logs.discovery import Found, find
from core.report.event_words import OUTCOME_SIGNS, about, tool_of
from core.report.formatting import age, clock, folder_name, plain
from core.timeline.places import parse_place
from core.timeline.timeline import Timeline
from tui.feed.messages import OpenSession, ReturnTo, Seek, SelectAgent, ShowTranscript
from tui.feed.view import names_of
from tui.screens import SCREENS
from tui.screens.dialogs import copy_command
from tui.widgets.common.panel import Panel
from tui.widgets.common.timeline_cells import mark_text

_MOST = 60
_EXACT = 200.0  # Score of a name that contains what was typed: above all that only have its letters in order.
_FEW = 8  # Sessions offered before anything is typed.
# Keys that only move about, which nobody looks for by name; those without an id move the focus.
_MOVES = (None, "row.up", "row.down", "page.up", "page.down")
_EVENTS = 20_000  # Events looked through at most, the newest first.


def named_places(app: Any) -> Iterator[Place]:
    """Every screen and panel by its name, what it shows, and how to get there; settings are on the bench."""
    special = {"fleet": app.action_fleet, "recap": app.action_recap, "find": app.action_find}
    for name, (_, holds) in SCREENS.items():
        yield f"Screen: {name}", holds, special.get(name) or partial(app.action_show, name)
    for panel in app.screen_stack[0].query(Panel):
        if panel.TITLE:
            yield f"Panel: {panel.TITLE}", "on the main screen", partial(app.show_panel, panel)


Place: TypeAlias = tuple[str, str, Callable[[], object]]  # Its name, what it is, and how to get there.


class NamedSearch(Provider):
    """Finds places by all words that were typed, in their name or in what they are."""

    async def places(self, most: int | None = None) -> Iterable[Place]:
        """All places, or the first few."""
        raise NotImplementedError

    async def discover(self) -> Hits:
        for text, help_text, go in await self.places(_FEW):
            yield DiscoveryHit(Content(text), go, text, help_text)

    async def search(self, query: str) -> Hits:
        words = query.lower().split()
        matches = [place for place in await self.places() if all(word in " ".join(place[:2]).lower() for word in words)]
        for number, (text, help_text, go) in enumerate(matches[:_MOST]):
            inside = all(word in text.lower() for word in words)
            yield Hit(_EXACT * (1.0 if inside else 0.5) - number, Content(text), go, text, help_text)


class ActionSearch(NamedSearch):
    """Screens, panels, and every key that works here, by name or by an everyday word for them."""

    async def places(self, most: int | None = None) -> Iterable[Place]:  # noqa: ARG002 they are few
        return [*named_places(self.app), *app_commands(self.app, self.screen)]


class ThemeSearch(NamedSearch):
    """All themes with what each is for, those of nooscope and the person first."""

    async def places(self, most: int | None = None) -> Iterable[Place]:  # noqa: ARG002 they are few
        app, sentences = self.app, cast(Any, self.app).theme_files.sentences
        names = [*sentences, *sorted(set(app.available_themes) - set(sentences))]
        return [(name, sentences.get(name) or "", partial(setattr, app, "theme", name)) for name in names]


class OtherSessions(NamedSearch):
    """All sessions of this machine by title, project and agent; what is chosen is opened."""

    async def startup(self) -> None:
        self._found = asyncio.create_task(asyncio.to_thread(_sessions))

    async def places(self, most: int | None = None) -> Iterable[Place]:
        return [(_called(one), _of(one), partial(self._open, one)) for one in await self._sessions(most)]

    async def _sessions(self, most: int | None = None) -> list[Found]:
        """Return the sessions found, without their titles while words are hidden."""
        sessions = (await self._found)[:most]
        return sessions if cast(Any, self.app).words else [replace(one, title="") for one in sessions]

    def _open(self, session: Found) -> None:
        self.app.post_message(OpenSession(session.path, session.active, session.session))


def _sessions() -> list[Found]:
    with suppress(OSError):
        return find(known_agents(), os.environ, Path.home(), now=time.time())
    return []


def _called(session: Found) -> str:
    return f"Session: {plain(session.title, 60) or folder_name(session.project) or session.path.stem}"


def _of(session: Found) -> str:
    when = "now" if session.active else f"{age(max(0.0, time.time() - session.last))} ago"
    return f"{session.agent} · {plain(folder_name(session.project), 40)} · {when}"


def go_to(app: App[Any], timeline: Timeline, place: str) -> None:
    """Move the playhead to a place as a person writes it; report what is wrong with it."""
    if not len(timeline):
        return
    try:
        app.post_message(Seek(place_in(timeline, place)))
    except (NooscopeError, ValueError) as error:
        app.notify(str(error), severity="warning", markup=False)


def place_in(timeline: Timeline, place: str) -> int:
    """Return the event at a place: a number, a share, a time since the start, or a date and time."""
    if place.endswith("%"):
        return round(float(place[:-1]) / 100 * len(timeline))
    return parse_place(timeline, place)


class SessionSearch(Provider):
    """Places, marks, paths, calls and bookmarks of the session on the screen, once something is typed."""

    async def search(self, query: str) -> Hits:
        words = query.lower().split()
        hits = 0
        timeline = cast(Any, self.app).recording
        with suppress(NooscopeError, ValueError):
            if timeline is not None and len(timeline):
                to = place_in(timeline, query.strip())
                text = f"Go to event {to:,} of {len(timeline):,}"
                yield Hit(2.0, Content(text), partial(self._go_to, Seek(to)), text, "the playhead moves there")
        for text, help_text, message in self._all():
            noted = f"{text} {help_text}" if isinstance(message, ReturnTo) else text
            if all(word in noted.lower() for word in words):
                hits += 1
                content = Content(text)
                for word in words:
                    if (begin := text.lower().find(word)) >= 0:
                        content = content.stylize("bold underline", begin, begin + len(word))
                yield Hit(1.0 - hits / (_MOST + 2), content, partial(self._go_to, message), text, help_text)
            if hits >= _MOST:
                return

    def _go_to(self, message: Message) -> None:
        self.app.post_message(message)

    def _all(self) -> Iterator[tuple[str, str, Message]]:
        """Bookmarks, then marks from the newest back, then paths from the hottest down."""
        app = cast(Any, self.app)
        view, timeline = app.view, app.recording
        if view is None or timeline is None:
            return
        for bookmark in app.bookmarks:
            yield f"⚑ {plain(bookmark.name, 80)}", plain(bookmark.note, 80), ReturnTo(bookmark.name)
        yield from mark_hits(timeline, view.start, names_of(view))
        for path in _leaves(view.frame.receptor.heatmap.tree):
            yield plain(path, 90), "transcript of this path", ShowTranscript(path)
        for place in range(len(timeline.events) - 1, max(-1, len(timeline.events) - 1 - _EVENTS), -1):
            event = timeline.events[place]
            if isinstance(event, ToolUse):
                words, path = about(event)
                line = " ".join(part for part in (tool_of(event), words, path) if part)
                sign = OUTCOME_SIGNS.get(event.outcome, ("", ""))[0]
                when = clock(event.at - view.start)
                yield (f"{when}  {sign} {plain(line, 80)}", f"event {place + 1:,}", Seek(place + 1, event.agent))


class SessionPlaces(SessionSearch):
    """Like `SessionSearch`, but offers the first places before anything is typed."""

    async def discover(self) -> Hits:
        for text, help_text, message in islice(self._all(), _MOST):
            yield DiscoveryHit(Content(text), partial(self._go_to, message), text, help_text)


def mark_hits(
    timeline: Timeline, start: float, names: Mapping[str, str] = MappingProxyType({})
) -> Iterator[tuple[str, str, Seek]]:
    """Return every mark that has words, the newest first; times count from `start`."""
    for number in range(len(timeline.marks) - 1, -1, -1):
        mark = timeline.marks[number]
        if mark.kind == "background":
            continue
        text = plain(mark_text(mark, names), 60)
        by = "nooscope" if mark.kind == "method" else mark.kind
        what = text.removeprefix(mark.kind).strip(" ,")
        who = "" if mark.agent == MAIN else names.get(mark.agent) or plain(mark.agent, 24)
        yield f"{clock(mark.at - start)}  {by:<10} {what}", who, Seek(mark.place + 1, mark.agent)


def _leaves(nodes: Iterable[NodeReading]) -> Iterator[str]:
    for node in nodes:
        if node.leaf is not None:
            yield node.path
        yield from _leaves(node.children)


def app_commands(app: App[Any], screen: Screen[object]) -> Iterator[Place]:
    """Every key that works on a screen, what has no key, and the agents of the session."""
    yield from _key_commands(screen)
    yield "Theme: colours of the screen", "light, dark, high contrast, colour-blind", app.action_change_theme
    saves = "SVG, in Downloads or the working folder"
    yield "Screenshot: save a picture of the screen", saves, partial(save_screenshot, app)
    view = cast(Any, app).view
    here = view.subject.path if view is not None and cast(Any, app).shows_session else None
    log = shlex.quote(str(here or getattr(screen, "chosen_log", None) or "LOG"))
    for name, words, command in (
        (
            "Export: a page that plays a session",
            "share, html, report",
            f"export {log} --format html --out session.html",
        ),
        ("Cost: what sessions cost, by project", "spending, price, budget", "cost --by project"),
    ):
        yield name, f"{words}: copies the command for a terminal", partial(copy_command, app, f"nooscope {command}")
    names = {} if view is None else names_of(view)
    for name in () if view is None else view.agents:
        yield f"Show agent {names.get(name, plain(name, 24))}", "", partial(app.post_message, SelectAgent(name))


def save_screenshot(app: App[Any]) -> None:
    """Save a picture of the screen in the Downloads folder; if there is none, in the working folder."""
    downloads = Path.home() / "Downloads"
    folder = downloads if os.access(downloads, os.W_OK) else Path.cwd()
    try:
        path = app.save_screenshot(path=str(folder))
    except OSError as error:
        app.notify(f"no picture saved: {folder}: {error.strerror}", severity="error", markup=False)
    else:
        app.notify(f"picture saved as {path}", markup=False)


def _key_commands(screen: Screen[object]) -> Iterator[Place]:
    """Every key that works on a screen, as a command."""
    actions = set()
    for key, (node, binding, enabled, _) in screen.active_bindings.items():
        if not enabled or not binding.description or binding.id in actions or binding.id in _MOVES:
            continue
        actions.add(binding.id)
        title = command_title(binding)
        display = screen.app.get_key_display(binding)
        yield title, f"{display}  ({key})" if display != key else key, _runner(screen, node, binding.action)


def command_title(binding: Binding) -> str:
    """Return the word of a key and what it does: people look for either."""
    word, meaning = binding.description, binding.tooltip
    return f"{word[:1].upper()}{word[1:]}: {meaning}" if meaning else word


def _runner(screen: Screen[object], node: DOMNode, action: str) -> Callable[[], Awaitable[None]]:
    async def run() -> None:
        await screen.app.run_action(action, default_namespace=node)

    return run

"""The line behind an event, read from the log when asked for, its secrets taken out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any, ClassVar

import msgspec
from textual import work
from textual.content import Content
from textual.message import Message

from core.agents.words import WordReader
from core.events import Event
from core.logs.records import Passage, read_excerpt
from core.report.formatting import plain, short
from tui.draw.line import Line, wrapped
from tui.widgets.common.text_page import TextPage

_DEEPEST = 24
_ITEM = "- "
_LONGEST = 5000
"""Lines of one passage at most."""


class PassagePane(TextPage):
    """One line of a log, laid out to be read."""

    TITLE: ClassVar[str] = "Line"
    EMPTY: ClassVar[str] = "reading"
    HELP: ClassVar[str] = """\
## Line

What the log itself says of the event under the cursor, read from the file when you ask for it.
Keys, tokens and passwords are taken out before it is shown. Nothing of it is kept.
"""

    @dataclass
    class Found(Message):
        """From a worker: what stands behind an event."""

        place: int
        passage: Passage

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self.place = -1
        """Of the event whose line is shown or on its way."""

    def open(self, event: Event, place: int, logs: Sequence[Path]) -> None:
        """Read the line of an event, where it stands in one of these logs."""
        self.place = place
        where = event.where if WordReader(logs).inside(event.where) else None
        name = "" if where is None else f" · {plain(PurePath(where.file).name, 48)}"
        size = f" · {short(where.length)} bytes" if where is not None and where.length else ""
        self.border_title = Content(f"Line of event {place + 1:,}{name}{size}")
        if where is None:
            self.show(lambda _: [[("this event has no line of its own in the session's logs", "quiet")]])
        else:
            self._read(event, place)

    @work(thread=True, exclusive=True, group="passage")
    def _read(self, event: Event, place: int) -> None:
        if event.where is not None:
            self.post_message(self.Found(place, read_excerpt(event.where)))

    def on_passage_pane_found(self, message: Found) -> None:
        message.stop()
        if message.place == self.place:
            passage = message.passage
            self.show(lambda width: passage_lines(passage, width))


def passage_lines(passage: Passage, width: int) -> list[Line]:
    """A passage as lines: its structure where it is JSON, else its text as it stands."""
    if passage.fault:
        return [[("the line cannot be shown: ", "alert"), (plain(passage.fault), "plain")]]
    lines: list[Line] = []
    for line in _pieces(passage.text, width):
        if len(lines) >= _LONGEST:
            return [*lines, [("… and more", "quiet")]]
        lines.append(line)
    if passage.cut:
        lines.append([("… the rest of the line is too long to show", "quiet")])
    return lines


def _pieces(text: str, width: int) -> Iterator[Line]:
    try:
        value = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        yield from _text(text, 0, "", width)
        return
    yield from _value(value, 0, "", width)


def _value(value: Any, depth: int, label: str, width: int) -> Iterator[Line]:
    """A value under its name; what is inside it stands further in."""
    inside = _inside(value, outermost=depth == 0 and not label)
    if not inside or depth >= _DEEPEST:
        shown = value if isinstance(value, str) else msgspec.json.encode(value).decode()
        yield from _text(shown, depth, label, width)
        return
    lead = ""
    if label == _ITEM and isinstance(value, dict):
        lead = _ITEM
    elif label:
        yield [(_indent(depth) + plain(label), "quiet")]
    depth += bool(label)
    for name, item in inside:
        yield from _led(lead, _value(item, depth, name, width))
        lead = ""


def _inside(value: Any, *, outermost: bool) -> list[tuple[str, Any]]:
    """Names and values one step further in; of a whole record what has an inside itself comes first."""
    if isinstance(value, dict):
        named = [(f"{key}: ", item) for key, item in value.items()]
        return sorted(named, key=lambda pair: not isinstance(pair[1], dict | list)) if outermost else named
    return [(_ITEM, item) for item in value] if isinstance(value, list) else []


def _led(lead: str, lines: Iterator[Line]) -> Iterator[Line]:
    """The lines with a sign in the margin of the first."""
    for line in lines:
        margin, ink = line[0]
        blank = len(margin) - len(margin.lstrip(" "))
        at = max(0, blank - len(lead))
        yield [(margin[:at] + lead + margin[at + len(lead) :], ink), *line[1:]] if lead else line
        lead = ""


def _text(text: str, depth: int, label: str, width: int) -> Iterator[Line]:
    """A text beside its name, or below it where it is long."""
    margin, name = _indent(depth), plain(label)
    lines = text.splitlines() or [""]
    room = max(8, width - len(margin) - len(name))
    if len(lines) > 1 or len(lines[0]) > 4 * room:
        yield [(margin + name, "quiet")]
        margin, name = margin + ("  " if label else ""), ""
        room = max(8, width - len(margin))
    for line in lines:
        for piece in wrapped(plain(line), room):
            yield [(margin + name, "quiet"), (piece, "plain")]
            margin, name = margin + " " * len(name), ""


def _indent(depth: int) -> str:
    return "  " * min(depth, 12)

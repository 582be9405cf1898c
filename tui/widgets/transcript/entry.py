"""One entry of the transcript as lines: call, result and change, or what somebody said."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from itertools import islice
from pathlib import Path, PurePath
from typing import Any, ClassVar, NamedTuple

import msgspec
from textual import work
from textual.content import Content

from core.agents.words import WordReader, Words
from core.events import AgentEnd, Event, Prompt, ToolUse, Turn, Where
from core.logs.records import Passage, read_excerpt
from core.report.event_words import OUTCOME_SIGNS, about, kind_of
from core.report.formatting import EMPHASIS, clock, count, plain, short
from core.report.story import LOOKS
from core.timeline.marks import Mark
from tui.draw.line import Line, clipped, path_end, wrapped
from tui.feed.view import View, names_of
from tui.widgets.common.panel import TextPage
from tui.widgets.common.timeline_cells import mark_glyph, mark_style, mark_text

_MARGIN = "  "
_COMMAND = 12
_OUTPUT = 8
_BRIEF = 3
_CHANGE = 16
_SAID = 24  # Lines of each that are shown of an entry that is not opened.
_WHOLE = 4000
_COMPARED = 400  # Lines of a change that are compared at most; longer ones are shown as taken away and put there.
_WORDS = {
    "success": "done",
    "failure": "failed",
    "empty": "found nothing",
    "rejected": "rejected",
    "collateral": "cancelled with another",
    "pending": "no result yet",
}
_SAID_BY = {Prompt: "you", Turn: "agent"}


class Entry(NamedTuple):
    """One entry and its words."""

    event: Event
    words: Words | None  # None until they have been read.
    fired: Sequence[Mark] = ()
    whole: bool = False  # Opened: nothing is left out.
    rolled_back: bool = False  # The person took it back.


def entry_lines(entry: Entry, view: View, width: int) -> list[Line]:
    """An entry, ended by a blank line."""
    event = entry.event
    lines = [_head(entry, view)]
    words = entry.words
    if not view.words:
        pass
    elif words is None:
        lines.append([(_MARGIN + "reading", "quiet")])
    elif words.fault:
        lines += _block(f"the log cannot be read: {words.fault}", width, "alert", _SAID)
    elif isinstance(event, ToolUse):
        lines += _call(event, words, width, entry.whole)
    else:
        message = _block(words.said, width, "plain", _WHOLE if entry.whole else _SAID)
        lines += _emphasised(message) if isinstance(event, Turn) else message
    return [*(clipped(line, width) for line in lines), []]


def _head(entry: Entry, view: View) -> Line:
    """Return the time, author, outcome and firings."""
    event = entry.event
    line: Line = [(f"{clock(event.at - view.start)}  ", "quiet")]
    names = names_of(view) if len(view.agents) > 1 else {}
    if event.agent != view.agents[0]:
        line.append((names.get(event.agent, plain(event.agent, 14)) + "  ", "quiet"))
    if isinstance(event, ToolUse):
        sign, ink = OUTCOME_SIGNS[event.outcome]
        line.append((plain(event.tool or kind_of(event)), "strong"))
        silent = event.outcome == "empty" and event.action not in LOOKS
        came_of_it = "done, nothing printed" if silent else _WORDS[event.outcome]
        line.append((f"  {sign} {came_of_it}{(f', exit {event.exit_code}' if event.exit_code else '')}", ink))
        if event.duration is not None and event.duration >= 0:
            line.append((f"  {call_duration(event.duration)}", "quiet"))
        if not view.words or entry.words is None or not (entry.words.command or _is_about_paths(event)):
            line.append((f"  {path_end(plain(' '.join(event.targets[:2]) or event.program), 40)}", "plain"))
    elif isinstance(event, Prompt) and event.interrupt:
        line.append(("you stopped it", "alert"))
    elif isinstance(event, Prompt | Turn):
        line.append((_SAID_BY[type(event)], "live" if isinstance(event, Prompt) else "strong"))
        if entry.rolled_back:
            line.append(("  rolled back", "alert"))
        if not view.words:
            line.append((f"  {about(event)[0]}", "quiet"))
    else:
        subject, path = map(plain, about(event, names))
        line.append((kind_of(event), "strong"))
        line.append((f"  {subject} {path}".rstrip(), "quiet"))
        if isinstance(event, AgentEnd) and event.duration:
            line.append((f"  {call_duration(event.duration)}", "quiet"))
    for mark in entry.fired:
        line.append((f"  {mark_glyph(mark)} {mark_text(mark, names)}", mark_style(mark)))
    return line


def _call(event: ToolUse, words: Words, width: int, whole: bool) -> Iterator[Line]:
    shell = "$ " if event.action == "shell_exec" or event.program else "  "
    command = "\n".join(event.targets) if _is_about_paths(event) else words.command
    yield from _block(command, width, "plain", _WHOLE if whole else _COMMAND, lead=shell)
    if words.before or words.after:
        yield from _change(words, width, _WHOLE if whole else _CHANGE)
        if event.outcome == "success" and not whole:
            return
    lines = words.output.splitlines()
    brief = event.outcome == "success" and event.action in ("file_read", "search")
    room = _WHOLE if whole else _BRIEF if brief else _OUTPUT
    if len(lines) > room:
        yield [(f"{_MARGIN}│ … {count(len(lines) - room, 'line')} before; o shows all", "quiet")]
    ink = "alert" if event.outcome == "failure" else "quiet"
    for line in lines[-room:]:
        pieces = wrapped(plain(line.expandtabs(4)), max(8, width - 4))
        for piece in pieces if whole else pieces[:3]:
            yield [(f"{_MARGIN}│ ", ink), (piece, "plain")]


def _is_about_paths(event: ToolUse) -> bool:
    """The paths it went to say what it does."""
    return bool(event.targets) and event.action in ("file_read", "file_edit") and not event.program


def _change(words: Words, width: int, most: int) -> Iterator[Line]:
    """Return the removed and added lines, with signs and colours."""
    before, after = words.before.splitlines(), words.after.splitlines()
    diff = list(_compared(before, after))
    visible = diff[:most]
    for sign, text in visible:
        ink = {"+": "confidence", "-": "frustration"}.get(sign, "quiet")
        for number, piece in enumerate(wrapped(plain(text.expandtabs(4)), max(8, width - 4))):
            yield [(f"{_MARGIN}{' ' if number else sign} ", ink), (piece, ink)]
    if len(diff) > most:
        yield [(f"{_MARGIN}… {count(len(diff) - most, 'line')} more; o shows all", "quiet")]


def _compared(before: list[str], after: list[str]) -> Iterator[tuple[str, str]]:
    if len(before) > _COMPARED or len(after) > _COMPARED:
        yield from (("-", line) for line in before)
        yield from (("+", line) for line in after)
        return
    for kind, a, b, c, d in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if kind == "equal":
            same = before[a:b]
            yield from ((" ", line) for line in (same if len(same) <= 4 else (*same[:2], "…", *same[-2:])))
        else:
            yield from (("-", line) for line in before[a:b])
            yield from (("+", line) for line in after[c:d])


def _block(text: str, width: int, ink: str, most: int, *, lead: str = "") -> Iterator[Line]:
    """Indent a text a little further; a long one is cut to its beginning."""
    line_count = 0
    lines = text.splitlines()
    for number, line in enumerate(lines):
        for piece in wrapped(plain(line.expandtabs(4)), max(8, width - len(_MARGIN) - len(lead))):
            if line_count >= most:
                yield [(f"{_MARGIN}… {count(len(lines) - number, 'line')} more; o shows all", "quiet")]
                return
            yield [(_MARGIN + (lead if line_count == 0 else " " * len(lead)), "quiet"), (piece, ink)]
            line_count += 1


def _emphasised(lines: Iterable[Line]) -> Iterator[Line]:
    """Lines in which what an answer sets off with pairs of asterisks is strong."""
    for line in lines:
        result: Line = []
        for text, ink in line:
            pieces = EMPHASIS.split(text) if ink == "plain" else [text]
            result += [(piece, "strong" if number % 2 else ink) for number, piece in enumerate(pieces)]
        yield result


def call_duration(took: float) -> str:
    """A duration of a call: 40ms, 3.2s, 12m."""
    if took < 1:
        return f"{1000 * took:.0f}ms"
    if took < 99.95:
        return f"{took:.1f}s"
    return f"{took / 60:.0f}m" if took < 5970 else f"{took / 3600:.0f}h"


_DEEPEST = 24
_LONGEST = 5000  # Lines of one passage at most.


class PassagePane(TextPage):
    """One line of a log, laid out to be read."""

    TITLE: ClassVar[str] = "Line"
    EMPTY: ClassVar[str] = "reading"

    place = -1  # Of the event whose line is shown or on its way.

    def open(self, event: Event, place: int, logs: Sequence[Path]) -> None:
        """Read the log line of an event, if one of these logs has it."""
        self.place = place
        where = event.where if WordReader(logs).inside(event.where) else None
        name = "" if where is None else f" · {plain(PurePath(where.file).name, 48)}"
        size = f" · {short(where.length)} bytes" if where is not None and where.length else ""
        self.border_title = Content(f"Line of event {place + 1:,}{name}{size}")
        if where is None:
            self.show(lambda _: [[("this event has no line of its own in the session's logs", "quiet")]])
        else:
            self._read(where, place)

    @work(thread=True, exclusive=True, group="passage")
    def _read(self, where: Where, place: int) -> None:
        self.call_later(self._show_passage, place, read_excerpt(where))

    def _show_passage(self, place: int, passage: Passage) -> None:
        if place == self.place:
            self.show(lambda width: passage_lines(passage, width))


def passage_lines(passage: Passage, width: int) -> list[Line]:
    """Return a passage as lines: its structure if it is JSON, else its plain text."""
    if passage.fault:
        return [[("the line cannot be shown: ", "alert"), (plain(passage.fault), "plain")]]
    lines = list(islice(_pieces(passage.text, width), _LONGEST + 1))
    if len(lines) > _LONGEST:
        return [*lines[:_LONGEST], [("… and more", "quiet")]]
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
    """Return a value under its name; nested values are indented further, and come first in a whole record."""
    inside: list[tuple[str, Any]] = []
    if isinstance(value, dict) and depth < _DEEPEST:
        inside = [(f"{key}: ", item) for key, item in value.items()]
        if not label:
            inside.sort(key=lambda pair: not isinstance(pair[1], dict | list))
    elif isinstance(value, list) and depth < _DEEPEST:
        inside = [("- ", item) for item in value]
    if not inside:
        text = value if isinstance(value, str) else msgspec.json.encode(value).decode()
        yield from _text(text, depth, label, width)
        return
    if label:
        yield [(_indent(depth) + plain(label), "quiet")]
    for name, item in inside:
        yield from _value(item, depth + bool(label), name, width)


def _text(text: str, depth: int, label: str, width: int) -> Iterator[Line]:
    """Return a text beside its name, or below it if it is long."""
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

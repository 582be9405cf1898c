"""A session as a film of text for a terminal player (asciinema, version 2)."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator

import msgspec

from core.agents.words import first_line, telling_line
from core.export.film import ExportedSession, Moment
from core.export.html import page_title
from core.logs.event_redaction import one_line
from core.percept import AXES
from core.report.recap import figure, short_clock

WIDTH = 100
HEIGHT = 30
PAUSE = 2.0
"""Longest wait between two frames, in seconds."""
_LEAST = 0.04
_BAR = 30
_FIRST_FRAME = "\x1b[2J"
_HOME = "\x1b[H"
_REST_OF_LINE = "\x1b[K"
_BOLD, _DIM, _PLAIN = "\x1b[1m", "\x1b[2m", "\x1b[0m"
_SIGNS = {"success": "✓", "failure": "✗", "empty": "∅", "rejected": "⊘", "collateral": "~", "pending": "…"}
_EVENTS = HEIGHT - 19


def cast(film: ExportedSession, speed: float = 4.0) -> Iterator[bytes]:
    """The lines of the file: a header, then one frame an event."""
    began = film.moments[0].at if film.moments else 0.0
    header = {
        "version": 2,
        "width": WIDTH,
        "height": HEIGHT,
        "timestamp": int(began),
        "idle_time_limit": PAUSE,
        "title": page_title(film),
    }
    yield msgspec.json.encode(header) + b"\n"
    at = 0.0
    strip = _Strip()
    for place, moment in enumerate(film.moments):
        if place:
            wait = max(0.0, moment.at - film.moments[place - 1].at) / speed
            at += min(PAUSE, max(_LEAST, wait))
        strip.take(moment)
        lines = _frame(film, place, strip, moment.at - began)
        opening = _FIRST_FRAME if place == 0 else ""
        text = opening + _HOME + "\r\n".join(line + _REST_OF_LINE for line in lines)
        yield msgspec.json.encode([round(at, 3), "o", text]) + b"\n"


class _Strip:
    """What the strip says after the latest event."""

    __slots__ = ("asked", "doing", "failed", "said")

    def __init__(self) -> None:
        self.asked = self.doing = self.failed = self.said = ""

    def take(self, moment: Moment) -> None:
        text = first_line(moment.spoken.text)
        if moment.kind == "prompt":
            self.asked = text or moment.what
        elif moment.kind == "turn":
            self.said = text or self.said
        elif moment.kind == "tool_use":
            sign = _SIGNS.get(moment.outcome or "", " ")
            self.doing = f"{sign} {moment.what}" + (f"  {text}" if text else "")
            if moment.outcome == "failure":
                error = telling_line(moment.spoken.result)
                self.failed = f"✗ {moment.what}" + (f": {error}" if error else "")


def _frame(film: ExportedSession, place: int, strip: _Strip, elapsed: float) -> list[str]:
    moment = film.moments[place]
    status = moment.status
    rows = [
        _row(_BOLD, f" nooscope  {page_title(film)}", f"{short_clock(elapsed)}  ${moment.cost:.2f} "),
        _row(
            _BOLD if status.level >= 2 else "", f" {status.glyph} {status.word}  {one_line(status.why, 200)}"
        ),
        "",
        *(
            _row("", f" {name:<7} {one_line(text, 300)}")
            for name, text in zip(("asked", "doing", "failed", "said"), _strip(strip), strict=True)
        ),
        _row(_DIM, "─" * WIDTH),
        *(_axis(name, value) for name, value in zip(AXES, moment.axes, strict=True)),
        _axis("context", moment.context),
        _row(_DIM, f" state {moment.state.replace('_', ' ')}, regime {moment.regime}"),
        _row(_DIM, "─" * WIDTH),
    ]
    began = film.moments[0].at
    for number in range(max(0, place - _EVENTS + 1), place + 1):
        each = film.moments[number]
        sign = _SIGNS.get(each.outcome or "", "│" if each.kind == "prompt" else "·")
        pointer = "›" if number == place else " "
        rows.append(_row("", f"{pointer}{short_clock(each.at - began):>8} {sign} {each.what}"))
    rows += [""] * (HEIGHT - 1 - len(rows))
    done = (place + 1) * (WIDTH - 2) // len(film.moments)
    rows.append(_row("", " " + "━" * done + "─" * (WIDTH - 2 - done)))
    return rows[:HEIGHT]


def _strip(strip: _Strip) -> tuple[str, str, str, str]:
    return strip.asked, strip.doing, strip.failed, strip.said


def _axis(name: str, value: float) -> str:
    filled = round(min(1.0, max(0.0, value)) * _BAR)
    return _row("", f" {name:<12} {'█' * filled}{'·' * (_BAR - filled)} {figure(value)}")


def _row(style: str, left: str, right: str = "") -> str:
    """One line of the terminal's width, cut by the columns its letters take."""
    room = WIDTH - len(right)
    text = fitted(left, room - 1 if right else room)
    gap = " " * (room - columns(text)) if right else ""
    return f"{style}{text}{gap}{right}{_PLAIN}" if style else text + gap + right


def columns(text: str) -> int:
    """How many columns a text takes in a terminal."""
    return sum(_wide(letter) for letter in text)


def fitted(text: str, room: int) -> str:
    """As much of a text as fits, with a sign where it was cut."""
    if columns(text) <= room:
        return text
    used, kept = 0, []
    for letter in text:
        used += _wide(letter)
        if used > room - 1:
            break
        kept.append(letter)
    return "".join(kept) + "…"


def _wide(letter: str) -> int:
    if unicodedata.combining(letter):
        return 0
    return 2 if unicodedata.east_asian_width(letter) in "WF" else 1

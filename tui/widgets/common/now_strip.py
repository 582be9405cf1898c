"""The strip under the header of every screen: status, you, now, failed, agent."""

from __future__ import annotations

from typing import ClassVar

from rich.cells import cell_len

from core.live.hook_signs import answer_keys
from core.report.formatting import age, count, plain, span
from core.report.now import Now, lately_failed
from tui.draw.line import Line, clipped, fit, path_end, wrapped
from tui.feed.view import View
from tui.widgets.common.panel import Panel

_LABEL = 8  # Cells of the words before a line.
_GAP = 3
_LEAST = 10  # Cells of a call below which its time gives way.


class NowStrip(Panel, can_focus=False):
    """True at the playhead; two lines on a low screen, four on a tall one, six on a vast one."""

    DEFAULT_CSS = """
    NowStrip { height: 2; border: none; padding: 0 1; background: $background; }
    """
    EMPTY: ClassVar[str] = ""

    def lines(self, view: View, width: int, height: int) -> list[Line]:
        keys = answer_keys(view.hooks) if view.words else ""
        room = width - cell_len(keys) - _GAP if keys else width
        rows = [_status(view, room)]
        if keys:
            blank = max(1, width - _length(rows[0]) - cell_len(keys))
            rows[0] = [*rows[0], (" " * blank, "plain"), (keys, "strong")]
        lately = lately_failed(view.now)
        if height < 4:
            status = rows[0] if keys else _with_figure(rows[0], lately, width)
            left = lately if status is rows[0] else ""
            answered = _has_answered(view) and not view.now.times
            last = _agent_lines(view, width, 1, left)[0] if answered else _doing_and_failed(view, width)
            rows = [status, last]
        elif height < 6:
            rows += [_prompt_line(view, width), _doing_and_failed(view, width), *_agent_lines(view, width, 1, lately)]
        else:
            rows += [_prompt_line(view, width), _doing_line(view, width), _failed(view, width)]
            rows += _agent_lines(view, width, height - 4, lately)
        return [clipped(line, width) for line in rows[:height]]


def _status(view: View, width: int) -> Line:
    """The status, since when, and why; what the person must know about the log itself comes first."""
    status = view.status
    if status is None:
        return []
    ink = "strong" if status.at_rest else {3: "alert-tag", 2: "alert"}.get(status.level, "strong")
    word = f" {status.glyph} {status.word.upper()} " if ink == "alert-tag" else f"{status.glyph} {status.word.upper()}"
    since = "" if status.since is None else f" {span(max(0.0, view.at - status.since))}"
    line: Line = [(word, ink), (since, "strong"), ("   ", "plain")]
    why = status.reason if view.words else ""
    hidden = [] if view.words else [("words are hidden: h shows them", "quiet")]
    room = width - _length(line)
    return [*line, (_cut(plain(why), room), "plain"), *hidden] if room > 3 else line


def _prompt_line(view: View, width: int) -> Line:
    now = view.now
    if not (now.asked_at or now.asked or now.characters):
        return _row("you", [("no prompt so far", "quiet")], "", width)
    untold = "the log does not contain its task" if view.words else "its task is hidden"
    prompt = now.asked or (f"a prompt of {count(now.characters, 'character')}" if now.characters else untold)
    ink = "plain" if now.asked else "quiet"
    return _row("you", [(plain(prompt), ink)], f"{age(view.at - now.asked_at)} ago", width)


def _doing_line(view: View, width: int) -> Line:
    now = view.now
    if not now.tool:
        return _row("now", [("no call yet", "quiet")], "", width)
    call, since = _call(now), _call_age(view)
    least = min(_LEAST, _length(call))
    since = since if width - _LABEL - cell_len(since) - 2 >= least else ""
    return _row("now" if now.running else "last", call, since, width)


def _call(now: Now) -> Line:
    """The last call, and whether it was let through."""
    refused: Line = [("⊘ rejected  ", "alert")] if now.rejected else []
    return [(plain(now.tool) + "  ", "strong"), *refused, (plain(now.doing), "plain")]


def _call_age(view: View) -> str:
    """How long the last call has run, or how long ago it was."""
    lasted = max(0.0, view.at - view.now.doing_at)
    return f"for {span(lasted)}" if view.now.running else f"{age(lasted)} ago"


def _failed(view: View, width: int) -> Line:
    now = view.now
    if not now.times:
        return _row("failed", [("nothing unsolved since your prompt", "quiet")], "", width)
    times = f"×{now.times}" if now.times > 1 else ""
    error = plain(now.error)
    call = plain(now.failed or now.failed_tool)
    if error and now.failed == now.doing:
        return _row("failed", [(error, "alert")], times, width)
    room = max(8, width - _LABEL - len(times) - _GAP)
    if error and cell_len(call) + cell_len(error) + 2 > room:
        call = _cut(call, max(room // 3, room - cell_len(error) - 2))
    return _row("failed", [(call, "plain"), (f": {error}" if error else "", "alert")], times, width)


def _doing_and_failed(view: View, width: int) -> Line:
    """Both beside each other; what failed has a place only where something did."""
    if not view.now.times:
        return _doing_line(view, width)
    now = view.now
    needed = _LABEL + _length(_call(now)) + max(12, cell_len(_call_age(view)) + 2)
    call = 0 if now.failed == now.doing else cell_len(plain(now.failed)) + 2
    full_width = _LABEL + call + cell_len(plain(now.error)) + 6
    left = min(needed, max((width - _GAP) // 2, width - _GAP - full_width))
    return [*_doing_line(view, left), (" " * _GAP, "plain"), *_failed(view, width - left - _GAP)]


def _agent_lines(view: View, width: int, most: int, lately: str) -> list[Line]:
    """Return the last words, over a few lines at most, with recent failures beside the first."""
    now = view.now
    if not now.said:
        return [_row("agent", [("", "quiet")], lately, width)]
    first = width - _LABEL - (cell_len(lately) + _GAP if lately else 0)
    pieces = wrapped(f"“{plain(now.said)}”", max(8, first))
    if len(pieces) > most:
        pieces = [*pieces[: most - 1], pieces[most - 1] + " " + pieces[most]]
    return [
        _row(
            "" if number else "agent", [(piece, "plain")], "" if number else lately, first + _LABEL if number else width
        )
        for number, piece in enumerate(pieces)
    ]


def _has_answered(view: View) -> bool:
    """Return whether its turn is over, and its last words say more than its last call."""
    return view.status is not None and view.status.at_rest and bool(view.now.said)


def _with_figure(line: Line, right: str, width: int) -> Line:
    """Return a line with a figure at its right end, if there is room."""
    room = width - _length(line) - cell_len(right)
    return [*line, (" " * room, "plain"), (right, "alert")] if right and room >= _GAP else line


def _row(label: str, words: Line, right: str, width: int) -> Line:
    """A label, words cut to the room there is, and a figure at the right end."""
    room = width - _LABEL - (cell_len(right) + 2 if right else 0)
    line: Line = [(fit(label, _LABEL), "quiet")]
    for text, ink in words:
        piece = _cut(text, room)
        line.append((piece, ink))
        room -= cell_len(piece)
    if right:
        line += [(" " * (room + 2), "plain"), (right, "alert" if "failed" in right or "×" in right else "quiet")]
    elif room > 0:
        line.append((" " * room, "plain"))
    return line


def _cut(text: str, room: int) -> str:
    """Text no wider than that; of a path its end stays."""
    if cell_len(text) <= room:
        return text
    return path_end(text, room) if "/" in text and " " not in text and text.isascii() else fit(text, room)


def _length(line: Line) -> int:
    return sum(cell_len(text) for text, _ in line)

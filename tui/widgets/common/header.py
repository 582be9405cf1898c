"""The lines at the top of every screen: the header, and the strip with status, you, now, failed and agent."""

from __future__ import annotations

import re
from itertools import chain
from pathlib import PurePath
from typing import ClassVar

from rich.cells import cell_len

from core.engine.mind.readings import SleepReading
from core.events import MAIN
from core.live.hook_signs import answer_keys
from core.logs.follow import UNKNOWN
from core.report.event_words import BYPASSES
from core.report.formatting import age, count, folder_name, money, plain, short, span
from core.report.now import Now, lately_failed
from core.report.plan_limits import SIZE, plan_share
from tui.draw.line import Line, clipped, fit, meter, path_end, wrapped
from tui.feed.view import View, names_of, running_agents
from tui.widgets.common.panel import Panel

_MODES = {"live": ("◉ LIVE", "live"), "paused": ("‖ PAUSED", "strong"), "replay": ("▷ REPLAY", "strong")}


_DATE = re.compile(r"-\d{8}$")
_ROOMY = 100
_SPACIOUS = 70  # Cells from which the strip has room for what an agent may do without asking.
_ALERTS = ("failed", "×", BYPASSES)  # What makes a figure of the strip an alert.
_NARROW = 80
_HUGE = 180
_TITLE = 60
_SHORTEST = 16  # Cells of a title at most where there is no room to spare, and below which it is left away.
_FORMS = ((0, 0), (1, 0), (2, 0), (2, 1), (2, 2), (2, 3), (2, 4))  # Of context and sleep pressure, longest first.
_TIGHT_TITLE = 24  # Cells of a title that stands for an unknown project on a narrow screen.


class StatusHeader(Panel, can_focus=False):
    """One line, or two if there is room; the least important part gives way first."""

    DEFAULT_CSS = """
    StatusHeader { height: 1; border: none; padding: 0 1; background: $panel; }
    StatusHeader.-two { height: 2; }
    """
    EMPTY: ClassVar[str] = "nooscope"

    def lines(self, view: View, width: int, height: int) -> list[Line]:
        tight = width < _ROOMY
        first = [*(_who(view)[:1] if height < 2 and view.agent != MAIN else []), *_alarm(view, width < _NARROW)]
        cost, day = _cost(view), _day(view, width)
        over = day if view.day is not None and view.day.over else []  # An alert keeps its place on a narrow screen.
        left, context, sleep = _fitting(view, width, [*first, *over, *cost[:1]])
        if not tight:
            left = [[("nooscope", "strong")], *left]
        first_costs = [*over, *sleep, *cost[:1]] if tight else [*cost[:1], *over, *sleep]
        costs = [*first_costs, *cost[1:], *([] if over else day)]
        facts = [*first, *context, *costs, *_limits(view)]
        if height < 2:
            if not tight and not _title(view, width, [*left, *facts]):
                left = left[1:]
                if not _title(view, width, [*left, *facts]) and view.subject.title:
                    left = [*_mode(view), *_subject(view, _ROOMY - 1)]
            right = [*facts, *_notice(view)]
            return [_spread([*left, *_title(view, width, [*left, *facts])], right, width)]
        return [
            _spread([*left, *_title(view, width, [*left, *facts])], facts, width),
            _spread([*_who(view), *_notice(view)], _burn(view), width),
        ]


def _mode(view: View) -> list[Line]:
    word, ink = _MODES[view.mode]
    if view.mode == "replay" and view.playing:
        word = "▶ REPLAY"
    pieces: list[Line] = [[(word, ink)]]
    if view.late and view.loading is None:
        amount = "" if view.behind == UNKNOWN else f"{view.behind:,} events "
        pieces[0] = [(f"{word}, {amount}behind", "alert")]
    if view.mode == "replay":
        pieces[0].append((f" x{view.speed:g}", "quiet"))
    if view.narrator:
        pieces.append([("✎ model on", "strong")])
    if view.loading is not None:
        pieces.append([*meter(view.loading, 8, "live", thin=True), (f" {100 * view.loading:.0f}% read", "quiet")])
    if view.what_if:
        pieces.insert(0, [(" WHAT IF (w) ", "seeking-tag")])
    return pieces


def _subject(view: View, width: int, *, model: bool = True) -> list[Line]:
    subject = view.subject
    tight = width < _ROOMY
    name = model_name(subject.model) if model else ""
    names = ["" if tight else plain(subject.tool, 16), _project(view, tight), _cut_end(name, 12 if tight else 24)]
    parts = [part for part in names if part]
    return [[(" · ".join(parts), "plain")]] if parts else []


def model_name(model: str) -> str:
    """Return what a model is called, without its maker and its date."""
    return _DATE.sub("", model.rpartition("/")[2].removeprefix("claude-"))


def _project(view: View, tight: bool) -> str:
    """Return the project; if the log has none, the session's title, else its file."""
    most = 14 if tight else 28
    if folder := folder_name(view.subject.project):
        return plain(folder, most)
    if view.words and view.subject.title:
        return _cut_end(view.subject.title, _TIGHT_TITLE) if tight else ""
    return plain(PurePath(view.subject.path).stem, most)


def _cut_end(name: str, most: int) -> str:
    """Cut a name at its end: the beginning of a model's name says most."""
    text = plain(name)
    return fit(text, most) if cell_len(text) > most else text


def _who(view: View) -> list[Line]:
    if len(view.agents) < 2 and view.agent == MAIN:
        return []
    return [
        [("agent ", "quiet"), (names_of(view).get(view.agent, plain(view.agent, 20)), "strong")],
        [(f"{running_agents(view)} of {count(len(view.people.agents), 'agent')} running", "quiet")],
    ]


def _alarm(view: View, tight: bool) -> list[Line]:
    """Say what happened to the log, and that the person is needed now while another moment is shown."""
    needed: list[Line] = [[(f"now {view.edge.glyph} {view.edge.word}", "alert")]] if view.edge else []
    if view.others:
        needs = "" if tight else " needs you" if view.others == 1 else " need you"
        needed.append([(f"▲ {'another' if view.others == 1 else f'{view.others} others'}{needs} (W)", "alert")])
    if view.newer:
        needed.append([(f"newer session here: {plain(view.newer, 30)} (W)", "strong")])
    return [*needed, [(f"! {plain(view.notice, 60)}", "alert")]] if view.notice else needed


def _notice(view: View) -> list[Line]:
    pieces: list[Line] = []
    if view.in_flight:
        first = plain(view.in_flight[0], 18)
        more = f" +{len(view.in_flight) - 1}" if len(view.in_flight) > 1 else ""
        pieces.append([("running ", "quiet"), (first + more, "plain")])
    elif view.mode == "live" and not view.late and view.frame.receptor.idle and view.total:
        pieces.append([(f"silent for {span(view.at - view.end)}", "quiet")])
    if view.skipped:
        pieces.append([(f"{count(view.skipped, 'line')} skipped", "quiet")])
    return pieces


def _fitting(view: View, width: int, others: list[Line]) -> tuple[list[Line], list[Line], list[Line]]:
    """Return the subject, context and sleep pressure in the longest forms that leave room for the others.

    The model's name gives way before the bars and what the sleep pressure leads to.
    """
    contexts, sleeps = _context(view), _sleep(view, bar=width < _ROOMY)
    forms = [(contexts[place], sleeps[other]) for place, other in _FORMS]
    lefts = [[*_mode(view), *_subject(view, width, model=model)] for model in (True, False)]
    tries = [(lefts[0], *form) for form in forms[:4]] + [(lefts[1], *form) for form in forms]
    return next((each for each in tries if _length([*chain(*each), *others]) <= width), tries[-1])


def _context(view: View) -> list[list[Line]]:
    """The share of the way to compaction, the longest form first."""
    sleep = view.frame.mind.sleep
    if not sleep.context_tokens:
        return [[]] * 3
    window = view.hooks.figures.window if view.hooks is not None else 0
    smaller = plan_share(view.subject.tool, sleep, window) or 0.0
    ink = "alert" if max(sleep.context, smaller) >= 0.9 else "plain"
    share, more = f"{100 * sleep.context:.0f}%", _turns(sleep.turns_to_compaction)
    bar: Line = [("context ", "quiet"), *meter(sleep.context, 6, ink, thin=True)]
    if smaller >= 0.5:
        share += f", or {min(100.0, 100 * smaller):.0f}% if {SIZE}"
        more = ""
    return [[[*bar, (f" {share}{more}", ink)]], [[*bar, (f" {share}", ink)]], [[("context ", "quiet"), (share, ink)]]]


def _sleep(view: View, *, bar: bool) -> list[list[Line]]:
    """The sleep pressure and what it leads to, the longest form first; a bar where no panel shows one."""
    if not view.total:
        return [[]] * 5
    sleep = view.frame.mind.sleep
    gauge: Line = [*meter(sleep.pressure, 4, "fatigue", thin=True), (" ", "plain")] if bar else []
    share, words = f"{sleep.pressure:.0%}", dream_words(sleep)
    long, brief = (f"{share}, {each}" if each else share for each in (words, dream_words(sleep, True)))
    forms = [(gauge, long), (gauge, words if bar and words else long), (gauge, brief), ([], brief), ([], share)]
    return [[[("sleep ", "quiet"), *bars, (said, "plain")]] for bars, said in forms]


def dream_words(sleep: SleepReading, brief: bool = False) -> str:
    """How soon the sleep pressure leads to a dream; blank if the model cannot say."""
    if sleep.dream_ticks is None:
        return ""
    if not sleep.dream_ticks:
        return "dreaming"
    return f"dream ~{sleep.dream_ticks}" if brief else f"dream in ~{count(sleep.dream_ticks, 'tick')}"


def _turns(left: int | None) -> str:
    """How many turns are left until compaction."""
    return "" if left is None else f", ~{count(left, 'turn')}"


def _cost(view: View) -> list[Line]:
    """Show the cost so far and the pace, once a turn with tokens was read."""
    spending = view.spent
    if not spending.priced + spending.unpriced:
        return []
    unread = spending.unpriced or view.loading is not None
    amount = money(spending.dollars, spending.priced, unread).replace("at least ", "≥")
    pieces: list[Line] = [[(amount if spending.priced else f"cost {amount}", "plain" if spending.priced else "quiet")]]
    if spending.rate is not None and not view.subject.synthetic_time:
        pieces.append([(f"${spending.rate:,.2f}/h", "plain")])
    return pieces


def _day(view: View, width: int) -> list[Line]:
    """Show today's cost of all agents against the budget, if there is one."""
    if view.day is None or not view.day.ways[-1]:
        return []
    text = view.day.ways[0 if width >= _HUGE else -1]
    return [[(text, "alert" if view.day.over else "plain")]]


def _limits(view: View) -> list[Line]:
    """How much of the plan's windows is used, and when one runs out at this pace."""
    limits = view.hooks.limits if view.hooks is not None else ()
    return [[(one.words(brief=True), "alert" if one.urgent else "plain")] for one in limits]


def _title(view: View, width: int, others: list[Line]) -> list[Line]:
    """Show the session's title, if there is room for part of it."""
    room = min(width if width >= _HUGE else _TITLE, width - _length(others) - 4)
    title = plain(view.subject.title) if view.words else ""
    if not title or room < _SHORTEST:
        return []
    return [[(title if cell_len(title) <= room else fit(title, room), "quiet")]]


def _burn(view: View) -> list[Line]:
    if "tokens" in view.subject.untold and not view.burn:
        return [[("tokens unknown", "quiet")]]
    return [[(f"{short(view.burn)} tokens/min", "plain" if view.burn else "quiet")]]


def _length(pieces: list[Line]) -> int:
    return sum(cell_len(text) for piece in pieces for text, _ in piece) + 2 * max(0, len(pieces) - 1)


def _spread(left: list[Line], right: list[Line], width: int) -> Line:
    """Both ends of a line; what does not fit is left away, from the right end's last piece on."""
    while right and _length(left) + _length(right) + 2 > width:
        right = right[:-1]
    while left and _length(left) + 2 > width:
        left = left[:-1]
    room = width - _length(left) - _length(right) - (2 if left else 0)
    line: Line = []
    for piece in left:
        line += [*piece, ("  ", "plain")]
    line.append((" " * room, "plain"))
    for number, piece in enumerate(right):
        line += [*([("  ", "plain")] if number else []), *piece]
    return line


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
            blank = max(1, width - _line_cells(rows[0]) - cell_len(keys))
            rows[0] = [*rows[0], (" " * blank, "plain"), (keys, "strong")]
        lately = lately_failed(view.now)
        if height < 4:
            status = rows[0] if keys else _with_figure(rows[0], lately, width)
            left = lately if status is rows[0] else ""
            answered = (view.status is not None and view.status.at_rest and bool(view.now.said)) and not view.now.times
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
    room = width - _line_cells(line)
    return [*line, (_cut(plain(why), room), "plain"), *hidden] if room > 3 else line


def _prompt_line(view: View, width: int) -> Line:
    now = view.now
    if not (now.asked_at or now.asked or now.characters):
        return _row("you", [("no prompt so far", "quiet")], now.mode, width)
    untold = "the log does not contain its task" if view.words else "its task is hidden"
    prompt = now.asked or (f"a prompt of {count(now.characters, 'character')}" if now.characters else untold)
    ink = "plain" if now.asked else "quiet"
    mode = f"{now.mode} · " if now.mode and (width >= _SPACIOUS or now.mode == BYPASSES) else ""
    return _row("you", [(plain(prompt), ink)], f"{mode}{age(view.at - now.asked_at)} ago", width)


def _doing_line(view: View, width: int) -> Line:
    now = view.now
    if not now.tool:
        return _row("now", [("no call yet", "quiet")], "", width)
    call, since = _call(now), _call_age(view)
    least = min(_LEAST, _line_cells(call))
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
    needed = _LABEL + _line_cells(_call(now)) + max(12, cell_len(_call_age(view)) + 2)
    call = 0 if now.failed == now.doing else cell_len(plain(now.failed)) + 2
    full_width = _LABEL + call + cell_len(plain(now.error)) + 6
    left = min(needed, max((width - _GAP) // 2, width - _GAP - full_width))
    return [*_doing_line(view, left), (" " * _GAP, "plain"), *_failed(view, width - left - _GAP)]


def _agent_lines(view: View, width: int, most: int, lately: str) -> list[Line]:
    """Return the last words, over a few lines at most, with recent failures beside the first."""
    now = view.now
    if not now.said:
        words = "no message so far" if view.words else "its words are hidden"
        return [_row("agent", [(words, "quiet")], lately, width)]
    first = width - _LABEL - (cell_len(lately) + _GAP if lately else 0)
    pieces = wrapped(f"“{plain(now.said)}”", max(8, first))
    if len(pieces) > most:
        pieces = [*pieces[: most - 1], pieces[most - 1] + " " + pieces[most]]
    rows = [_row("agent", [(pieces[0], "plain")], lately, width)]
    return rows + [_row("", [(piece, "plain")], "", first + _LABEL) for piece in pieces[1:]]


def _with_figure(line: Line, right: str, width: int) -> Line:
    """Return a line with a figure at its right end, if there is room."""
    room = width - _line_cells(line) - cell_len(right)
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
        line += [(" " * (room + 2), "plain"), (right, "alert" if any(sign in right for sign in _ALERTS) else "quiet")]
    elif room > 0:
        line.append((" " * room, "plain"))
    return line


def _cut(text: str, room: int) -> str:
    """Text no wider than that; of a path its end stays."""
    if cell_len(text) <= room:
        return text
    return path_end(text, room) if "/" in text and " " not in text and text.isascii() else fit(text, room)


def _line_cells(line: Line) -> int:
    return sum(cell_len(text) for text, _ in line)

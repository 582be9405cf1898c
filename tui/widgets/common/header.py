"""The line at the top: what is shown, whose mind it is, and how it is with it."""

from __future__ import annotations

import re
from itertools import chain
from pathlib import PurePath
from typing import ClassVar

from rich.cells import cell_len

from core.engine.mind.readings import SleepReading
from core.events import MAIN
from core.logs.follow import UNKNOWN
from core.report.formatting import count, folder_name, money, plain, short, span
from core.report.plan_limits import SIZE, plan_share
from tui.draw.gauge import meter
from tui.draw.line import Line, fit
from tui.feed.view import View, names_of, running_agents
from tui.widgets.common.panel import Panel

_MODES = {"live": ("◉ LIVE", "live"), "paused": ("‖ PAUSED", "strong"), "replay": ("▷ REPLAY", "strong")}


_LEVELS = ("quiet", "plain", "strong", "alert")  # How much a status presses, as ink.

_DATE = re.compile(r"-\d{8}$")
_ROOMY = 100
_HUGE = 180
_TITLE = 60
_SHORTEST = 16  # Cells of a title at most where there is no room to spare, and below which it is left away.
_FORMS = ((0, 0), (0, 1), (1, 1), (2, 1), (2, 2), (2, 3))  # Of the context and of the sleep pressure, longest first.
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
        first = [*(_who(view)[:1] if height < 2 and view.agent != MAIN else []), *_alarm(view, tight)]
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
        pieces.insert(0, [(" WHAT IF ", "seeking-tag")])
    return pieces


def _subject(view: View, width: int, *, model: bool = True) -> list[Line]:
    subject = view.subject
    tight = width < _ROOMY
    name = _DATE.sub("", subject.model.rpartition("/")[2].removeprefix("claude-")) if model else ""
    names = ["" if tight else plain(subject.tool, 16), _project(view, tight), _cut_end(name, 12 if tight else 24)]
    parts = [part for part in names if part]
    return [[(" · ".join(parts), "plain")]] if parts else []


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
    """What is shown, its context and its sleep pressure, in the longest forms that leave room for the others.

    The model's name gives way before the bars and what the sleep pressure leads to.
    """
    contexts, sleeps = _context(view), _sleep(view, bar=width < _ROOMY)
    forms = [(contexts[place], sleeps[other]) for place, other in _FORMS]
    lefts = [[*_mode(view), *_subject(view, width, model=model)] for model in (True, False)]
    tries = [(lefts[0], *form) for form in forms[:3]] + [(lefts[1], *form) for form in forms]
    return next((each for each in tries if _length([*chain(*each), *others]) + 2 <= width), tries[-1])


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
        return [[]] * 4
    sleep = view.frame.mind.sleep
    gauge = meter(sleep.pressure, 4, "fatigue", thin=True) if bar else []
    share = f"{sleep.pressure:.0%}"
    long, brief = (f"{share}, {words}" if words else share for words in (dream_words(sleep), dream_words(sleep, True)))
    label = ("sleep ", "quiet")
    barred: list[Line] = [[label, *gauge, (f"{' ' if bar else ''}{said}", "plain")] for said in (long, brief)]
    return [*([line] for line in barred), [[label, (brief, "plain")]], [[label, (share, "plain")]]]


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
    """Show the cost so far, and the pace; nothing if there was no turn with tokens."""
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

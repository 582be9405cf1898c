"""The columns of the fleet: as many as there is room for, the most needed first."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import NamedTuple

from rich.cells import cell_len

from core.live.fleet.order import Fold, Heading, Sorting, census
from core.live.fleet.row import BUCKETS, FleetRow
from core.live.status import Status
from core.report.formatting import age, count, fraction, plain, short
from tui.draw.line import Line, fit, joined_cells

_HIGH, _FULL = 0.5, 0.75
_DATE = re.compile(r"-\d{8}$")
_LEVEL_STYLES = ("quiet", "live", "seeking", "alert-tag")
_LOW = 0.2
_MANY, _PART = 3, 0.2
"""Failures, and their share of all calls, from which they are marked."""
_REASON = 8
"""Cells of a reason for which the last columns give way whole: a figure that is cut says something else."""
_SPARKS = "▁▂▃▄▅▆▇"
"""Never a full cell, so that curves on adjacent lines do not touch."""


class CellContext(NamedTuple):
    """What a cell needs beside its row."""

    now: float
    span: float
    """Seconds the small curve shows."""


class Column(NamedTuple):
    """One column: its title, its width, how a row looks in it, and the order that sorts by it."""

    title: str
    width: int
    cell: Callable[[FleetRow, int, CellContext], Line]
    sorting: Sorting | None = None
    right: bool = False


def level_style(stands: Status) -> str:
    """The style of a standing; what is only surmised has no ground of its own."""
    if stands.level == 3 and stands.word.endswith("?"):
        return "alert"
    return "flow" if stands.word == "flowing" else _LEVEL_STYLES[stands.level]


def _word(row: FleetRow, width: int, _: CellContext) -> Line:
    stands = row.status
    return [(fit(f"{stands.glyph} {stands.word}", width), level_style(stands))]


def _for(row: FleetRow, width: int, moment: CellContext) -> Line:
    since = row.status.since
    ink = "alert" if row.status.level == 3 else "plain" if row.status.level else "quiet"
    return [("" if since is None else age(moment.now - since), ink)] if width else []


def _project(row: FleetRow, width: int, _: CellContext) -> Line:
    return [(plain(row.name, width), "strong" if row.status.level else "quiet")]


def _session(row: FleetRow, width: int, _: CellContext) -> Line:
    return [(plain(row.session)[:width], "plain" if row.status.level else "quiet")]


def _agent(row: FleetRow, width: int, _: CellContext) -> Line:
    return [(plain(row.agent, width), "quiet")]


def _host(row: FleetRow, width: int, _: CellContext) -> Line:
    return [(plain(row.host, width), "plain" if row.status.level else "quiet")]


def _model(row: FleetRow, width: int, _: CellContext) -> Line:
    return [(plain(_DATE.sub("", row.model.rpartition("/")[2].removeprefix("claude-")), width), "quiet")]


def _curve(row: FleetRow, width: int, moment: CellContext) -> Line:
    points = row.points(moment.now, width, moment.span)
    cells = ["·" if point is None else _SPARKS[min(6, int(point * 7))] for point in points]
    return joined_cells(cells, [_curve_style(point) for point in points])


def _curve_style(point: float | None) -> str:
    if point is None:
        return "track"
    return "quiet" if point < _LOW else "frustration-dim" if point < _HIGH else "frustration"


def _frustration(row: FleetRow, _: int, __: CellContext) -> Line:
    ink = "frustration" if row.frustration >= _HIGH else "plain" if row.status.level else "quiet"
    return [(fraction(row.frustration), ink)]


def _flow(row: FleetRow, _: int, __: CellContext) -> Line:
    ink = "quiet" if not row.status.level else "plain" if row.facts.flow is None else "flow"
    return [(fraction(row.flow), ink)]


def _context(row: FleetRow, _: int, __: CellContext) -> Line:
    if not row.context_tokens:
        return [("-", "quiet")]
    share = row.facts.context
    ink = "alert" if share >= 0.9 else "seeking" if share >= _FULL else "plain"
    return [(f"{100 * share:.0f}%", ink if row.status.level else "quiet")]


def _forecast(row: FleetRow, _: int, __: CellContext) -> Line:
    left = row.facts.turns_left
    if left is None or not row.context_tokens:
        return [("", "quiet")]
    return [(f"~{left}" if left < 1000 else "far", "plain" if left < 20 and row.status.level else "quiet")]


def _state(row: FleetRow, width: int, _: CellContext) -> Line:
    ink = "alert" if row.state == "stuck" and row.status.level else "quiet"
    return [(plain(row.state.replace("_", " "), width), ink)]


def _pattern(row: FleetRow, width: int, _: CellContext) -> Line:
    ink = "frustration" if row.pattern == "trial_error" and row.status.level else "quiet"
    return [(plain(row.pattern.replace("_", " "), width), ink)]


def _governor(row: FleetRow, width: int, _: CellContext) -> Line:
    if row.governor == "HALTED":
        return [(plain(f"■ {row.halt.lower()}", width), "alert" if row.status.level else "quiet")]
    return [(row.governor.lower(), "plain" if row.governor == "RECOVERING" else "quiet")]


def _tokens(row: FleetRow, _: int, __: CellContext) -> Line:
    return [(short(row.burn) if row.burn else "-", "plain" if row.burn else "quiet")]


def _subagents(row: FleetRow, _: int, __: CellContext) -> Line:
    if not row.facts.subagents:
        return [("", "quiet")]
    least = "≥" if row.partial else ""
    return [(f"{row.running}/{least}{row.facts.subagents}", "plain" if row.running else "quiet")]


def _why(row: FleetRow, width: int, _: CellContext) -> Line:
    return [(fit(row.why, width), "plain" if row.status.level >= 2 else "quiet")]


def _last(row: FleetRow, width: int, moment: CellContext) -> Line:
    when = age(moment.now - row.last_at) if row.last_at else ""
    ink = "plain" if row.status.level else "quiet"
    sign = f"{row.last_sign} " if row.last_sign else ""
    return [(f"{when:>4} ", "quiet"), (fit(sign + row.last, width - 5), ink)]


def _reason(row: FleetRow, width: int, moment: CellContext) -> Line:
    """Why it needs somebody, else what it did or said last."""
    if row.status.level == 3 or (row.status.level == 2 and not row.status.word.startswith("done")):
        return _why(row, width, moment)
    sign = f"{row.last_sign} " if row.last_sign else ""
    told = f"{sign}{row.last}" if row.last else row.why
    return [(fit(told, width), "plain" if row.status.level else "quiet")]


def _title(row: FleetRow, width: int, _: CellContext) -> Line:
    return [(fit(plain(row.title), width), "plain" if row.status.level else "quiet")]


def _cost(row: FleetRow, width: int, _: CellContext) -> Line:
    return [(row.cost[:width], "plain" if row.priced and row.status.level else "quiet")]


def _failures(row: FleetRow, _: int, __: CellContext) -> Line:
    if not row.calls:
        return [("", "quiet")]
    high = row.failures >= _MANY and row.failures > _PART * row.calls
    ink = "quiet" if not (row.failures and row.status.level) else "alert" if high else "plain"
    return [(f"{row.failures}/{short(row.calls) if row.calls > 999 else row.calls}", ink)]


class TableLayout(NamedTuple):
    """What a table of some rows needs room for."""

    width: int
    project: int
    agent: int
    subagents: bool
    grouped: bool
    """Headings name the project already."""
    host: int = 0
    axes: bool = False
    """What the minds read is shown, not what the sessions are about."""


def table_layout(
    rows: Sequence[FleetRow], width: int, *, grouped: bool = False, axes: bool = False
) -> TableLayout:
    """The room these rows need, in steps, so that columns stand still."""
    project = max((len(row.name) for row in rows), default=0)
    agent = max((len(row.agent) for row in rows), default=0)
    subagents = any(row.facts.subagents for row in rows)
    host = min(16, -(-max((len(row.host) for row in rows), default=0) // 4) * 4)
    return TableLayout(width, -(-project // 4) * 4, max(5, min(agent, 14)), subagents, grouped, host, axes)


@lru_cache(maxsize=16)
def fleet_columns(room: TableLayout) -> tuple[Column, ...]:
    """The columns of a table."""
    return _axis_columns(room) if room.axes else _plain_columns(room)


def _first_columns(room: TableLayout) -> list[Column]:
    width = room.width
    wide, huge = width >= 110, width >= 160
    return [
        Column("status", 14, _word, "need"),
        Column("for", 4, _for, "recent", right=True),
        *([Column("host", room.host, _host)] if room.host else []),
        Column("session", 8, _session, "project")
        if room.grouped
        else Column(
            "project", max(8, min(room.project, 24 if huge else 20 if wide else 14)), _project, "project"
        ),
    ]


def _plain_columns(room: TableLayout) -> tuple[Column, ...]:
    """What each session is about, does, needs and costs."""
    wide, huge = room.width >= 110, room.width >= 160
    chosen = _first_columns(room)
    if huge:
        chosen.append(Column("agent", room.agent, _agent, "agent"))
    if wide:
        chosen.append(Column("title", 44 if huge else 24, _title))
    last = [
        Column("ctx", 4, _context, "context", right=True),
        Column("$", 9 if wide else 8, _cost, "cost", right=True),
        Column("failed", 7 if wide else 6, _failures, "failures", right=True),
    ]
    if huge:
        last.insert(1, Column("turns", 5, _forecast, right=True))
        last += [Column("subs", 5, _subagents, right=True)] if room.subagents else []
    rest = room.width - sum(column.width + 1 for column in (*chosen, *last))
    while rest < _REASON and last:
        rest += last.pop().width + 1
    while rest < 0 and len(chosen) > 1:
        rest += chosen.pop().width + 1
    return (*chosen, Column("why, or what it does", max(0, rest), _reason), *last)


def _axis_columns(room: TableLayout) -> tuple[Column, ...]:
    """What the minds of each session read."""
    width = room.width
    wide, huge = width >= 110, width >= 160
    chosen = _first_columns(room)
    if wide:
        chosen.append(Column("agent", room.agent, _agent, "agent"))
    if huge:
        chosen += [Column("model", 12, _model), Column("state", 10, _state), Column("pattern", 14, _pattern)]
    chosen.append(
        Column("frustration", BUCKETS if huge else 11, _curve) if wide else Column("frust", 8, _curve)
    )
    chosen.append(Column("now", 4, _frustration, "frustration", right=True))
    if wide:
        chosen.append(Column("flow", 4, _flow, right=True))
    chosen.append(Column("ctx", 4, _context, "context", right=True))
    if wide:
        chosen.append(Column("turns", 5, _forecast, right=True))
    if huge:
        chosen.append(Column("governor", 12, _governor))
    if wide:
        chosen.append(Column("tok/m", 6, _tokens, "tokens", right=True))
        chosen += [Column("subs", 5, _subagents, right=True)] if room.subagents else []
    rest = width - sum(column.width + 1 for column in chosen)
    while rest < 0 and len(chosen) > 1:
        rest += chosen.pop().width + 1
    if huge and rest >= 48:
        last = min(30, rest // 3 + 2)
        chosen[1] = chosen[1]._replace(sorting=None)
        chosen += [Column("last event", last, _last, "recent"), Column("why", rest - last - 1, _why)]
    else:
        chosen.append(Column("why, or last event", max(0, rest), _reason))
    return tuple(chosen)


def title_line(room: TableLayout, sorting: Sorting) -> Line:
    """The line above the rows; the column that sorts is marked."""
    line: Line = []
    for column in fleet_columns(room):
        chosen = column.sorting == sorting
        title = fit(f"{column.title}▾" if chosen else column.title, column.width)
        title = title.strip().rjust(column.width) if column.right else title
        line += [(title, "strong" if chosen else "quiet"), (" ", "quiet")]
    return line


def sorting_at(room: TableLayout, x: int) -> Sorting | None:
    """What the column at a cell of the line above the rows sorts by."""
    for column in fleet_columns(room):
        if x < column.width:
            return column.sorting
        x -= column.width + 1
    return None


def session_line(row: FleetRow, room: TableLayout, moment: CellContext) -> Line:
    """One session."""
    line: Line = []
    for column in fleet_columns(room):
        made = column.cell(row, column.width, moment)
        free = column.width - sum(cell_len(text) for text, _ in made)
        pad: Line = [(" " * max(0, free), "plain")]
        line += [*pad, *made] if column.right else [*made, *pad]
        line.append((" ", "plain"))
    return line


def fold_line(item: Fold, now: float, width: int) -> Line:
    """The line for sessions at rest."""
    newest = max((row.facts.heard for row in item.rows), default=0.0)
    dollars = sum(row.dollars for row in item.rows)
    about = f"○ {count(len(item.rows), 'more session')} at rest, the newest {age(now - newest)} ago"
    if dollars:
        about += f", ${dollars:,.2f}"
    return [(fit(f"{about}  (h shows them)", width), "quiet")]


def project_line(item: Heading, width: int) -> Line:
    """The line above a project's sessions."""
    counted = census(item.rows)
    line: Line = [(f"{plain(item.name, 40)} ", "strong"), (count(len(item.rows), "session"), "quiet")]
    if counted.need:
        line.append((f"  ▲ {counted.need} in need", "alert"))
    used = sum(len(text) for text, _ in line)
    return [*line, (" " + "─" * max(0, width - used - 2), "track")]

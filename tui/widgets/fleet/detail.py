"""Details of one session below the table, and of the fleet above it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from rich.cells import cell_len
from textual.content import Content

from core.engine.percept import spell_name
from core.live.fleet.row import FleetRow, Order, census, listed
from core.live.hook_signs import answer_keys
from core.report.event_words import BYPASSES
from core.report.formatting import age, count, fraction, home_path, plain, short, span
from core.report.plan_limits import PlanLimit, limit_shares
from core.report.sums import Budget, DaySpent, day_spent, forecast
from tui.draw.line import wrapped

_COLOURS = ("$quiet", "$live", "$axis-seeking", "$alert")
_CHARGED = 24 * 60  # Minutes of which the rows of the fleet know the charges.
_REPEATED = 40  # Cells of its last words that show that the reason of its status quotes them.
_SHORTEST = 12  # Cells below which a title is left out.
LATE = 5.0  # Seconds after which the picture is said to be old.


def fleet_title(
    rows: Sequence[FleetRow],
    order: Order,
    now: float,
    late: float,
    width: int,
    today: DaySpent,
    limits: Sequence[PlanLimit] = (),
) -> Content:
    """Return the title of the fleet: counts by status, cost, order; and a warning if it is out of date."""
    counted = census(rows)
    unread = sum(row.status.reading for row in rows)
    parts: list[tuple[str, str]] = [("nooscope ", "bold"), ("fleet  ", "$quiet")]
    if late >= LATE:
        parts.append((f"! not updated for {age(late)}  ", "$alert bold"))
    parts.append(
        (f"▲ {counted.need} need{'s' if counted.need == 1 else ''} you", "$alert bold")
        if counted.need
        else ("▲ none need you so far" if unread else "▲ none need you", "$quiet")
    )
    if unread:
        parts.append((f"  ↓ {unread} still being read", "bold"))
    look = counted.look - unread
    parts += [
        (f"  ▽ {look} to look at", "$axis-seeking" if look else "$quiet"),
        (f"  ● {counted.work} working", "$live" if counted.work else "$quiet"),
        (f"  ○ {counted.rest} at rest", "$quiet"),
        (f"  · {counted.new} new" if counted.new else "", "$quiet"),
    ]
    clock = datetime.fromtimestamp(now).astimezone().strftime("%H:%M:%S")
    narrowed = _narrowed(rows, order)
    sorting = "by project" if order.grouped else f"by {order.sorting}"
    near = sorted(limits, key=lambda one: (not one.urgent, -one.used))
    plans = [f"{'! ' if one.urgent else ''}{one.agent} {one.words(brief=True)}  " for one in near]
    tries = [
        *(f"{narrowed}{''.join(plans[:most])}{sorting}  {clock}" for most in range(len(plans), 0, -1)),
        f"{narrowed}{sorting}  {clock}",
        f"{narrowed}{sorting}",
        narrowed.strip(),
    ]
    room = width - sum(len(text) for text, _ in parts) - len(tries[-1 if today.over else 0]) - 3
    spending = next((words for words in today.ways if len(words) <= room), today.ways[-1])
    cost = f"  {spending}" if spending else ""
    parts.append((cost, "$alert bold" if today.over else ""))
    _leave_out(parts, width - (len(tries[-1]) + 1 if narrowed else 0), "" if today.over else cost)
    room = width - sum(len(text) for text, _ in parts)
    right = next((text for text in tries if len(text) + 1 <= room), "")
    parts.append((right.rjust(room), "bold" if narrowed else "$quiet"))
    return Content.assemble(*parts)


def _leave_out(parts: list[tuple[str, str]], room: int, cost: str) -> None:
    """Remove parts until the rest fits, the least important first."""
    for least in ("nooscope ", "fleet ", cost, "  · ", "  ○ ", "  ● ", "  ▽ ", "▲ none"):
        if sum(len(text) for text, _ in parts) <= room:
            return
        if least:
            parts[:] = [part for part in parts if not part[0].startswith(least)]


def today_spent(rows: Sequence[FleetRow], now: float, budget: Budget) -> DaySpent:
    """Return today's cost of the listed sessions, with a forecast."""
    outlook = forecast((charge for row in rows for charge in row.charges), budget, now, None)
    here = datetime.fromtimestamp(now).astimezone()
    midnight = here.replace(hour=0, minute=0, second=0, microsecond=0).timestamp()
    return day_spent(outlook, open_end=any(row.uncounted for row in rows if row.last_at >= midnight))


def _narrowed(rows: Sequence[FleetRow], order: Order) -> str:
    """Return how many sessions a filter leaves."""
    if not (order.status or order.text):
        return ""
    visible = len(listed(rows, order._replace(grouped=False)))
    return f"{visible} of {len(rows)} shown  "


def session_detail(row: FleetRow, now: float, lines: int, width: int, fleet: Sequence[FleetRow] = ()) -> Content:
    """Describe one session in a number of lines."""
    status, facts = row.status, row.facts
    since = "" if status.since is None else f" for {span(max(0.0, now - status.since))}"
    head = [(f"{status.glyph} {status.word}{since}", f"{_COLOURS[status.level]} bold")]
    silence = f"log silent for {span(max(0.0, now - facts.heard))}" if facts.heard else "log not read yet"
    open_calls = ", ".join(f"{plain(call.tool, 20)} {age(now - call.at)}" for call in facts.open[:4])
    context = f"context {100 * facts.context:.0f}% ({short(row.context_tokens)} of {short(row.compaction_point)})"
    host = f"{plain(row.host)} · " if row.host else ""
    keys = answer_keys(row.signs)
    asked = wrapped(row.why, max(8, width))[: max(1, lines - 1)] if keys else []  # It is shown whole.
    quoted = row.last.partition("“")[2][:_REPEATED]
    last = "" if quoted and quoted in row.why else f"{row.last_sign} {row.last}".strip()
    rows: list[list[tuple[str, str]]] = [
        [
            *head,
            (f"  {keys}" if keys else "", "bold"),
            ("" if asked else f"  {row.why}", ""),
            (f"  {plain(row.title)}" if row.title else "", "$quiet"),
        ],
        [
            (silence, "bold" if now - facts.heard >= 60 else ""),
            (f" · open: {open_calls}" if open_calls else " · no call open", "" if open_calls else "$quiet"),
            (f" · last: {last}" if last else "", "$quiet"),
        ],
        [
            (f"{host}{plain(row.agent)} · {plain(row.model) or 'model unknown'}", ""),
            (f" · {row.mode}" if row.mode else "", "$alert bold" if row.mode == BYPASSES else ""),
            (" · in the background" if row.background else "", ""),
            (f" · {plain(row.project)}" if row.project else "", ""),
        ],
        [
            (spell_name(f"{row.state}, {row.pattern}"), ""),
            (f" · frustration {fraction(row.frustration)}, flow {fraction(row.flow)}", ""),
            (f" · governor {row.governor.lower()}{' ' + row.halt.lower() if row.halt else ''}", ""),
            (
                " · tokens unknown"
                if "tokens" in facts.untold and not row.burn
                else f" · {short(row.burn)} tokens/min",
                "",
            ),
        ],
        [
            (context if row.context_tokens else "context unknown", ""),
            (f", about {count(facts.turns_left, 'turn')} to compaction" if facts.turns_left is not None else "", ""),
            (f" · {_counted(row, row.compactions, 'compaction')}", ""),
            (f" · {_counted(row, facts.subagents, 'sub-agent')}, {row.running} working" if facts.subagents else "", ""),
            (f" · {count(facts.events, 'event')}{' read (only the end)' if row.partial else ''}", ""),
            (f" · {count(row.skipped, 'line')} skipped" if row.skipped else "", ""),
        ],
        [(plain(home_path(str(row.path))), "$quiet")],
    ]
    rows[2 if lines >= 6 else 4].append((_limit_words(row, fleet), ""))
    if not facts.events:
        rows = [rows[0], rows[2], rows[5]]
    elif lines < 6:
        rows = [rows[0], rows[1], rows[5] if lines < 4 else rows[4], rows[5]]
    if width - sum(cell_len(text) for text, _ in rows[0][:-1]) < _SHORTEST:
        rows[0].pop()
    rows[1:1] = [[(line, "")] for line in asked]
    contents = [Content.assemble(*parts).truncate(width, ellipsis=True) for parts in rows[:lines]]
    return Content("\n").join(contents)


def _counted(row: FleetRow, number: int, what: str) -> str:
    """Return a count; if only the end of a log was read, say that it is a minimum."""
    if not row.partial:
        return count(number, what)
    return f"at least {count(number, what)}" if number else f"{what}s unknown"


def _limit_words(row: FleetRow, fleet: Sequence[FleetRow]) -> str:
    """The windows of the plan that pays for a session, how much of them it used, and a warning about spending."""
    if row.signs is None:
        return ""
    limits = ""
    for limit in row.signs.limits:
        limits += f" · {limit.words()}"
        if limit.minutes <= _CHARGED:
            charges = {one.session: one.charges for one in fleet if one.agent == row.agent}
            share = limit_shares(limit, charges).get(row.session)
            limits += f", {share.words()} by this session (by its cost and tokens)" if share else ""
    warning = plain(row.signs.warning, 120)
    return f"{limits} · {warning}" if warning and warning not in limits else limits

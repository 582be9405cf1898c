"""`nooscope cost`: what sessions cost, and where today is heading."""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Iterator, Sequence
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from core.report.formatting import count, home_path, money, plain, short
from tui.cli import options, streams

if TYPE_CHECKING:
    from core.report.answers import KeptQuestion
    from core.report.cost import SessionCost
    from core.report.log_tree import SessionName
    from core.report.plan_limits import LimitShare, PlanLimit
    from core.report.sums import Budget, CostForecast, Sum, SummedCost
    from core.settings import Settings

_AXES = ("day", "project", "model", "agent", "session")
_SHOWN = 40  # Rows on a terminal, unless all are asked for.
_SMALL = 32_000_000  # Bytes below which starting another process costs more than it saves.
_WIDEST = 60


def add_arguments(parser: argparse.ArgumentParser) -> None:
    help_text = "look in these files, folders or patterns instead"
    parser.add_argument("paths", nargs="*", type=options.path_argument, metavar="PATH", help=help_text)
    parser.add_argument("--by", choices=_AXES, default="day", help="what each row is (default: day)")
    help_text = "start at: today, 7d, 12h or 2026-01-31"
    parser.add_argument("--since", type=options.since_argument, metavar="WHEN", help=help_text)
    parser.add_argument("--json", action="store_true", help="as JSON")
    parser.add_argument("--all", action="store_true", help=f"show more than {_SHOWN} rows")
    options.add_jobs_option(parser, "logs at once")
    parser.add_argument("--forget", action="store_true", help="delete cached readings, then exit (logs stay untouched)")
    options.add_settings_options(parser)


class _Charged(NamedTuple):
    """The cost of all sessions, and the budget."""

    costs: Sequence[SummedCost]
    budget: Budget


def run(args: argparse.Namespace) -> int:
    from core.folders import own_folder
    from core.report.plan_limits import read_limits
    from core.report.sums import by, dated_charges, forecast, total

    if args.forget:
        return _forget()
    now = time.time()
    costs, budget = _charged(args)
    since = None if args.since is None else options.since_moment(args.since, now)
    sums = by(args.by, costs, None, since)
    today = forecast(dated_charges(costs), budget, now, None)
    limits = read_limits(own_folder("data"), os.environ, Path.home()).limits(now)
    if args.json:
        _print_json(args.by, sums, total(sums.values()), today, costs, limits)
    else:
        _print_text(args, sums, total(sums.values()), today, costs)
        print("\n".join(_limit_lines(limits, costs)), end="\n" if limits else "")
    return 0


def _limit_lines(limits: Sequence[PlanLimit], costs: Sequence[SummedCost]) -> Iterator[str]:
    """Each window of the person's plans, and the sessions that use it."""
    from core.report.plan_limits import METHOD

    titles = {cost.session: cost.title for cost in costs}
    for limit in limits:
        yield f"{'▲ ' if limit.urgent else ''}{limit.agent}: {limit.words()}"
        for session, share in list(_shares(limit, costs).items())[:5]:
            yield f"  {share.words():>12}  {plain(titles.get(session) or session, _WIDEST)}"
    if limits:
        yield METHOD


def _shares(limit: PlanLimit, costs: Sequence[SummedCost]) -> dict[str, LimitShare]:
    from core.report.plan_limits import limit_shares

    return limit_shares(limit, {one.session: one.charges for one in costs if one.agent == limit.agent and one.dated})


def _forget() -> int:
    from core.store.kept_answers import kept_answers
    from core.store.reading_cache import ReadingCache, reading_cache_path

    there = kept_answers().clear() | ReadingCache(reading_cache_path(), 0).clear()
    print("cached readings deleted" if there else "nothing was cached")
    return 0


def _charged(args: argparse.Namespace) -> _Charged:
    """Return what sessions cost; if nothing changed, from the cache without reading settings."""
    from core.report.answers import checked_paths, question

    kept_question = None
    paths = checked_paths(args.paths)
    if not paths:
        from core.report.log_tree import kept_places

        places = kept_places(os.environ, Path.home())
        paths = [] if places is None else list(map(Path, places.folders))
    if paths:
        kept_question = question("cost", (args.assignments,), paths, args.project, None)
        answer = kept_question.answer()
        if answer is not None:
            return _read_answer(answer)
    return _read_anew(args, paths, kept_question)


def _read_answer(answer: bytes) -> _Charged:
    """Return the cached answer from plain JSON, which imports faster than msgspec."""
    import json

    from core.report.sums import Budget, KeptCost

    costs, budget = json.loads(answer)
    return _Charged(list(map(KeptCost.of, costs)), Budget(*budget))


def _read_anew(args: argparse.Namespace, paths: list[Path], kept_question: KeptQuestion | None) -> _Charged:
    """Read what sessions cost now, and cache it."""
    import msgspec

    from core.logs.log_files import is_folder
    from core.report.answers import question
    from core.report.cost import SessionCost
    from core.report.log_tree import LogTree, agent_places
    from core.report.sums import Budget
    from core.store.reading_cache import reading_cache

    resolved = options.settings_from(args)
    settings = resolved.settings
    cache = reading_cache(settings)
    if kept_question is None:
        paths = list(map(Path, agent_places(os.environ, Path.home(), cache).folders))
        kept_question = question("cost", (args.assignments,), paths, args.project, None)
    tree = LogTree(settings, cache)
    names = tree.sessions(paths) if args.paths else tree.sessions_or_none(list(filter(is_folder, paths)))
    streams.say(*(f"{fault.file}: {fault.reason}" for fault in tree.faults))
    costs = tree.each("spent", names, SessionCost, lambda missing: _read(missing, settings, args.jobs))
    charged = _Charged(costs, Budget.of(settings.screen.cost))
    if tree.enclosed and not (resolved.complaints or tree.faults):
        kept_question.keep(msgspec.json.encode(charged), settings)
    return charged


def _read(names: list[SessionName], settings: Settings, jobs_wanted: int | None) -> Iterator[SessionCost]:
    """Read the sessions that are not known yet, with a line of progress."""
    from core.report.cost import session_cost
    from tui.cli.recordings import log_size, useful_jobs

    missing = [name.session for name in names]
    jobs = useful_jobs(jobs_wanted, len(missing), sum(map(log_size, missing)), _SMALL)
    if jobs <= 1:
        costs: Iterator[SessionCost] = (session_cost(session, settings) for session in missing)
    else:
        from core.report.process_pool import shared_out

        costs = shared_out(jobs, session_cost, missing, settings, family=attrgetter("family"))
    return streams.with_progress(costs, len(missing))


def _print_json(
    axis: str,
    sums: dict[str, Sum],
    whole: Sum,
    today: CostForecast,
    costs: Sequence[SummedCost],
    limits: Sequence[PlanLimit],
) -> None:
    from core.report.formatting import readable_json
    from core.report.plan_limits import METHOD

    by_session = {cost.path + "\n" + cost.session: cost for cost in costs}
    rows = []
    for name, one in sums.items():
        cost = by_session.get(name) if axis == "session" else None
        about: dict[str, Any] = {axis: name}
        if cost is not None:
            about = {field: getattr(cost, field) for field in ("session", "agent", "project", "title", "path")}
            about["sub_agents"] = cost.subs
        rows.append({**about, **_cost_facts(one)})
    expected = {"spent": _cost_facts(today.spent), "dollars_an_hour": today.rate, "until_hour": today.until}
    expected |= {"expected_dollars": today.expected, "budget_dollars": today.budget or None, "over_budget": today.over}
    titles = {cost.session: cost.title for cost in costs}
    windows: list[dict[str, Any]] = []
    for limit in limits:
        shares = _shares(limit, costs).items()
        users = [{"session": name, "title": titles.get(name, ""), **share._asdict()} for name, share in shares]
        windows.append({**limit._asdict(), "sessions": users})
    report = {"by": axis, "rows": rows, "total": _cost_facts(whole), "today": expected}
    print(readable_json({**report, "limits": windows, "limits_method": METHOD} if limits else report))


def _cost_facts(one: Sum) -> dict[str, Any]:
    return {
        "dollars": round(one.dollars, 6) if one.priced else None,
        "at_least": bool(one.unpriced),
        "sub_agents_dollars": round(one.sub_dollars, 6),
        "turns": one.priced + one.unpriced,
        "unpriced_turns": one.unpriced,
        "tokens": one.tokens,
        "unknown_share": round(one.unknown, 4),
    }


def _print_text(
    args: argparse.Namespace, sums: dict[str, Sum], whole: Sum, today: CostForecast, costs: Sequence[SummedCost]
) -> None:
    if not sums:
        print("No turns found." if args.since is None else f"No turns since {args.since}.")
        return
    rows = list(sums.items())[: None if args.all or not sys.stdout.isatty() else _SHOWN]
    titles = {cost.path + "\n" + cost.session: cost for cost in costs}
    table = [(args.by, "cost", "sub-agents", "turns", "tokens", "without a price")]
    for name, one in [*rows, ("all", whole)]:
        cost = money(one.dollars, one.priced, one.unpriced)
        by_subs = f"${one.sub_dollars:,.2f}" if one.sub_dollars else "-"
        unknown = f"{100 * one.unknown:.0f}%" if one.unknown >= 0.005 else "<1%" if one.unpriced else "-"
        turns = f"{one.priced + one.unpriced:,}"
        table.append((_row_name(args.by, name, titles), cost, by_subs, turns, short(one.tokens), unknown))
    streams.print_table(table, right=range(1, 6))
    if len(rows) < len(sums):
        print(f"{count(len(sums) - len(rows), 'row')} more with --all")
    print()
    print("\n".join(forecast_lines(today)))


def _row_name(axis: str, name: str, costs: dict[str, SummedCost]) -> str:
    if axis == "project":
        return plain(home_path(plain(name)), _WIDEST)
    if axis == "session" and name in costs:
        cost = costs[name]
        return plain(f"{cost.agent}  {cost.title or cost.session}", _WIDEST)
    return plain(name, _WIDEST)


def forecast_lines(today: CostForecast) -> list[str]:
    """Return today's cost, pace and forecast as lines."""
    total = today.spent
    if not total.priced:
        return ["today: unknown, no turn has a known price" if total.unpriced else "today: nothing yet"]
    of_budget = f" of ${today.budget:,.2f}" if today.budget else ""
    lines = [f"today: {money(total.dollars, total.priced, total.unpriced)}{of_budget}"]
    if today.expected is not None and today.rate is not None:
        lines.append(f"at this pace (${today.rate:,.2f} an hour) ${today.expected:,.2f} by {today.when}")
    if today.over:
        over = total.dollars > today.budget
        lines.append(f"▲ the day's budget {'is spent' if over else 'will not last'}")
    return lines

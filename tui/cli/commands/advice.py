"""`nooscope hooks advice`: the advice agents were given, and its effect."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from tui.cli.options import add_settings_options, settings_from
from tui.cli.streams import say

if TYPE_CHECKING:
    from core.report.advice import AdviceMoment, AdviceOutcome
    from core.store.journals import SaidStore


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "paths",
        metavar="PATH",
        nargs="*",
        help="logs or folders to search; without any, all advice ever sent is listed",
    )
    parser.add_argument(
        "--tell", nargs=2, metavar=("SESSION", "TEXT"), help="send an agent a message with its next call"
    )
    parser.add_argument(
        "--cancel", action="store_true", help="with --tell, under guard: deny the next call with this message"
    )
    parser.add_argument("--json", action="store_true", help="as JSON")
    add_settings_options(parser)


def run(args: argparse.Namespace) -> int:
    from platformdirs import user_data_path

    from core.store.journals import SaidStore

    if args.tell is not None:
        return _tell(*args.tell, cancel=args.cancel)
    settings = settings_from(args).settings
    store = SaidStore(user_data_path("nooscope", appauthor=False) / "said.jsonl")
    if not args.paths:
        return _list(store, args.json)
    from core.agents.registry import make_kit
    from core.logs.finder import sessions
    from core.logs.session import read_session
    from core.report.advice import follow, outcomes, silence_trial
    from core.timeline.initial_state import InitialState
    from core.timeline.opening import seed_of

    kit = make_kit(settings.ingest)
    sentences = {entry.call: (entry.rule, entry.sentence) for entry in store.read() if not entry.withheld}
    kept_back: dict[str, set[tuple[str, int]]] = {}
    for entry in store.read():
        if entry.withheld:
            kept_back.setdefault(entry.session, set()).add((entry.rule, entry.call))
    within = settings.response.advice.within
    moments: list[AdviceMoment] = []
    for session in sessions([Path(path) for path in args.paths], kit, settings.ingest.lines):
        society = InitialState(seed_of(session.id)).society(settings)
        events, withheld = read_session(session, kit, settings.ingest.lines), kept_back.get(session.id, ())
        moments += follow(events, society, within, sentences, withheld)
    counted = outcomes(moments, within)
    trial = silence_trial(moments, within)
    if args.json:
        import msgspec

        report = {
            "within": within,
            "moments": [moment._asdict() for moment in moments if moment.said],
            "outcomes": [one._asdict() for one in counted],
            "silence": trial._asdict(),
        }
        print(msgspec.json.encode(report).decode())
        return 0
    _print(moments, counted, within)
    if kept_back:
        print(f"Withheld at random: {trial.sentence}")
    else:
        print("No advice was withheld at random, so a difference may have other causes. Set")
        print("response.advice.silence to withhold a share of it at random, and measure again.")
    return 0


def _tell(session: str, message: str, *, cancel: bool) -> int:
    from core.errors import NooscopeError
    from core.hooks.connection import call, default_place

    answer = call(default_place(), "steer", {"session": session, "message": message, "cancel": cancel})
    if answer is None:
        raise NooscopeError("nooscope is not serving hooks; run `nooscope hooks listen`")
    if not answer.get("done"):
        raise NooscopeError(answer.get("why") or "no hook of this session has called yet, or the message is empty")
    denies = cancel and "why" not in answer
    print("The agent's next call is denied with it." if denies else "The agent gets it with its next call.")
    if cancel and not denies:
        say(answer["why"])
    return 0


def _list(store: SaidStore, as_json: bool) -> int:
    from core.report.formatting import moment, plain

    count = 0
    for entry in store.read():
        count += 1
        if as_json:
            import msgspec

            print(msgspec.json.encode(entry).decode())
        else:
            who = f"{entry.agent}  {plain(entry.session, 36)}  {entry.rule}"
            word = "withheld: " if entry.withheld else ""
            print(f"{moment(entry.at)}  {who}  {word}{plain(entry.sentence, 300)}")
    if not count and not as_json:
        print("No advice was sent so far; `nooscope hooks install AGENT --advise` turns it on.")
    return 0


def _print(moments: list[AdviceMoment], counted: list[AdviceOutcome], within: int) -> None:
    from core.report.advice import FEW_MOMENTS
    from core.report.formatting import moment as when
    from core.report.formatting import plain

    for one in moments:
        if one.said:
            came = "came again" if one.again else "stayed away" if one.acts >= within else "too early to say"
            print(f"{when(one.at)}  {one.rule}: {plain(one.sentence, 200)}  -> {came} ({one.acts} actions)")
    print(f"\nThe same problem within {within} actions, by the advice that was due:")
    print(f"  {'rule':<20} {'':<10} {'again':>6} {'away':>6} {'early':>6}")
    for row in counted:
        word = "sent" if row.said else "not sent"
        counts = f"{row.came_again:>6} {row.stayed_away:>6} {row.too_early:>6}"
        print(f"  {plain(row.rule, 20):<20} {word:<10} {counts}")
    sent, unsent = (
        sum(row.came_again + row.stayed_away for row in counted if row.said is side) for side in (True, False)
    )
    if min(sent, unsent) < FEW_MOMENTS:
        print(f"{sent} sent and {unsent} not sent are too few to conclude anything.")

"""`nooscope hooks permits`: what waits for you, what was decided, and whether the journal is whole."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from core.store.journals import PermitEntry

_ASKED = ("approve", "deny", "answer")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "do",
        choices=(*_ASKED, "lift"),
        nargs="?",
        help="what to do (default: show what is waiting and what was decided)",
    )
    parser.add_argument("number", nargs="?", metavar="NUMBER", help="number of the question; for lift, the session")
    parser.add_argument(
        "answers", nargs="*", metavar="ANSWER", help="the number or text of an option, or your own text"
    )
    parser.add_argument("--session", action="store_true", help="approve this tool for the rest of the session")
    parser.add_argument("--reason", default="", metavar="TEXT", help="why it is denied; the agent reads it")
    parser.add_argument("--verify", action="store_true", help="check that no line of the journal was changed")
    parser.add_argument("--json", action="store_true", help="as JSON")
    parser.add_argument("--last", type=int, default=20, metavar="N", help="decisions shown (default: 20)")


def run(args: argparse.Namespace) -> int:
    if not args.verify:
        if args.do == "lift":
            return _lift(args.number or "")
        if args.do in _ASKED:
            return _decide(args)
    from platformdirs import user_data_path

    from core.store.journals import PermitJournal

    journal = PermitJournal(user_data_path("nooscope", appauthor=False) / "permits.jsonl")
    if args.verify:
        checked = journal.check()
        if checked.fault:
            print(f"{journal.path}: {checked.fault}; {checked.entries} lines before it are intact.")
            return 1
        print(f"{checked.entries} lines, none changed. Head of the chain: {checked.head}")
        return 0
    return _show(args, list(journal.read()))


def _decide(args: argparse.Namespace) -> int:
    from core.errors import NooscopeError, UsageError
    from core.hooks.connection import call, chosen_option, decision, default_place

    if args.number is None or not args.number.isdecimal():
        raise UsageError("name the number of a question; `nooscope hooks permits` lists them")
    choice = "deny" if args.do == "deny" else "session" if args.session else "once"
    place, number = default_place(), int(args.number)
    waiting = call(place, "questions", {}) or []
    choices = next((one.get("choices") or [] for one in waiting if one["number"] == number), [])
    answers = [chosen_option(text, one["options"]) for text, one in zip(args.answers, choices, strict=False)]
    answer = call(place, "decide", decision(number, choice, args.reason, "nooscope permits", answers))
    if answer is None:
        raise NooscopeError("nooscope is not serving hooks, so nothing is waiting")
    if not answer.get("done"):
        raise NooscopeError(answer.get("why") or f"no question {args.number} is waiting")
    print({"deny": "Denied.", "session": "Approved for this session.", "once": "Approved, once."}[choice])
    return 0


def _lift(session: str) -> int:
    from core.errors import NooscopeError, UsageError
    from core.hooks.connection import call, decision, default_place

    if not session:
        raise UsageError("name the session whose spending caps are lifted; `nooscope sessions` lists them")
    request = {**decision(0, "lift", where="nooscope permits"), "session": session}
    answer = call(default_place(), "decide", request)
    if answer is None:
        raise NooscopeError("nooscope is not serving hooks, so no cap is in force")
    unknown = "" if answer.get("done") else " None of its hooks has called yet."
    print(f"Its spending caps are lifted until nooscope restarts.{unknown}")
    return 0


def _show(args: argparse.Namespace, entries: list[PermitEntry]) -> int:
    import msgspec

    from core.hooks.connection import default_place
    from core.hooks.link import look
    from core.report.formatting import moment, plain

    board = look(default_place())
    asks = {name: signs.asks[0].why for name, signs in board.sessions.items() if signs.asks and not signs.questions}
    recent = entries[-args.last :] if args.last > 0 else []
    if args.json:
        facts = {"waiting": board.questions, "in_terminal": asks, "decided": recent}
        sys.stdout.write(msgspec.json.encode(facts).decode() + "\n")
        return 0
    for one in board.questions:
        word = "late " if one.late else "waits"
        where = f"session {one.session[:8]}; {one.reason}"
        print(f"{one.number:>4}  {word}  {plain(one.tool, 20)}  {plain(one.what, 300)}  ({plain(where, 100)})")
        for choice in one.choices:
            options = "  ".join(f"{place}) {label}" for place, label in enumerate(choice.options, 1))
            print(f"      {plain(choice.question, 200)}  {plain(options, 300)}")
    for name, why in asks.items():
        print(f"   -  waits  {plain(why, 200)}  (session {plain(name[:8])}; answer in its terminal)")
    if not (board.questions or asks):
        print("Nothing is waiting for you.")
    for entry in recent:
        what = f"{entry.what:<10} {entry.tier:<10} {plain(entry.tool, 20)}"
        by = f"  by {plain(entry.by, 80)}" if entry.by else ""
        print(f"{moment(entry.at)}  {what}  {plain(entry.reason, 120)}{by}")
    return 0

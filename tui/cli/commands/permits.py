"""`nooscope permits`: what waits for you, what was decided, and whether the journal is whole."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from tui.cli.command import CliCommand

if TYPE_CHECKING:
    from core.store.permits import PermitEntry

_ASKED = ("approve", "deny")


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "do", choices=_ASKED, nargs="?", help="without a word, show what waits and was decided"
    )
    parser.add_argument("number", type=int, nargs="?", metavar="NUMBER", help="of the question")
    parser.add_argument(
        "--session", action="store_true", help="approve this tool for the rest of the session"
    )
    parser.add_argument("--reason", default="", metavar="TEXT", help="why it is denied; the agent reads it")
    parser.add_argument("--verify", action="store_true", help="check that no line of the journal was changed")
    parser.add_argument("--json", action="store_true", help="as JSON")
    parser.add_argument("--last", type=int, default=20, metavar="N", help="decisions shown (default: 20)")


def _run(args: argparse.Namespace) -> int:
    from platformdirs import user_data_path

    from core.store.permits import PermitJournal

    journal = PermitJournal(user_data_path("nooscope", appauthor=False) / "permits.jsonl")
    if args.verify:
        checked = journal.check()
        if checked.fault:
            print(f"{journal.path}: {checked.fault}; {checked.entries} lines before it are whole.")
            return 1
        print(f"{checked.entries} lines, none changed. They stand for {checked.head}")
        return 0
    if args.do in _ASKED:
        return _decide(args)
    return _show(args, list(journal.read()))


def _decide(args: argparse.Namespace) -> int:
    from core.errors import NooscopeError, UsageError
    from core.intake.caller import call
    from core.intake.place import default_place

    if args.number is None:
        raise UsageError("name the number of a question; `nooscope permits` lists them")
    choice = "deny" if args.do == "deny" else "session" if args.session else "once"
    said = call(default_place(), "decide", {"number": args.number, "choice": choice, "reason": args.reason})
    if said is None:
        raise NooscopeError("no nooscope serves hooks now, so nothing waits")
    if not said.get("done"):
        raise NooscopeError(f"no question {args.number} waits")
    print({"deny": "Denied.", "session": "Approved for this session.", "once": "Approved, once."}[choice])
    return 0


def _show(args: argparse.Namespace, entries: list[PermitEntry]) -> int:
    from core.intake.caller import call
    from core.intake.place import default_place
    from core.report.formatting import moment, plain

    waiting = call(default_place(), "questions", {}) or []
    shown = entries[-args.last :] if args.last > 0 else []
    if args.json:
        import msgspec

        sys.stdout.write(msgspec.json.encode({"waiting": waiting, "decided": shown}).decode() + "\n")
        return 0
    for one in waiting:
        why = plain(one["reason"], 80)
        word = "late " if one.get("late") else "waits"
        print(f"{one['number']:>4}  {word}  {plain(one['tool'], 20)}  {plain(one['what'], 160)}  ({why})")
    if not waiting:
        print("Nothing waits for you.")
    for entry in shown:
        what = f"{entry.what:<10} {entry.tier:<10} {plain(entry.tool, 20)}"
        print(f"{moment(entry.at)}  {what}  {plain(entry.reason, 120)}")
    return 0


COMMAND = CliCommand(_add_arguments, _run)

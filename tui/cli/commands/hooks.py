"""`nooscope hooks`, `permits`, `advice`, `listen` and `mcp`: what agents' hooks do and wait for, and who answers."""

from __future__ import annotations

import argparse
import contextlib
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tui.cli.options import add_settings_options, port_argument, seconds_argument, settings_from
from tui.cli.streams import say, until_stopped

if TYPE_CHECKING:
    from core.extras.telemetry.intake import Inbox
    from core.hooks.agent_answers import HookMode
    from core.hooks.receiver import Receiver
    from core.hooks.server import IntakeServer, IntakeThread
    from core.report.advice import AdviceMoment, AdviceOutcome
    from core.settings import Settings
    from core.store.journals import PermitEntry, SaidStore


AGENTS = ("claude", "codex", "gemini", "qwen", "copilot", "opencode", "pi")


def add_hooks_arguments(parser: argparse.ArgumentParser) -> None:
    help_text = "what to do (default: status)"
    parser.add_argument("do", choices=("status", "install", "uninstall"), nargs="?", default="status", help=help_text)
    parser.add_argument("agent", choices=AGENTS, nargs="?", help="the agent; status shows all by default")
    help_text = "only for this project (default: this folder), not for all projects"
    parser.add_argument("--project", metavar="FOLDER", type=Path, nargs="?", const=Path(), help=help_text)
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--advise", action="store_true", help="send the agent at most one sentence of advice per turn")
    how.add_argument("--guard", action="store_true", help="like --advise, and calls that write need a permit")
    help_text = "also answer the agent's own permission prompts from here; its own dialog keeps working"
    parser.add_argument("--answer", action="store_true", help=help_text)
    parser.add_argument("--statusline", action="store_true", help="also install a status line (claude only)")
    help_text = "time after which the agent continues without an answer (default: 0.15)"
    parser.add_argument("--deadline", type=seconds_argument, metavar="SECONDS", help=help_text)


def run_hooks(args: argparse.Namespace) -> int:
    from core.errors import UsageError
    from core.hooks.agent_answers import HOOKS
    from core.hooks.install import DEADLINE
    from tui.cli.launch import own_installer

    project = args.project.expanduser().resolve() if args.project is not None else None
    if args.do == "status":
        return _print_status(project, [args.agent] if args.agent else list(AGENTS))
    if args.agent is None:
        raise UsageError(f"name an agent: {', '.join(AGENTS)}")
    hooks, installer = HOOKS[args.agent], own_installer()
    if args.do == "uninstall":
        done = installer.uninstall(hooks, project)
        print(f"{args.agent}: hooks removed." if done else f"{args.agent}: no hooks of nooscope were installed.")
        return 0
    if args.statusline and args.agent != "claude":
        raise UsageError("only claude has a status line of this kind")
    if args.deadline is not None and args.deadline <= 0:
        raise UsageError("a deadline of 0 leaves no time for an answer; write 0.15 or more")
    if args.answer and not hooks.answers:
        raise UsageError(f"nooscope cannot answer {args.agent}: answer in its terminal (R in the fleet goes there)")
    mode: HookMode = "guard" if args.guard else "advise" if args.advise else "observe"
    deadline = DEADLINE if args.deadline is None else args.deadline
    path = installer.install(hooks, mode, project, deadline=deadline, statusline=args.statusline, answer=args.answer)
    print(f"{args.agent}: hooks installed in {path} ({mode}{', answer' if args.answer else ''}).")
    if args.answer:
        print(f"Its permission prompts can be answered here with `nooscope hooks permits`: {hooks.answers}.")
    if hooks.after:
        print(f"Now {hooks.after}.")
    if hooks.limits:
        print(f"Note: {hooks.limits}.")
    print("They do nothing until nooscope serves them: run `nooscope hooks listen`.")
    return 0


def _print_status(project: Path | None, agents: list[str]) -> int:
    from core.hooks.agent_answers import HOOKS
    from core.hooks.connection import call, default_place
    from tui.cli.launch import own_installer

    installer, damaged = own_installer(), False
    for name in agents:
        installed = installer.status(HOOKS[name], project, Path.cwd())
        mode = f" ({installed.mode})" if installed.mode else ""
        print(f"{name:<9} {installed.state}{mode}  {installed.path}")
        for problem in installed.problems:
            print(f"{'':<9} {problem}")
        damaged |= bool(installed.problems)
    running = call(default_place(), "sessions", {})
    if running is None:
        print("nooscope is not serving hooks; run `nooscope hooks listen`.")
    else:
        print(f"nooscope is serving hooks; {len(running)} sessions have called it.")
    if damaged:
        print("Damaged hooks guard nothing; `nooscope hooks install` repairs them.")
    return int(damaged)


_ASKED = ("approve", "deny", "answer")


def add_permits_arguments(parser: argparse.ArgumentParser) -> None:
    help_text = "what to do (default: show what is waiting and what was decided)"
    parser.add_argument("do", choices=(*_ASKED, "lift"), nargs="?", help=help_text)
    parser.add_argument("number", nargs="?", metavar="NUMBER", help="number of the question; for lift, the session")
    help_text = "the number or text of an option, or your own text"
    parser.add_argument("answers", nargs="*", metavar="ANSWER", help=help_text)
    parser.add_argument("--session", action="store_true", help="approve this tool for the rest of the session")
    parser.add_argument("--reason", default="", metavar="TEXT", help="why it is denied; the agent reads it")
    parser.add_argument("--verify", action="store_true", help="check that no line of the journal was changed")
    parser.add_argument("--json", action="store_true", help="as JSON")
    parser.add_argument("--last", type=int, default=20, metavar="N", help="decisions shown (default: 20)")


def run_permits(args: argparse.Namespace) -> int:
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
    return _show_permits(args, list(journal.read()))


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


def _show_permits(args: argparse.Namespace, entries: list[PermitEntry]) -> int:
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


def add_advice_arguments(parser: argparse.ArgumentParser) -> None:
    help_text = "logs or folders to search; without any, all advice ever sent is listed"
    parser.add_argument("paths", metavar="PATH", nargs="*", help=help_text)
    help_text = "send an agent a message with its next call"
    parser.add_argument("--tell", nargs=2, metavar=("SESSION", "TEXT"), help=help_text)
    help_text = "with --tell, under guard: deny the next call with this message"
    parser.add_argument("--cancel", action="store_true", help=help_text)
    parser.add_argument("--json", action="store_true", help="as JSON")
    add_settings_options(parser)


def run_advice(args: argparse.Namespace) -> int:
    from platformdirs import user_data_path

    from core.store.journals import SaidStore

    if args.tell is not None:
        return _send_message(*args.tell, cancel=args.cancel)
    settings = settings_from(args).settings
    store = SaidStore(user_data_path("nooscope", appauthor=False) / "said.jsonl")
    if not args.paths:
        return _list_advice(store, args.json)
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

        rows, counts = [one._asdict() for one in moments if one.said], [one._asdict() for one in counted]
        report = {"within": within, "moments": rows, "outcomes": counts, "silence": trial._asdict()}
        print(msgspec.json.encode(report).decode())
        return 0
    _print_outcomes(moments, counted, within)
    if kept_back:
        print(f"Withheld at random: {trial.sentence}")
    else:
        print("No advice was withheld at random, so a difference may have other causes. Set")
        print("response.advice.silence to withhold a share of it at random, and measure again.")
    return 0


def _send_message(session: str, message: str, *, cancel: bool) -> int:
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


def _list_advice(store: SaidStore, as_json: bool) -> int:
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


def _print_outcomes(moments: list[AdviceMoment], counted: list[AdviceOutcome], within: int) -> None:
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


def add_mcp_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--session", default="", metavar="ID", help="the session that asks (default: by folder)")
    help_text = "let it read earlier sessions: of this folder's project, or all (default: off)"
    parser.add_argument("--history", choices=("off", "project", "all"), default="off", help=help_text)
    add_settings_options(parser)


def run_mcp(args: argparse.Namespace) -> int:
    from core.hooks.connection import call, default_place
    from core.hooks.link import serve
    from core.report.history import user_history

    place, folder = default_place(), Path.cwd()
    history = None
    if args.history != "off":
        history = user_history(settings_from(args).settings, None if args.history == "all" else folder)

    def ask(question: str, body: dict[str, Any]) -> Any:
        return call(place, f"ask/{question}", body)

    answers = serve(sys.stdin, ask, str(folder), args.session, history)
    for answer in answers:
        sys.stdout.write(answer + "\n")
        sys.stdout.flush()
    return 0


_OTLP_PORT = 4318


def add_listen_arguments(parser: argparse.ArgumentParser) -> None:
    help_text = "also accept OTLP over HTTP (/v1/logs, /v1/traces) and open events (/events), and serve /metrics"
    parser.add_argument("--otlp", action="store_true", help=help_text)
    help_text = f"port of --otlp (default: {_OTLP_PORT}; 0 picks a free one)"
    parser.add_argument("--port", type=port_argument, default=_OTLP_PORT, metavar="N", help=help_text)
    parser.add_argument("--by-session", action="store_true", help="label metrics by session (at most 200)")
    parser.add_argument("--no-hooks", action="store_true", help="do not serve agents' hooks")
    add_settings_options(parser)


def run_listen(args: argparse.Namespace) -> int:
    from core.errors import UsageError

    if args.no_hooks and not args.otlp:
        raise UsageError("--no-hooks leaves nothing to listen for; add --otlp")
    import asyncio

    settings = settings_from(args).settings
    with contextlib.suppress(KeyboardInterrupt):
        return asyncio.run(_run_station(args, settings))
    return 0


async def _run_station(args: argparse.Namespace, settings: Settings) -> int:
    import asyncio

    telemetry = await _open_telemetry(args, settings) if args.otlp else None
    served = None if args.no_hooks else await _intake(args, settings, needed=not args.otlp)
    await until_stopped()
    if served is not None:
        intake, thread = served
        await asyncio.to_thread(thread.close)
        say(f"{intake.handler.calls:,} hook calls answered")
    if telemetry is not None:
        receiver, inbox = telemetry
        await receiver.close()
        say(f"{inbox.written:,} events received")
    return 0


async def _open_telemetry(args: argparse.Namespace, settings: Settings) -> tuple[Receiver, Inbox]:
    import time

    from platformdirs import user_data_path

    from core.agents.registry import make_kit
    from core.errors import UsageError
    from core.extras.telemetry.intake import Inbox
    from core.extras.telemetry.station import Station
    from core.hooks.receiver import PeerUsers, Receiver, tells_users

    folder = user_data_path("nooscope", appauthor=False) / "received"
    inbox = Inbox(folder)
    station = Station(make_kit(settings.ingest), settings, inbox, time.time, by_session=args.by_session)
    receiver = Receiver(station.handle, port=args.port, user_of=PeerUsers().user_of if tells_users() else None)
    try:
        await receiver.start()
    except OSError as fault:
        raise UsageError(
            f"cannot listen on 127.0.0.1:{args.port}: {fault.strerror or fault}; name another with --port"
        ) from None
    say(f"listening on http://127.0.0.1:{receiver.port}, keeping sessions in {folder}; ctrl+c stops")
    return receiver, inbox


async def _intake(
    args: argparse.Namespace, settings: Settings, *, needed: bool
) -> tuple[IntakeServer, IntakeThread] | None:
    """Serve hooks from a thread of their own, so that telemetry never keeps a call waiting."""
    import asyncio

    from core.errors import NooscopeError
    from core.hooks.connection import default_place
    from core.hooks.server import IntakeThread
    from tui.cli.launch import hook_server
    from tui.cli.options import configured_initial

    try:
        intake = hook_server(settings, configured_initial(args.project), say)
        thread = await asyncio.to_thread(IntakeThread, intake)
    except NooscopeError as fault:
        if needed:
            raise
        say(f"hooks are not served: {fault}")
        return None
    say(f"serving hooks at {default_place().socket}; ctrl+c stops")
    return intake, thread

"""`nooscope tune rules`: the active rules, what was learned about them, and whether a file is valid."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import to_builtins

from core.folders import PROJECT_SETTINGS, user_settings_file
from tui.cli import options, streams

if TYPE_CHECKING:
    from core.engine.response.rules import Learned, Method, RuleSet

_HEADS = ("id", "mode", "type", "signals", "states", "sensitivity", "frequency", "from")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="as JSON")
    parser.add_argument("--reset-learned", action="store_true", help="forget the learned sensitivities")
    options.add_settings_options(parser)
    parts = parser.add_subparsers(dest="part", metavar="")
    check = parts.add_parser("check", help="check whether a rule file can be used")
    check.add_argument("file", metavar="FILE", type=Path, help="the rule file")


def run(args: argparse.Namespace) -> int:
    if args.part == "check":
        return _check(args.file)
    from core.store.carry_over import LearnedStore

    store = LearnedStore()
    if args.reset_learned:
        print("Forgotten." if store.reset() else "Nothing had been learned.")
        return 0
    rules, learned = rules_from(args), store.read()
    streams.say(*store.file.notices)
    if args.json:
        _print_json(rules, learned)
    else:
        _print_table(rules, learned, options.settings_from(args).settings.response.scoring.threshold)
    return 0


def rules_from(args: argparse.Namespace) -> RuleSet:
    """Return the built-in rules with both rule files applied; problems go to standard error."""
    from core.timeline.initial_state import rule_files

    files = rule_files(args.project)
    rules = files.load()
    streams.say(*files.faults)
    return rules


def _check(path: Path) -> int:
    from core.engine.response.rules import add_rules, built_in
    from core.errors import PolicyError
    from core.store.profiles import read_rules

    content = read_rules(path)
    if content is None:
        raise PolicyError(f"{path}: no such file")
    base = built_in()
    rules = add_rules(base, content, str(path))
    own = [name for name, origin in rules.origins.items() if origin == str(path)]
    changed = [name for name in own if base.method(name) is not None]
    new = [name for name in own if base.method(name) is None]
    print(f"{path}: fine")
    woken = [rule.id for rule in rules.wakeups]
    for what, names in (("changes", changed), ("adds", new), ("adds wakeups", woken)):
        if names:
            print(f"  {what} {', '.join(names)}")
    return 0


def _print_json(rules: RuleSet, learned: Learned) -> None:
    from core.report.formatting import readable_json

    rows = [{**to_builtins(method), "origin": rules.origins[method.id]} for method in rules.methods]
    wakeups = to_builtins(rules.wakeups)
    print(readable_json({"methods": rows, "wakeups": wakeups, "learned": learned}))


def _print_table(rules: RuleSet, learned: Learned, threshold: float) -> None:
    from core.report.formatting import count

    rows = [_HEADS, *(_row(method, rules.origins[method.id]) for method in rules.methods)]
    streams.print_table(rows)
    for rule in rules.wakeups:
        print(f"wakes the model: {rule.id}, on {', '.join(rule.causes)} like {rule.like}")
    print(f"\nA method fires when its score is above {threshold:g}, or above its own threshold.")
    moved = ", ".join(f"{axis} {delta:+.3f}" for axis, delta in learned.deltas.items() if delta)
    if learned.stretches:
        print(f"Learned from {count(learned.stretches, 'stretch')} of work: {moved or 'nothing moved yet'}.")
    else:
        from core.store.profiles import USER_RULES

        own = user_settings_file().with_name(USER_RULES)
        print(f"Nothing learned yet. Your own rules go into {own},")
        print(f"a project's into .nooscope-rules.json beside its {PROJECT_SETTINGS}.")


def _row(method: Method, origin: str) -> tuple[str, ...]:
    from core.engine.percept import AGENT_STATES
    from core.engine.response.rules import CUES

    trigger = method.trigger
    own = "" if trigger.threshold is None else f" > {trigger.threshold:g}"
    signals = "any" if set(trigger.signals) == set(CUES) else ", ".join(trigger.signals)
    states = "any" if set(trigger.states) == set(AGENT_STATES) else ", ".join(trigger.states)
    name, sensitivity = method.id if method.enabled else f"{method.id} (off)", f"{trigger.sensitivity:g}{own}"
    return name, method.mode, method.type, signals, states, sensitivity, trigger.frequency, origin

"""What real sessions show of each mechanism: `python -m bench.docs.real FOLDER... ` writes real.json for the docs."""

from __future__ import annotations

import json
import sys
from collections import Counter, deque
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bench.docs.tables import table
from core.agents.registry import make_kit
from core.engine.mind.fabric import Woken
from core.engine.percept import NEUTRAL
from core.engine.society import Society
from core.engine.society.engine import Step
from core.errors import NooscopeError
from core.events import MAIN, Event, ToolUse
from core.logs.finder import sessions
from core.logs.session import read_session
from core.settings import Settings

FILE = Path(__file__).with_suffix(".json")
_LOOKED_BACK = 20  # Actions whose failures decide in which column a signal counts.
_MOVED = 0.02  # A parameter that moves less than this from its rest does not count as shown.


class Shares:
    """Acts by regime and state, and signals that begin by whether one of the last actions failed."""

    def __init__(self) -> None:
        self.sessions = 0
        self.acts = Counter[str]()
        self.regimes = Counter[str]()
        self.states = Counter[str]()
        self.signals: dict[str, Counter[str]] = {"failing": Counter(), "calm": Counter()}

    def add(self, step: Step, failing: bool) -> None:
        """Count one act."""
        kind = "failing" if failing else "calm"
        self.acts[kind] += 1
        self.regimes[step.thought.regime] += 1
        self.states[step.percept.state] += 1
        self.signals[kind].update(signal.name for signal in step.percept.signals if signal.fresh)


def walk(events: list[Event], shares: Shares) -> set[str]:
    """Run one session; return what of the mechanisms it shows."""
    society, labels = Society(Settings()), set[str]()
    last: dict[str, deque[bool]] = {}
    playbook: set[str] = set()
    for event in events:
        step = society.step(event)
        if step.thought.episode is not None and event.agent == MAIN:
            lines = {one.what for one in society.engine(MAIN).mind.heart.episodes.playbook}
            labels.update("playbook line refuted" for _ in playbook - lines)
            playbook = lines
        if isinstance(event, ToolUse):
            row = last.setdefault(event.agent, deque(maxlen=_LOOKED_BACK))
            row.append(event.outcome == "failure")
            shares.add(step, any(row))
        labels.update(_shown(step))
    engine = society.engine(MAIN)
    episodes = engine.mind.heart.episodes
    if episodes.playbook:
        labels.add("playbook")
    if any(episode.advised for episode in episodes.history):
        labels.add("advice in an episode")
    for _, emitted in engine.mind.heart.fabric.replay():
        labels.add(type(emitted).__name__)
        if isinstance(emitted, Woken):
            labels.add(f"wakeup {emitted.trigger}")
    return labels


def _shown(step: Step) -> Iterator[str]:
    for firing in step.reaction.fired:
        yield f"method {firing.method}"
        yield f"cue {firing.cue}"
    if step.thought.stimulus is not None:
        yield f"cause {step.thought.stimulus.cause}"
    for correction in step.thought.corrections:
        yield f"knob {correction.knob}"
    for name, value, rest in zip(NEUTRAL._fields, step.mood.modulation, NEUTRAL, strict=True):
        if abs(value - rest) > _MOVED:
            yield f"affect on {name}"
    if step.mood.modulation.persistence < NEUTRAL.persistence - 0.5:
        yield "patience taken away"


def measure(folders: list[Path]) -> dict[str, Any]:
    """Run every session below the folders."""
    kit, shares = make_kit(), Shares()
    showing: dict[str, list[str]] = {}
    for session in sessions(map(str, folders), kit):
        try:
            events = list(read_session(session, kit))
        except NooscopeError:
            continue
        if events:
            shares.sessions += 1
            name = f"{session.tool}/{session.id[:8]}"
            for label in walk(events, shares):
                showing.setdefault(label, []).append(name)
    shown = {label: [len(names), _example(names)] for label, names in sorted(showing.items())}
    return {"now": vars(shares), "shown": shown}


def _example(names: list[str]) -> str:
    return min(names, key=lambda name: (not name.startswith("claude-code/"), name))


def shown() -> dict[str, tuple[int, str]]:
    """By label, how many real sessions show it, and one of them by agent and id."""
    return {label: (number, log) for label, (number, log) in json.loads(FILE.read_text("utf-8"))["shown"].items()}


def count() -> int:
    """How many real sessions were run."""
    return int(_both()[1]["sessions"])


def _both() -> tuple[dict[str, Any], dict[str, Any]]:
    measured = json.loads(FILE.read_text("utf-8"))
    return measured["before"], measured["now"]


def real_shares() -> str:
    """The share of acts in each regime and state, before and now."""
    columns = _both()
    rows: list[tuple[object, ...]] = [("sessions", *(one["sessions"] for one in columns))]
    rows.append(("acts", *(f"{sum(one['acts'].values()):,}" for one in columns)))
    for group, word in (("regimes", "regime"), ("states", "state")):
        for name in sorted({name for one in columns for name in one[group]}):
            shares = [one[group].get(name, 0) / sum(one["acts"].values()) for one in columns]
            rows.append((f"{word} {name.replace('_', ' ')}", *(f"{share:.1%}" for share in shares)))
    return table(("share of acts", "before", "now"), rows)


def real_signals() -> str:
    """Signals that begin per 100 acts, with and without a recent failure, before and now."""
    columns = [(one, kind) for kind in ("failing", "calm") for one in _both()]
    names = sorted({name for one, kind in columns for name in one["signals"][kind]})
    heads = ("signal", "failing, before", "failing, now", "no failure, before", "no failure, now")
    rates = {
        name: [100.0 * one["signals"][kind].get(name, 0) / one["acts"][kind] for one, kind in columns] for name in names
    }
    rows = [(f"`{name}`", *(f"{rate:.2f}" for rate in rates[name])) for name in names]
    acts = [f"{one['acts'][kind]:,}" for one, kind in columns]
    return table(heads, [("acts", *acts), *rows])


def main() -> None:
    """Measure now; what was measured before stays."""
    measured = json.loads(FILE.read_text("utf-8")) if FILE.exists() else {}
    FILE.write_text(json.dumps(measured | measure([Path(word) for word in sys.argv[1:]]), indent=1) + "\n", "utf-8")


TABLES = {"shares": real_shares, "rates": real_signals}

if __name__ == "__main__":
    main()

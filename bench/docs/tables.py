"""Tables of the docs, each made from the code it speaks of."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from core.engine.affect.fields import FIELDS
from core.engine.governor.machine import RULES, Budgets
from core.engine.governor.profile import PUBLISHED, chosen
from core.engine.mind.clock import CAUSES
from core.engine.mind.cortical import OCTANTS, REGIMES
from core.engine.mind.salience import relevance_table
from core.engine.mind.stimulus import STIMULUS_KINDS
from core.engine.percept import AGENT_STATES, AXES, CHANGES
from core.engine.response.rules import CUES, built_in
from core.events import EVENT_KINDS
from core.settings import Settings
from core.settings.draft import toml_value
from core.settings.group import fields_of
from core.settings.layers import tunables
from core.settings.receptor import Impulse

_DEFAULTS = Settings()


def table(heads: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A Markdown table; a bar in a cell is kept from ending it."""
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join("| " + " | ".join(str(cell).replace("|", "\\|") for cell in row) + " |" for row in lines)


def number(value: float) -> str:
    """A figure as short as it can be told."""
    return f"{value:g}" if abs(value) < 1e6 else f"{value:,.0f}"


def settings(*prefixes: str) -> str:
    """Every setting below some names: its default, its bounds, its sentence."""
    rows = []
    for prefix in prefixes:
        found = [each for each in tunables().values() if _below(each.name, prefix)]
        if not found:
            raise ValueError(f"no setting is named {prefix!r} or lies below it")
        for each in found:
            bounds = "" if each.low is None else f"{number(each.low)} to {number(each.high or 0)}"
            rows.append((f"`{each.name}`", _value(each.default, each.unit), bounds, each.sentence))
    return table(("setting", "default", "bounds", "what it does"), rows)


def foreign() -> str:
    """Every setting that a watched project may touch: its default, and how far it may be moved."""
    rows = [
        (f"`{each.name}`", _value(each.default, each.unit), each.trust.sentence_end(), each.sentence)
        for each in tunables().values()
        if each.trust.way != "never"
    ]
    return table(("setting", "default", "a project", "what it does"), rows)


def trusts() -> str:
    """How many settings are of each class."""
    counted = Counter[str](each.trust.name for each in tunables().values())
    meant = {
        "person only": "It runs, sends, writes, reads a path, costs memory, or could silence an alert.",
        "project may narrow": "A project may only move it towards more reports, and only so far.",
        "project may set": "It changes how things look or what advice says, and nothing else.",
    }
    return table(("class", "settings", "why"), ((name, counted[name], why) for name, why in meant.items()))


def _below(name: str, prefix: str) -> bool:
    return name == prefix or name.startswith(prefix + ".")


def _value(default: Any, unit: str) -> str:
    if isinstance(default, tuple | list | dict) and len(default) > 6:
        return f"{len(default)} entries"
    told = number(default) if type(default) in (int, float) else toml_value(default) or "none"
    return f"{told} {unit}".strip()


def impulses() -> str:
    """What each kind of event adds to each axis."""
    impulse = _DEFAULTS.receptor.impulse
    rows = []
    for name, field in fields_of(type(impulse)).items():
        group = getattr(impulse, name)
        if isinstance(group, Impulse):
            figures = [getattr(group, axis, 0.0) for axis in AXES]
            rows.append((field.sentence, *(f"{figure:+g}" if figure else "" for figure in figures)))
    return table(("event", *AXES), rows)


def axes() -> str:
    """Half-life and offset of each axis."""
    receptor = _DEFAULTS.receptor
    return table(
        ("axis", "half-life", "offset"),
        (
            (
                axis,
                f"{number(getattr(receptor.emotion.half_life, axis))} s",
                number(getattr(receptor.ambient.offset, axis)),
            )
            for axis in AXES
        ),
    )


def meanings() -> str:
    """What a change of pattern says."""
    return table(("half an hour", "five minutes", "meaning"), ((*pair, said) for pair, said in CHANGES.items()))


def relevance() -> str:
    """Relevance by kind of stimulus and regime."""
    found = relevance_table(_DEFAULTS.mind.salience.relevance)
    return table(
        ("stimulus", *REGIMES),
        ((kind, *(number(found[kind, regime]) for regime in REGIMES)) for kind in STIMULUS_KINDS),
    )


def octants() -> str:
    """Emotions by the signs of the mood."""
    signs = {True: "+", False: "-"}
    return table(
        ("pleasure", "arousal", "dominance", "emotion"),
        ((*(signs[each] for each in octant), emotion) for octant, emotion in OCTANTS.items()),
    )


def triggers() -> str:
    """What may wake the mind."""
    rows = []
    for name, causes in CAUSES.items():
        given = getattr(_DEFAULTS.mind.wakeups, name)
        rows.append((name, ", ".join(causes), given.resolution, number(given.least), f"{number(given.refire)} s"))
    return table(("trigger", "set off by", "tick", "least", "not again within"), rows)


def weights() -> str:
    """How pressures grant and take budgets."""
    given = _DEFAULTS.governor.weights
    rows = []
    for pressure in ("confidence", "curiosity", "arousal", "risk", "frustration"):
        sign = -1 if pressure == "frustration" else 1
        rows.append((pressure, *(f"{sign * getattr(given, f'{pressure}_{budget}'):+g}" for budget in Budgets._fields)))
    return table(("pressure", *Budgets._fields), rows)


def profiles() -> str:
    """The figures of every profile of the governor."""
    found = {"observing": chosen(_DEFAULTS.governor), **PUBLISHED}
    names = found["observing"]._fields
    rows = [(name, *(number(getattr(profile, name)) for profile in found.values())) for name in names]
    return table(("figure", *found), rows)


def transitions() -> str:
    """The governor's table of transitions."""
    return table(("", "from", "when", "to", "reason"), RULES)


def fields() -> str:
    """The control fields of affect: where they rest, how they move, who may take them over."""
    rows = []
    for name in FIELDS:
        field = getattr(_DEFAULTS.affect.fields, name)
        rows.append(
            (
                name,
                number(field.rest),
                f"{number(field.floor)} to {number(field.ceiling)}",
                f"{number(field.time_constant)} s",
                number(field.rate_limit),
                field.inherits,
                field.returns,
                number(field.contagion_limit),
            )
        )
    heads = ("field", "rest", "envelope", "tau", "a cycle", "to a sub-agent", "back", "contagion")
    return table(heads, rows)


def gains() -> str:
    """How each observation moves each field of affect."""
    seen = ("failure", "competing", "pressure", "novelty", "uncertainty", "success")
    rows = []
    for name in FIELDS:
        field = getattr(_DEFAULTS.affect.fields, name)
        figures = [getattr(field, f"on_{each}") for each in seen]
        rows.append((name, *(f"{figure:+g}" if figure else "" for figure in figures)))
    return table(("field", *seen), rows)


def methods() -> str:
    """The built-in rules."""
    rows = []
    for method in built_in().methods:
        trigger = method.trigger
        rows.append(
            (
                f"`{method.id}`",
                method.mode,
                "any" if set(trigger.signals) == set(CUES) else ", ".join(trigger.signals),
                "any" if set(trigger.states) == set(AGENT_STATES) else ", ".join(trigger.states),
                number(trigger.sensitivity),
                trigger.frequency,
            )
        )
    return table(("method", "mode", "signals", "in state", "sensitivity", "frequency"), rows)


def events() -> str:
    """The one vocabulary."""
    rows = []
    for kind in EVENT_KINDS:
        fields = [name for name in kind.__struct_fields__ if name not in ("at", "agent", "where")]
        said = " ".join((kind.__doc__ or "").split())
        rows.append((f"`{kind.__struct_config__.tag}`", said, ", ".join(f"`{name}`" for name in fields)))
    return table(("kind", "what it is", "what it carries, beside `at`, `agent`, `where`"), rows)


def formats() -> str:
    """What is read, and how each log lies on the disk."""
    from core.agents.registry import AGENTS

    rows = []
    for agent in AGENTS:
        styles = dict.fromkeys(each.style for each in agent.formats)
        home = Path("~")
        roots = agent.location.roots({}, home) if agent.location else []
        places = ", ".join(f"`{root}`" for root in roots[:2]) + (", ..." if len(roots) > 2 else "")
        versions = agent.versions or "not in the log"
        rows.append((agent.name, ", ".join(styles), places or "anywhere", versions, agent.seen))
    return table(("agent", "its logs are", "in", "versions read", "read on"), rows)


def told() -> str:
    """What each agent's log tells, and what it does not."""
    from core.agents.registry import AGENTS
    from core.events import MATTERS

    found: dict[tuple[str, tuple[str, ...], str], list[str]] = {}
    for agent in AGENTS:
        for each in agent.formats:
            styles = found.setdefault((each.title or agent.title, each.reader.untold, each.reader.gaps), [])
            if each.style not in styles:
                styles.append(each.style)
    rows = []
    for (title, untold, gaps), styles in found.items():
        kinds = [styles for (other, *_), styles in found.items() if other == title]
        name = f"{title} ({', '.join(styles)})" if len(kinds) > 1 else title
        rows.append((name, *(_tells(matter, untold) for matter in MATTERS), gaps))
    return table(("agent", *MATTERS, "gaps"), rows)


def _tells(matter: str, untold: tuple[str, ...]) -> str:
    if matter not in untold:
        return "yes"
    reckoned = matter == "cost" and "tokens" not in untold and "model" not in untold
    return "from tokens" if reckoned else "unknown"


def tools() -> str:
    """Which tool does what, by agent."""
    import tomllib

    from core.agents.tables import OURS

    given: dict[str, Any] = tomllib.loads((OURS / "tools.toml").read_text("utf-8"))["tools"]
    actions = ("file_read", "file_edit", "search", "shell_exec", "delegation")
    rows = [
        (agent, *(", ".join(f"`{name}`" for name in lists.get(action, ())) for action in actions))
        for agent, lists in given.items()
        if any(action in lists for action in actions)
    ]
    return table(("agent", *actions), rows)


def commands() -> str:
    """Every command with its options."""
    from tui.cli import COMMANDS, command_parser, full_name

    rows = []
    for name, sentence in COMMANDS.items():
        options = [action for action in command_parser(name)._actions if action.help != argparse.SUPPRESS]
        flags = [action.option_strings[-1] for action in options if action.option_strings]
        own = " ".join(f"`{flag}`" for flag in flags if flag not in _EVERYWHERE)
        rows.append((f"`{full_name(name)}`", sentence, own))
    return table(("command", "what it does", "its own options"), rows)


_EVERYWHERE = ("--help", "--set", "--project", "--theme", "--no-motion")


def dataset(name: str) -> str:
    """The columns of one table of a dataset."""
    from core.extras.batch.shares import TABLES as DATASET

    return table(("column", "type", "contents"), [(f"`{col.name}`", col.type, col.about) for col in DATASET[name]])


# By the word that stands in a page's mark.
TABLES: dict[str, Callable[..., str]] = {
    "settings": settings,
    "foreign": foreign,
    "trusts": trusts,
    "impulses": impulses,
    "axes": axes,
    "meanings": meanings,
    "relevance": relevance,
    "octants": octants,
    "triggers": triggers,
    "weights": weights,
    "profiles": profiles,
    "transitions": transitions,
    "fields": fields,
    "gains": gains,
    "methods": methods,
    "events": events,
    "formats": formats,
    "told": told,
    "tools": tools,
    "commands": commands,
    "dataset": dataset,
}

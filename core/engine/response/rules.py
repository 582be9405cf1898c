"""The triggers and actions of methods, the rules in force from several files, and learned sensitivity to cues."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import cache
from typing import Annotated, Any, Literal, NamedTuple, get_args

from msgspec import Struct, convert, field, to_builtins

from core.engine.mind.clock import CAUSES, Resolution, Trigger
from core.engine.mind.stimulus import Cause
from core.engine.percept import AGENT_STATES, AXES, NEUTRAL, SIGNAL_AXES, AgentState, Axis
from core.engine.response.tables import RECEPTOR_RULES
from core.engine.values import Derived
from core.errors import PolicyError
from core.settings.group import Field, Group, Invalid, Spec, fields_of
from core.settings.response import LearningSettings

# What a method may listen to: the receptor's signals, a loop, a governor's halt, pressure on the person, and budget or
# context running out.
Cue = Literal[
    "compound", "frustration", "seeking", "uncertainty", "confidence", "fatigue", "loop", "halt", "pressure",
    "mortality",
]  # fmt: skip
CUES: tuple[Cue, ...] = get_args(Cue)

# Flow is not among them: it only silences.
CUE_OF: dict[str, Cue] = {
    "compound_frustration_seeking": "compound",
    "frustration_spike": "frustration",
    "seeking_spike": "seeking",
    "uncertainty_spike": "uncertainty",
    "confidence_sustained": "confidence",
    "fatigue_rising": "fatigue",
}

CUE_AXES: dict[Cue, tuple[Axis, ...]] = {cue: SIGNAL_AXES[name] for name, cue in CUE_OF.items()}

MethodType = Literal[
    "knowledge_search", "path_suggest", "status_notify", "context_persist", "action_log", "future_probe", "loop_alert"
]
Mode = Literal["auto", "notify", "background"]
Frequency = Literal["low", "medium", "high"]
NoticeKind = Literal["needs_you", "risk", "done"]
InterventionKind = Literal["steer", "follow_up", "self_steer"]
Window = Literal["decide", "reflect", "curator", "dream"]
Source = Literal["risk", "mortality", "policy", "attention"]

# What a sentence may name in braces.
PLACES = (
    "cue", "state", "pattern", "intensity", "value", "pressure", "loop", "halt", "failures", "hours", "change",
    "means",
)  # fmt: skip

_BRACES = re.compile(r"\{([^{}]*)\}")


def _cue_values(value: Any) -> Any:
    listed = [value] if isinstance(value, str) else value
    if not isinstance(listed, list | tuple):
        return value
    if "any" in listed:
        return CUES
    return tuple(CUE_OF.get(one, one) if isinstance(one, str) else one for one in listed)


def _state_values(value: Any) -> Any:
    listed = [value] if isinstance(value, str) else value
    return AGENT_STATES if isinstance(listed, list | tuple) and "any" in listed else listed


def _sentence(text: str) -> str:
    unknown = [name for name in _BRACES.findall(text) if name not in PLACES]
    if unknown:
        raise ValueError(f"{{{unknown[0]}}} is not a known placeholder")
    return text


class MethodTrigger(Group):
    """When a method is a candidate, and how easily it fires."""

    signals: Annotated[tuple[Cue, ...], Spec(min_length=1, before=_cue_values)]
    states: Annotated[tuple[AgentState, ...], Spec(min_length=1, before=_state_values)]
    sensitivity: Annotated[float, Spec("How much of a signal counts.", 0, 1)]
    frequency: Frequency = "low"
    threshold: Annotated[float | None, Spec(ge=0, le=1)] = None  # A threshold of its own, in place of the settings'.
    despite_flow: bool = False  # Speak of loops even while the agent flows: a loop of successes feels like flow.


class Deliver(Group):
    """The intervention a method asks for."""

    kind: InterventionKind = "follow_up"
    window: Window = "decide"
    source: Source = "attention"
    cancel: bool = False
    priority: Annotated[int, Spec("Higher goes first.", 0, 255)] = 100
    deadline: Annotated[float | None, Spec(ge=1, le=86_400)] = None


class Action(Group):
    """A method's message, and its audience."""

    say: Annotated[str, Spec(max_length=300, after=_sentence)] = ""
    # The sentence for the agent, as a fact, if it differs from the one for the person.
    tell: Annotated[str, Spec(max_length=300, after=_sentence)] = ""
    kind: NoticeKind = "risk"
    limit: Annotated[int | None, Spec(ge=1, le=50)] = None
    deliver: Deliver | None = None


class Method(Group):
    """One way to respond."""

    id: Annotated[str, Spec(pattern=r"^[a-z0-9][a-z0-9_-]{0,39}$")]
    type: MethodType
    mode: Mode
    trigger: MethodTrigger
    action: Action = Action()
    enabled: bool = True


def own_method(entry: dict[str, Any]) -> Method:
    """Build a method of our own table, without the checks for rules from outside."""
    trigger = entry["trigger"]
    lists = {"signals": _cue_values(trigger["signals"]), "states": _state_values(trigger["states"])}
    return convert({**entry, "trigger": {**trigger, **lists}}, Method)


def fill(sentence: str, values: dict[str, str]) -> str:
    """Replace the braces of a sentence with their values."""
    return _BRACES.sub(lambda match: values.get(match[1], ""), sentence).strip()


MOST_WAKEUPS = 64  # Wakeups one file may name.
_WAKEUP_FIELDS = {
    "id": "1 to 40 characters of a-z, 0-9, - and _, and not the name of a built-in trigger",
    "causes": f"a list of {', '.join(get_args(Cause))}",
    "like": "a pattern in which * matches any text, up to 80 characters",
    "resolution": "gamma or theta",
    "least": "a number from 0 to 1000000",
    "refire": "seconds from 0 to 86400",
}


class WakeupRule(Group):
    """Wake the mind when something of these causes is large enough, and is described like this."""

    id: Annotated[str, Spec(pattern=r"^[a-z0-9][a-z0-9_-]{0,39}$")]
    causes: Annotated[tuple[Cause, ...], Spec(min_length=1)]
    like: Annotated[str, Spec(max_length=80)] = "*"
    resolution: Resolution = "theta"
    least: Annotated[float, Spec(ge=0, le=1_000_000)] = 1.0
    refire: Annotated[float, Spec(ge=0, le=86_400)] = 5.0

    @property
    def trigger(self) -> Trigger:
        """The trigger for the mind."""
        return Trigger(self.id, self.causes, self.resolution, self.least, self.refire, self.like)


def read_wakeups(entries: Any, source: str) -> dict[str, WakeupRule]:
    """Every wakeup a file names; PolicyError with every fault and what is allowed."""
    if not isinstance(entries, list):
        raise PolicyError(f"{source}: wakeups: must be a list of tables")
    if len(entries) > MOST_WAKEUPS:
        raise PolicyError(f"{source}: wakeups: {len(entries)} entries; at most {MOST_WAKEUPS} are allowed")
    rules: dict[str, WakeupRule] = {}
    faults: list[str] = []
    for place, entry in enumerate(entries):
        name = entry.get("id") if isinstance(entry, dict) else None
        label = f"{source}: wakeups[{place}]" + (f" ({name})" if isinstance(name, str) else "")
        try:
            rule = WakeupRule.parse(entry)
        except Invalid as error:
            faults += [f"{label}: {_wakeup_fault(each)}" for each in error.errors()]
            continue
        if rule.id in rules or rule.id in CAUSES:
            faults.append(f"{label}: this id is already in use; it must be {_WAKEUP_FIELDS['id']}")
        rules[rule.id] = rule
    if faults:
        raise PolicyError("\n".join(dict.fromkeys(faults)))
    return rules


def _wakeup_fault(error: Any) -> str:
    name = next((str(word) for word in error["loc"] if isinstance(word, str)), "")
    if not name:
        return "must be a table with an id and causes"
    if error["type"] == "extra_forbidden":
        return f"{name} is unknown; available: {', '.join(_WAKEUP_FIELDS)}"
    verb = "is missing; it must be" if error["type"] == "missing" else "is invalid; it must be"
    return f"{name} {verb} {_WAKEUP_FIELDS.get(name, 'something else')}"


MOST = 8  # Methods one project may add; with more, their notices could push out those of others.
OWN_WORDS = ("done", "question")  # What notices of our own are called; a method of that name could use up their rest.

_FREQUENCIES = ("low", "medium", "high")


class Refusal(NamedTuple):
    """A field of a project's method that is ignored, and the reason."""

    field: str  # Empty if the whole method is ignored.
    why: str

    def __str__(self) -> str:
        return f"{self.field}: {self.why}" if self.field else self.why


def unwanted(method: Method) -> str:
    """Return why a project may not add this method; empty if it may."""
    if method.id in OWN_WORDS:
        return f"{method.id} is a reserved name; a project's method needs another"
    if method.action.kind == "done":
        return "action.kind is done; in a project it must be risk or needs_you"
    if method.type == "context_persist":
        return "type is context_persist; only your own rules may write checkpoints"
    if method.action.deliver is not None:
        return "action.deliver: only your own rules may send text to an agent"
    return ""


def narrowed(current: Method, proposal: Method) -> tuple[Method, list[Refusal]]:
    """The known method with what a project may change, and the changes that are refused."""
    if proposal != current and (current.action.kind == "done" or current.type == "context_persist"):
        return current, [Refusal("", "ignored; only your own rules may change a method that does not warn")]
    old, new = current.trigger, proposal.trigger
    frequent = _FREQUENCIES.index(new.frequency) >= _FREQUENCIES.index(old.frequency)
    easier = old.threshold is not None and new.threshold is not None and new.threshold <= old.threshold
    checks: tuple[tuple[str, bool, str], ...] = (
        ("enabled", proposal.enabled, "a project may only turn it on"),
        ("type", False, "only your own rules may change it"),
        ("mode", False, "only your own rules may change it"),
        ("action", False, "only your own rules may change it"),
        ("trigger.signals", False, "another signal could use up its cooldown; a project may add a method"),
        ("trigger.states", set(new.states) >= set(old.states), "a project may only add to them"),
        ("trigger.sensitivity", new.sensitivity >= old.sensitivity, "a project may only raise it"),
        ("trigger.frequency", frequent, "a project may only make it more frequent"),
        ("trigger.threshold", easier, "a project may only lower an existing one"),
        ("trigger.despite_flow", new.despite_flow, "a project may only turn it on"),
    )
    changes: dict[str, dict[str, Any]] = {"": {}, "trigger": {}}
    refused: list[Refusal] = []
    for path, allowed, why in checks:
        group, _, name = path.rpartition(".")
        before, after = (old, new) if group else (current, proposal)
        if allowed or getattr(after, name) == getattr(before, name):
            changes[group][name] = getattr(after, name)
        else:
            refused.append(Refusal(path, f"ignored; {why}"))
    return current.replace(**changes[""], trigger=old.replace(**changes["trigger"])), refused


BUILT_IN = "built-in"


class RuleSet(NamedTuple):
    """Methods in force, and where each was last said."""

    methods: tuple[Method, ...]
    origins: Mapping[str, str]
    wakeups: tuple[WakeupRule, ...] = ()  # The person's own conditions that wake the mind.

    @property
    def triggers(self) -> tuple[Trigger, ...]:
        """The wakeups as the mind knows them."""
        return tuple(rule.trigger for rule in self.wakeups)

    def method(self, name: str) -> Method | None:
        """The method of that name."""
        return next((method for method in self.methods if method.id == name), None)


@cache
def built_in() -> RuleSet:
    """The methods everyone has."""
    methods = tuple(map(own_method, json.loads(RECEPTOR_RULES)["methods"]))
    return RuleSet(methods, dict.fromkeys((method.id for method in methods), BUILT_IN))


def add_rules(base: RuleSet, content: bytes, source: str) -> RuleSet:
    """Lay one file over a set: a known id is bent, a new one added.

    All or nothing: a file with a fault changes nothing, and every fault is named with what is allowed.
    """
    methods = {method.id: method for method in base.methods}
    tree = _tree(content, source)
    proposals = _proposals(methods, tree, source)
    woken = {rule.id: rule for rule in base.wakeups} | read_wakeups(tree.get("wakeups", []), source)
    origins = {**base.origins, **dict.fromkeys(proposals, source)}
    return RuleSet(tuple((methods | proposals).values()), origins, tuple(woken.values()))


def add_foreign_rules(base: RuleSet, content: bytes, source: str) -> tuple[RuleSet, tuple[str, ...]]:
    """Lay a watched project's file over a set as far as it only warns more; return the rest as refusals."""
    methods = {method.id: method for method in base.methods}
    origins = dict(base.origins)
    refused: list[str] = []
    tree = _tree(content, source)
    if tree.get("wakeups"):
        refused.append(f"{source}: wakeups are ignored: only your own rules may wake the mind")
    proposals = _proposals(methods, tree, source)
    new = [name for name in proposals if name not in methods]
    if len(new) > MOST:
        left = len(new) - MOST
        refused.append(f"{source}: {left} methods are ignored: a project may add up to {MOST}")
    surplus = set(new[MOST:])
    for name, method in proposals.items():
        if name in surplus:
            continue
        current = methods.get(name)
        if current is not None:
            accepted, losses = narrowed(current, method)
            reasons = [str(loss) for loss in losses]
        else:
            accepted, why = method, unwanted(method)
            reasons = [f"the method is ignored: {why}"] if why else []
        refused += [f"{source}{_line(content, name)}: {name}: {each}" for each in reasons]
        if accepted != current and (current is not None or not reasons):
            methods[name] = accepted
            origins[name] = source
    return RuleSet(tuple(methods.values()), origins, base.wakeups), tuple(refused)


def _line(content: bytes, name: str) -> str:
    """Where a file names a method, as `:7`."""
    match = re.search(rb'"id"\s*:\s*"' + re.escape(name.encode()) + b'"', content)
    return f":{len(content[: match.end()].splitlines())}" if match else ""


def _proposals(current: Mapping[str, Method], tree: Mapping[str, Any], source: str) -> dict[str, Method]:
    """Return every method a file names, on top of the known one with that id; raise `PolicyError` if any is wrong."""
    proposals: dict[str, Method] = {}
    faults: list[str] = []
    places: dict[str, int] = {}
    for place, entry in enumerate(tree["methods"]):
        name = entry.get("id") if isinstance(entry, dict) else None
        label = f"methods[{place}]" + (f" ({name})" if isinstance(name, str) else "")
        if not isinstance(entry, dict) or not isinstance(name, str):
            faults.append(f"{label}: must be a table with an id")
        elif name in places:
            faults.append(f"{label}: the id is already used by methods[{places[name]}]")
        else:
            places[name] = place
            below = current.get(name)
            try:
                proposals[name] = Method.parse(_laid_over(to_builtins(below) if below else {}, entry))
            except Invalid as error:
                first = {each["loc"][: _depth(each["loc"])]: each for each in reversed(error.errors())}
                faults += [f"{label}: {_fault(each)}" for each in reversed(first.values())]
    if faults:
        raise PolicyError("\n".join(f"{source}: {fault}" for fault in faults))
    return proposals


def _tree(content: bytes, source: str) -> dict[str, Any]:
    try:
        tree = json.loads(content)
    except json.JSONDecodeError as error:
        raise PolicyError(f"{source}:{error.lineno}: is not JSON: {error.msg}") from None
    except (ValueError, RecursionError) as error:
        raise PolicyError(f"{source}: is not JSON: {error}") from None
    if isinstance(tree, dict) and "wakeups" in tree:
        tree.setdefault("methods", [])
    if not isinstance(tree, dict) or not isinstance(tree.get("methods"), list):
        fault = "must be a list" if isinstance(tree, dict) and "methods" in tree else "missing"
        raise PolicyError(f'{source}: methods: {fault}; a rule file is {{"methods": [...], "wakeups": [...]}}')
    unknown = [name for name in tree if name not in ("methods", "wakeups")]
    if unknown:
        raise PolicyError(f"{source}: {unknown[0]}: unknown; available: methods, wakeups")
    return tree


def _laid_over(below: dict[str, Any], above: dict[str, Any]) -> dict[str, Any]:
    merged = dict(below)
    for name, value in above.items():
        under = merged.get(name)
        merged[name] = _laid_over(under, value) if isinstance(under, dict) and isinstance(value, dict) else value
    return merged


def _depth(place: tuple[int | str, ...]) -> int:
    """How many words lead to the field, without places in a list."""
    return next((depth for depth, word in enumerate(place) if isinstance(word, int)), len(place))


def _fault(error: Any) -> str:
    words = [str(word) for word in error["loc"] if isinstance(word, str)]
    path = ".".join(words)
    if error["type"] == "missing":
        return f"{path} is missing; it must be {_allowed(words)}"
    if error["type"] == "extra_forbidden":
        return f"{path} is unknown; available: {', '.join(_siblings(words[:-1]))}"
    return f"{path} is {_short(error['input'])}; it must be {_allowed(words)}"


def _short(value: object) -> str:
    text = json.dumps(value, default=str)
    return text if len(text) <= 60 else text[:59] + "…"


_SPECIAL = {
    "id": "1 to 40 of a-z, 0-9, - and _",
    "trigger.signals": f"a list of any or {', '.join(CUES)}",
    "trigger.states": f"a list of any or {', '.join(AGENT_STATES)}",
    "trigger.threshold": "a number from 0 to 1",
    "action.say": f"up to 300 characters; braces may name {', '.join(PLACES)}",
    "action.limit": "a whole number from 1 to 50",
    "action.deliver.deadline": "a number from 1 to 86400",
}


def _allowed(words: list[str]) -> str:
    path = ".".join(words)
    if path in _SPECIAL:
        return _SPECIAL[path]
    field = _field(words)
    if field is None:
        return "something else"
    choices = get_args(field.kind)
    if choices and all(isinstance(choice, str) for choice in choices):
        return ", ".join(choices)
    if field.kind is bool:
        return "true or false"
    bounds = [f"{bound:g}" for bound in (field.spec.ge, field.spec.le) if bound is not None]
    if len(bounds) == 2:
        noun = "a whole number" if field.kind is int else "a number"
        return f"{noun} from {bounds[0]} to {bounds[1]}"
    return f"a table with {', '.join(_siblings(words))}"


def _group(words: list[str]) -> type[Group]:
    """Return the innermost group on the way that these words name."""
    group: type[Group] = Method
    for word in words:
        field = fields_of(group).get(word)
        inner = Deliver if word == "deliver" else field and field.group
        if not inner:
            break
        group = inner
    return group


def _field(words: list[str]) -> Field | None:
    return fields_of(_group(words[:-1])).get(words[-1]) if words else None


def _siblings(words: list[str]) -> list[str]:
    return list(fields_of(_group(words)))


LEARNING_AXES: tuple[Axis, ...] = tuple(axis for axis in AXES if axis != "flow")


class Learned(Struct, frozen=True):
    """Per axis, how far sensitivity has moved and how many fires an hour are expected."""

    deltas: dict[Axis, float] = field(default_factory=dict)
    expected: dict[Axis, float] = field(default_factory=dict)
    stretches: int = 0
    until: float = 0.0  # Event time of the newest stretch.


NOTHING_LEARNED = Learned()
_MOST = 1.5  # Of a proposal that is welcome, so much of it.


def share_accepted(acceptance: float) -> float:
    """How much of what is proposed from outside is taken over: all at rest, nothing at full strictness."""
    return min(_MOST, max(0.0, (1.0 - acceptance) / (1.0 - NEUTRAL.mutation_acceptance)))


def learn(
    learned: Learned,
    fires: Mapping[Axis, int],
    seconds: float,
    until: float,
    settings: LearningSettings,
    share: float = 1.0,
    proposals: Mapping[Axis, float] | None = None,
) -> Learned:
    """Take in one stretch of work: an axis that fires more than expected is heard less, and the reverse.

    `share` is how much of the change is accepted; `proposals` are changes that others ask for, as much as one
    stretch may teach at most.
    """
    if not settings.enabled or seconds < settings.least or seconds <= 0.0:
        return learned
    deltas = dict(learned.deltas)
    expected = dict(learned.expected)
    for axis in LEARNING_AXES:
        actual = fires.get(axis, 0) * 3600.0 / seconds
        usual = expected.get(axis)
        if usual is None:
            expected[axis] = actual
            continue
        asked_for = min(max((proposals or {}).get(axis, 0.0), -settings.rate), settings.rate)
        delta = deltas.get(axis, 0.0) - share * (settings.rate * (actual - usual) / max(usual, 1.0) - asked_for)
        deltas[axis] = min(max(delta, -settings.bound), settings.bound)
        expected[axis] = usual + settings.memory * (actual - usual)
    return Learned(deltas, expected, learned.stretches + 1, max(until, learned.until))


@Derived
def cue_deltas(learned: Learned, settings: LearningSettings) -> dict[Cue, float]:
    """For each cue the delta of largest magnitude among its axes; none for what is not an axis."""
    if not settings.enabled:
        return {}
    deltas: dict[Cue, float] = {}
    for cue in CUES:
        own = [learned.deltas.get(axis, 0.0) for axis in CUE_AXES.get(cue, ())]
        if own:
            largest = max(own, key=abs)
            deltas[cue] = min(max(largest, -settings.bound), settings.bound)
    return deltas

"""The registry of actions: what each type of method does, and the words it leaves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from heapq import nsmallest
from typing import Literal, NamedTuple

from core.engine.governor.governor import Verdict
from core.engine.governor.machine import HALT_WORDS, HaltReason
from core.engine.mind.episode import Episode, Recalled
from core.engine.mind.mind import Mind
from core.engine.percept import AXES, PATTERNS, Percept, spell_name
from core.engine.receptor.heatmap import Heatmap, Leaf
from core.engine.receptor.persona import Persona, likeness
from core.engine.response.loops import Loop
from core.engine.response.rules import CUE_AXES, Cue, Method, MethodType, fill
from core.engine.state import Stateful, mapped, tabled
from core.events import Action, AgentEnd, AgentStart
from core.settings.response import ActionSettings

ALONE = "alone"
_MOST = 32  # Roles remembered, and sub-agents at work whose role is.


class Delegate(NamedTuple):
    """One way to continue, alone or with a role, and its record."""

    role: str  # The role of a sub-agent, or `alone`.
    score: float
    runs: int = 0
    good: int = 0


class Delegates(Stateful):
    """How each role of sub-agent did; affect's preference weighs them against going on alone."""

    STATE = (tabled("_roles", 2), mapped("_running"))

    def __init__(self) -> None:
        self._roles: dict[str, tuple[int, int]] = {}
        self._running: dict[str, str] = {}

    def update(self, event: AgentStart | AgentEnd) -> None:
        """Count a sub-agent that starts or reports back."""
        if isinstance(event, AgentStart):
            self._running[event.child] = event.role or "sub-agent"
            if len(self._running) > _MOST:
                del self._running[next(iter(self._running))]
            return
        role = self._running.pop(event.child, "sub-agent")
        runs, good = self._roles.pop(role, (0, 0))
        self._roles[role] = (runs + 1, good + (event.outcome != "failure"))
        if len(self._roles) > _MOST:
            del self._roles[next(iter(self._roles))]

    def order(self, preference: float, failing: float) -> tuple[Delegate, ...]:
        """Return every way to continue, the preferred first; without a preference only working alone."""
        ways = [Delegate(ALONE, (1.0 - preference) * (1.0 - failing))]
        if preference > 0.0:
            ways += [
                Delegate(role, preference * (good + 1) / (runs + 2), runs, good)
                for role, (runs, good) in self._roles.items()
            ]
        return tuple(sorted(ways, key=lambda way: (-way.score, way.role)))


class Scene(NamedTuple):
    """The moment at which a method fires; looking at it changes nothing."""

    at: float
    agent: str
    cue: Cue
    intensity: float
    percept: Percept
    verdict: Verdict
    loop: Loop | None
    pressure: float
    mind: Mind
    heatmap: Heatmap
    settings: ActionSettings
    signature: Mapping[Action, float] = {}  # Shares of the actions so far.
    personas: tuple[Persona, ...] = ()
    delegates: tuple[Delegate, ...] = (Delegate(ALONE, 1.0),)  # Ways to go on, the preferred first.
    means: str = ""  # Which means run out, budget or context.

    @property
    def value(self) -> float:
        """Return the value of the cue's axis; if it names two, the higher one."""
        axes = CUE_AXES.get(self.cue, ())
        values = [self.percept.axes[AXES.index(axis)] for axis in axes]
        return max(values) if values else self.intensity

    def words(self) -> dict[str, str]:
        """Return the words that sentences may name in braces."""
        return {
            "cue": self.cue,
            "state": self.percept.state.replace("_", " "),
            "pattern": spell_name(self.percept.pattern),
            "intensity": f"{self.intensity:.2f}",
            "value": f"{self.value:.2f}",
            "pressure": f"{self.pressure:.2f}",
            "loop": self.loop.what if self.loop else "a loop",
            "halt": _halted(self.verdict.halted_now),
            "failures": f"{100 * self.percept.failure_rate:.0f}%",
            "hours": f"{self.percept.now / 3600:.1f}",
            "change": self.percept.change,
            "means": self.means,
        }

    def reason(self) -> str:
        """Why a method spoke, in a few words."""
        state = self.percept.state.replace("_", " ")
        if self.cue == "loop" and self.loop:
            return f"loop ({self.loop.detector}, {self.loop.count} times), {state}"
        if self.cue == "halt":
            return f"the governor would halt ({self.verdict.halted_now}) at step {self.verdict.step}"
        if self.cue == "mortality":
            return f"running out: {self.means}"
        if self.cue == "pressure":
            return f"pressure {self.pressure:.2f} reached the threshold for asking, {state}"
        cue = "frustration with seeking" if self.cue == "compound" else self.cue
        return f"{cue} at {self.value:.2f}, {self.intensity:.2f} above its threshold, {state}"


def _halted(reason: HaltReason | Literal[""]) -> str:
    return f"the agent {HALT_WORDS[reason]}" if reason else "halt"


_LOOKED_AT = 40
_TROUBLE: frozenset[Cue] = frozenset(("loop", "halt", "pressure", "frustration", "compound"))

_ENDINGS = {
    "start": "a start",
    "prompt": "a prompt",
    "interrupt": "an interrupt",
    "pattern": "a change of pattern",
    "delta": "a rest",
    "session_end": "the session's end",
}


class CheckpointRequest(NamedTuple):
    """A moment a method asks to keep by name."""

    at: float
    name: str
    centre: str  # The folder or file most of the work is in.
    state: str
    pattern: str


class ActionResult(NamedTuple):
    """The result of an action."""

    text: str
    checkpoint: CheckpointRequest | None = None


Act = Callable[[Scene, Method], ActionResult]


def alert(scene: Scene, method: Method) -> ActionResult:
    """Say the method's sentence and, in trouble, who could take the work over."""
    text = fill(method.action.say, scene.words()) or scene.reason()
    return ActionResult(f"{text} {advised_delegate(scene)}".rstrip())


def advised_delegate(scene: Scene) -> str:
    """Return the role to ask for help; empty if nothing is wrong or working alone is preferred."""
    first = scene.delegates[0]
    if scene.cue not in _TROUBLE or first.role == ALONE:
        return ""
    return f"A sub-agent may do better: {first.role} went well {first.good} of {first.runs} times."


def search_episodes(scene: Scene, method: Method) -> ActionResult:
    """Recall the most alike episodes, and what ended each."""
    alike = scene.mind.alike(method.action.limit or scene.settings.recalled)
    lines = [_memory_words(one, after) for one, after in alike]
    lead = fill(method.action.say, scene.words())
    return ActionResult(f"{lead} {'; '.join(lines) or 'no similar episode'}".strip())


def suggest(scene: Scene, method: Method) -> ActionResult:
    """Name the hottest paths and those left a while ago."""
    most = scene.mind.wide(method.action.limit or scene.settings.paths)
    familiar = max(1, round(2 * most * scene.mind.heart.composition.familiarity))
    hottest = nsmallest(_LOOKED_AT, scene.heatmap.leaves, key=lambda leaf: (-leaf.weight, leaf.path))
    hot = [leaf.path for leaf in hottest[:familiar]]
    left = [leaf.path for leaf in hottest[familiar:] if _has_left(leaf, scene)][:most]
    paths = {*hot, *left}
    rare = [leaf.path for leaf in reversed(hottest) if leaf.count == 1 and leaf.path not in paths]
    parts = [fill(method.action.say, scene.words())] if method.action.say else []
    parts.append(f"Work is in {', '.join(hot)}." if hot else "No path has been visited yet.")
    if left:
        parts.append(f"Not visited for a while: {', '.join(left)}.")
    moved = [leaf.path for leaf in hottest if leaf.last_modified and leaf.last_modified > leaf.last_access]
    if moved:
        parts.append(f"Changed on disk since it was last there: {', '.join(moved[:most])}.")
    if rare and familiar < most:
        parts.append(f"Looked at only once: {', '.join(rare[: most - familiar])}.")
    return ActionResult(" ".join(parts))


def persist(scene: Scene, method: Method) -> ActionResult:
    """Ask for a checkpoint named after where the work is."""
    centre = work_centre(scene.heatmap.leaves, scene.settings.centre)
    state, pattern = scene.percept.state, scene.percept.pattern
    name = f"{state.replace('_', ' ')} in {centre}" if centre else state.replace("_", " ")
    lead = fill(method.action.say, scene.words())
    return ActionResult(
        f"{lead} Checkpoint: {name}, {spell_name(pattern)}.".strip(),
        CheckpointRequest(scene.at, name, centre, state, pattern),
    )


def note(scene: Scene, method: Method) -> ActionResult:
    """Write down what the agent is at."""
    words = scene.words()
    text = fill(method.action.say, words)
    return ActionResult(
        text
        or f"{words['state']}, {words['pattern']}, {scene.cue} +{scene.intensity:.2f}, "
        f"{words['failures']} of commands fail"
    )


def probe(scene: Scene, method: Method) -> ActionResult:
    """Say what followed the most alike episodes and how often, and how personas that work alike fare."""
    lean, settings = scene.mind.heart.composition, scene.settings
    most = max(1, round((method.action.limit or settings.alike) * lean.branching))
    alike = scene.mind.alike(most, max(1, round(settings.ahead * lean.depth)))
    came = [", then ".join(one.did() for one in after) for _, after in alike if after]
    counted = sorted(Counter(came).items(), key=lambda item: (-item[1], item[0]))
    least = settings.pruned * lean.pruning * len(came)
    likely = [item for item in counted if item[1] >= least] or counted[:1]
    lines = []
    if likely:
        shares = "; ".join(f"{what} ({number} of {len(came)})" for what, number in likely)
        lines.append(f"Similar moments were followed by {shares}.")
    lines += _personas(scene)
    return ActionResult(" ".join(lines) or "No similar moment is known, so nothing can be predicted.")


def _personas(scene: Scene) -> list[str]:
    """Count what people with a similar way of working mostly do, weighted by similarity."""
    near = [
        (alike, persona)
        for persona in scene.personas
        if (alike := likeness(scene.signature, persona.actions)) >= scene.settings.likeness
    ]
    if not near:
        return []
    weight = sum([alike for alike, _ in near])
    patterns = {name: sum([alike * one.patterns.get(name, 0.0) for alike, one in near]) / weight for name in PATTERNS}
    stuck = sum([alike * one.states.get("stuck", 0.0) for alike, one in near]) / weight
    usual = max(PATTERNS, key=lambda name: patterns[name])
    who = "1 known persona works" if len(near) == 1 else f"{len(near)} known personas work"
    closest = max(alike for alike, _ in near)
    return [
        f"{who} like this (similarity {closest:.2f}): {patterns[usual]:.0%} {spell_name(usual)}, "
        f"stuck {stuck:.0%} of the time."
    ]


REGISTRY: Mapping[MethodType, Act] = {
    "knowledge_search": search_episodes,
    "path_suggest": suggest,
    "status_notify": alert,
    "context_persist": persist,
    "action_log": note,
    "future_probe": probe,
    "loop_alert": alert,
}


def work_centre(leaves: Iterable[Leaf], share: float) -> str:
    """The deepest folder or file that holds at least that share of the heat around it."""
    inside = [(leaf.path.split("/"), leaf.weight) for leaf in leaves]
    centre: list[str] = []
    while inside:
        depth = len(centre)
        heats: dict[str, float] = {}
        for parts, heat in inside:
            if len(parts) > depth:
                heats[parts[depth]] = heats.get(parts[depth], 0.0) + heat
        if not heats:
            break
        hottest = max(heats, key=lambda name: (heats[name], name))
        if heats[hottest] < share * sum(heats.values()):
            break
        inside = [one for one in inside if len(one[0]) > depth and one[0][depth] == hottest]
        centre.append(hottest)
    return "/".join(centre)


def _has_left(leaf: Leaf, scene: Scene) -> bool:
    settings = scene.settings
    absence = scene.at - leaf.last_access
    return leaf.count >= settings.visits and settings.left_after <= absence <= settings.left_within


def _memory_words(one: Recalled, after: tuple[Episode, ...]) -> str:
    episode = one.episode
    calls = f"{episode.calls} call{'s' if episode.calls != 1 else ''}"
    line = f"{one.line} after {calls}, ended by {_ENDINGS[episode.ended_by]}"
    return f"{line}, then {after[0].did()}" if after else line

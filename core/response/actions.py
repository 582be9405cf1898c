"""The registry of actions: what each type of method does, and the words it leaves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from heapq import nsmallest
from typing import NamedTuple

from core.mind.episode import Episode, Recalled
from core.receptor.heatmap import Leaf
from core.response.method import Method, MethodType, fill
from core.response.scene import Scene

_LOOKED_AT = 40

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
    centre: str
    """The folder or file most of the work is in."""
    state: str
    pattern: str


class ActionResult(NamedTuple):
    """What an action came to."""

    text: str
    checkpoint: CheckpointRequest | None = None


Act = Callable[[Scene, Method], ActionResult]


def alert(scene: Scene, method: Method) -> ActionResult:
    """Say the method's sentence."""
    return ActionResult(fill(method.action.say, scene.words()) or scene.reason())


def search_episodes(scene: Scene, method: Method) -> ActionResult:
    """Recall the most alike episodes, and what ended each."""
    alike = scene.recollection.alike(method.action.limit or scene.settings.recalled)
    found = [_remembered(one, after) for one, after in alike]
    lead = fill(method.action.say, scene.words())
    return ActionResult(f"{lead} {'; '.join(found) or 'nothing alike is remembered'}".strip())


def suggest(scene: Scene, method: Method) -> ActionResult:
    """Name the hottest paths and those left a while ago."""
    most = method.action.limit or scene.settings.paths
    hottest = nsmallest(_LOOKED_AT, scene.heatmap.leaves, key=lambda leaf: (-leaf.weight, leaf.path))
    hot = [leaf.path for leaf in hottest[:most]]
    left = [leaf.path for leaf in hottest[most:] if _left(leaf, scene)][:most]
    parts = [fill(method.action.say, scene.words())] if method.action.say else []
    parts.append(f"Work is in {', '.join(hot)}." if hot else "No path has been visited yet.")
    if left:
        parts.append(f"Left a while ago: {', '.join(left)}.")
    return ActionResult(" ".join(parts))


def persist(scene: Scene, method: Method) -> ActionResult:
    """Ask for a checkpoint named after where the work is."""
    centre = work_centre(scene.heatmap.leaves, scene.settings.centre)
    state, pattern = scene.percept.state, scene.percept.pattern
    name = f"{state.replace('_', ' ')} in {centre}" if centre else state.replace("_", " ")
    lead = fill(method.action.say, scene.words())
    return ActionResult(
        f"{lead} Checkpoint: {name}, {pattern.replace('_', ' ')}.".strip(),
        CheckpointRequest(scene.at, name, centre, state, pattern),
    )


def note(scene: Scene, method: Method) -> ActionResult:
    """Write down what the agent is at."""
    said = fill(method.action.say, scene.words())
    percept = scene.percept
    return ActionResult(
        said
        or f"{percept.state}, {percept.pattern}, {scene.cue} +{scene.intensity:.2f}, "
        f"{100 * percept.failure_rate:.0f}% of commands fail"
    )


def probe(scene: Scene, method: Method) -> ActionResult:
    """Say what followed the most alike episodes, and how often."""
    alike = scene.recollection.alike(method.action.limit or scene.settings.alike)
    came = [f"{after.action} -> {after.outcome}" for _, after in alike if after is not None]
    if not came:
        return ActionResult("Nothing is known of what follows here.")
    counted = sorted(Counter(came).items(), key=lambda item: (-item[1], item[0]))
    shares = ", ".join(f"{what} ({number} of {len(came)})" for what, number in counted)
    return ActionResult(f"After moments like this came {shares}.")


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


def _left(leaf: Leaf, scene: Scene) -> bool:
    settings = scene.settings
    gone = scene.at - leaf.last_access
    return leaf.count >= settings.visits and settings.left_after <= gone <= settings.left_within


def _remembered(one: Recalled, after: Episode | None) -> str:
    episode = one.episode
    calls = f"{episode.calls} call{'s' if episode.calls != 1 else ''}"
    line = f"{one.line} after {calls}, ended by {_ENDINGS[episode.ended_by]}"
    return f"{line}, then {after.action} -> {after.outcome}" if after else line

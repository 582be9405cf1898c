"""The registry of actions: what each type of method does, and the words it leaves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import NamedTuple

from core.mind.episode import Episode, Recalled
from core.receptor.readings import HeatmapReading, NodeReading, PathReading
from core.response.method import Method, MethodType, fill
from core.response.scene import Scene

_ALL = 1_000_000

_ENDINGS = {
    "start": "a start",
    "prompt": "a prompt",
    "interrupt": "an interrupt",
    "pattern": "a change of pattern",
    "delta": "a rest",
    "session_end": "the session's end",
}


class Checkpoint(NamedTuple):
    """A moment a method asks to keep by name."""

    at: float
    name: str
    centre: str
    """The folder or file most of the work is in."""
    state: str
    pattern: str


class Result(NamedTuple):
    """What an action came to."""

    text: str
    checkpoint: Checkpoint | None = None


Act = Callable[[Scene, Method], Result]


def alert(scene: Scene, method: Method) -> Result:
    """Say the method's sentence."""
    return Result(fill(method.action.say, scene.words()) or scene.reason())


def search(scene: Scene, method: Method) -> Result:
    """Recall the most alike episodes, and what ended each."""
    recalled = scene.mind.recall(_ALL, _ALL)
    following = _followers(recalled)
    found = [
        _remembered(one, following.get((one.episode.session, one.episode.number + 1)))
        for one in recalled[: method.action.limit or scene.settings.recalled]
    ]
    lead = fill(method.action.say, scene.words())
    if not found:
        return Result(f"{lead} nothing alike is remembered".strip())
    return Result(f"{lead} {'; '.join(found)}".strip())


def suggest(scene: Scene, method: Method) -> Result:
    """Name the hottest paths and those left a while ago."""
    settings = scene.settings
    most = method.action.limit or settings.paths
    heatmap = scene.receptor.read().heatmap
    hot = [leaf.path for leaf in heatmap.top[:most]]
    left = [leaf.path for leaf in heatmap.top if leaf.path not in hot and _left(leaf, scene)][:most]
    parts = [fill(method.action.say, scene.words())] if method.action.say else []
    parts += [f"Work is in {', '.join(hot)}." if hot else "No path has been visited yet."]
    if left:
        parts.append(f"Left a while ago: {', '.join(left)}.")
    return Result(" ".join(parts))


def persist(scene: Scene, method: Method) -> Result:
    """Ask for a checkpoint named after where the work is."""
    centre = work_centre(scene.receptor.read().heatmap, scene.settings.centre)
    state, pattern = scene.percept.state, scene.percept.pattern
    name = f"{state.replace('_', ' ')} in {centre}" if centre else state.replace("_", " ")
    lead = fill(method.action.say, scene.words())
    return Result(
        f"{lead} Checkpoint: {name}, {pattern.replace('_', ' ')}.".strip(),
        Checkpoint(scene.at, name, centre, state, pattern),
    )


def note(scene: Scene, method: Method) -> Result:
    """Write down what the agent is at."""
    said = fill(method.action.say, scene.words())
    percept = scene.percept
    return Result(
        said
        or f"{percept.state}, {percept.pattern}, {scene.cue} +{scene.intensity:.2f}, "
        f"{100 * percept.failure_rate:.0f}% of commands fail"
    )


def probe(scene: Scene, method: Method) -> Result:
    """Say what followed the most alike episodes, and how often."""
    recalled = scene.mind.recall(_ALL, _ALL)
    following = _followers(recalled)
    next_ones = [
        following.get((one.episode.session, one.episode.number + 1))
        for one in recalled[: method.action.limit or scene.settings.alike]
    ]
    came = [f"{one.action} -> {one.outcome}" for one in next_ones if one is not None]
    if not came:
        return Result("Nothing is known of what follows here.")
    counted = sorted(Counter(came).items(), key=lambda item: (-item[1], item[0]))
    shares = ", ".join(f"{what} ({number} of {len(came)})" for what, number in counted)
    return Result(f"After moments like this came {shares}.")


REGISTRY: Mapping[MethodType, Act] = {
    "knowledge_search": search,
    "path_suggest": suggest,
    "status_notify": alert,
    "context_persist": persist,
    "action_log": note,
    "future_probe": probe,
    "loop_alert": alert,
}


def work_centre(heatmap: HeatmapReading, share: float) -> str:
    """The deepest folder or file that holds at least that share of the heat around it."""
    nodes: tuple[NodeReading, ...] = heatmap.tree
    whole = sum(node.heat for node in nodes)
    centre = ""
    while nodes and whole > 0.0:
        hottest = max(nodes, key=lambda node: (node.heat, node.path))
        if hottest.heat < share * whole:
            break
        centre, nodes = hottest.path, hottest.children
    return centre


def _left(leaf: PathReading, scene: Scene) -> bool:
    settings = scene.settings
    gone = scene.at - leaf.last_access
    return leaf.count >= settings.visits and settings.left_after <= gone <= settings.left_within


def _followers(recalled: tuple[Recalled, ...]) -> dict[tuple[str, int], Episode]:
    return {(one.episode.session, one.episode.number): one.episode for one in recalled}


def _remembered(one: Recalled, after: Episode | None) -> str:
    episode = one.episode
    calls = f"{episode.calls} call{'s' if episode.calls != 1 else ''}"
    line = f"{one.line} after {calls}, ended by {_ENDINGS[episode.ended_by]}"
    return f"{line}, then {after.action} -> {after.outcome}" if after else line

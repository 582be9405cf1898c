"""The facts that must survive a compaction of an agent's context, as figures instead of prose."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Literal, NamedTuple

from msgspec import Struct, structs

from core.engine.governor.machine import Budgets
from core.engine.mind.cortical import Regime
from core.engine.percept import AgentState, Pattern, spell_name
from core.engine.society import Society
from core.engine.society.engine import Frame
from core.errors import StateError
from core.events import MAIN, AgentEnd, AgentStart, Compaction, Event, Prompt, Rollback, ToolUse, Turn
from core.logs.redact.values import one_line
from core.report.chrono import Centre, hottest_branch
from core.report.event_words import firing_words
from core.report.formatting import fraction, token_amount
from core.timeline.marks import MarkKind
from core.timeline.timeline import Timeline

WarningKind = Literal["signal", "halt", "quarantine", "loop"]
OpenKind = Literal["call", "failure", "agent"]

FAR = 2000  # Events searched backwards for unfinished work.


_CUTS: tuple[MarkKind, ...] = ("compaction",)


class HotPath(Struct, frozen=True):
    """A path that was worked on a lot."""

    path: str
    count: int
    opened: int
    modified: int


class Warned(Struct, frozen=True):
    """A warning that was active when the context was compacted."""

    kind: WarningKind
    name: str
    weight: float  # Its strength; 1 if unknown.


class OpenEnd(Struct, frozen=True):
    """Something begun and not finished."""

    kind: OpenKind  # A call without a result, a failure without a later success, a sub-agent at work.
    what: str
    at: float
    times: int = 1


class GovernorKept(Struct, frozen=True):
    """The governor's state."""

    state: str
    step: int
    stagnant: int
    budgets: Budgets
    halt: str
    after_halt: int


class Lesson(Struct, frozen=True):
    """A line of the hot memo, or of the playbook of this project."""

    method: str
    text: str
    at: float


class Preserved(Struct, frozen=True):
    """An agent's state at the moment its context was compacted."""

    at: float
    agent: str
    trigger: str
    state: AgentState
    pattern: Pattern
    regime: Regime
    phase: str
    governor: GovernorKept
    warnings: tuple[Warned, ...]
    centre: Centre | None
    paths: tuple[HotPath, ...]  # The hottest first.
    open: tuple[OpenEnd, ...]  # The newest first.
    tokens_before: int
    tokens_after: int  # 0 if unknown.
    compression_ratio: float | None  # Tokens before for each one after.
    narrative: str
    policy_hash: str = ""  # Fingerprint of policy, methods and bounds; empty if unknown.
    playbook: tuple[Lesson, ...] = ()  # The latest advice, newest first.


def preserve(
    frame_before: Frame,
    event: Compaction,
    *,
    open_ends: Sequence[OpenEnd] = (),
    tokens_after: int = 0,
    paths: int = 5,
    policy_hash: str = "",
) -> Preserved:
    """Build what must survive from the frame just before a compaction."""
    receptor, mind, governor = frame_before.receptor, frame_before.mind, frame_before.governor
    before = event.tokens_before or mind.sleep.context_tokens
    after = event.tokens_after or tokens_after
    hot = receptor.heatmap.top[:paths]
    return Preserved(
        at=event.at,
        agent=event.agent,
        trigger=event.trigger,
        state=frame_before.story.state,
        pattern=receptor.behaviour.short.pattern,
        regime=frame_before.story.regime,
        phase=frame_before.story.phase,
        governor=GovernorKept(*(getattr(governor, name) for name in GovernorKept.__struct_fields__)),
        warnings=tuple(_warnings(frame_before)),
        centre=hottest_branch(receptor.heatmap),
        paths=tuple(HotPath(leaf.path, leaf.count, leaf.opened, leaf.modified) for leaf in hot),
        open=tuple(open_ends),
        tokens_before=before,
        tokens_after=after,
        compression_ratio=before / after if before and after else None,
        narrative=_narrative(frame_before, open_ends),
        policy_hash=policy_hash,
        playbook=tuple(
            Lesson(entry.method, entry.text, entry.at)
            for entry in sorted(frame_before.response.memo, key=lambda entry: -entry.at)
        )
        + tuple(Lesson("playbook", line, frame_before.at) for line in frame_before.mind.playbook),
    )


def preserve_at(timeline: Timeline, place: int) -> Preserved:
    """Build what must survive the compaction at a place of a recording."""
    event = timeline.events[place] if 0 <= place < len(timeline) else None
    if not isinstance(event, Compaction):
        raise StateError(f"the context was not compacted at event {place}")
    frame = timeline.at(place, event.agent)
    return preserve(
        frame,
        event,
        open_ends=open_ends(timeline.events[max(0, place - FAR) : place], event.agent),
        tokens_after=context_after(timeline, place, event.agent),
        policy_hash=timeline.initial.policy_hash(timeline.settings_at(place)),
    )


def last_compaction(timeline: Timeline, index: int, agent: str) -> int | None:
    """Return the place of an agent's last compaction among the first `index` events."""
    mark = timeline.marks.before(index, _CUTS, agent)
    return None if mark is None else mark.place


def with_context_after(preserved: Preserved, tokens: int) -> Preserved:
    """Return it completed with the context size after the compaction."""
    ratio = preserved.tokens_before / tokens if preserved.tokens_before and tokens else None
    return structs.replace(preserved, tokens_after=tokens, compression_ratio=ratio)


class Preserver:
    """Collects what must survive each compaction while events stream by."""

    def __init__(self, most: int | None = None) -> None:
        self.kept: deque[Preserved] = deque(maxlen=most)
        self.count = 0  # Compactions so far.
        self._handed = 0  # How many of them `news` has returned.
        self._unfinished = Unfinished()
        # For agents whose context after the compaction is unknown: the number of their entry.
        self._waiting: dict[str, int] = {}

    def before(self, event: Event, society: Society, policy_hash: str) -> None:
        """Look at an event before the engine steps with it."""
        agent = event.agent
        if isinstance(event, Compaction):
            if agent in society.agents:
                ends = self._unfinished.of(agent)
                frame = society.frame(agent)
                self.kept.append(preserve(frame, event, open_ends=ends, policy_hash=policy_hash))
                self.count += 1
                if not event.tokens_after:
                    self._waiting[agent] = self.count
        elif self._waiting and isinstance(event, Turn) and event.context_tokens and agent in self._waiting:
            place = self._waiting.pop(agent) - self.count - 1
            if -place <= len(self.kept):
                self.kept[place] = with_context_after(self.kept[place], event.context_tokens)
        self._unfinished.update(event)

    def news(self) -> list[Preserved]:
        """Return what was collected since the last call."""
        fresh, self._handed = self.count - self._handed, self.count
        return list(self.kept)[max(0, len(self.kept) - fresh) :]

    def now(self, society: Society, at: float) -> Preserved:
        """Return what must survive a compaction that is not in the log yet."""
        return preserve(society.frame(MAIN), Compaction(at=at), open_ends=self._unfinished.of(MAIN))


class _Began(NamedTuple):
    """One beginning of something that is not finished."""

    place: int
    at: float
    what: str


class Unfinished:
    """What each agent started since its last prompt and did not finish, in the last events."""

    def __init__(self) -> None:
        self._count = 0  # Events so far.
        self._begun: dict[str, dict[tuple[str, ...], list[_Began]]] = {}  # By agent, kind and name.

    def update(self, event: Event) -> None:
        """Take in the next event."""
        self._count += 1
        if self._count % FAR == 0:
            self._forget()
        if isinstance(event, ToolUse):
            if event.outcome == "failure":
                key = _tried(event)
                what = " on ".join(part for part in key[1:3] if part and part != event.purpose)
                self._begin(event, key, what)
            elif event.outcome == "success":
                if event.agent in self._begun:
                    self._begun[event.agent].pop(_tried(event), None)
            elif event.outcome == "pending":
                what = event.program or event.tool
                self._begin(event, ("call", what), what)
        elif isinstance(event, Rollback) or (isinstance(event, Prompt) and not event.interrupt):
            self._begun.pop(event.agent, None)
        elif isinstance(event, AgentStart):
            self._begin(event, ("agent", event.child), event.role or event.child)
        elif isinstance(event, AgentEnd) and event.agent in self._begun:
            self._begun[event.agent].pop(("agent", event.child), None)

    def of(self, agent: str) -> list[OpenEnd]:
        """Return what an agent has not finished, newest first."""
        self._forget()
        ends: list[OpenEnd] = []
        for (kind, *_), begun in self._begun.get(agent, {}).items():
            if kind == "agent":
                ends += [OpenEnd("agent", one.what, one.at) for one in begun]
            else:
                known: OpenKind = "call" if kind == "call" else "failure"
                ends.append(OpenEnd(known, begun[0].what, begun[-1].at, len(begun)))
        return sorted(ends, key=lambda end: (-end.at, end.kind, end.what, end.times))

    def _begin(self, event: Event, key: tuple[str, ...], what: str) -> None:
        agent = self._begun.setdefault(event.agent, {})
        agent.setdefault(key, []).append(_Began(self._count, event.at, what))

    def _forget(self) -> None:
        """Drop what is too long ago."""
        edge = self._count - FAR
        for agent, keys in list(self._begun.items()):
            for key, begun in list(keys.items()):
                keys[key] = [one for one in begun if one.place > edge]
                if not keys[key]:
                    del keys[key]
            if not keys:
                del self._begun[agent]


def _tried(use: ToolUse) -> tuple[str, ...]:
    """The name under which a later success settles a failure."""
    return ("failure", use.program, use.purpose) if use.program else ("failure", use.tool, *use.targets[:1])


def open_ends(events: Sequence[Event], agent: str) -> list[OpenEnd]:
    """Return what an agent started since the last prompt and did not finish, newest first."""
    unfinished = Unfinished()
    for event in events:
        unfinished.update(event)
    return unfinished.of(agent)


def lines(preserved: Preserved) -> list[str]:
    """Return it as lines for a person: unfinished work first, figures last."""
    governor = preserved.governor
    rows = [
        f"compaction{f' ({one_line(preserved.trigger)})' if preserved.trigger else ''}: {_tokens(preserved)}",
        *(f"open: {_open(each)}" for each in preserved.open),
        *(f"warning: {_warned(each)} {fraction(each.weight)}" for each in preserved.warnings),
    ]
    if not preserved.open:
        rows.append("nothing was unfinished")
    if preserved.centre is not None:
        rows.append(f"work in {one_line(preserved.centre.path)} ({preserved.centre.share:.0%} of it)")
    rows += [f"hot: {one_line(each.path)} {each.count} (r{each.opened} w{each.modified})" for each in preserved.paths]
    rows += [
        f"state {spell_name(preserved.state)} ({spell_name(preserved.pattern) or 'no pattern'}), "
        f"regime {preserved.regime}, phase {preserved.phase}",
        f"governor {governor.state.lower()} at step {governor.step}, "
        f"effort {fraction(governor.budgets.effort)}, persistence {fraction(governor.budgets.persistence)}",
    ]
    rows += [f"playbook: {firing_words(each.method)}: {one_line(each.text)}" for each in preserved.playbook[:3]]
    if preserved.policy_hash:
        rows.append(f"policy {preserved.policy_hash}")
    return [*rows, preserved.narrative]


def _warned(warning: Warned) -> str:
    return firing_words(warning.name) if warning.kind == "signal" else one_line(warning.name)


def handover(preserved: Preserved) -> str:
    """Return a few facts for an agent whose context was cut, or an empty text.

    What was open comes first, then what it had been warned of, then the files it had changed.
    """
    parts = [_open(each) for each in preserved.open[:3]]
    parts += [one_line(each.name) for each in preserved.warnings if each.kind in ("halt", "loop")]
    changed = [one_line(each.path) for each in preserved.paths if each.modified][:3]
    if not parts and not changed:
        return ""
    sentence = f"Unfinished when the context was compacted: {'; '.join(parts)}." if parts else ""
    if changed:
        sentence += f"{' ' if sentence else ''}Files changed most before the compaction: {', '.join(changed)}."
    return sentence


_GOOD_NEWS = ("flow_active", "confidence_sustained")


def _warnings(frame: Frame) -> list[Warned]:
    warnings = [
        Warned("signal", signal.name, signal.intensity)
        for signal in frame.receptor.signals
        if signal.name not in _GOOD_NEWS
    ]
    if frame.governor.halt:
        warnings.append(Warned("halt", f"halt {frame.governor.halt}", 1.0))
    if frame.affect.quarantined:
        warnings.append(Warned("quarantine", "quarantine: " + ", ".join(frame.affect.restrictions), 1.0))
    loop = frame.response.loops.current
    if loop is not None:
        warnings.append(Warned("loop", f"loop: {loop.what}", loop.intensity))
    return warnings


def context_after(timeline: Timeline, place: int, agent: str) -> int:
    """Return the context size of the agent's next answer."""
    for event in timeline.events[place + 1 : place + 1 + FAR]:
        if isinstance(event, Turn) and event.agent == agent and event.context_tokens:
            return event.context_tokens
    return 0


def _narrative(frame: Frame, ends: Sequence[OpenEnd]) -> str:
    axes = frame.receptor.axes
    strongest = max(axes, key=lambda axis: axis.value - axis.threshold)
    over = "over" if strongest.value >= strongest.threshold else "under"
    centre = hottest_branch(frame.receptor.heatmap)
    words = f"{spell_name(frame.story.state)} in {spell_name(frame.receptor.behaviour.short.pattern)}"
    if centre is not None:
        words += f" around {one_line(centre.path)}"
    words += f", {strongest.axis} {fraction(strongest.value)} {over} its threshold {fraction(strongest.threshold)}"
    failing = [end for end in ends if end.kind == "failure"]
    if failing:
        words += f", {one_line(failing[0].what)} still failing"
    return words


def _tokens(preserved: Preserved) -> str:
    if not preserved.tokens_before:
        return "tokens unknown"
    if preserved.compression_ratio is None:
        return f"{token_amount(preserved.tokens_before)} tokens before"
    before, after = token_amount(preserved.tokens_before), token_amount(preserved.tokens_after)
    return f"{before} -> {after} tokens, {preserved.compression_ratio:.1f} to 1"


def _open(end: OpenEnd) -> str:
    what = one_line(end.what)
    match end.kind:
        case "call":
            return f"{what} has no result yet" + (f" ({end.times} calls)" if end.times > 1 else "")
        case "agent":
            return f"sub-agent {what} at work"
    return f"{what} failed" + (f" {end.times} times" if end.times > 1 else "")

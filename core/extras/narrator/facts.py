"""Numbered facts about a stretch of a session: prose is made from nothing else."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from core.agents.words import Words, telling_line, words_of
from core.engine.receptor.readings import WindowReading
from core.engine.response.loops import Loop
from core.engine.society.engine import Frame
from core.events import MAIN, Compaction, Event, Prompt, SessionEnd, ToolUse, Turn
from core.logs.redact.text import redact
from core.report.agents import agent_names, as_sub_agent
from core.report.formatting import clock, count, plain, span, times
from core.report.story import Close, last_word, troubles
from core.timeline.timeline import Timeline

Read = Callable[[Event], Words]
_SAID = 200  # Letters of the log's own words in one fact.
_LAST = 12  # Events among which the agent's last words are looked for.
# Sentences for an agent at rest.
_AT_REST: dict[Close, str] = {
    "said": "it answered; the log does not mark the end of a turn",
    "done": "it finished its turn and is waiting for a prompt",
    "stopped": "the person stopped it",
    "rolled back": "the person rolled back prompts",
    "ended": "the session is over",
}


class Fact(NamedTuple):
    """One thing that is known, by the number of the event that shows it (the first is 1)."""

    number: int
    words: str
    kind: str = ""

    @property
    def line(self) -> str:
        """As it is cited."""
        return f"[{self.number}] {self.words}"


def log_words(text: str, most: int = _SAID) -> str:
    """Words of a log as one quoted line, without secrets and escapes."""
    return plain(redact(" ".join(text.split())), most)


def stretch_facts(timeline: Timeline, start: int, stop: int, read: Read = words_of) -> list[Fact]:
    """Return what was asked, what was done, what failed and how it ended, in order."""
    events = timeline.events[start:stop]
    if not events:
        return []
    facts = [*_prompt_facts(events, start, read), *_failed(events, start, read), *_done(events, start)]
    facts += [*_marks(timeline, start, stop), *_ended(events, start, read)]
    return sorted(dict.fromkeys(facts), key=lambda fact: (fact.number, fact.words))


def _prompt_facts(events: Sequence[Event], start: int, read: Read) -> list[Fact]:
    facts = []
    for place, event in enumerate(events, start + 1):
        if isinstance(event, Prompt) and event.agent == MAIN:
            text = log_words(read(event).said)
            words = "the person stopped it" if event.interrupt else f'the person asked: "{text}"'
            facts.append(Fact(place, words if text or event.interrupt else "the person asked", "asked"))
    return facts


def _failed(events: Sequence[Event], start: int, read: Read, *, solved: bool = True) -> list[Fact]:
    """Return the failures, and whether each worked later; without `solved` only failures that never worked."""
    facts = []
    for trouble in troubles(events, read):
        use = events[trouble.last]
        if not isinstance(use, ToolUse) or (trouble.solved is not None and not solved):
            continue
        words = read(use)
        error = log_words(telling_line(words.output), 120)
        call_words = _call_text(use, words)
        why = f': "{error}"' if error else ""
        facts.append(Fact(start + trouble.last + 1, f"{call_words} failed {times(trouble.failures)}{why}", "failed"))
        if trouble.solved is not None:
            edits = ", ".join(plain(path, 50) for path in trouble.edits[:3])
            after = f" after changing {edits}" if edits else ""
            worked = events[trouble.solved]
            if isinstance(worked, ToolUse) and worked.call != use.call:
                call_words = _call_text(worked, read(worked))
            facts.append(Fact(start + trouble.solved + 1, f"{call_words} worked{after}", "solved"))
        elif trouble.in_vain:
            again = f"{call_words} failed again after {count(trouble.in_vain, 'file')} had been changed"
            facts.append(Fact(start + trouble.last + 1, again, "unsolved"))
    return facts


def _call_text(use: ToolUse, words: Words) -> str:
    what = log_words(words.command, 80) or " ".join(use.targets[:2]) or use.program
    return plain(f"{use.tool} {what}".strip(), 100)


def _done(events: Sequence[Event], start: int) -> list[Fact]:
    edited: Counter[str] = Counter()
    last: dict[str, int] = {}
    facts = []
    for place, event in enumerate(events, start + 1):
        if isinstance(event, ToolUse) and event.outcome in ("success", "empty"):
            if event.action == "file_edit" and event.targets:
                edited[event.targets[0]] += 1
                last[event.targets[0]] = place
            elif event.purpose in ("test", "build", "commit"):
                facts.append(Fact(place, f"a {event.purpose} passed", "passed"))
        elif isinstance(event, Compaction):
            facts.append(Fact(place, "the context was compacted", "compacted"))
    for path, number in edited.most_common(6):
        facts.append(Fact(last[path], f"{plain(path, 80)} was changed {times(number)}", "edited"))
    return facts


def _marks(timeline: Timeline, start: int, stop: int) -> list[Fact]:
    """Return the marks the mind made."""
    facts = []
    for mark in timeline.marks.between(start, stop):
        if mark.kind == "halt":
            facts.append(Fact(mark.place + 1, f"the governor would halt: {plain(mark.name, 40)}", "halt"))
        elif mark.kind == "state" and mark.name in ("stuck", "deep_work"):
            facts.append(Fact(mark.place + 1, f"its state became {mark.name.replace('_', ' ')}", mark.name))
    return facts


def _ended(events: Sequence[Event], start: int, read: Read) -> list[Fact]:
    for back, event in enumerate(reversed(events[-_LAST:])):
        place = start + len(events) - back
        if isinstance(event, SessionEnd):
            return [Fact(place, "the session ended", "ended")]
        if isinstance(event, Turn) and event.agent == MAIN:
            text = log_words(read(event).said)
            if text:
                return [Fact(place, f'it last said: "{text}"', "said")]
    return []


def stuck_facts(timeline: Timeline, stop: int, read: Read = words_of) -> list[Fact]:
    """Return the facts that say whether it is stuck at a place, and why."""
    frame = timeline.at(stop)
    events = timeline.events[:stop]
    if not events:
        return []
    prompt_place = max((place for place, one in enumerate(events) if isinstance(one, Prompt)), default=0)
    facts = _prompt_facts(events[prompt_place : prompt_place + 1], prompt_place, read)
    facts += _failed(events[prompt_place:], prompt_place, read, solved=False)[-8:]
    notices = timeline.settings.response.notices
    left = last_word(reversed(events), frozenset(notices.final))
    question, rest = left.asks(notices.asking), _AT_REST.get(left.close)
    if question is not None:
        words = log_words(read(question).command, 120)
        facts.append(Fact(stop, f'it is waiting for your answer ({question.tool}): "{words}"', "needs"))
    elif left.close == "failed":
        facts.append(Fact(stop, "it needs you: an error or a refusal ended its turn", "needs"))
    elif rest is not None:
        facts.append(Fact(stop, rest, "rest"))
    elif left.close == "tool" and left.open:
        call_words = _call_text(left.open[-1], read(left.open[-1]))
        doubt = "it is still running, waiting for your permission, or abandoned"
        facts.append(Fact(stop, f"its last call has no result: {call_words}; {doubt}", "open"))
    facts += _now(timeline, frame, stop, over=rest is not None or left.close == "failed")
    done = _done(events[prompt_place:], prompt_place)
    for kind in ("passed", "edited"):
        facts += [fact for fact in done if fact.kind == kind][-6:]
    facts += _ended(events, 0, read)
    return sorted(dict.fromkeys(facts), key=lambda fact: (fact.number, fact.words))


def _now(timeline: Timeline, frame: Frame, stop: int, *, over: bool) -> list[Fact]:
    facts = []
    loop = frame.response.loops.current
    if loop is not None:
        facts.append(_loop_fact(timeline, frame.at, loop, stop, over=over))
    if not over:
        facts += _loops_below(timeline, stop)
    if frame.governor.would_halt:
        facts.append(Fact(stop, f"the governor: {plain(frame.governor.would_halt, 80)}", "halt"))
    behaviour = frame.receptor.behaviour.short
    if behaviour.failure_rate >= 0.2:
        facts.append(Fact(stop, _failing(behaviour), "rate"))
    if frame.mind.sleep.context >= 0.9:
        facts.append(Fact(stop, f"its context is {100 * frame.mind.sleep.context:.0f}% full", "context"))
    return [*facts, Fact(stop, f"its state is {frame.story.state.replace('_', ' ')}", "state")]


def _failing(window: WindowReading) -> str:
    """How many of the commands of a window failed."""
    commands = round(window.events * dict(window.ratios)["shell_exec"])
    failed = round(commands * window.failure_rate)
    if commands == 1:
        return "the only command of the last minutes failed"
    which = f"all {commands}" if failed == commands else f"{failed} of the {commands}"
    return f"{which} commands of the last minutes failed"


def _loops_below(timeline: Timeline, stop: int) -> list[Fact]:
    """Loops of sub-agents that have not reported back."""
    society = timeline.society_at(stop)
    agents = society.read().agents
    names = agent_names(agents)
    facts = []
    for one in agents:
        loop = society.engine(one.name).response.loops.current if one.awake and one.ended is None else None
        if loop is not None and one.name != MAIN:
            who = as_sub_agent(names[one.name])
            facts.append(_loop_fact(timeline, timeline.time_of(stop), loop, stop, over=False, who=who))
    return facts


def _loop_fact(timeline: Timeline, at: float, loop: Loop, stop: int, *, over: bool, who: str = "it") -> Fact:
    """A loop that is not over; of an agent at rest, when it began."""
    what = log_words(loop.what, 120)
    if not over:
        lasted = span(max(0.0, at - loop.began_at))
        return Fact(stop, f"{who} has been going round in circles for {lasted}: {what}", "loop")
    began = clock(loop.began_at - timeline.time_of(1))
    place = min(stop, max(1, timeline.index_at(loop.began_at)))
    return Fact(place, f"it went round in circles from {began} on: {what}", "loop")


class Claim(NamedTuple):
    """One sentence and the numbers of the events it rests on."""

    words: str
    events: tuple[int, ...]

    @property
    def line(self) -> str:
        """With its events cited."""
        cited = ", ".join(map(str, self.events))
        return f"{self.words} [{cited}]"


def told_recap(facts: Sequence[Fact]) -> list[Claim]:
    """Claims on a stretch of a session: prompts, results, present state."""

    def last(most: int, *kinds: str) -> list[Claim]:
        return _claim_each([fact for fact in facts if fact.kind in kinds][-most:])

    claims = last(3, "asked")
    if edited := [fact for fact in facts if fact.kind == "edited"][:6]:
        words = ", ".join(fact.words.replace(" was changed", "") for fact in edited)
        claims.append(Claim(f"Files were changed: {words}.", tuple(fact.number for fact in edited)))
    claims += last(3, "failed") + last(3, "solved")
    claims += last(4, "unsolved", "halt", "compacted", "passed", "stuck") + last(1, "said", "ended")
    return claims or [Claim("Nothing happened.", ())]


def _claim_each(facts: Iterable[Fact]) -> list[Claim]:
    """One claim for each text, with the events of all equal ones."""
    numbers_by_words: dict[str, list[int]] = {}
    for fact in facts:
        numbers_by_words.setdefault(_sentence(fact), []).append(fact.number)
    return [Claim(words, tuple(numbers)) for words, numbers in numbers_by_words.items()]


def told_why(facts: Sequence[Fact]) -> list[Claim]:
    """Why a session is stuck, the main reason first, or that nothing suggests it."""
    of: defaultdict[str, list[Fact]] = defaultdict(list)
    for fact in facts:
        of[fact.kind].append(fact)
    failing = sorted(of["failed"], key=lambda fact: -fact.number)
    standing = (*of["loop"], *of["halt"], *of["open"])
    claims = _claim_each((*standing, *failing[:3], *of["unsolved"][-1:], *of["rate"], *of["context"]))
    if failing and not of["passed"]:
        words = "No test, build or commit has passed since it was last asked for something."
        claims.append(Claim(words, (failing[0].number,)))
    return [*_stuck_claims(of, bool(claims)), *claims] or [Claim("Nothing has happened yet.", ())]


def _stuck_claims(of: Mapping[str, Sequence[Fact]], reasons: bool) -> list[Claim]:
    """Whether it is stuck, before the reasons; one at rest is not, whatever went wrong before.

    That it waits for the person comes before all else.
    """
    if of["needs"]:
        return _claim_each(of["needs"])
    latest = (of["rest"] or of["state"])[-1:]
    if not latest:
        return []
    words, number = latest[0].words, latest[0].number
    if not reasons:
        return [Claim(f"Nothing in the log suggests that it is stuck; {words}.", (number,))]
    if latest[0].kind == "rest":
        return _claim_each(latest)
    if "stuck" in words or of["loop"] or of["halt"] or of["unsolved"]:
        return []
    may = "may be" if of["open"] or of["rate"] or of["context"] else "does not look"
    return [Claim(f"It {may} stuck; {words}.", (number,))]


def _sentence(fact: Fact) -> str:
    names_call = fact.kind in ("failed", "solved", "unsolved")
    text = fact.words if names_call else fact.words[:1].upper() + fact.words[1:]
    return text if text.endswith((".", "!", "?", '"')) else f"{text}."


def lines_of(claims: Iterable[Claim]) -> list[str]:
    """Each claim as a line, its events cited."""
    return [claim.line if claim.events else claim.words for claim in claims]

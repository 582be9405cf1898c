"""Two or more runs side by side: aligned by what they did, where they diverge, and their figures."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from difflib import SequenceMatcher
from itertools import pairwise
from posixpath import commonpath, dirname
from typing import Any, NamedTuple

from msgspec import Struct, to_builtins

from core.agents.words import WordReader, Words, word_logs
from core.events import MAIN, Event, Prompt, ToolUse
from core.logs.session import LogSession
from core.report.analysis import Summary, analyse
from core.report.event_words import about
from core.report.formatting import count, plain, span, token_amount
from core.report.outcome import SessionOutcome
from core.settings import Settings

_SMALL = 2_500  # Pairs of moves up to which a stretch without unique moves is compared in full.
_WINDOW = 48  # Moves among which a partner is searched in longer stretches.


class Move(NamedTuple):
    """A prompt or a call, keyed by its content."""

    key: Hashable
    place: int  # The event, counted from 0.


class Alignment(Struct, frozen=True):
    """Which events of two runs are the same move."""

    pairs: tuple[tuple[int, int], ...]  # Places in both runs, rising in both.
    parts: tuple[int, int] | None  # The first events that differ; None if one run is the beginning of the other.
    same: int  # Moves in common before the runs diverge.
    moves: tuple[int, int]

    @property
    def share(self) -> float:
        """Return the share of moves that have a partner."""
        total = sum(self.moves)
        return 2 * len(self.pairs) / total if total else 1.0

    def partner(self, place: int, *, first: bool) -> int:
        """Return how far the other run was after `place` events of this one."""
        side = 0 if first else 1
        row = bisect_left(self.pairs, place, key=lambda pair: pair[side])
        return self.pairs[row - 1][1 - side] + 1 if row else 0


class ComparedRun(Struct, frozen=True):
    """One run in figures."""

    id: str
    path: str
    agent: str
    models: tuple[str, ...]
    events: int
    duration: float
    active: float
    cost: float | None
    tokens: int
    output_tokens: int
    prompts: int
    calls: int
    kinds: dict[str, int]
    failures: int
    rejected: int
    loops: int
    halts: int
    compactions: int
    subagents: int
    outcome: SessionOutcome
    outlook: str
    ended: str


class ReadRun(NamedTuple):
    """One session with its figures and moves."""

    figures: ComparedRun
    events: list[Event]
    moves: list[Move]


def read_run(session: LogSession, settings: Settings) -> ReadRun:
    """Analyse one session."""
    events: list[Event] = []
    summary = analyse(session, settings, each=lambda event, *_: events.append(event)).summary
    return ReadRun(figures(summary), events, moves(events, WordReader(word_logs(session)).words))


_SAME_FIGURES = ("id", "path", "agent", "events", "active", "prompts", "compactions", "subagents", "outcome")


def figures(summary: Summary) -> ComparedRun:
    """Return the figures of an analysed session that are compared."""
    tokens = summary.tokens
    return ComparedRun(
        **{name: getattr(summary, name) for name in _SAME_FIGURES},
        models=tuple(summary.models),
        duration=(summary.ended or 0.0) - (summary.started or 0.0),
        cost=tokens.cost,
        tokens=tokens.input + tokens.cache_read + tokens.cache_write + tokens.output,
        output_tokens=tokens.output,
        calls=summary.tool_uses,
        kinds=summary.actions,
        failures=summary.outcomes.get("failure", 0),
        rejected=summary.outcomes.get("rejected", 0),
        loops=len({(loop.agent, loop.detector, loop.began_at) for loop in summary.loops}),
        halts=len(summary.halts),
        outlook=summary.outlook.words_beside(summary.story.status) if summary.outlook else "too early to say",
        ended=summary.story.ended[0] if summary.story.ended else "",
    )


def moves(events: Sequence[Event], read: Callable[[Event], Words] | None = None) -> list[Move]:
    """Return the prompts and calls of a run in order; how a prompt is spaced does not matter if it can be read."""
    root = _root(events)
    listed: list[Move] = []
    for place, event in enumerate(events):
        if type(event) is Prompt and event.agent == MAIN and not event.interrupt:
            prompt_text = "".join(read(event).said.split()) if read else ""
            listed.append(Move(("prompt", prompt_text or event.call), place))
        elif type(event) is ToolUse:
            paths = tuple(path.removeprefix(root) for path in event.targets)
            listed.append(Move((event.action, event.program, paths or event.shape), place))
    return listed


def _root(events: Iterable[Event]) -> str:
    """Return the folder of all files, with a slash, of a run whose log names no project; else an empty text."""
    paths = {path for event in events if type(event) is ToolUse for path in event.targets}
    return f"{commonpath(map(dirname, paths))}/" if paths and all(path.startswith("/") for path in paths) else ""


def align(ours: Sequence[Move], theirs: Sequence[Move]) -> Alignment:
    """Align two runs by their moves, in nearly linear time."""
    left, right = [move.key for move in ours], [move.key for move in theirs]
    same = 0
    while same < min(len(left), len(right)) and left[same] == right[same]:
        same += 1
    pairs = [(n, n) for n in range(same)] + _matched(left, right, same, len(left), same, len(right))
    parted = same < len(left) and same < len(right)
    parts = (ours[same].place, theirs[same].place) if parted else None
    places = tuple((ours[a].place, theirs[b].place) for a, b in pairs)
    return Alignment(places, parts, same, (len(left), len(right)))


def _matched(
    left: Sequence[Hashable], right: Sequence[Hashable], a: int, b: int, c: int, d: int
) -> list[tuple[int, int]]:
    """Return pairs of equal moves: first those unique in both runs, then those between them."""
    pairs: list[tuple[int, int]] = []
    stretches = [(a, b, c, d)]
    while stretches:
        a, b, c, d = stretches.pop()
        if a >= b or c >= d:
            continue
        anchors = _anchors(left, right, a, b, c, d)
        pairs += anchors or _near(left, right, a, b, c, d)
        edges = pairwise([(a - 1, c - 1), *anchors, (b, d)] if anchors else ())
        stretches += [(start + 1, stop, begin + 1, end) for (start, begin), (stop, end) in edges]
    return sorted(pairs)


def _anchors(
    left: Sequence[Hashable], right: Sequence[Hashable], a: int, b: int, c: int, d: int
) -> list[tuple[int, int]]:
    """Return the longest increasing chain of moves that are unique in both stretches."""
    ours, theirs = Counter(left[a:b]), Counter(right[c:d])
    at = {key: n for n, key in enumerate(right[c:d], c) if theirs[key] == 1}
    unique = [(n, at[key]) for n, key in enumerate(left[a:b], a) if ours[key] == 1 and key in at]
    tails: list[int] = []
    ends: list[int] = []
    before: list[int] = []
    for number, (_, other) in enumerate(unique):
        row = bisect_left(tails, other)
        before.append(ends[row - 1] if row else -1)
        if row == len(tails):
            tails.append(other)
            ends.append(number)
        else:
            tails[row], ends[row] = other, number
    chain: list[tuple[int, int]] = []
    number = ends[-1] if ends else -1
    while number >= 0:
        chain.append(unique[number])
        number = before[number]
    return chain[::-1]


def _near(left: Sequence[Hashable], right: Sequence[Hashable], a: int, b: int, c: int, d: int) -> list[tuple[int, int]]:
    """Return pairs in a stretch without unique moves; in a long one only nearby partners."""
    if (b - a) * (d - c) <= _SMALL:
        blocks = SequenceMatcher(None, left[a:b], right[c:d], autojunk=False).get_matching_blocks()
        return [(a + block.a + n, c + block.b + n) for block in blocks for n in range(block.size)]
    pairs = []
    for n in range(a, b):
        near = next((m for m in range(c, min(d, c + _WINDOW)) if right[m] == left[n]), None)
        if near is not None:
            pairs.append((n, near))
            c = near + 1
    return pairs


def move_words(event: Event) -> str:
    """Describe a move in a few words."""
    if isinstance(event, Prompt):
        return "a prompt"
    words, path = about(event)
    if isinstance(event, ToolUse) and event.action != "shell_exec":
        words = f"{event.action.replace('_', ' ')} {words or ('' if path else event.tool)}".strip()
    return plain(f"{words} {path}".strip(), 60)


def rows(runs: Sequence[ComparedRun]) -> list[tuple[str, list[str]]]:
    """Return the figures of runs as table rows."""
    kinds = list(dict.fromkeys(kind for run in runs for kind in run.kinds))
    return [
        ("agent", [plain(run.agent, 24) for run in runs]),
        ("model", [_model_words(run.models) for run in runs]),
        ("duration", [span(run.duration) for run in runs]),
        ("cost", ["unknown" if run.cost is None else f"${run.cost:.2f}" for run in runs]),
        ("tokens", [token_amount(run.tokens) for run in runs]),
        ("tokens written", [token_amount(run.output_tokens) for run in runs]),
        ("prompts", [str(run.prompts) for run in runs]),
        ("calls", [str(run.calls) for run in runs]),
        *((f"  {kind.replace('_', ' ')}", [str(run.kinds.get(kind, 0)) for run in runs]) for kind in kinds),
        ("failures", [str(run.failures) for run in runs]),
        ("loops", [str(run.loops) for run in runs]),
        ("compactions", [str(run.compactions) for run in runs]),
        ("sub-agents", [str(run.subagents) for run in runs]),
        ("files changed", [f"{run.outcome.files}  +{run.outcome.added} -{run.outcome.removed}" for run in runs]),
        ("last tests", [run.outcome.tests.result if run.outcome.tests else "none" for run in runs]),
        ("last build", [run.outcome.build.result if run.outcome.build else "none" for run in runs]),
        ("commits", [str(len(run.outcome.live_commits)) for run in runs]),
        ("pull requests", [str(len(run.outcome.pull_requests)) for run in runs]),
        ("outlook", [run.outlook for run in runs]),
        ("ended", [plain(run.ended.partition(" (")[0], 40) for run in runs]),
    ]


def _model_words(models: Sequence[str]) -> str:
    more = f" +{len(models) - 1}" if len(models) > 1 else ""
    return f"{plain(models[0], 28)}{more}" if models else "not in the log"


def parting_words(alignment: Alignment, first: Sequence[Event], second: Sequence[Event], name: str = "B") -> str:
    """Describe in a sentence where two runs diverge."""
    together = f"{count(alignment.same, 'step')} in common" if alignment.same else "no step in common at the start"
    share = f"{alignment.share:.0%} of all steps have a counterpart"
    if alignment.parts is None:
        return f"{together}, then one of them ends; {share}"
    a, b = alignment.parts
    ours, theirs = move_words(first[a]), move_words(second[b])
    theirs = theirs.replace("a prompt", "another prompt") if ours == theirs else theirs
    then = ", then they diverge" if alignment.same else ""
    return f"{together}{then}: event {a + 1} of A is {ours}, event {b + 1} of {name} is {theirs}; {share}"


def as_json(runs: Sequence[ComparedRun], alignments: Sequence[Alignment]) -> dict[str, Any]:
    """Return the comparison as a JSON value; every run is aligned with the first."""
    return {
        "runs": [to_builtins(run) for run in runs],
        "alignments": [{**to_builtins(one), "share": round(one.share, 4)} for one in alignments],
    }

"""A stretch of a session in words: what was asked, done and failed, and how it ended."""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Sequence
from math import inf
from pathlib import Path
from typing import Literal, NamedTuple

from msgspec import Struct, structs

from core.agents.models import GOAL_FAILED
from core.agents.words import Words, telling_line, words_of
from core.events import MAIN, Action, Compaction, Event, Prompt, Rollback, SessionEnd, ToolUse, Turn
from core.report.event_words import about, mode_words
from core.report.formatting import count, plain, short_clock, times, token_estimate
from core.report.rollbacks import Rollbacks
from core.report.turn_endings import judge_answers, turn_of
from core.settings.response import NoticeSettings

# Actions that came to nothing where nothing comes back; others often go well without a word.
LOOKS: frozenset[Action] = frozenset(("search", "file_read", "memory_read"))

_GIT = re.compile(r"\bgit\s+(?:-C\s+\S+\s+|-\S+\s+)*([a-z][a-z-]+)")
_OF_FILES: frozenset[Action] = frozenset(("file_edit", "file_read", "memory_read", "memory_write"))


class Trouble(NamedTuple):
    """A thing that keeps failing, until it worked or the session ended."""

    first: int  # Place of the first failure.
    last: int
    failures: int
    solved: int | None  # Place of the success that ended it.
    edits: tuple[str, ...]  # Files changed between the first failure and the success, in the order they came.
    in_vain: int  # How many of them had been changed when it failed last.


class _Open(Struct):
    """Trouble that goes on."""

    first: int
    last: int
    failures: int = 1
    in_vain: int = 0
    edits: dict[str, None] = {}

    def closed(self, solved: int | None) -> Trouble:
        return Trouble(self.first, self.last, self.failures, solved, tuple(self.edits), self.in_vain)


def troubles(events: Sequence[Event], read: Callable[[Event], Words] | None = None) -> list[Trouble]:
    """All of them, the earliest first; an edit counts for every trouble of its agent that is open then."""
    running: dict[tuple[str, Hashable], _Open] = {}
    finished: list[Trouble] = []
    for place, event in enumerate(events):
        if not isinstance(event, ToolUse) or not (running or event.outcome == "failure"):
            continue
        key = (event.agent, attempt_key(event, read))
        current = running.get(key)
        if event.outcome == "failure":
            if current is None:
                running[key] = _Open(place, place)
            else:
                current.failures += 1
                current.last = place
                current.in_vain = len(current.edits)
        elif event.outcome == "success" or (event.outcome == "empty" and event.action not in LOOKS):
            if event.action == "file_edit":
                for (agent, _), trouble in running.items():
                    if agent == event.agent:
                        trouble.edits.update(dict.fromkeys(event.targets))
            if current is not None:
                finished.append(running.pop(key).closed(place))
    finished += [trouble.closed(None) for trouble in running.values()]
    return sorted(finished, key=lambda trouble: trouble.first)


def weightiest(problems: Iterable[Trouble]) -> list[Trouble]:
    """Return troubles with the unsolved and the most frequent first."""
    return sorted(problems, key=lambda trouble: (trouble.solved is not None, -trouble.failures, trouble.first))


def attempt_key(use: ToolUse, read: Callable[[Event], Words] | None = None) -> Hashable:
    """Return the key that two attempts at one thing share: a check or commit, one command, one file read or edited.

    With words, all tries of one Git command are tries of one thing.
    """
    if use.purpose in ("test", "build", "commit"):
        return use.purpose, use.program
    if read is not None and use.program == "git" and (match := _GIT.search(read(use).command)):
        return "git", match[1]
    if use.action == "shell_exec":
        return "command", use.shape or use.call
    return use.action if use.action in _OF_FILES and use.targets else use.tool, use.targets or use.shape


# The state in which the main agent's last event leaves the session. `said` is an answer without a reason for its end;
# `retry` is an error after which the agent tries again.
Close = Literal["", "asked", "tool", "retry", "said", "done", "failed", "stopped", "rolled back", "ended"]

# Stop reasons of turns that ended with an error or a refusal.
_FAILED = frozenset(("error", "failed", "refusal", "content_filter"))
# Stop reasons of answers that were cut off, after which anything may follow.
_CUT = frozenset(("max_tokens", "length"))
_TOTALS = frozenset(("total", "shutdown"))  # Stop reasons of turns that only contain what a session spent as a whole.
# Tools with which an agent reports that its task is complete.
_FINISHING = frozenset(("finish", "submit", "attempt_completion", "task_complete", "mark_task_complete"))
_BY_THE_PERSON = frozenset(("bashExecution",))  # Commands that the person runs in an agent's own prompt.
GOODBYE = 5.0  # Seconds after a session's end in which late records belong to it.
# Events that are looked at, calls without an answer aside: an earlier one may count more than those told after it, as
# all the calls that the end of a log brings are.
_MOST = 64


class LastWord(NamedTuple):
    """How the main agent's session was left, when, and by which event."""

    close: Close
    at: float
    event: Event | None
    before_end: Close = ""  # How it was left before the session ended.
    open: tuple[ToolUse, ...] = ()  # Its calls without a result since the last prompt, oldest first.

    def asks(self, asking: Collection[str]) -> ToolUse | None:
        """Return the call that waits for the person, if any; `asking` names such tools."""
        if self.close == "ended":
            return None
        return next((call for call in self.open if call.tool in asking), None)


NO_WORD = LastWord("", 0.0, None)


def closing(event: Event, final: frozenset[str]) -> Close:
    """Return how a main agent's event leaves the session; empty if it changes nothing."""
    kind = type(event)
    if kind is ToolUse:
        if event.tool in _BY_THE_PERSON:  # type: ignore[union-attr]
            return ""
        return "done" if finishes(event) else "tool"
    if kind is Turn:
        stop = event.stop  # type: ignore[union-attr]
        if stop in _TOTALS:
            return ""
        if stop in final or stop == GOAL_FAILED:
            return "done"
        if stop == "retry":
            return "retry"
        return "failed" if stop in _FAILED else "said" if not stop or stop in _CUT else "tool"
    if kind is Prompt:
        return "stopped" if event.interrupt else "asked"  # type: ignore[union-attr]
    return "rolled back" if kind is Rollback else "ended" if kind is SessionEnd else ""


def finishes(event: Event) -> bool:
    """Whether an event is a call with which the agent reports that its task is complete."""
    return type(event) is ToolUse and event.tool in _FINISHING and event.outcome not in ("failure", "rejected")


def next_close(event: Event, before: Close, closed: float, final: frozenset[str]) -> Close:
    """Return the kind of work that an event ends, given what the event before it ended, or an empty text.

    A call without an answer that the end of a log brings is older than what the agent did since, or belongs to
    the answer that failed; older is also a turn that is told after the calls it made were answered. What is
    tidied up right after a session's end belongs to it.
    """
    close = closing(event, final)
    if before == "ended" and close in ("tool", "said", "done") and event.at - closed <= GOODBYE:
        return ""
    belongs = event.at <= closed if before == "failed" else event.at < closed
    if belongs and type(event) is ToolUse and event.outcome == "pending":
        return ""
    if event.at >= closed:
        return close
    return "" if type(event) is Turn and before == "tool" and close in ("said", "tool") else close


_RESTING = ("", "done", "stopped", "rolled back", "failed")  # Closes after which the agent does not work.


def begins_turn(before: Close, close: Close) -> bool:
    """Whether an event with this close starts the main agent's work."""
    return close == "asked" or (close in ("tool", "retry", "said") and before in _RESTING)


def last_word(backwards: Iterable[Event], final: frozenset[str]) -> LastWord:
    """Return how the main agent's last events leave the session; events are given newest first."""
    turn_events: list[Event] = []
    open_: list[ToolUse] = []
    answered = 0
    at_end = True
    prompted: float | None = None
    for event in backwards:
        if event.agent != MAIN:
            continue
        close = closing(event, final)
        if close:
            turn_events.append(event)
        if type(event) is ToolUse and event.outcome == "pending":
            open_ += [event] if at_end else []
            continue
        at_end = False
        answered += close != ""
        if type(event) is Prompt and prompted is None:
            prompted = event.at
        if answered >= _MOST and (prompted is not None or not open_):
            break
    left = NO_WORD
    for event in reversed(turn_events):
        close = next_close(event, left.close, left.at, final)
        if close:
            before = left.before_end if left.close == "ended" else left.close
            left = LastWord(close, event.at, event, before if close == "ended" else "")
    since = -inf if left.close == "asked" or prompted is None else prompted
    waiting = sorted((call for call in open_ if call.at >= since), key=lambda call: call.at)
    return left._replace(open=tuple(waiting))


# What is said of results and endings.
STORY_WORDS: dict[str, dict[str, str]] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
RECAP_ENDINGS = STORY_WORDS["recap"]
_WIDE = 160  # Maximum length of a line.
_ASKED = 6
_FILES = 5
_TROUBLES = 6

Read = Callable[[Event], Words]


class SessionStory(Struct, frozen=True):
    """Lines for each of the four questions, safe for a terminal."""

    asked: tuple[str, ...] = ()
    done: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()
    ended: tuple[str, ...] = ()

    @property
    def status(self) -> str:
        """The word of a status that the ending calls for; blank if it calls for none."""
        return "gave up" if any(line.endswith(RECAP_ENDINGS["gave up"]) for line in self.ended) else ""

    def sections(self) -> list[tuple[str, tuple[str, ...]]]:
        """Return each question with its answers."""
        return [("asked", self.asked), ("done", self.done), ("failed", self.failed), ("ended", self.ended)]

    def lines(self) -> list[str]:
        """Return all lines, each question before its answers."""
        numbered = ((name, *row) for name, answers in self.sections() for row in enumerate(answers))
        return [f"{name if number == 0 else '':<8}{line}" for name, number, line in numbered]

    def within(self, tokens: int) -> list[str]:
        """Return as many lines as fit the tokens; failures are dropped first."""
        shortened, failed = self, list(self.failed)
        more = f"left out; --tokens {2 * tokens} shows more …"
        while failed and not _fits(shortened.lines(), tokens):
            while failed.pop().startswith(" "):
                pass
            shortened = structs.replace(self, failed=(*failed, f"… {'more ' if failed else ''}failures are {more}"))
        lines = shortened.lines()
        short = lines[:]
        while short and not _fits(short, tokens):
            short.pop()
        return lines if len(short) == len(lines) else [*short, f"… {len(lines) - len(short)} lines are {more}"]


def _fits(lines: Sequence[str], tokens: int) -> bool:
    return sum(map(token_estimate, lines)) <= tokens


def story(
    events: Sequence[Event], begin: float | None = None, read: Read = words_of, notices: NoticeSettings | None = None
) -> SessionStory:
    """Describe a stretch of events; times count from `begin` or from the first event."""
    if not events:
        return SessionStory()
    start = events[0].at if begin is None else begin
    ending = _ending_lines(events, start, read, notices or NoticeSettings())
    lines = _prompt_lines(events, start, read), _work_lines(events, read), _failure_lines(events, start, read), ending
    return SessionStory(*map(tuple, lines))


def _prompt_lines(events: Sequence[Event], start: float, read: Read) -> Iterator[str]:
    rollbacks = Rollbacks()
    rollbacks.grow(events)
    dropped = rollbacks.dropped
    prompts = [
        (event, place in dropped)
        for place, event in enumerate(events)
        if isinstance(event, Prompt | Rollback) and event.agent == MAIN
    ]
    if not prompts:
        yield "nothing new"
        return
    chosen = prompts if len(prompts) <= _ASKED else [prompts[0], *prompts[1 - _ASKED :]]
    mode = ""
    for number, (prompt, rolled_back) in enumerate(chosen):
        if number == 1 and len(chosen) < len(prompts):
            yield f"… {count(len(prompts) - len(chosen), 'prompt')} more …"
        if isinstance(prompt, Rollback):
            yield f"{_when(prompt, start)} {about(prompt)[0]}"
            continue
        words = "you stopped it" if prompt.interrupt else _quoted(read(prompt).said)
        words = words or "a prompt of " + count(prompt.characters, "character")
        yield f"{_when(prompt, start)} {words}{', rolled back' if rolled_back else ''}{_change_of(mode, prompt)}"
        mode = prompt.mode or mode


def _change_of(mode: str, prompt: Prompt) -> str:
    """Say with which mode a prompt was given, unless an earlier one had the same."""
    words = mode_words(prompt.mode)
    if not prompt.mode or words == mode_words(mode):
        return ""
    return f" ({words or 'asks as usual'})"


_NOTHING_TO_COMMIT = re.compile(r"nothing (?:added )?to commit|no changes added to commit", re.I)


def _check_result(use: ToolUse, read: Read) -> str:
    """How a test, build or commit ended; Git's own words count more than an exit code."""
    result = STORY_WORDS["results"][use.outcome]
    if use.purpose == "commit" and result == "passed" and _NOTHING_TO_COMMIT.search(read(use).output):
        return "failed"
    return result


def _work_lines(events: Sequence[Event], read: Read) -> Iterator[str]:
    uses = [event for event in events if isinstance(event, ToolUse)]
    if not uses:
        yield "no call was made"
        return
    edited: Counter[str] = Counter()
    for use in uses:
        if use.action == "file_edit" and use.outcome in ("success", "empty", "pending"):
            edited.update(use.targets[:1])
    actions = Counter(use.action for use in uses)
    edits, commands = edited.total(), actions["shell_exec"]
    numbers = {"edit": edits, "command": commands, "read": actions["file_read"], "search": actions["search"]}
    parts = ", ".join(count(number, noun) for noun, number in numbers.items() if number)
    yield f"{count(len(uses), 'call')}{': ' if parts else ''}{parts}"
    if edited:
        files = [f"{plain(path, 60)}{f' ({n} times)' if n > 1 else ''}" for path, n in edited.most_common(_FILES)]
        more = f", and {count(len(edited) - _FILES, 'more file')}" if len(edited) > _FILES else ""
        yield f"edited {', '.join(files)}{more}"
    checked = [(use.purpose, _check_result(use, read)) for use in uses if use.purpose in ("test", "build", "commit")]
    checked.sort(key=lambda check: (check[0], check[1] == "failed"))
    checks = Counter(map(" ".join, checked))
    if checks:
        yield ", ".join(f"{STORY_WORDS['checks'].get(what, what)} {times(n)}" for what, n in checks.items())
    if compactions := sum(isinstance(event, Compaction) for event in events):
        yield f"the context was compacted {times(compactions)}"


def _failure_lines(events: Sequence[Event], start: float, read: Read) -> Iterator[str]:
    problems = weightiest(troubles(events, read))
    if not problems:
        untold = sum(isinstance(event, ToolUse) and event.outcome == "pending" for event in events)
        yield (f"no failure in the log; {count(untold, 'call')} without a result" if untold else "no call failed")
        return
    for trouble in problems[:_TROUBLES]:
        yield from _trouble_lines(events, trouble, start, read)
    if len(problems) > _TROUBLES:
        still = sum(trouble.solved is None for trouble in problems[_TROUBLES:])
        ending = f"{still} of them never succeeded afterwards" if still else "all of them succeeded later"
        yield f"and {len(problems) - _TROUBLES} more, {ending}"


def _trouble_lines(events: Sequence[Event], trouble: Trouble, start: float, read: Read) -> Iterator[str]:
    use = events[trouble.last]
    if not isinstance(use, ToolUse):
        return
    words = read(use)
    call = _call_line(use, words)
    error = plain(telling_line(words.output), _WIDE // 2)
    why = f": {error}" if error else f", exit {use.exit_code}" if use.exit_code else ""
    yield f"{_when(events[trouble.first], start)} {call}, {times(trouble.failures)}{why}"
    if trouble.solved is None:
        yield "  never succeeded afterwards"
        return
    edits = ", ".join(plain(path, 50) for path in trouble.edits[:3])
    more = f" and {len(trouble.edits) - 3} more" if len(trouble.edits) > 3 else ""
    after = f" after edits of {edits}{more}" if edits else " with no edit in between"
    worked = events[trouble.solved]
    another = f"{_call_line(worked, read(worked))} " if isinstance(worked, ToolUse) and worked.call != use.call else ""
    yield f"  {another}worked at {_when(worked, start)}{after}"


def _call_line(use: ToolUse, words: Words) -> str:
    """Return a call as its tool and main argument."""
    what = _line(words.command) or " ".join(use.targets[:2]) or use.program
    return plain(f"{use.tool} {what}".strip(), _WIDE // 2)


def _ending_lines(events: Sequence[Event], start: float, read: Read, notices: NoticeSettings) -> Iterator[str]:
    left = last_word(reversed(events), frozenset(notices.final))
    question, last = left.asks(notices.asking), left.event
    turns, work = turn_of(reversed(events))
    judged = judge_answers(turns, work, read)
    if question is not None:
        call = _call_line(question, read(question))
        yield f"{_when(question, start)} with a question to you, not answered yet: {call}"
    elif last is not None:
        over = left.close in OVER and left.before_end not in ("stopped", "rolled back")
        how = RECAP_ENDINGS.get(judged.ending) if over else None
        yield f"{_when(last, start)} {how or _last_words(left, read)}"
    if quote := _quoted(judged.sentence):
        yield f"it said {quote}"


OVER = ("done", "said", "ended")  # Closes after which a turn is over.


def _last_words(left: LastWord, read: Read) -> str:
    """Describe how the main agent's last event ended."""
    last = left.event
    if not isinstance(last, ToolUse) or left.close == "done":
        return STORY_WORDS["endings"].get(left.close, "")
    call = _call_line(last, read(last))
    return f"with {call}, {STORY_WORDS['last'][last.outcome]}, in the middle of its work"


def _when(event: Event, start: float) -> str:
    return short_clock(event.at - start)


def _line(words: str) -> str:
    return next((" ".join(line.split()) for line in words.splitlines() if line.strip()), "")


def _quoted(words: str) -> str:
    line = plain(_line(words), _WIDE)
    return f"“{line}”" if line else ""

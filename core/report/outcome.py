"""A session's outcome: commits, pushes, pull requests, branch, and the last state of tests and build."""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Any, Literal

from msgspec import Struct
from msgspec.structs import replace

from core.agents.normalizer import shell_commands
from core.agents.values import decode, table, text
from core.agents.words import WordReader, gist, word_logs
from core.events import MAIN, Event, SessionStart, ToolUse
from core.logs.format import Diagnostics, Kit
from core.logs.lines import line_spans, seconds, stretches
from core.logs.links import links
from core.logs.redact.text import redact
from core.logs.session import LogSession
from core.report.changes import FileChange, SessionChanges, rewinds_of
from core.report.conversation import ConversationTree
from core.report.formatting import count, plain
from core.settings.logs import LineSettings

CheckResult = Literal["passed", "failed", "no result"]
_MENTIONS = (
    (b"git ", b"gh ", b"glab "),
    (b"commit", b"cherry-pick", b"revert", b"merge", b" am", b"push", b"create", b"checkout", b"switch"),
)
# How git itself reports a commit.
_COMMIT = re.compile(
    r"^\[(?P<branch>[^\[\]\n]{1,200}?)(?: \(root-commit\))? (?P<hash>[0-9a-f]{7,40})\] (?P<subject>[^\n]*)",
    re.MULTILINE,
)
_PUSH = re.compile(
    r"^ (?P<flag>[ +*]) (?P<what>[0-9a-f]{4,40}\.{2,3}[0-9a-f]{4,40}|\[new (?:branch|tag)\]) +\S+ +->"
    r" +(?P<to>\S+)",
    re.MULTILINE,
)
_REQUEST = re.compile(r"https://[\w.-]+/[\w./-]+/(?:pull|pulls|merge_requests)/(\d+)")
_SWITCH = re.compile(r"^Switched to (?:a new )?branch '([^'\n]{1,200})'", re.MULTILINE)
# Commands whose output shows what came of them.
_COMMITS = tuple(("git", name) for name in ("commit", "cherry-pick", "revert", "merge", "am"))
_PUSHES = (("git", "push"),)
_REQUESTS = (("gh", "pr", "create"), ("glab", "mr", "create"))
_SWITCHES = (("git", "checkout"), ("git", "switch"))
_LOOKS_ONLY = frozenset(("--dry-run", "--help"))
_LINK, _LINK_WITHIN = b'"pr-link"', 200  # A line that links a pull request contains this near its beginning.


class Commit(Struct, frozen=True):
    """A commit that git reported."""

    hash: str
    subject: str
    branch: str
    at: float
    place: int  # The event, counted from 0; -1 if only the repository links it to the session.
    amended: bool = False  # Whether a later commit of the session replaced it.
    fate: str = ""  # Whether the repository still has it: present, reverted, on no branch or gone; empty if not known.
    reverted_by: str = ""
    checkpoint: str = ""  # The id of its checkpoint, if Entire recorded one.


class Push(Struct, frozen=True):
    """A branch or tag that a remote accepted."""

    to: str
    at: float
    place: int
    forced: bool = False


class PullRequest(Struct, frozen=True):
    """A pull request that the session opened."""

    number: int
    url: str
    at: float
    place: int


class Check(Struct, frozen=True):
    """The last run of the tests or of the build."""

    result: CheckResult
    at: float
    place: int
    program: str = ""


class SessionOutcome(Struct, frozen=True):
    """The outcome up to a moment."""

    commits: tuple[Commit, ...] = ()
    unverified: int = 0  # Commit commands that succeeded without git's own report of a commit.
    pushes: tuple[Push, ...] = ()
    pull_requests: tuple[PullRequest, ...] = ()
    branch: str = ""
    worktree: str = ""
    tests: Check | None = None
    build: Check | None = None
    files: int = 0
    added: int = 0
    removed: int = 0
    incomplete: int = 0  # Changed files whose whole text is not in the log.
    possible: int = 0  # Files that commands may have changed.
    changes: tuple[FileChange, ...] = ()

    @property
    def live_commits(self) -> tuple[Commit, ...]:
        """Commits that no later one replaced."""
        return tuple(one for one in self.commits if not one.amended)

    def short(self) -> str:
        """Return a few words for a column; empty if there is no outcome."""
        commits = len(self.live_commits)
        parts = [
            f"#{self.pull_requests[-1].number}" if self.pull_requests else "",
            count(commits, "commit") if commits else "",
            "pushed" if self.pushes and not self.pull_requests else "",
            f"tests {'ok' if self.tests.result == 'passed' else 'fail'}"
            if self.tests and self.tests.result != "no result"
            else "",
        ]
        return ", ".join(filter(None, parts))

    def lines(self) -> list[str]:
        """Return one line per result, safe for a terminal."""
        rows = []
        if self.changes or self.files:
            missing = f"; {count(self.incomplete, 'file')} only partly in the log" if self.incomplete else ""
            possible = f"; commands may have changed {self.possible} more" if self.possible else ""
            figures = f", +{self.added} -{self.removed}" if self.added + self.removed or not self.incomplete else ""
            rows.append(f"{count(self.files, 'file')} changed{figures}{missing}{possible}")
        rows += [
            f"commit {one.hash} {plain(redact(one.subject), 100)}{_commit_notes(one)}" for one in self.live_commits
        ]
        if self.unverified:
            rows.append(f"{count(self.unverified, 'commit command')} not confirmed by git's output")
        rows += [
            f"pushed {plain(one.to, 60)}{' (forced)' if one.forced else ''}, event {one.place + 1}"
            for one in self.pushes
        ]
        rows += [
            f"pull request #{one.number} {plain(one.url, 120)}, event {one.place + 1}" for one in self.pull_requests
        ]
        for name, check in (("tests", self.tests), ("build", self.build)):
            if check is not None:
                result = "has no result" if check.result == "no result" else check.result
                rows.append(f"{name}: last run {result}, event {check.place + 1}")
        where = f"branch {plain(self.branch, 60)}" if self.branch else ""
        tree = f"worktree {plain(self.worktree, 60)}" if self.worktree else ""
        if where or tree:
            rows.append(", ".join(filter(None, (where, tree))))
        return rows


def _commit_notes(commit: Commit) -> str:
    """Return a commit's branch, the event that reports it, and what became of it."""
    fates = {
        "present": "in the repository",
        "reverted": f"reverted by {commit.reverted_by}",
        "on no branch": "no longer on any branch",
        "gone": "no longer in the repository",
    }
    notes = [
        f" ({plain(commit.branch, 40)})" if commit.branch else "",
        f", event {commit.place + 1}" if commit.place >= 0 else ", linked by its checkpoint",
        f", {fates[commit.fate]}" if commit.fate in fates else "",
        f", checkpoint {plain(commit.checkpoint, 26)}" if commit.checkpoint else "",
    ]
    return "".join(notes)


class OutcomeReader:
    """Reads the outcome of a session event by event; `at` returns it as of any event."""

    def __init__(self, reader: WordReader | None = None, *, changes: bool = True) -> None:
        self._with_changes = changes
        self._reader = reader or WordReader()
        self.changes = SessionChanges(self._reader)
        self._times = array("d")
        self._offsets: list[tuple[str, int]] = []
        self._commits: list[Commit] = []
        self._replaced: dict[int, int] = {}  # The place at which a commit was amended, by its number.
        self._unverified: list[int] = []
        self._pushes: list[Push] = []
        self._requests: list[PullRequest] = []
        self._branches: list[tuple[int, str]] = []
        self._checks: dict[str, list[Check]] = {"test": [], "build": []}
        self._worktree = ""
        self.project = ""  # The folder the session works in, as its log names it.
        self._fed = 0

    def feed(self, events: Sequence[Event]) -> None:
        """Read the new events of a session; `events` starts with its first one."""
        for place in range(self._fed, len(events)):
            self.add(events[place])

    def add(self, event: Event) -> None:
        """Read the next event."""
        if type(event) is SessionStart and event.agent == MAIN:
            if event.branch:
                self._branches.append((self._fed, event.branch))
            self.project = event.project or self.project
            self._worktree = _worktree(event.project) or self._worktree
        elif type(event) is ToolUse:
            self._call(event, self._fed)
        if self._with_changes:
            self.changes.add(event)
            self._times.append(event.at)
            self._offsets.append((event.where.file, event.where.offset) if event.where else ("", -1))
        self._fed += 1

    def read_links(self, session: LogSession, kit: Kit, lines: LineSettings) -> None:
        """Read what is not an event: links to pull requests, and where the person went back."""
        log = session.logs[0]
        if log.format.links is None or log.format.style == "document" or log.part:
            return
        pieces = self._noting_requests(stretches(log.path))
        with suppress(OSError):
            if self.changes.any:
                may_go_back = log.format.links(log).may_go_back(pieces)
                read = links(log, kit.counting(Diagnostics()), lines, contents=False) if may_go_back else ()
                name = str(log.path)
                offsets = [offset if file == name else -1 for file, offset in self._offsets]
                self.changes.rewind(rewinds_of(ConversationTree(read), offsets))
            deque(pieces, 0)

    def _noting_requests(self, pieces: Iterable[bytes]) -> Iterator[bytes]:
        """Yield the pieces of a log, and note the pull requests that their lines link."""
        for piece in pieces:
            for begin, end in line_spans(piece):
                if piece.find(_LINK, begin, min(end, begin + _LINK_WITHIN)) >= 0:
                    self._read_request(table(decode(piece[begin:end])))
            yield piece

    def _read_request(self, record: dict[str, Any]) -> None:
        number = record.get("prNumber")
        if record.get("type") == "pr-link" and type(number) is int:
            at = seconds(text(record.get("timestamp"))) or (self._times[-1] if self._times else 0.0)
            place = max(0, min(bisect_left(self._times, at), len(self._times) - 1))
            self._request(PullRequest(number, redact(text(record.get("prUrl"))), at, place))

    def _request(self, request: PullRequest) -> None:
        if all(one.url != request.url for one in self._requests):
            self._requests.append(request)
            self._requests.sort(key=lambda one: one.place)

    def _call(self, use: ToolUse, place: int) -> None:
        if use.purpose in self._checks and use.outcome not in ("rejected", "collateral"):
            results: dict[str, CheckResult] = {"success": "passed", "empty": "passed", "failure": "failed"}
            self._checks[use.purpose].append(Check(results.get(use.outcome, "no result"), use.at, place, use.program))
        if use.action != "shell_exec" or not self._reader.mentions(use.called or use.where, *_MENTIONS):
            return
        request = self._reader.arguments(use)
        commands = [words for words in shell_commands(request) if not _LOOKS_ONLY.intersection(words)]
        if not any(_begin(commands, (*_COMMITS, *_PUSHES, *_REQUESTS, *_SWITCHES))):
            return
        output = self._reader.output(use)
        if commits := list(_begin(commands, _COMMITS)):
            own_words = gist(request, ())
            reports = [one for one in _COMMIT.finditer(output) if one["hash"] not in own_words]
            if reports and any("--amend" in words for words in commits) and self._commits:
                self._replaced[len(self._commits) - 1] = place
            for report in reports:
                branch = redact(report["branch"].removeprefix("detached "))
                self._commits.append(Commit(report["hash"], redact(report["subject"]), branch, use.at, place))
                self._branches.append((place, branch))
            if not reports and use.purpose == "commit" and use.outcome in ("success", "empty"):
                self._unverified.append(place)
        if any("-n" not in words for words in _begin(commands, _PUSHES)):
            self._pushes += [
                Push(redact(one["to"]), use.at, place, one["flag"] == "+") for one in _PUSH.finditer(output)
            ]
        if any(_begin(commands, _REQUESTS)) and use.outcome in ("success", "empty"):
            for one in _REQUEST.finditer(output):
                self._request(PullRequest(int(one[1]), redact(one[0]), use.at, place))
        if any(_begin(commands, _SWITCHES)):
            self._branches += [(place, redact(one[1])) for one in _SWITCH.finditer(output)]

    def short(self) -> str:
        """Return the outcome so far in a few words."""
        return self.at(self._fed).short()

    def at(self, place: int) -> SessionOutcome:
        """Return the outcome of the first `place` events."""
        commits = [
            replace(one, amended=self._replaced.get(number, place) < place)
            for number, one in enumerate(self._commits)
            if one.place < place
        ]
        checks = {name: [one for one in runs if one.place < place] for name, runs in self._checks.items()}
        changes = self.changes.files(place)
        states = Counter(one.state for one in changes)
        return SessionOutcome(
            commits=tuple(commits),
            unverified=sum(one < place for one in self._unverified),
            pushes=tuple(one for one in self._pushes if one.place < place),
            pull_requests=tuple(one for one in self._requests if one.place < place),
            branch=next((name for at, name in reversed(self._branches) if at < place), ""),
            worktree=self._worktree,
            tests=checks["test"][-1] if checks["test"] else None,
            build=checks["build"][-1] if checks["build"] else None,
            files=len(changes) - states["possible"],
            added=sum(one.added for one in changes),
            removed=sum(one.removed for one in changes),
            incomplete=states["pieces"] + states["command"],
            possible=states["possible"],
            changes=tuple(changes),
        )


def _begin(commands: Iterable[list[str]], phrases: Iterable[tuple[str, ...]]) -> Iterator[list[str]]:
    """Yield the commands that begin with one of some phrases."""
    return (words for words in commands for phrase in phrases if tuple(words[: len(phrase)]) == phrase)


def _worktree(project: str) -> str:
    """Return the name of a worktree from a project's path, or an empty text."""
    match = re.search(r"(?:^|/)\.?(?:claude/|codex/)?worktrees/([^/]+)", project.replace("\\", "/"))
    return match[1] if match else ""


def read_outcome(session: LogSession, events: Sequence[Event], kit: Kit, lines: LineSettings) -> OutcomeReader:
    """Read a whole session; the events are all it has so far."""
    reader = OutcomeReader(WordReader(word_logs(session)))
    reader.feed(events)
    reader.read_links(session, kit, lines)
    return reader

"""A session's outcome: commits, pushes, pull requests, branch, last tests and build, and what became of its commits."""

from __future__ import annotations

import heapq
import re
import zlib
from array import array
from bisect import bisect_left
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import islice
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import Any, Literal, NamedTuple

from msgspec import Struct, structs
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
from core.settings.program import LineSettings

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
        # Without changes nobody goes back, so that the last one of each is enough.
        most = None if changes else 1
        self._checks: dict[str, deque[Check]] = {"test": deque(maxlen=most), "build": deque(maxlen=most)}
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
            structs.replace(one, amended=self._replaced.get(number, place) < place)
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


Fate = Literal["present", "reverted", "on no branch", "gone"]

_TYPES = {1: "commit", 2: "tree", 3: "blob", 4: "tag"}
_LARGEST = 4_000_000  # Bytes of one object that are read at most.
_MOST_COMMITS = 20_000
_MOST_REFS = 20_000
_DEEPEST = 60  # Deltas that may build on each other; git itself stops at 50.
_SLACK = 86_400.0  # Seconds by which a clock may have been wrong when a commit was made.
_REVERTS = re.compile(r"^This reverts commit ([0-9a-f]{7,40})", re.MULTILINE)
_CHECKPOINT = re.compile(r"^Entire-Checkpoint: ([0-9A-Za-z]{12,26})$", re.MULTILINE)
_SESSION = re.compile(r"^Entire-Session: (\S{1,200})$", re.MULTILINE)
_CHECKPOINTS = "refs/heads/entire/checkpoints/v1"
_BRANCHES = ("refs/heads/", "refs/remotes/", "refs/tags/")


class StoredCommit(NamedTuple):
    """A commit as the repository has it."""

    id: str
    at: float
    parents: tuple[str, ...]
    tree: str
    message: str


class GitData:
    """The commits of one repository, read from its own files; git itself never runs."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        common = _read(folder / "commondir").decode(errors="replace").strip()
        self._common = (folder / common).resolve() if common else folder
        self._objects = [self._common / "objects", *self._alternates()]
        self._packs: list[_Pack] | None = None
        config = _read(self._common / "config").decode(errors="replace").lower()
        # Whether its hashes and references are stored in the usual way.
        self.readable = not re.search(r"^\s*(?:objectformat\s*=\s*sha256|refstorage)", config, re.MULTILINE)
        # Whether a commit that is not here is nowhere.
        self.whole = not (self._common / "shallow").exists() and "promisor" not in config

    def _alternates(self) -> list[Path]:
        names = _read(self._common / "objects" / "info" / "alternates").decode(errors="replace").splitlines()
        return [(self._common / "objects" / name).resolve() for name in names[:8] if name[:1] not in ("", "#")]

    def references(self) -> dict[str, str]:
        """Return the commits that branches, tags and worktrees name."""
        packed = _read(self._common / "packed-refs").decode(errors="replace").splitlines()
        pairs = [line.split(" ", 1) for line in packed if line[:1] not in ("#", "^", "")]
        names = {pair[1]: pair[0] for pair in pairs if len(pair) == 2}
        root, worktrees = self._common / "refs", sorted((self._common / "worktrees").glob("*/HEAD"))
        files = {f"refs/{path.relative_to(root).as_posix()}": path for path in islice(root.rglob("*"), _MOST_REFS)}
        files |= {f"HEAD {head.parent.name}": head for head in (self._folder / "HEAD", *worktrees[:100])}
        for name, path in files.items():
            value = _read(path).decode(errors="replace").strip()
            if re.fullmatch(r"[0-9a-f]{40}", value):
                names[name] = value
        return names

    def commits(self, since: float) -> Iterator[StoredCommit]:
        """Yield the commits on any branch since a moment, the newest first."""
        names = self.references()
        waiting: list[tuple[float, StoredCommit]] = []
        visited: set[str] = set()

        def add(name: str) -> None:
            commit = None if name in visited else self.commit(name)
            visited.add(name)
            if commit is not None and commit.at >= since:
                heapq.heappush(waiting, (-commit.at, commit))

        for name, value in names.items():
            if name.startswith((*_BRANCHES, "HEAD ")) and not name.startswith("refs/heads/entire/"):
                add(value)
        for _ in range(_MOST_COMMITS):
            if not waiting:
                return
            commit = heapq.heappop(waiting)[1]
            yield commit
            for parent in commit.parents:
                add(parent)

    def commit(self, name: str) -> StoredCommit | None:
        """Return a commit by its full hash; a tag leads to what it names."""
        kind, data = self.read(name) or ("", b"")
        if kind == "tag":
            kind, data = self.read(name := data[7:47].decode(errors="replace")) or ("", b"")
        if kind != "commit":
            return None
        head, _, message = data.decode(errors="replace").partition("\n\n")
        at = re.search(r"^committer .*? (\d{1,12}) [+-]\d{4}$", head, re.MULTILINE)
        parents = tuple(re.findall(r"^parent ([0-9a-f]{40})$", head, re.MULTILINE))
        return StoredCommit(name, float(at[1]) if at else 0.0, parents, head[5:45], message)

    def holds(self, prefix: str) -> bool:
        """Whether an object whose hash begins so is stored."""
        loose = (folder / prefix[:2] for folder in self._objects)
        if any(path.name.startswith(prefix[2:]) for folder in loose if folder.is_dir() for path in folder.iterdir()):
            return True
        return any(pack.offset(prefix) is not None for pack in self._all_packs())

    def read(self, name: str) -> tuple[str, bytes] | None:
        """Return the type and content of an object."""
        for folder in self._objects:
            data = _read(folder / name[:2] / name[2:])
            if data:
                return _loose_object(data)
        for pack in self._all_packs():
            offset = pack.offset(name)
            if offset is not None:
                return pack.object_at(offset, self)
        return None

    def _all_packs(self) -> list[_Pack]:
        if self._packs is None:
            paths = [path for folder in self._objects for path in sorted((folder / "pack").glob("*.idx"))]
            self._packs = [pack for pack in map(_open_pack, paths[:500]) if pack is not None]
        return self._packs

    def file_at(self, tree: str, path: str) -> bytes:
        """Return a file's content below a tree; empty if there is none."""
        for part in path.split("/"):
            kind, data = self.read(tree) or ("", b"")
            entry = re.search(rb"\d{5,6} " + re.escape(part.encode()) + rb"\0(.{20})", data, re.DOTALL)
            if kind != "tree" or entry is None:
                return b""
            tree = entry[1].hex()
        return (self.read(tree) or ("", b""))[1]

    def checkpoint_sessions(self, checkpoint: str) -> set[str]:
        """Return the sessions that a checkpoint of Entire belongs to."""
        head = self.commit(self.references().get(_CHECKPOINTS, ""))
        folder = f"{checkpoint[:2]}/{checkpoint[2:]}"
        names = ("metadata.json", *(f"{number}/metadata.json" for number in range(4)))
        contents = [table(decode(self.file_at(head.tree, f"{folder}/{name}"))) for name in names] if head else []
        return {text(one.get(key)) for one in contents for key in ("session_id", "sessionID")} - {""}


class _Pack:
    """One pack file with its index, version 2."""

    def __init__(self, index: mmap, data: mmap) -> None:
        self._index, self._data = index, data
        self._count = int.from_bytes(index[1028:1032], "big")

    def offset(self, prefix: str) -> int | None:
        """Return where the first object whose hash begins so is."""
        names = 1032

        def name(row: int) -> str:
            return self._index[names + 20 * row : names + 20 * row + 20].hex()

        row = bisect_left(range(self._count), prefix, key=name)
        if row == self._count or not name(row).startswith(prefix):
            return None
        offsets = names + 24 * self._count
        at = int.from_bytes(self._index[offsets + 4 * row : offsets + 4 * row + 4], "big")
        if at >> 31:
            large = offsets + 4 * self._count + 8 * (at & 0x7FFFFFFF)
            at = int.from_bytes(self._index[large : large + 8], "big")
        return at

    def object_at(self, at: int, store: GitData, depth: int = 0) -> tuple[str, bytes] | None:
        """Read one object, building it from those it is a delta of."""
        byte = self._data[at]
        kind, start = byte >> 4 & 7, at
        while byte & 0x80:
            at += 1
            byte = self._data[at]
        at += 1
        if kind in _TYPES:
            return _TYPES[kind], _inflate(self._data[at : at + _LARGEST])
        if depth > _DEEPEST:
            return None
        if kind == 6:
            byte = self._data[at]
            back = byte & 0x7F
            while byte & 0x80:
                at += 1
                byte = self._data[at]
                back = (back + 1 << 7) | (byte & 0x7F)
            base = self.object_at(start - back, store, depth + 1)
            at += 1
        elif kind == 7:
            base = store.read(self._data[at : at + 20].hex())
            at += 20
        else:
            return None
        return base and (base[0], _apply_delta(base[1], _inflate(self._data[at : at + _LARGEST])))


def _open_pack(index: Path) -> _Pack | None:
    try:
        with index.open("rb") as names, index.with_suffix(".pack").open("rb") as data:
            pair = mmap(names.fileno(), 0, access=ACCESS_READ), mmap(data.fileno(), 0, access=ACCESS_READ)
    except (OSError, ValueError):
        return None
    return _Pack(*pair) if pair[0][:8] == b"\xfftOc\0\0\0\x02" else None


def _apply_delta(base: bytes, delta: bytes) -> bytes:
    at = 0
    for _ in range(2):  # the sizes of base and result
        while delta[at] & 0x80:
            at += 1
        at += 1
    parts: list[bytes] = []
    length = 0
    while at < len(delta) and length <= _LARGEST:
        code = delta[at]
        at += 1
        if code & 0x80:
            figures = []
            for bit in range(7):
                present = code >> bit & 1
                figures.append(delta[at] if present else 0)
                at += present
            start = int.from_bytes(bytes(figures[:4]), "little")
            size = int.from_bytes(bytes(figures[4:]), "little") or 0x10000
            parts.append(base[start : start + size])
        else:
            parts.append(delta[at : at + code])
            at += code
        length += len(parts[-1])
    return b"".join(parts)


def _inflate(data: bytes) -> bytes:
    return zlib.decompressobj().decompress(data, _LARGEST)


def _loose_object(data: bytes) -> tuple[str, bytes]:
    head, _, content = _inflate(data).partition(b"\0")
    return head.split(b" ")[0].decode(errors="replace"), content


def _read(path: Path) -> bytes:
    """Return the beginning of a regular file; empty if there is none."""
    try:
        if not path.is_file():
            return b""
        with path.open("rb") as stream:
            return stream.read(_LARGEST)
    except (OSError, ValueError):
        return b""


def open_repository(project: str) -> GitData | None:
    """Return the repository a project folder is in, if there is one that can be read."""
    if not project or not Path(project).is_absolute():
        return None
    for folder in (Path(project), *Path(project).parents):
        git = folder / ".git"
        if git.is_file():
            pointer = _read(git).decode(errors="replace").strip()
            git = folder / pointer.removeprefix("gitdir:").strip()
        if (git / "HEAD").is_file():
            data = GitData(git.resolve())
            return data if data.readable else None
    return None


def outcome_with_fates(outcome: SessionOutcome, project: str, session: str, since: float) -> SessionOutcome:
    """Return a session's outcome with what became of its commits, and commits that Entire links to it."""
    try:
        repository = open_repository(project)
        return outcome if repository is None else _add_fates(outcome, repository, session, since - _SLACK)
    except (OSError, ValueError, IndexError, zlib.error):
        return outcome  # a damaged repository tells nothing


def _add_fates(outcome: SessionOutcome, repository: GitData, session: str, since: float) -> SessionOutcome:
    stored = list(repository.commits(since))
    reverted: dict[str, str] = {}
    for commit in stored:
        if not any(commit.id.startswith(target) for target in reverted):
            reverted.update((target, commit.id[:7]) for target in _REVERTS.findall(commit.message))
    commits = []
    for own in outcome.commits:
        match = next((commit for commit in stored if commit.id.startswith(own.hash)), None)
        by = next((by for target, by in reverted.items() if target.startswith(own.hash)), "")
        fate: Fate | Literal[""] = "reverted" if by else "present"
        if match is None:
            stored_here = repository.holds(own.hash)
            fate = "on no branch" if stored_here else "gone" if repository.whole else ""
            if len(stored) >= _MOST_COMMITS:
                fate = ""
        checkpoint = _CHECKPOINT.search(match.message) if match else None
        commits.append(replace(own, fate=fate, reverted_by=by, checkpoint=checkpoint[1] if checkpoint else ""))
    return replace(outcome, commits=(*commits, *_linked(repository, stored, commits, session)))


def _linked(
    repository: GitData, stored: Sequence[StoredCommit], commits: Sequence[Commit], session: str
) -> Iterator[Commit]:
    """Yield the commits whose trailer names the session, and that the log does not report."""
    for commit in stored:
        checkpoint, trailer = _CHECKPOINT.search(commit.message), _SESSION.search(commit.message)
        if any(commit.id.startswith(own.hash) for own in commits):
            continue
        linked = bool(trailer and trailer[1].endswith(session)) or (
            checkpoint is not None and session in repository.checkpoint_sessions(checkpoint[1])
        )
        if linked:
            subject, name = redact(commit.message.partition("\n")[0]), checkpoint[1] if checkpoint else ""
            yield Commit(commit.id[:7], subject, "", commit.at, -1, fate="present", checkpoint=name)

"""Whether a session's commits still exist, read from the repository's own files; git itself never runs."""

from __future__ import annotations

import heapq
import re
import zlib
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import Literal, NamedTuple

from msgspec.structs import replace

from core.agents.values import decode, table, text
from core.logs.redact.text import redact
from core.report.outcome import Commit, SessionOutcome

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
    """The commits of one repository."""

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
        root = self._common / "refs"
        for number, path in enumerate(root.rglob("*")):
            if number > _MOST_REFS:
                break
            value = _read(path).decode(errors="replace").strip()
            if re.fullmatch(r"[0-9a-f]{40}", value):
                names[f"refs/{path.relative_to(root).as_posix()}"] = value
        for head in (self._folder / "HEAD", *sorted((self._common / "worktrees").glob("*/HEAD"))[:100]):
            value = _read(head).decode(errors="replace").strip()
            if re.fullmatch(r"[0-9a-f]{40}", value):
                names[f"HEAD {head.parent.name}"] = value
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

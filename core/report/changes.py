"""The files a session changed up to a moment, and their diff, rebuilt from its log alone."""

from __future__ import annotations

import re
import shlex
from array import array
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from typing import Any, Literal, NamedTuple

from msgspec import Struct, structs

from core.agents.normalizer import shell_writes
from core.agents.shell import ShellWrite
from core.agents.swe_agent import called
from core.agents.values import decode, table, text
from core.agents.words import CHUNK, WordReader, answer, arguments, gist
from core.events import MAIN, Event, SessionStart, ToolUse, Where
from core.logs.redact.text import redact_lines
from core.report.conversation import ConversationTree
from core.report.formatting import plain
from core.safe_text import safe

EditKind = Literal["write", "create", "replace", "insert", "lines", "delete", "move", "command", "doubt", "unknown"]
# The whole file is known; only what the edits name is known; only that a command wrote it, or may have, is known.
Completeness = Literal["complete", "pieces", "command", "possible"]

_SNAPSHOT = 32  # Edits of one file between two remembered states.
_MOST_KEPT = 256  # States of one file that are remembered at once, beside those.
_MOST_COMPARED = 4_000_000  # Pairs of lines up to which two stretches are compared line by line.
_CONTEXT = 3
_LONGEST_ANSWER = 400_000
_DEEPEST = 8
_BEFORE = ("old_string", "old_str", "oldText", "old_text", "oldString", "old_content", "search")
_AFTER = ("new_string", "new_str", "newText", "new_text", "newString", "new_content", "replace", "content")
_WHOLE = ("content", "file_text", "contents", "text", "code_edit")
_PATHS = ("file_path", "path", "filePath", "absolute_path", "notebook_path", "target_file", "filename", "file")
# Names under which results carry a file's whole text before and after an edit.
_WITNESSES = (
    ("originalFile", "updatedFile"),
    ("original_file", "updated_file"),
    ("originalContent", "newContent"),
    ("old_content", "new_content"),
    ("before", "after"),
)
_NEW_FILE = re.compile(r"\b(?:created?|new file)\b", re.IGNORECASE)
# Commands that print one whole file, and arguments by which a tool reads only a part.
_PRINTS = re.compile(r"""(?:cd [^;&|]+ && )?(?:cat|sed -n ['"]?1,(?P<last>\d+)p['"]?) [^\s;&|<>*?]+""")
_RANGES = ("offset", "limit", "start_line", "end_line", "startLine", "endLine", "view_range", "line_range", "ranges")
# Outputs that are not the file itself: cut, numbered, or with words of the agent's own around it.
_NOT_THE_FILE = re.compile(
    r"\A(?:\s*\d+(?:\t|→|\||: )|<(?:path|file|content)\b|Exit code|Chunk ID|Wall time)"
    r"|truncated|more lines|lines not shown|lines omitted"
)
_LINE_RANGE = re.compile(r"(?:edit|insert) (?P<first>\d+)(?::(?P<last>\d+))?")  # What SWE-agent types before lines.
_PATCH_BEGINS = "*** Begin Patch"
_PATCH = re.compile(r"\*\*\* Begin Patch\r?\n.*?\*\*\* End Patch", re.DOTALL)
_PATCH_FILE = re.compile(r"\*\*\* (Add|Update|Delete) File: (.+)")
# A block by which Aider's model asks for an edit, with the path above it.
_BLOCK = re.compile(
    r"^(?P<path>[^\n]{1,400})\n(?:`{3,}[^\n]*\n)?<{5,9} SEARCH>?[^\n]*\n(?P<old>.*?)^={5,9}[^\n]*\n"
    r"(?P<new>.*?)^>{5,9} (?:REPLACE|UPDATED)",
    re.DOTALL | re.MULTILINE,
)


class FileEdit(NamedTuple):
    """One change of one file, as its log describes it."""

    path: str
    kind: EditKind
    pairs: tuple[tuple[str, str, bool], ...] = ()  # Texts to find, what replaces each, and whether everywhere.
    content: str = ""  # The whole text that is written, or the text that is inserted.
    line: int = 0  # The line it inserts after, or the first one it replaces; -1 for the end.
    last: int = 0  # The last line it replaces.
    target: str = ""  # The new path of a move.
    before: str | None = None  # The file's whole text before it, if the log carries that.
    after: str | None = None
    new_file: bool = False


class DiffLine(NamedTuple):
    """One line of a diff; its text is redacted."""

    sign: Literal[" ", "+", "-", "@"]
    text: str
    old: int = 0
    new: int = 0
    place: int = -1  # The event that added or removed it.
    unended: bool = False  # Whether it is the last of its file and has no line end.


class FileChange(Struct, frozen=True, gc=False):
    """A session's changes to one file, up to a moment."""

    path: str
    state: Completeness
    added: int
    removed: int
    places: tuple[int, ...]  # The events that edited it.
    agents: tuple[str, ...]
    notes: tuple[str, ...] = ()  # What the log does not contain.
    created: bool = False
    deleted: bool = False
    moved_from: str = ""


class _Piece:
    """A stretch of a file before the session and now; the origin of a line is its number before.

    A negative origin -n - 1 names the event n that wrote the line; `removed` names the event for each
    line of before that is gone.
    """

    __slots__ = ("_now", "base", "lines", "origin", "removed")

    def __init__(self, base: list[str], lines: list[str], origin: array[int], removed: dict[int, int]) -> None:
        self.base, self.lines, self.origin, self.removed = base, lines, origin, removed
        self._now: str | None = None  # The joined lines, until one changes.

    @classmethod
    def unchanged(cls, whole: str) -> _Piece:
        lines = _split(whole)
        return cls(lines, list(lines), array("i", range(len(lines))), {})

    def copy(self) -> _Piece:
        return _Piece(self.base, list(self.lines), self.origin[:], dict(self.removed))

    @property
    def now(self) -> str:
        if self._now is None:
            self._now = "".join(self.lines)
        return self._now

    def splice(self, start: int, stop: int, new: str, place: int) -> None:
        """Replace a range of characters of the current text."""
        whole = self.now
        first = whole.count("\n", 0, start)
        begin = whole.rfind("\n", 0, start) + 1
        at_line_end = stop > begin and whole[stop - 1 : stop] == "\n" and (not new or new.endswith("\n"))
        end = stop if at_line_end else whole.find("\n", stop) + 1 or len(whole)
        last = first + len(_split(whole[begin:end]))
        written = _split(whole[begin:start] + new + whole[stop:end])
        self._put(first, last, written, place)

    def replace_lines(self, first: int, last: int, content: str, place: int) -> None:
        """Replace whole lines."""
        start = sum(map(len, self.lines[:first]))
        stop = start + sum(map(len, self.lines[first:last]))
        self.splice(start, stop, content.removesuffix("\n") + "\n" if content else "", place)

    def rewrite(self, content: str, place: int) -> None:
        """Replace the whole text; lines that are equal keep their origin."""
        written = _split(content)
        for tag, first, last, start, stop in reversed(_opcodes(self.lines, written)):
            if tag != "equal":
                self._put(first, last, written[start:stop], place)

    def rewrite_part(self, content: str, place: int) -> None:
        """Replace the text of part of a file; the log may stop before the part's last line ends."""
        written, self._now = _split(content), None
        bare = ([line.removesuffix("\n") for line in lines] for lines in (self.lines, written))
        for tag, first, last, start, stop in reversed(_opcodes(*bare)):
            if tag == "equal":
                self.lines[first:last] = written[start:stop]
            else:
                self._put(first, last, written[start:stop], place)

    def _put(self, first: int, last: int, written: list[str], place: int) -> None:
        lines, origin, self._now = self.lines, self.origin, None
        while first < last and written and lines[first] == written[0]:
            first, written = first + 1, written[1:]
        while first < last and written and lines[last - 1] == written[-1]:
            last, written = last - 1, written[:-1]
        self.removed.update((number, place) for number in origin[first:last] if number >= 0)
        lines[first:last] = written
        origin[first:last] = array("i", [-place - 1]) * len(written)


class _File(Struct):
    """One file as the edits of a session change it."""

    first_path: str
    path: str
    pieces: list[_Piece] = []
    whole: bool = False  # Whether the first piece is the whole file.
    absent: bool = False  # Whether there was no such file before the session.
    deleted: bool = False
    lost: bool = False  # Whether something unknown changed it since its text was known.
    notes: dict[str, list[int]] = {}  # What the log does not contain, and the events that this is about.
    doubted: int = -1  # The event that may have changed it since its text was known.

    def copy(self) -> _File:
        notes = {words: places[:] for words, places in self.notes.items()}
        return structs.replace(self, pieces=[piece.copy() for piece in self.pieces], notes=notes)

    def _note(self, words: str, *places: int) -> None:
        self.notes.setdefault(words, []).extend(places)

    @property
    def note_words(self) -> tuple[str, ...]:
        """What is missing in the log, in words."""
        every = {**self.notes, **({"a command may have changed it": [self.doubted]} if self.doubted >= 0 else {})}
        return tuple(words + _event_words(places) for words, places in every.items())

    def apply(self, edit: FileEdit, place: int) -> None:
        """Advance by one edit."""
        if edit.before is not None:
            self._settle(edit.before, place)
        elif not self.pieces and (edit.new_file or edit.kind == "create"):
            self.pieces, self.whole, self.absent = [_Piece.unchanged("")], True, True
        self.path = edit.target or self.path
        match edit.kind:
            case "delete":
                if self.pieces:
                    self._write("", place)
                else:
                    self._note("the log does not contain its text")
                self.deleted = True
                return
            case "doubt":
                self.doubted = place if self.whole or not self.pieces else -1
                return
            case "command" | "unknown":
                self.lost = True
                wrote = edit.kind == "command"
                self._note("a command wrote it" if wrote else "the log does not contain the text of an edit", place)
            case "write" | "create":
                self._write(edit.content, place)
            case "insert":
                self._insert(edit, place)
            case "lines":
                self._replace_lines(edit, place)
            case _:
                for old, new, everywhere in edit.pairs:
                    self._replace(old, new, everywhere, place)
        self.deleted = False
        if edit.after is not None and (not self.whole or self.pieces[0].now != edit.after):
            self._write(edit.after, place)

    def _settle(self, before: str, place: int) -> None:
        """Adopt the whole text that the log carries."""
        if not self.pieces:
            self.pieces, self.whole = [_Piece.unchanged(before)], True
        elif not self.whole:
            base = before
            for piece in reversed(self.pieces):
                if not piece.lines or base.count(piece.now) != 1:
                    self._note("its text before the first edit is not in the log")
                    return
                base = base.replace(piece.now, "".join(piece.base))
            piece = _Piece.unchanged(base)
            piece.rewrite(before, place)
            self.pieces, self.whole = [piece], True
        elif self.pieces[0].now != before:
            self.pieces[0].rewrite(before, place)
            del self.pieces[1:]
            self._note("something else changed it between two edits")
        self.lost = False
        self.doubted = -1

    def _write(self, content: str, place: int) -> None:
        if not self.whole:
            self._note("its text before the first write is not in the log")
            if not self.pieces:
                self.pieces = [_Piece.unchanged("")]
            del self.pieces[1:]
        self.pieces[0].rewrite(content, place)
        self.lost = False
        self.doubted = -1

    def _insert(self, edit: FileEdit, place: int) -> None:
        if self.whole and -1 <= edit.line <= len(self.pieces[0].lines):
            line = len(self.pieces[0].lines) if edit.line < 0 else edit.line
            self.pieces[0].replace_lines(line, line, edit.content, place)
        else:
            self._add_piece("", edit.content, place)

    def _replace_lines(self, edit: FileEdit, place: int) -> None:
        if self.whole and 0 < edit.line <= len(self.pieces[0].lines) and not self.lost:
            self.pieces[0].replace_lines(edit.line - 1, edit.last, edit.content, place)
        else:
            self.lost = True
            self._note("the log does not contain the lines that were replaced", place)

    def _replace(self, old: str, new: str, everywhere: bool, place: int) -> None:
        if not old and self.whole and not self.pieces[0].lines:
            self.pieces[0].rewrite(new, place)
            return
        for piece in self.pieces if old else ():
            whole = piece.now
            if "\r\n" in whole and old not in whole:
                old, new = old.replace("\n", "\r\n"), new.replace("\n", "\r\n")
            occurrences = whole.count(old)
            if occurrences == 1 or (occurrences and everywhere):
                if everywhere and not self.whole:
                    self._note("an edit replaced text everywhere, beyond what the log shows")
                starts = [whole.find(old)]
                for _ in range(occurrences - 1):
                    starts.append(whole.find(old, starts[-1] + len(old)))
                for start in reversed(starts):
                    piece.splice(start, start + len(old), new, place)
                return
        if old and self.whole and not self.lost:
            self.lost = True
            self._note("an edit does not fit the text in the log", place)
        self._add_piece(old, new, place)

    def _add_piece(self, old: str, new: str, place: int) -> None:
        """Add an edit of text that was unknown so far, absorbing pieces it contains."""
        base = old
        for piece in [piece for piece in self.pieces[self.whole :] if piece.lines]:
            if piece.now in base:
                base = base.replace(piece.now, "".join(piece.base), 1)
                self.pieces.remove(piece)
        piece = _Piece.unchanged(base)
        piece.rewrite_part(new, place)
        self.pieces.append(piece)

    @property
    def complete(self) -> bool:
        return self.whole and not self.lost and self.doubted < 0 and len(self.pieces) == 1


class _Track(NamedTuple):
    """The edits of one file in their order, and states remembered on the way."""

    path: str
    places: list[int]
    edits: list[FileEdit]
    agents: list[str]
    snapshots: dict[tuple[int, int], _File]
    changes: dict[tuple[int, int, str], FileChange | None]


class Rewind(NamedTuple):
    """The person went back: from event `at` on, events after `back` do not count."""

    at: int
    back: int


class SessionChanges:
    """Reads the edits of a session's events once, and shows the files as of any of them."""

    def __init__(self, read: WordReader | None = None) -> None:
        self._reader = read or WordReader()
        self._tracks: list[_Track] = []
        self._open: dict[str, _Track] = {}
        self._rewinds: list[Rewind] = []
        self._reads: dict[str, ToolUse] = {}  # The last read of a file since it was edited.
        self._fed = 0
        self._project = ""
        self.uncounted = 0  # Edits that failed, were rejected or have no result.

    def feed(self, events: Sequence[Event]) -> None:
        """Read the new events of a session; `events` starts with its first one."""
        for place in range(self._fed, len(events)):
            self.add(events[place])

    def add(self, event: Event) -> None:
        """Read the next event."""
        if type(event) is SessionStart and event.agent == MAIN:
            self._project = event.project.rstrip("/") or self._project
        elif type(event) is ToolUse and event.action == "shell_exec":
            self._read_command(event, self._fed)
        elif type(event) is ToolUse and event.action in ("file_edit", "memory_write"):
            self._read(event, self._fed)
        elif type(event) is ToolUse and event.action == "file_read" and len(event.targets) == 1:
            self._reads[event.targets[0]] = event
        self._fed += 1

    @property
    def any(self) -> bool:
        """Whether a file was changed."""
        return bool(self._tracks)

    def rewind(self, rewinds: Sequence[Rewind]) -> None:
        """Set where the person went back."""
        if list(rewinds) != self._rewinds:
            self._rewinds = list(rewinds)
            for track in self._tracks:
                track.snapshots.clear()
                track.changes.clear()

    def _read(self, event: ToolUse, place: int) -> None:
        if event.outcome not in ("success", "empty"):
            self.uncounted += 1
            return
        edits = _edits(event, self._reader)
        for edit in edits:
            self._add(edit, event, place)
        if event.program and not edits:
            self._read_command(event, place, event.targets)

    def _read_command(self, event: ToolUse, place: int, targets: Sequence[str] = ()) -> None:
        """Read what a command wrote; a failed one may have written before it failed."""
        if event.outcome in ("rejected", "collateral", "pending"):
            return
        unnamed = dict.fromkeys(targets)
        succeeded = event.outcome in ("success", "empty")
        for target, write in shell_writes(self._reader.arguments(event)).items():
            path = _event_path(target.removeprefix(f"{self._project}/"), event)
            for name in [name for name in self._reads if _covers(path, name)]:
                del self._reads[name]
            open_names = [name for name in self._open if _covers(path, name)]
            for name in open_names:
                doubt = not succeeded or name != path
                self._add(FileEdit(name, "doubt") if doubt else _command_edit(path, write), event, place)
            inside = not path.startswith(("/", "..")) and "." in path.rpartition("/")[2][:-1]
            if succeeded and not open_names and (inside or path in targets):
                self._add(_command_edit(path, write), event, place)
            unnamed.pop(path, None)
        for path in unnamed:
            self._add(FileEdit(path, "command"), event, place)

    def _add(self, edit: FileEdit, event: ToolUse, place: int) -> None:
        track = self._open.get(edit.path)
        if track is None:
            track = self._open[edit.path] = _Track(edit.path, [], [], [], {}, {})
            self._tracks.append(track)
        read = self._reads.pop(edit.path, None)
        if read is not None and not any(one.before is not None or one.new_file for one in (*track.edits, edit)):
            edit = _after_read(edit, _whole_read(read, self._reader))
        track.places.append(place)
        track.edits.append(edit)
        track.agents.append(event.agent)
        if edit.kind == "move":
            self._open[edit.target] = self._open.pop(edit.path)

    def files(self, place: int, agent: str = "") -> list[FileChange]:
        """Return every file changed by the first `place` events, or by one agent, in path order."""
        built = [self._change(track, place, agent) for track in self._tracks]
        return sorted((one for one in built if one is not None), key=lambda one: one.path)

    def diff(self, path: str, place: int) -> list[DiffLine]:
        """Return a file's diff from before the first edit to now, redacted."""
        lines: list[DiffLine] = []
        for file in self._files_at(path, place):
            for piece in file.pieces:
                lines += _hunks(piece, numbered=file.whole and piece is file.pieces[0])
        return lines

    def texts(self, path: str, place: int) -> tuple[str | None, str | None] | None:
        """Return a file as first and last seen (None if it did not exist), or None if it is not complete."""
        for file in self._files_at(path, place):
            if file.complete:
                first = None if file.absent else "".join(file.pieces[0].base)
                return first, None if file.deleted else file.pieces[0].now
        return None

    def _files_at(self, path: str, place: int) -> Iterator[_File]:
        for track in self._tracks:
            change = self._change(track, place, "")
            if change is not None and change.path == path:
                yield self._file(track, place)

    def _counted(self, track: _Track, place: int) -> list[int]:
        """Return the edits of a file that count at a moment."""
        numbers = range(_track_bounds(track, place))
        rewinds = [rewind for rewind in self._rewinds if rewind.at < place]
        return [n for n in numbers if not any(one.back < track.places[n] < one.at for one in rewinds)]

    def _file(self, track: _Track, place: int) -> _File:
        """Return the file at a moment, rebuilt from the nearest snapshot."""
        counted = self._counted(track, place) if self._rewinds else range(_track_bounds(track, place))
        era = bisect_right([rewind.at for rewind in self._rewinds], place - 1)
        stop = len(counted)
        snapshots = track.snapshots
        if (era, stop) in snapshots:
            return snapshots[era, stop]
        start = max((n for era_, n in snapshots if era_ == era and n <= stop), default=0)
        file = snapshots[era, start].copy() if start else _File(track.path, track.path)
        for number in range(start, stop):
            file.apply(track.edits[counted[number]], track.places[counted[number]])
            if (number + 1) % _SNAPSHOT == 0 and number + 1 < stop:
                snapshots[era, number + 1] = file.copy()
        if len(snapshots) > _MOST_KEPT:
            for key in [key for key in snapshots if key[1] % _SNAPSHOT]:
                del snapshots[key]
        snapshots[era, stop] = file
        return file

    def _change(self, track: _Track, place: int, agent: str) -> FileChange | None:
        era = bisect_right([rewind.at for rewind in self._rewinds], place - 1)
        key = era, _track_bounds(track, place), agent
        if key not in track.changes:
            if len(track.changes) > _MOST_KEPT:
                track.changes.clear()
            track.changes[key] = self._count(track, place, agent)
        return track.changes[key]

    def _count(self, track: _Track, place: int, agent: str) -> FileChange | None:
        every = self._counted(track, place)
        counted = [n for n in every if track.edits[n].kind != "doubt"]
        possible = not counted and track.edits[0].kind == "doubt"
        counted = every if possible else counted
        places = [track.places[n] for n in counted]
        agents = {track.agents[n]: None for n in counted}
        if not counted or (agent and agent not in agents):
            return None
        file = self._file(track, place)
        whose = dict(zip(places, (track.agents[n] for n in counted), strict=True))
        added = removed = 0
        for piece in file.pieces:
            for first, last, start, finish in _ranges(piece):
                old: Sequence[int] = range(first, last)
                new: Sequence[int] = range(start, finish)
                if agent:
                    old = [n for n in old if whose.get(piece.removed.get(n, -1)) == agent]
                    new = [n for n in new if whose.get(-piece.origin[n] - 1) == agent]
                removed, added = removed + len(old), added + len(new)
        state: Completeness = "complete" if file.complete else "pieces" if file.pieces else "command"
        state = "possible" if possible else state
        return FileChange(
            path=file.path,
            state=state,
            added=added,
            removed=removed,
            places=tuple(places),
            agents=tuple(agents),
            notes=file.note_words or (() if state == "complete" else ("only the edited lines are in the log",)),
            created=file.absent,
            deleted=file.deleted,
            moved_from=file.first_path if file.first_path != file.path else "",
        )


def _event_words(places: Sequence[int]) -> str:
    more = f" and {len(places) - 1} more" if len(places) > 1 else ""
    return f" (event {places[0] + 1}{more})" if places else ""


def _split(whole: str) -> list[str]:
    """Split into lines with their ends; only a line feed ends a line."""
    *lines, rest = whole.split("\n")
    return [f"{line}\n" for line in lines] + ([rest] if rest else [])


def _covers(path: str, file: str) -> bool:
    """Whether a path that a command names, seen from any folder, is a file or a folder above it."""
    if path == ".":
        return not file.startswith("/")
    return file == path or file.startswith(f"{path}/") or file.endswith(f"/{path}")


def _track_bounds(track: _Track, place: int) -> int:
    return bisect_right(track.places, place - 1)


def rewinds_of(tree: ConversationTree, offsets: Sequence[int]) -> list[Rewind]:
    """Return where the person went back; `offsets` are those of the events in the main log."""
    rewinds = []
    for branch in tree.branches():
        if branch.kind == "rewind" and branch.base is not None:
            start, base = tree[branch.start].where.offset, tree[branch.base].where.offset
            at = next((n for n, offset in enumerate(offsets) if offset >= start), len(offsets))
            back = next((n for n, offset in enumerate(offsets) if offset > base), len(offsets)) - 1
            rewinds.append(Rewind(at, back))
    return sorted(rewinds)


def _opcodes(old: Sequence[str], new: Sequence[str]) -> list[tuple[str, int, int, int, int]]:
    """Return the operations that turn lines into others; stretches too long to compare are replaced whole."""
    head = 0
    while head < min(len(old), len(new)) and old[head] == new[head]:
        head += 1
    tail = 0
    while tail < min(len(old), len(new)) - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    stop_old, stop_new = len(old) - tail, len(new) - tail
    codes = [("equal", 0, head, 0, head)] if head else []
    size = (stop_old - head) * (stop_new - head)
    if size > _MOST_COMPARED or (size and set(old[head:stop_old]).isdisjoint(new[head:stop_new])):
        codes.append(("replace", head, stop_old, head, stop_new))
    elif not size:
        if stop_old > head or stop_new > head:
            codes.append(("delete" if stop_old > head else "insert", head, stop_old, head, stop_new))
    else:
        matcher = SequenceMatcher(None, old[head:stop_old], new[head:stop_new], autojunk=False)
        codes += [(tag, a + head, b + head, c + head, d + head) for tag, a, b, c, d in matcher.get_opcodes()]
    if tail:
        codes.append(("equal", stop_old, len(old), stop_new, len(new)))
    return codes


def _ranges(piece: _Piece) -> Iterator[tuple[int, int, int, int]]:
    """Yield each change: its first line and the line after its last in the old text, then in the new one."""
    base, lines, origin = piece.base, piece.lines, piece.origin
    row, at = 0, 0
    while row < len(lines) or at < len(base):
        if row < len(lines) and origin[row] == at:
            row, at = row + 1, at + 1
            continue
        stop = row
        while stop < len(lines) and origin[stop] < 0:
            stop += 1
        end = origin[stop] if stop < len(lines) else len(base)
        for tag, first, last, start, finish in _opcodes(base[at:end], lines[row:stop]):
            if tag != "equal":
                yield at + first, at + last, row + start, row + finish
        row, at = stop, end


def _hunks(piece: _Piece, *, numbered: bool) -> list[DiffLine]:
    """Return a piece as diff hunks with context lines."""
    old, new = redact_lines(piece.base), redact_lines(piece.lines)
    together: list[list[tuple[int, int, int, int]]] = []
    for change in _ranges(piece):
        if together and change[0] - together[-1][-1][1] <= 2 * _CONTEXT:
            together[-1].append(change)
        else:
            together.append([change])
    lines = [line for changes in together for line in _hunk(piece, changes, old, new, numbered)]
    ends = [0 if not side or side[-1].endswith("\n") else len(side) for side in (piece.base, piece.lines)]
    if not any(ends):
        return lines
    return [
        line._replace(unended=True)
        if line.sign != "@" and (line.new == ends[1] if line.sign == "+" else line.old == ends[0])
        else line
        for line in lines
    ]


def _hunk(
    piece: _Piece, changes: list[tuple[int, int, int, int]], old: Sequence[str], new: Sequence[str], numbered: bool
) -> list[DiffLine]:
    context = _CONTEXT if numbered else len(old)
    begin = at = max(0, changes[0][0] - context)
    begin_new = begin + changes[0][2] - changes[0][0]
    body: list[DiffLine] = []
    for first, last, start, finish in changes:
        shift = start - first + 1
        body += [DiffLine(" ", old[n], n + 1, n + shift) for n in range(at, first)]
        body += [DiffLine("-", old[n], n + 1, n + shift, piece.removed.get(n, -1)) for n in range(first, last)]
        body += [DiffLine("+", new[n], last + 1, n + 1, -piece.origin[n] - 1) for n in range(start, finish)]
        at = last
    shift = changes[-1][3] - at + 1
    body += [DiffLine(" ", old[n], n + 1, n + shift) for n in range(at, min(len(old), at + context))]
    olds = sum(line.sign != "+" for line in body)
    news = sum(line.sign != "-" for line in body)
    head = (
        f"-{begin + (olds > 0)},{olds} +{begin_new + (news > 0)},{news}" if numbered else "the log does not say where"
    )
    return [DiffLine("@", f"@@ {head} @@", begin + 1, begin_new + 1), *body]


def _edits(event: ToolUse, reader: WordReader) -> list[FileEdit]:
    """Return the edits of one call, one per file."""
    call_records = reader.records(event.called or event.where)
    arguments_of_call = arguments(call_records, event) if call_records else None
    if arguments_of_call is None and event.tool == "edit" and not call_records:
        return _answered_blocks(event, reader)
    patch = _patch_in(arguments_of_call)
    if patch:
        return [edit._replace(path=_event_path(edit.path, event)) for edit in _patched(patch)]
    typed = _typed_edit(arguments_of_call, event) if isinstance(arguments_of_call, str) and event.targets else None
    if typed is not None:
        return [typed]
    if event.program:
        return []
    if not isinstance(arguments_of_call, dict):
        return [FileEdit(path, "unknown") for path in event.targets]
    path = event.targets[0] if event.targets else _first(arguments_of_call, _PATHS) or ""
    if not path:
        return []
    result = reader.records(event.where) if event.called else call_records
    before, after, new_file = _witness(result, event.id)
    edit = _asked_edit(arguments_of_call, path, event.tool)
    if edit.kind == "unknown" and after is not None:
        edit = edit._replace(kind="write", content=after)
    if edit.kind in ("write", "create") and before is None:
        creates = event.tool.lower() in ("create", "create_file") or arguments_of_call.get("command") == "create"
        new_file = new_file or creates
    return [edit._replace(before=before, after=after, new_file=new_file)]


def _whole_read(event: ToolUse, reader: WordReader) -> str | None:
    """Return a file's whole text if a call printed exactly that."""
    call_records = reader.records(event.called or event.where)
    request = arguments(call_records, event)
    output = CHUNK.sub("", answer(reader.records(event.where) if event.called else call_records, event))
    if event.program:
        command = _PRINTS.fullmatch(gist(request, ()).strip())
        whole = command is not None and (not command["last"] or output.count("\n") < int(command["last"]))
    else:
        whole = isinstance(request, dict) and not any(request.get(name) for name in _RANGES)
    return output if whole and event.outcome == "success" and not _NOT_THE_FILE.search(output) else None


def _command_edit(path: str, write: ShellWrite) -> FileEdit:
    """The change that a command made to a file it names."""
    if write.content is not None:
        return FileEdit(path, "write", content=write.content)
    return FileEdit(path, "delete" if write.deletes else "command" if write.surely else "doubt")


def _after_read(edit: FileEdit, before: str | None) -> FileEdit:
    """Add the text that was read to an edit it fits."""
    old, _, everywhere = edit.pairs[0] if edit.pairs else ("", "", True)
    fits = before is not None and (everywhere or before.count(old) == 1) and old in before
    return edit._replace(before=before) if fits and edit.kind not in ("command", "unknown") else edit


def _typed_edit(command: str, event: ToolUse) -> FileEdit | None:
    """An edit that SWE-agent's model types as a command of its editor."""
    try:
        name, *words = shlex.split(command)
    except ValueError:  # quotes in the lines of an edit
        name, *words = command.split()
    path = event.targets[0]
    if name != event.tool or not words:
        return None
    if name == "str_replace_editor":
        return _asked_edit(called(command)[1], path, name)
    if name == "create" and len(words) == 1:
        return FileEdit(path, "create", content="\n", new_file=True)
    first, _, body = command.partition("\n")
    numbers = _LINE_RANGE.fullmatch(first.rstrip())
    if numbers and "end_of_edit" in body:
        content = body[: body.rindex("end_of_edit")]
        line = int(numbers["first"])
        kind: EditKind = "lines" if name == "edit" else "insert"
        return FileEdit(path, kind, content=content, line=line, last=int(numbers["last"] or line))
    if name == "edit" and len(words) in (2, 3) and not words[0].replace(":", "").isdecimal():
        return FileEdit(path, "replace", ((words[0], words[1], words[2:] == ["replace-all"]),))
    if name == "insert" and len(words) in (1, 2) and "".join(words[1:]).isdecimal() == (len(words) == 2):
        return FileEdit(path, "insert", content=words[0], line=int(words[1]) if words[1:] else -1)
    return None


def _asked_edit(fields: dict[str, Any], path: str, tool: str) -> FileEdit:
    """An edit from the arguments of its call."""
    command = text(fields.get("command"))
    if command == "undo_edit" or "start" in fields or "cell_id" in fields or "cell_number" in fields:
        return FileEdit(path, "unknown")
    if command == "insert" or "insert_line" in fields:
        line = fields.get("insert_line")
        return FileEdit(path, "insert", content=_first(fields, _AFTER) or "", line=line if type(line) is int else -1)
    parts = fields.get("edits")
    if isinstance(parts, str):
        parts = decode(parts.encode())
    pairs = tuple(
        pair for part in (parts if isinstance(parts, list) else [fields]) if (pair := _old_and_new(table(part)))
    )
    if pairs:
        return FileEdit(path, "replace", pairs)
    if tool.lower().startswith(("delete", "remove")):
        return FileEdit(path, "delete")
    content = _first(fields, _WHOLE)
    if content is None or fields.get("mode") == "append":
        return FileEdit(path, "unknown")
    return FileEdit(path, "create" if command == "create" else "write", content=content)


def _old_and_new(fields: dict[str, Any]) -> tuple[str, str, bool] | None:
    old = _first(fields, _BEFORE)
    if old is None:
        return None
    everywhere = any(fields.get(name) is True for name in ("replace_all", "replaceAll", "allow_multiple"))
    return old, _first(fields, _AFTER) or "", everywhere


def _first(fields: dict[str, Any], names: Iterable[str]) -> str | None:
    return next((fields[name] for name in names if isinstance(fields.get(name), str)), None)


def _witness(values: Iterable[Any], call: str, depth: int = 0) -> tuple[str | None, str | None, bool]:
    """Return the whole text before and after an edit as its result carries it, and whether it was new.

    Other calls of the same record are left out.
    """
    for value in values:
        if isinstance(value, str) and value[:1] == "{" and any(name in value for name, _ in _WITNESSES):
            value = decode(value.encode("utf-8", "surrogatepass"))
        if not isinstance(value, dict | list) or depth > _DEEPEST:
            continue
        if isinstance(value, dict):
            if call and ("name" in value or "tool" in value) and _first(value, ("id", "callID")) not in (None, call):
                continue
            new = value.get("type") == "create" or value.get("isNewFile") is True or value.get("exists") is False
            for first, second in _WITNESSES:
                if first in value and (second in value or first == "originalFile"):
                    before, after = value[first], value.get(second)
                    texts = isinstance(before, str), isinstance(after, str)
                    if any(texts) or new:
                        return (before if texts[0] and not new else None), (after if texts[1] else None), new
            if new and value.get("exists") is False:
                return None, None, True
        inner = _witness(value.values() if isinstance(value, dict) else value, call, depth + 1)
        if inner != (None, None, False):
            return inner
    return None, None, False


def _patch_in(value: Any) -> str:
    """Return the patch among a call's arguments, in either usual notation, or an empty text."""
    texts = [value] if isinstance(value, str) else [one for one in table(value).values() if isinstance(one, str)]
    if isinstance(value, dict) and isinstance(value.get("command"), list):
        texts += [word for word in value["command"] if isinstance(word, str)]
    for one in texts:
        match = (_PATCH.search(one) or _PATCH.search(one.replace("\\n", "\n"))) if _PATCH_BEGINS in one else None
        if match:
            return match[0]
        if one.startswith(("--- ", "diff --git ")) and "\n+++ " in one:
            return one
    return ""


def _patched(patch: str) -> Iterator[FileEdit]:
    """Yield the edits of a patch, one per file."""
    path, kind, target = "", "", ""
    hunks: list[tuple[list[str], list[str]]] = []
    for line in (*patch.splitlines(), "*** End Patch"):
        head = _PATCH_FILE.match(line)
        if head or line.startswith(("*** End Patch", "--- ")):
            if path:
                yield _patched_file(path, kind, target, hunks)
            kind, path, target, hunks = (head[1], head[2].strip(), "", []) if head else ("Update", "", "", [])
            if line.startswith("--- "):
                target, kind = "", "Add" if line.endswith("/dev/null") else "Update"
                path = line[4:].split("\t")[0].removeprefix("a/")
        elif line.startswith("+++ "):
            new_path = line[4:].split("\t")[0].removeprefix("b/")
            kind, path = ("Delete", path) if new_path == "/dev/null" else (kind, new_path)
        elif line.startswith("*** Move to: "):
            target = line[13:].strip()
        elif line.startswith("@@"):
            hunks.append(([], []))
        elif path and not line.startswith(("***", "diff --git ", "index ", "\\")):
            if not hunks:
                hunks.append(([], []))
            if line[:1] != "+":
                hunks[-1][0].append(line[1:])
            if line[:1] != "-":
                hunks[-1][1].append(line[1:])


def _patched_file(path: str, kind: str, target: str, hunks: list[tuple[list[str], list[str]]]) -> FileEdit:
    joined = [tuple("".join(f"{line}\n" for line in side) for side in hunk) for hunk in hunks]
    if kind == "Add":
        return FileEdit(path, "create", content="".join(new for _, new in joined), new_file=True)
    if kind == "Delete":
        return FileEdit(path, "delete")
    pairs = tuple((old, new, False) for old, new in joined if old != new)
    return FileEdit(path, "move" if target else "replace", pairs, target=target)


def _event_path(path: str, event: ToolUse) -> str:
    """Return a patch's path as the event names it, relative to the project."""
    tidy = path.replace("\\", "/").removeprefix("./")
    return next((one for one in event.targets if one == tidy or tidy.endswith(f"/{one}")), tidy)


def _answered_blocks(event: ToolUse, reader: WordReader) -> list[FileEdit]:
    """An edit of Aider: the blocks of the answer above the line that says it was applied."""
    where = event.where
    if where is None or not event.targets:
        return []
    start = max(0, where.offset - _LONGEST_ANSWER)
    above = reader.plain_text(Where(where.file, start, where.offset - start))
    answer, _, _ = above.rpartition("\n> Tokens:")
    begin = max(answer.rfind("\n> Tokens:"), answer.rfind("\n#### "))
    path = event.targets[0]
    pairs = tuple(
        (match["old"], match["new"], False)
        for match in _BLOCK.finditer(answer[begin + 1 :])
        if match["path"].strip(" `*#:") == path
    )
    if not pairs:
        return [FileEdit(path, "unknown")]
    return [FileEdit(path, "replace", pairs, new_file=not pairs[0][0])]


def change_line(change: FileChange) -> str:
    """Return one changed file as a line; the caller makes it safe to show."""
    what = " and ".join(name for name in ("created", "deleted") if getattr(change, name))
    moved = f"moved from {change.moved_from}" if change.moved_from else ""
    edits = "1 edit" if len(change.places) == 1 else f"{len(change.places)} edits"
    parts = ", ".join(filter(None, (what, moved, edits, *change.notes)))
    figures = "" if change.state in ("command", "possible") else f"  +{change.added} -{change.removed}"
    return f"{change.path}{figures}  ({parts})"


def diff_text(change: FileChange, lines: Sequence[DiffLine]) -> str:
    """Return a diff that `patch` can read if the whole file is known; safe for a terminal."""
    if not lines:
        return ""
    old = "/dev/null" if change.created else f"a/{change.moved_from or change.path}"
    new = "/dev/null" if change.deleted else f"b/{change.path}"
    rows = [f"--- {plain(old)}", f"+++ {plain(new)}"]
    for line in lines:
        rows.append(line.text if line.sign == "@" else line.sign + safe(line.text, lines=True))
        if line.unended:
            rows.append("\\ No newline at end of file")
    return "\n".join(rows)

"""Rebuilt changes against a second, simple reading of the raw logs that shares no code with ours."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import sqlite3
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

from core.agents.registry import make_kit
from core.errors import NooscopeError
from core.logs.finder import sessions
from core.logs.redact.text import redact_lines
from core.logs.session import LogSession, read_session
from core.report.changes import FileChange, SessionChanges
from core.report.outcome import read_outcome
from core.settings.program import LineSettings

OLD = ("old_string", "old_str", "oldText", "old_text", "oldString")
NEW = ("new_string", "new_str", "newText", "new_text", "newString", "new_content", "content")
WHOLE = ("content", "file_text", "contents", "text")
PATHS = ("file_path", "path", "filePath", "absolute_path", "notebook_path", "target_file")
IDS = ("tool_use_id", "call_id", "callID", "toolCallId", "tool_call_id", "toolUseId", "id")
AIDER = re.compile(r"^<{5,9} SEARCH\n(.*?)^={5,9}\n(.*?)^>{5,9} REPLACE$", re.DOTALL | re.MULTILINE)
HERE = re.compile(
    r"(?:^|&& |; )cat (?:> ?(\S+) <<-? ?'(\w+)'|<<-? ?'(\w+)' > ?(\S+))\n(.*?)^(?:\2|\3)$", re.DOTALL | re.MULTILINE
)
REMOVES = re.compile(r"(?:^|&& |; )(?:git )?rm (?:-f )?([^-\n;&|'$*][^\n;&|'$*]*)")
FENCED = re.compile(r"```(?:bash|mswea_bash_command)\n(.*?)\n```", re.DOTALL)


class Op(NamedTuple):
    """One edit as the raw log has it."""

    path: str
    pairs: tuple[tuple[str, str, bool], ...] = ()
    whole: str | None = None
    before: str | None = None
    deleted: bool = False
    lines: tuple[int, int] | None = None  # The lines that the text in `whole` replaces; (0, 0) adds it at the end.


def values(path: Path, scratch: Path) -> Iterator[Any]:
    if path.suffix == ".db":
        for one in path.parent.glob(f"{path.name}*"):
            shutil.copyfile(one, scratch / one.name)
        with closing(sqlite3.connect(scratch / path.name)) as database:
            for (parts,) in database.execute("select parts from messages order by created_at, rowid"):
                yield json.loads(parts)
        return
    data = path.read_text(errors="replace")
    if path.suffix == ".md":
        yield {"aider": data}
        return
    try:
        yield json.loads(data)
    except ValueError:
        for line in data.splitlines():
            try:
                yield json.loads(line)
            except ValueError:
                continue


def walk(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
        for inner in value.values():
            yield from walk(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from walk(inner)


def first(fields: dict[str, Any], names: tuple[str, ...]) -> str | None:
    return next((fields[name] for name in names if isinstance(fields.get(name), str)), None)


def failed(record: dict[str, Any]) -> bool:
    output = str(record.get("output") or "")
    return (
        record.get("is_error") is True
        or record.get("isError") is True
        or record.get("success") is False
        or record.get("status") in ("error", "cancelled", "failed")
        or '"exit_code":1' in output
        or "verification failed" in output
    )


def ops(records: list[Any]) -> list[Op]:
    """All edits that did not fail, in the order in which they were asked for."""
    fails: set[str] = set()
    befores: dict[str, str] = {}
    for record in records:
        result = record.get("toolUseResult") if isinstance(record, dict) else None
        for holder in walk(record):
            name = first(holder, IDS)
            state = holder.get("state")
            if name and (failed(holder) or (isinstance(state, dict) and failed(state))):
                fails.add(name)
            before = result.get("originalFile") if isinstance(result, dict) else None
            if name and isinstance(before, str) and holder.get("type") == "tool_result":
                befores[name] = before
    made: list[Op] = []
    seen: set[str] = set()
    for record in records:
        for holder in walk(record):
            made += [*typed_ops(holder)]
            name = first(holder, ("call_id", "callID", "toolCallId", "tool_call_id", "toolUseId", "id"))
            state, function = holder.get("state"), holder.get("function")
            asked = state.get("input") if isinstance(state, dict) else None
            asked = asked or (function.get("arguments") if isinstance(function, dict) else None)
            asked = asked or holder.get("input") or holder.get("arguments") or holder.get("args")
            if name is None or asked is None or name in seen:
                continue
            seen.add(name)
            if name not in fails:
                made += asked_ops(asked, befores.get(name))
    return made


def typed_ops(holder: dict[str, Any]) -> Iterator[Op]:
    """Edits in a text: Aider's blocks, what SWE-agent types into its editor, mini-swe-agent's commands."""
    action, shown = holder.get("action"), str(holder.get("observation"))
    opened = re.search(r"\[File: (\S+) \(\d+ lines", shown)
    if "aider" in holder:
        before = 0
        for applied in re.finditer(r"^> Applied edit to (.+?) *$", holder["aider"], re.MULTILINE):
            answer = holder["aider"][before : applied.start()]
            before = applied.end()
            for old, new in AIDER.findall(answer):
                yield Op(applied[1], ((old, new, False),))
    elif isinstance(action, str) and opened and "new syntax error" not in shown:
        name, *operands = action.split() if action.count("'") % 2 else shlex.split(action)
        head, _, body = action.partition("\n")
        if lines := re.fullmatch(r"edit (\d+):(\d+)", head):
            yield Op(opened[1], whole=body.rpartition("end_of_edit")[0], lines=(int(lines[1]), int(lines[2])))
        elif name == "create":
            yield Op(opened[1], whole="\n")
        elif name == "insert" and len(operands) == 1:
            yield Op(opened[1], whole=f"{operands[0]}\n", lines=(0, 0))
        elif name == "edit":
            yield Op(opened[1], ((operands[0], operands[1], False),))
    elif isinstance(action, str):
        yield from command_ops(action)
    elif holder.get("role") == "assistant" and isinstance(holder.get("content"), str):
        for command in FENCED.findall(holder["content"])[:1]:
            yield from command_ops(command)


def command_ops(command: str) -> Iterator[Op]:
    """Whole files that a command writes or removes."""
    for one in HERE.finditer(command):
        yield Op(one[1] or one[4], whole=one[5])
    for one in REMOVES.finditer(HERE.sub("", command)):
        for path in one[1].replace('"', "").split():
            yield Op(path, deleted=True)


def asked_ops(asked: Any, before: str | None) -> Iterator[Op]:
    if isinstance(asked, str) and asked[:1] == "{":
        try:
            asked = json.loads(asked)
        except ValueError:
            return
    texts = [asked] if isinstance(asked, str) else list(asked.values()) if isinstance(asked, dict) else []
    texts += [word for value in texts if isinstance(value, list) for word in value]
    for one in texts:
        if isinstance(one, str) and "*** Begin Patch" in one and "*** End Patch" in one:
            yield from patch_ops(one)
            return
    path = first(asked, PATHS) if isinstance(asked, dict) else None
    if path is None:
        for command in texts[:8]:
            if isinstance(command, str):
                yield from command_ops(command)
        return
    parts = asked.get("edits")
    parts = json.loads(parts) if isinstance(parts, str) else parts
    every = ("replace_all", "replaceAll", "allow_multiple")
    pairs = tuple(
        (old, first(part, NEW) or "", any(part.get(one) is True for one in every))
        for part in (parts if isinstance(parts, list) else [asked])
        if isinstance(part, dict) and (old := first(part, OLD)) is not None
    )
    whole = None if pairs else first(asked, WHOLE)
    if pairs or whole is not None:
        yield Op(path, pairs, whole, before)


def patch_ops(text: str) -> Iterator[Op]:
    body = text.split("*** Begin Patch\n", 1)[1].split("*** End Patch", 1)[0]
    for block in body.split("*** ")[1:]:
        head, _, rest = block.partition("\n")
        if head.startswith("Move to: "):
            continue
        kind, _, path = head.partition(" File: ")
        if kind == "Delete":
            yield Op(path, deleted=True)
        elif kind == "Add":
            yield Op(path, whole="".join(f"{line[1:]}\n" for line in rest.splitlines()))
        else:
            hunks: list[list[str]] = [[]]
            for line in rest.splitlines():
                if line.startswith("@@"):
                    hunks.append([])
                else:
                    hunks[-1].append(line)
            pairs = tuple(
                (
                    "".join(f"{line[1:]}\n" for line in hunk if line[:1] != "+"),
                    "".join(f"{line[1:]}\n" for line in hunk if line[:1] != "-"),
                    False,
                )
                for hunk in hunks
                if hunk
            )
            yield Op(path, pairs)


def is_file(op: Op, change: FileChange) -> bool:
    path = op.path.replace("\\", "/").removeprefix("./")
    return path == change.path or path.endswith(f"/{change.path}") or change.path.endswith(f"/{path}")


def rebuilt(start: str | None, edits: list[Op]) -> str | None:
    now = start
    for edit in edits:
        if edit.before is not None:
            now = edit.before
        if edit.deleted:
            now = None
        elif edit.lines is not None:
            lines = (now or "").splitlines(keepends=True)
            begin, end = edit.lines if edit.lines[0] else (len(lines) + 1, len(lines))
            now = "".join((*lines[: begin - 1], edit.whole or "", *lines[end:]))
        elif edit.whole is not None:
            now = edit.whole
        for old, new, everywhere in edit.pairs:
            text = now or ""
            if "\r\n" in text and old not in text:
                old, new = old.replace("\n", "\r\n"), new.replace("\n", "\r\n")
            assert old in text, f"{edit.path}: the edit fits nowhere"
            now = text.replace(old, new) if everywhere else text.replace(old, new, 1)
    return now


def check_session(session: LogSession, counts: Counter[str], scratch: Path) -> None:
    kit, lines = make_kit(), LineSettings()
    events = list(read_session(session, kit, lines))
    changes: SessionChanges = read_outcome(session, events, kit, lines).changes
    files = changes.files(len(events))
    if not files:
        return
    records = [value for log in session.logs for value in values(log.path, scratch)]
    if len(records) == 1 and isinstance(records[0], dict):  # the parts of a document, each a record
        records = next((one for one in records[0].values() if isinstance(one, list) and one), records)
    edits = ops(records)
    for change in files:
        own = [op for op in edits if is_file(op, change)]
        texts = changes.texts(change.path, len(events))
        if texts is not None and own:
            counts["complete"] += 1
            assert rebuilt(texts[0], own) == texts[1], (session.id, change)
        if own and change.state == "pieces":
            counts["pieces"] += 1
            texts_of = (text for op in own for text in (op.whole or "", *(new for _, new, _ in op.pairs)))
            written = {line.rstrip("\r") for text in texts_of for line in redact_lines(text.split("\n"))}
            diff = changes.diff(change.path, len(events))
            assert {line.text.rstrip("\r\n") for line in diff if line.sign == "+"} <= written, (session.id, change)
    counts["sessions"] += any(op for op in edits)


def test_a_second_reading_of_the_logs_gives_the_same_files(shared_data: Path, tmp_path: Path) -> None:
    counts: Counter[str] = Counter()
    agents: set[str] = set()
    for folder in sorted((*(shared_data / "real_sessions").iterdir(), *(shared_data / "more_sessions").iterdir())):
        try:
            found = sessions([str(folder)], make_kit(), LineSettings()) if folder.is_dir() else []
        except NooscopeError:
            continue
        before = counts.total()
        for session in found:
            check_session(session, counts, tmp_path)
        agents |= {folder.name} if counts.total() > before else set()
    assert counts["sessions"] >= 45
    assert counts["complete"] >= 105
    assert counts["pieces"] >= 150
    assert {"aider", "atif", "kiro", "mini-swe-agent", "openhands", "swe-agent"} <= agents

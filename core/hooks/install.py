"""The programs that agents run as hooks, put into agents' settings and taken out again byte for byte."""

from __future__ import annotations

import base64
import contextlib
import json
import os
import re
import shutil
import stat
import subprocess
import tomllib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from shlex import quote
from typing import Any, Literal, NamedTuple

import msgspec
from blake3 import blake3

from core.errors import HooksRefused
from core.hooks.agent_answers import (
    MODES,
    AgentHooks,
    HookCall,
    HookFile,
    HookMode,
    HookReply,
    Installing,
    hook_program,
)
from core.hooks.connection import TEST_EVENT, IntakeFolder, call
from core.store.compensation import Chain, recover

_MARK = re.compile(r"nooscope/hooks/(?:[a-z]+-(?:observe|advise|guard)|statusline)\b")
_BEFORE = 'printf %s "$i" | PATH=$p /bin/sh -c {command}\n'
# Folders with curl and cat; the agent's PATH may begin with a folder of the project.
_PROGRAM_FOLDERS = ("/usr/bin", "/bin", "/usr/local/bin", "/opt/homebrew/bin")
# Seconds a call that is about to be made waits for the guard at least; then the agent asks the person.
_GUARD_PATIENCE = 1.0
_VERDICTS: tuple[Literal["ask", "deny"], ...] = ("ask", "deny")
_LATE_WORDS = "nooscope: no decision was made in time; the person decides"


def hook_stub(intake: Path, hooks: AgentHooks, mode: HookMode, deadline: float, *, answer: bool = False) -> str:
    """The program of one agent's hooks.

    Only a guarded call or a permission prompt may wait longer, once nooscope has replied to it. A guarded
    call that a running nooscope does not answer is put to the person by the agent, or denied.
    """
    name, way = hooks.before, f"{mode}/answer" if answer else mode
    call = HookCall("before_tool", name, "")
    ask, deny = (hooks.answer(call, HookReply(verdict=verdict, reason=_LATE_WORDS)) for verdict in _VERDICTS)
    return _head(intake, deadline) + hook_program(
        "guard.sh" if mode == "guard" or answer else "plain.sh",
        AGENT=hooks.name,
        MODE=way,
        EVENT=name if mode == "guard" else "no guard",
        PATIENCE=f"{max(deadline, _GUARD_PATIENCE):g}",
        ANSWER=hook_program("answer.sh", AGENT=hooks.name) if answer else "",
        ASK=quote(json.dumps(ask)),
        DENY=quote(json.dumps(deny)),
    )


def status_stub(intake: Path, before: str, deadline: float) -> str:
    """The program of a status line: what was there before, then ours."""
    chained = _BEFORE.format(command=quote(before)) if before else ""
    return _head(intake, deadline) + hook_program("statusline.sh", BEFORE=chained)


def _head(intake: Path, deadline: float) -> str:
    folders = list(_PROGRAM_FOLDERS)
    if shutil.which("curl", path=":".join(folders)) is None and (curl := shutil.which("curl")):
        folders.append(str(Path(curl).absolute().parent))
    return hook_program("head.sh", FOLDER=quote(str(intake)), PATH=quote(":".join(folders)), DEADLINE=f"{deadline:g}")


def is_ours(command: object) -> bool:
    """Whether a command in a settings file was put there by us."""
    return isinstance(command, str) and _MARK.search(command) is not None


_LARGEST = 4 * 1024 * 1024


def read_settings_file(path: Path) -> bytes | None:
    """Read a file, or return None if there is none; raises `HooksRefused` if it must not be changed."""
    try:
        status = path.lstat()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise HooksRefused(f"{path}: {error.strerror or error}; nothing was changed") from error
    if stat.S_ISLNK(status.st_mode):
        raise HooksRefused(f"{path} is a link to {path.readlink()}; nothing was changed, add the hooks there yourself")
    if not stat.S_ISREG(status.st_mode) or status.st_size > _LARGEST:
        raise HooksRefused(f"{path} is not a settings file; nothing was changed")
    try:
        return path.read_bytes()
    except OSError as error:
        raise HooksRefused(f"{path}: {error.strerror or error}; nothing was changed") from error


def parse(path: Path, data: bytes) -> dict[str, Any]:
    """The settings; raises `HooksRefused` where writing them again could lose something."""
    try:
        value = json.loads(data.decode("utf-8"), object_pairs_hook=_once)
    except (ValueError, RecursionError) as error:
        hint = "Remove comments and trailing commas, then try again"
        raise HooksRefused(f"{path} is not plain JSON ({error}); nothing was changed. {hint}") from error
    if not isinstance(value, dict) or not isinstance(value.get("hooks", {}), dict):
        raise HooksRefused(f"{path}: `hooks` is not a table; nothing was changed")
    for name, entries in value.get("hooks", {}).items():
        if not isinstance(entries, list):
            raise HooksRefused(f"{path}: `hooks.{name}` is not a list; nothing was changed")
    return value


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    table = dict(pairs)
    if len(table) != len(pairs):
        raise ValueError("a name occurs twice")
    return table


def put_hooks(settings: Mapping[str, Any], entries: Mapping[str, Any], more: Mapping[str, Any]) -> dict[str, Any]:
    """The settings with our entries at the end of each list."""
    result = without_ours(settings, {})
    hooks = dict(result.get("hooks", {}))
    for name, entry in entries.items():
        hooks[name] = [*hooks.get(name, []), entry]
    return {**result, "hooks": hooks, **more}


def without_ours(settings: Mapping[str, Any], before: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings without our entries, with the values they replaced."""
    result = dict(settings)
    if isinstance(settings.get("hooks"), dict):
        hooks_before = before.get("hooks")
        hooks: dict[str, Any] = {}
        for name, entries in settings["hooks"].items():
            others = [entry for entry in entries if not _ours(entry)] if isinstance(entries, list) else entries
            if others or not entries or (isinstance(hooks_before, dict) and name in hooks_before):
                hooks[name] = others
        result["hooks"] = hooks
        if not hooks and settings["hooks"] and hooks_before is None:
            del result["hooks"]
    line = settings.get("statusLine")
    if isinstance(line, dict) and is_ours(line.get("command")):
        if "statusLine" in before:
            result["statusLine"] = before["statusLine"]
        else:
            del result["statusLine"]
    return result


def _ours(entry: Any) -> bool:
    hooks = entry.get("hooks") if isinstance(entry, dict) else None
    return isinstance(hooks, list) and any(isinstance(one, dict) and is_ours(one.get("command")) for one in hooks)


def holds_ours(settings: Mapping[str, Any]) -> list[str]:
    """Our commands in the settings."""
    commands: dict[str, None] = {}
    hooks = settings.get("hooks")
    for entries in hooks.values() if isinstance(hooks, dict) else ():
        for entry in entries if isinstance(entries, list) else ():
            if _ours(entry):
                commands.update((str(one["command"]), None) for one in entry["hooks"] if is_ours(one.get("command")))
    line = settings.get("statusLine")
    if isinstance(line, dict) and is_ours(line.get("command")):
        commands[str(line["command"])] = None
    return list(commands)


def settings_bytes(settings: Mapping[str, Any], like: bytes | None) -> bytes:
    """The settings as bytes, indented as the file was."""
    text = (like or b"").decode("utf-8", "replace")
    indented = re.search(r"^([ \t]+)\S", text, re.MULTILINE)
    indent: int | str | None = 2
    if indented:
        indent = indented[1]
    elif text.strip() and "\n" not in text.strip():
        indent = None
    end = "\n" if not text or text.endswith("\n") else ""
    try:
        return (json.dumps(settings, indent=indent, ensure_ascii=False) + end).encode()
    except UnicodeEncodeError:  # half a character, which only an escape can spell
        return (json.dumps(settings, indent=indent) + end).encode()


DEADLINE = 0.15  # Seconds after which an agent goes on without us.
_TEST_PATIENCE = 3.0  # Seconds a test call may take.
_PROGRAM = 0o700
_OWNER_ONLY = 0o600
_WRITTEN_BY_OTHERS = 0o022


class _Record(msgspec.Struct, frozen=True):
    """The bytes of a file before our entries, and the hash of what we wrote."""

    path: str
    mode: str
    was: str | None  # Its bytes; None if it did not exist.
    rights: int
    made: str  # Hash of what we wrote.
    folders: list[str]  # Folders that we made for it.
    deadline: float = DEADLINE


class Installed(NamedTuple):
    """Whether one agent's hooks are in one file, and what keeps them from working."""

    path: Path
    state: str  # installed, not installed, damaged, or why it cannot be said.
    mode: str = ""
    problems: tuple[str, ...] = ()


class _Left(NamedTuple):
    """A file without our entries."""

    content: bytes | None
    rights: int
    folders: list[str]  # Folders that we made for it.
    ours: bool  # Whether it contains our entries.


class Installer:
    """Writes below a folder of our own and into the agents' settings."""

    def __init__(self, folder: Path, intake: Path, environment: Mapping[str, str], home: Path) -> None:
        self._folder = folder
        self._intake = intake
        self._environment = environment
        self._home = home

    def install(
        self,
        hooks: AgentHooks,
        mode: HookMode,
        project: Path | None = None,
        *,
        deadline: float = DEADLINE,
        statusline: bool = False,
        answer: bool = False,
    ) -> Path:
        """Install the hooks, replacing earlier ones, and return the file they are in."""
        if shutil.which("curl") is None:
            raise HooksRefused("curl is not installed; the hooks need it to reach nooscope")
        stub = self._stub(hooks.name, mode, answer)
        file = self._file(hooks, project, mode, self._maker(stub, mode, deadline, answer), answer)
        with self._whole() as chain:
            left = self._left(hooks, project)
            if file.own and left.content is not None:
                raise HooksRefused(f"{file.path} already exists and is not from nooscope; move it away first")
            if project is not None and not file.path.resolve().is_relative_to(project.resolve()):
                raise HooksRefused(f"{file.path} points outside the project; nothing was changed")
            now = read_settings_file(file.path) or b""
            statusline = statusline or str(self._line(project)).encode() in now  # one installed before stays
            line_program = self._line(project) if statusline else None
            content, line = self._content(file, left.content, line_program)
            if line and project is not None:
                raise HooksRefused(
                    f"{file.path} has a status line of its own, and nooscope runs no command of a project; "
                    "leave out --statusline, or install without --project"
                )
            missing = [str(folder) for folder in file.path.parents if not folder.exists()]
            was = None if left.content is None else base64.b64encode(left.content).decode()
            digest = blake3(content).hexdigest()
            mode_name = f"{mode}, answer" if answer else mode
            record = _Record(str(file.path), mode_name, was, left.rights, digest, missing or left.folders, deadline)
            chain.write(stub, hook_stub(self._intake, hooks, mode, deadline, answer=answer).encode())
            stub.chmod(_PROGRAM)
            if line_program is not None:
                chain.write(line_program, status_stub(self._intake, line, deadline).encode())
                line_program.chmod(_PROGRAM)
            chain.write(self._record(file.path), msgspec.json.encode(record))
            chain.write(file.path, content)
            file.path.chmod(left.rights)
        return file.path

    @contextlib.contextmanager
    def _whole(self) -> Iterator[Chain]:
        """All that is written meanwhile, or nothing of it; no other nooscope does the same at once."""
        try:
            self._own_folder()
            recover(self._folder)
            with Chain("hooks", self._folder) as chain:
                yield chain
        except OSError as error:
            name = error.filename or self._folder
            raise HooksRefused(f"{name}: {error.strerror or error}; nothing was changed") from error

    def _own_folder(self) -> None:
        """Make our folder so that nobody else may put a program there for agents to run."""
        for folder in (self._folder.parent, self._folder):
            folder.mkdir(parents=True, exist_ok=True, mode=_PROGRAM)
        if self._folder.stat().st_mode & _WRITTEN_BY_OTHERS:
            self._folder.chmod(_PROGRAM)

    def _content(self, file: HookFile, before: bytes | None, line_program: Path | None) -> tuple[bytes, str]:
        """Return the new content, and the command of the status line it replaces."""
        if file.text:
            return file.text.encode(), ""
        if file.own:
            return json.dumps(file.entries, indent=2).encode() + b"\n", ""
        settings = {} if before is None or not before.strip() else parse(file.path, before)
        more: dict[str, Any] = {}
        line = ""
        if line_program is not None:
            line_before = settings.get("statusLine")
            line = line_before.get("command", "") if isinstance(line_before, dict) else ""
            more["statusLine"] = {"type": "command", "command": _if_there(line_program), "padding": 0}
        return settings_bytes(put_hooks(settings, file.entries, more), before), line

    def uninstall(self, hooks: AgentHooks, project: Path | None = None) -> bool:
        """Remove the hooks and leave the rest of the file unchanged; False if there are none."""
        path = self._path(hooks, project)
        rest = self._left(hooks, project)
        if not rest.ours:
            if rest.content is None:
                self._record(path).unlink(missing_ok=True)
            elif self._file(hooks, project).own:
                raise HooksRefused(f"{path} was changed since nooscope wrote it; check it and delete it yourself")
            return False
        with self._whole() as chain:
            left = self._left(hooks, project)
            if left.content is None:
                chain.remove(path)
            else:
                chain.write(path, left.content)
                path.chmod(left.rights)
            if self._recorded(path) is not None:
                chain.remove(self._record(path))
        for folder in left.folders if left.content is None else ():
            with contextlib.suppress(OSError):
                Path(folder).rmdir()
        return True

    def _left(self, hooks: AgentHooks, project: Path | None) -> _Left:
        """The file as it is without our entries."""
        path = self._path(hooks, project)
        now = read_settings_file(path)
        if now is None:
            return _Left(None, _OWNER_ONLY, [], ours=False)
        record = self._recorded(path)
        if record is not None and blake3(now).hexdigest() == record.made:
            was = None if record.was is None else base64.b64decode(record.was)
            return _Left(was, record.rights, record.folders, ours=True)
        rights = stat.S_IMODE(path.stat().st_mode)
        if self._file(hooks, project).own:
            if record is None:
                return _Left(now, rights, [], ours=False)
            raise HooksRefused(f"{path} was changed since nooscope wrote it; check it and delete it yourself")
        settings = parse(path, now) if now.strip() else {}
        if not holds_ours(settings):
            return _Left(now, rights, [], ours=False)
        before: dict[str, Any] = {}
        if record is not None and record.was is not None:
            with contextlib.suppress(HooksRefused):
                before = parse(path, base64.b64decode(record.was))
        return _Left(settings_bytes(without_ours(settings, before), now), rights, [], ours=True)

    def status(self, hooks: AgentHooks, project: Path | None = None, here: Path | None = None) -> Installed:
        """Compare what is installed with what was written, and make a test call through it.

        The settings of the project at `here` may switch all hooks off.
        """
        path = self._path(hooks, project)
        record = self._recorded(path)
        mode = record.mode if record is not None else ""
        try:
            now = read_settings_file(path)
            settings = {} if now is None or self._file(hooks, project).own else parse(path, now)
        except HooksRefused as refused:
            return Installed(path, str(refused), mode)
        if record is None:
            ours = bool(holds_ours(settings))
            lost = "nooscope's record of them is missing; install them again"
            return Installed(path, "damaged" if ours else "not installed", "", (lost,) if ours else ())
        problems = [*self._faults(hooks, project, record, now, settings), *_switched_off_in(here, hooks.name, path)]
        return Installed(path, "damaged" if problems else "installed", mode, tuple(problems))

    def _faults(
        self, hooks: AgentHooks, project: Path | None, record: _Record, now: bytes | None, settings: Mapping[str, Any]
    ) -> Iterator[str]:
        """Everything that keeps installed hooks from working."""
        if now is None:
            yield f"{record.path} was deleted"
            return
        mode, answer = _parse_mode(record.mode)
        stub = self._stub(hooks.name, mode, answer)
        command = self._maker(stub, mode, record.deadline, answer)
        file = self._file(hooks, project, mode, command, answer)
        if file.own and now != self._content(file, None, None)[0]:
            yield f"{file.path} was changed since nooscope wrote it"
        entries = settings.get("hooks", {})
        missing = [name for name, one in file.entries.items() if not file.own and one not in entries.get(name, ())]
        if missing:
            yield f"{file.path} no longer calls nooscope at {', '.join(missing)}"
        yield from _switched_off(file.path, settings)
        if not file.text:
            yield from _stub_faults(stub, hook_stub(self._intake, hooks, mode, record.deadline, answer=answer))
        yield from self._test_call(hooks, record.mode, "" if file.text else command(""))

    def _test_call(self, hooks: AgentHooks, mode: str, command: str) -> Iterator[str]:
        """Call the hook as the agent would; without a server there is nothing to answer it."""
        place = IntakeFolder(self._intake)
        way = mode.replace(", ", "/")
        value = {"hook_event_name": TEST_EVENT, "session_id": "test"}
        if call(place, "sessions", {}, _TEST_PATIENCE) is None:
            return
        if not command:
            if call(place, f"hook/{hooks.name}/{way}", value, _TEST_PATIENCE) != {TEST_EVENT: mode}:
                yield "a test call got no answer"
            return
        try:
            words, data = ["/bin/sh", "-c", command], json.dumps(value).encode()
            run = subprocess.run(words, input=data, capture_output=True, timeout=_TEST_PATIENCE, check=False)
        except (OSError, subprocess.TimeoutExpired) as fault:
            yield f"a test call failed: {type(fault).__name__}"
            return
        if run.stdout.strip() != json.dumps({TEST_EVENT: mode}, separators=(",", ":")).encode():
            yield "a test call through the installed program got no answer"

    def answers(self, hooks: AgentHooks) -> bool:
        """Whether the person's own hooks of an agent may answer its prompts, in every project."""
        record = self._recorded(self._path(hooks, None))
        return record is not None and _parse_mode(record.mode)[1]

    def undo(self) -> list[str]:
        """Undo a write that a crash left half done; what cannot be undone."""
        return [problem for chain in recover(self._folder) for problem in chain.problems]

    def any(self) -> bool:
        """Whether hooks were put anywhere; cheap, so a file that was lost since still counts."""
        with contextlib.suppress(OSError):
            return next(self._folder.glob("*.record"), None) is not None
        return False

    def _file(
        self,
        hooks: AgentHooks,
        project: Path | None,
        mode: HookMode = "observe",
        command: Callable[[str], str] = lambda _: "",
        answer: bool = False,
    ) -> HookFile:
        return hooks.file(Installing(self._environment, self._home, project, mode, command, answer))

    def _path(self, hooks: AgentHooks, project: Path | None) -> Path:
        return self._file(hooks, project).path

    def _maker(self, stub: Path, mode: HookMode, deadline: float, answer: bool) -> Callable[[str], str]:
        values = {
            "FOLDER": json.dumps(str(self._intake)),
            "MODE": json.dumps(f"{mode}/answer" if answer else mode),
            "DEADLINE": f"{1000 * deadline:g}",
        }
        return lambda name: values.get(name) or _if_there(stub)

    def _stub(self, agent: str, mode: HookMode, answer: bool) -> Path:
        return self._folder / f"{agent}-{mode}{'-answer' if answer else ''}"

    def _line(self, project: Path | None) -> Path:
        """The program of a status line; that of a project runs nothing that was there before."""
        return self._folder / ("statusline" if project is None else "statusline-project")

    def _record(self, path: Path) -> Path:
        return self._folder / f"{blake3(str(path).encode()).hexdigest(8)}.record"

    def _recorded(self, path: Path) -> _Record | None:
        with contextlib.suppress(OSError, msgspec.DecodeError):
            return msgspec.json.decode(self._record(path).read_bytes(), type=_Record)
        return None


def _if_there(program: Path) -> str:
    """A command that runs our program, and succeeds if it is gone: some agents would deny the call."""
    name = quote(str(program))
    return f"[ ! -x {name} ] || exec {name}"


def _parse_mode(mode: str) -> tuple[HookMode, bool]:
    """The mode of a record, and whether prompts are answered too."""
    name, _, answer = mode.partition(", ")
    return next((one for one in MODES if one == name), "observe"), bool(answer)


def _switched_off(path: Path, settings: Mapping[str, Any]) -> Iterator[str]:
    """Switches of the agents' own with which no hook runs."""
    if settings.get("disableAllHooks"):
        yield f"`disableAllHooks` is on in {path}: no hook runs"
    with contextlib.suppress(OSError, ValueError):
        config = tomllib.loads(path.with_name("config.toml").read_text("utf-8"))
        if config.get("features", {}).get("hooks") is False:
            yield f"`features.hooks` is off in {path.with_name('config.toml')}: no hook runs"


def _switched_off_in(here: Path | None, agent: str, known: Path) -> Iterator[str]:
    """Switches in the settings of a project, from a folder of it up to the top of its repository."""
    if here is None or agent != "claude":
        return
    above = (here, *here.parents)
    top = next((folder for folder in above if (folder / ".git").exists()), here)
    for folder in above[: above.index(top) + 1]:
        for name in ("settings.json", "settings.local.json"):
            path = folder / ".claude" / name
            with contextlib.suppress(HooksRefused):
                if path != known and (content := read_settings_file(path)) is not None:
                    yield from _switched_off(path, parse(path, content))


def _stub_faults(stub: Path, expected: str) -> Iterator[str]:
    """Problems of the program that the agent runs."""
    try:
        if stub.read_bytes() != expected.encode():
            yield f"{stub} is not the program that nooscope wrote"
        elif not os.access(stub, os.X_OK):
            yield f"{stub} cannot be run"
    except OSError as error:
        yield f"{stub}: {error.strerror or error}"

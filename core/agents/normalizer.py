"""From a tool's name and arguments, whatever framework they come from, to one vocabulary."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase
from functools import cache
from operator import itemgetter
from pathlib import Path
from typing import Any, NamedTuple, cast
from urllib.parse import unquote

import msgspec

from core.agents.models import Models
from core.agents.shell import MOST_TARGETS, PURPOSE_RANKS, Purposes, Shell, ShellWrite, read_patch
from core.agents.shell_script import split
from core.agents.tables import Lists, Tables, Tools, read_tables
from core.agents.values import decode, table, text
from core.engine.values import blanked, fingerprint, shape
from core.events import Action, Purpose
from core.logs.format import Agent, Diagnostics, Kit

_LONGEST = 512  # A longer text is content, not something a call is recognised by.
_MOST = 16


_name = itemgetter(0)


class Arguments:
    """Knows the names under which paths, commands and texts come."""

    def __init__(self, lists: Lists) -> None:
        self._path = lists["path"]
        self._paths = lists["paths"]
        self._command = lists["command"]
        self._before = lists["before"]
        self._after = lists["after"]
        self._edits = lists["edits"]
        self._patch = lists["patch"]
        self._bulk = frozenset((*self._before, *self._after, *self._patch, "description", "workdir", "prompt"))

    def command(self, value: Any) -> str | list[Any] | None:
        """The shell command in the arguments, or None."""
        if isinstance(value, str):
            return value
        if isinstance(value, dict):
            for name in self._command:
                item = value.get(name)
                if isinstance(item, (str, list)):
                    return item
        return value if isinstance(value, list) else None

    def targets(self, value: Any) -> tuple[str, ...]:
        """The paths in the arguments."""
        if isinstance(value, dict):
            for name in self._path:
                entry = value.get(name)
                if isinstance(entry, str) and entry:
                    return (_path(entry),)
            for name in self._paths:
                entry = value.get(name)
                if isinstance(entry, list):
                    return tuple(_path(item) for item in entry[:_MOST] if isinstance(item, str) and item)
        elif isinstance(value, str):
            return _words(value)
        return ()

    def edit(self, value: Any) -> tuple[tuple[str, ...], str, str]:
        """Return the paths of an edit, the removed text and the added text."""
        if isinstance(value, str):
            return read_patch(value) if "***" in value or "+++" in value else (_words(value), "", "")
        if not isinstance(value, dict):
            return (), "", ""
        targets = self.targets(value)
        before, after = self._first(value, self._before), self._first(value, self._after)
        if not before and not after:
            for name in self._edits:
                parts = value.get(name)
                if isinstance(parts, list):
                    pairs = [part for part in parts if isinstance(part, dict)]
                    before = "\n".join(self._first(part, self._before) for part in pairs)
                    after = "\n".join(self._first(part, self._after) for part in pairs)
                    targets = targets or tuple(dict.fromkeys(path for part in pairs for path in self.targets(part)))
            patch = self._first(value, self._patch)
            if patch:
                read = read_patch(patch)
                return read.targets or targets, read.before, read.after
        return targets, before, after

    def gist(self, value: Any) -> str:
        """The short texts a call is recognised by; content and numbers are left out."""
        if isinstance(value, str):
            return value[:_LONGEST]
        if not isinstance(value, dict):
            return ""
        bulk = self._bulk
        return "\0".join(
            [
                f"{name}\0{item}"
                for name, item in sorted(value.items(), key=_name)
                if type(item) is str and len(item) <= _LONGEST and name not in bulk
            ]
        )

    @staticmethod
    def _first(value: dict[Any, Any], names: tuple[str, ...]) -> str:
        for name in names:
            entry = value.get(name)
            if isinstance(entry, str):
                return entry
            if isinstance(entry, list) and entry and all(isinstance(line, str) for line in entry):
                return "\n".join(entry)
        return ""


def _path(text: str) -> str:
    return unquote(text[7:]) if text.startswith("file://") else text


def _words(text: str) -> tuple[str, ...]:
    """The paths among the words of a command of a framework's own."""
    parts = split(text[:2048])
    words = parts[0].words[1:] if parts else []
    return tuple(word for word in words[:_MOST] if ("/" in word or "." in word[1:-1]) and not word.startswith("-"))


_WORDS = re.compile(r"[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])")
_NO_TOOLS = Tools({}, [], "")
_SHAPED = 4096  # How much of a command its shape is made from.
_REMEMBERED = 1024  # Calls with no more bytes of arguments than this are sorted once and remembered.
_MOST_REMEMBERED = 4096
_MEMORY: dict[str, Action] = {"file_read": "memory_read", "file_edit": "memory_write"}
_decode = msgspec.json.Decoder().decode
_encode = msgspec.json.Encoder(order="sorted").encode


class Sorted(NamedTuple):
    """A call's action and purpose, without its content."""

    action: Action
    targets: tuple[str, ...] = ()
    program: str = ""
    purpose: Purpose = ""
    call: int = 0
    shape: int = 0
    before: int = 0
    after: int = 0


class _ToolActions(NamedTuple):
    """A tool's action, in general and for certain commands."""

    action: Action
    commands: dict[str, Action]


class _Judges(NamedTuple):
    """Judges built from tables alone, shared by all normalizers with the same tables."""

    arguments: Arguments
    shell: Shell
    longer: dict[tuple[str, str], list[str]]  # The names of a framework's tools that go on after this one and a space.
    actions: dict[tuple[str, str], _ToolActions]
    known: dict[tuple[str, str, bytes], Sorted]  # Tools and calls that were sorted before: a memo that changes nothing.


def _judges(tables: Tables) -> _Judges:
    longer: dict[tuple[str, str], list[str]] = {}
    for framework, tools in tables.tools.items():
        for name in tools.names:
            for at, letter in enumerate(name):
                if letter == " ":
                    longer.setdefault((framework, name[:at]), []).append(name)
    shell = Shell(tables.lists["shell"], Purposes(tables.lists["purposes"]))
    return _Judges(Arguments(tables.lists["arguments"]), shell, longer, {}, {})


@cache
def _our_judges() -> _Judges:
    return _judges(read_tables())


def shell_writes(arguments: Any) -> dict[str, ShellWrite]:
    """Return what a shell call writes, by its path; `.` is all that is in the folder."""
    judges = _our_judges()
    return judges.shell.writes(judges.arguments.command(arguments))


def shell_commands(arguments: Any) -> list[list[str]]:
    """Return the words of each simple command of a shell call, without what only runs it."""
    judges = _our_judges()
    return list(judges.shell.commands(judges.arguments.command(arguments)))


class Normalizer:
    """Sorts calls by tables of tool names."""

    def __init__(self, tables: Tables) -> None:
        self._tools = tables.tools
        self._lists = tables.lists
        judges = _our_judges() if tables is read_tables() else _judges(tables)
        self._arguments, self._shell, self._longer, self._actions, self._known = judges
        self._memory_files = tuple(tables.lists["memory"]["files"])
        self._memory_folders = tuple(f"/{folder}/" for folder in tables.lists["memory"]["folders"])
        self.outcomes = tables.lists["outcomes"]

    @classmethod
    def load(cls, *extra: Path) -> Normalizer:
        """Load our tables, with the person's own on top."""
        return cls(read_tables(*extra))

    def sort(self, framework: str, tool: str, arguments: Any) -> Sorted:
        """Sort one call; arguments may be a value, or JSON that was not decoded yet."""
        if type(arguments) is not msgspec.Raw and type(arguments) is not bytes:
            raw = arguments.encode("utf-8", "surrogatepass") if isinstance(arguments, str) else _encoded(arguments)
            return self._sort(framework, tool, arguments, raw)
        raw = bytes(arguments)
        if len(raw) > _REMEMBERED:
            return self._sort_raw(framework, tool, raw)
        key = (framework, tool, raw)
        cached = self._known.get(key)
        if cached is None:
            cached = self._sort_raw(framework, tool, raw)
            if len(self._known) >= _MOST_REMEMBERED:
                self._known.clear()
            self._known[key] = cached
        return cached

    def _sort_raw(self, framework: str, tool: str, raw: bytes) -> Sorted:
        try:
            value = _decode(raw)
            written = _encoded(value)
        except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
            value, written = None, raw
        return self._sort(framework, tool, value, written)

    def _sort(self, framework: str, tool: str, value: Any, raw: bytes) -> Sorted:
        call = fingerprint(b"%b\0%b" % (tool.encode("utf-8", "surrogatepass"), raw))
        action, commands = self._actions.get((framework, tool)) or self._action(framework, tool)
        if commands and type(value) is dict and type(command := value.get("command")) is str:
            action = commands.get(command, action)
        if action == "shell_exec":
            return self._sort_shell(tool, value, call)
        return self._sort_other(action, tool, value, call)

    def _sort_shell(self, tool: str, value: Any, call: int) -> Sorted:
        command = self._arguments.command(value)
        if command is None:
            return Sorted("shell_exec", (), tool, self._silent_purpose(value), call, fingerprint(tool))
        judged = self._shell.judge(command)
        action = self._remembered(judged.action, judged.targets)
        text = command if isinstance(command, str) else " ".join(map(str, command))
        return Sorted(
            action,
            judged.targets,
            judged.program,
            judged.purpose,
            call,
            fingerprint(f"{tool}\0{blanked(text[:_SHAPED])}"),
            fingerprint(judged.before) if judged.before else 0,
            fingerprint(judged.after) if judged.after else 0,
        )

    def _silent_purpose(self, value: Any) -> Purpose:
        """Return the purpose of a call without a command; empty input to a running command means waiting."""
        if type(value) is not dict or not value or self._arguments.targets(value):
            return ""
        return "" if str(value.get("chars") or value.get("code") or "").strip() else "wait"

    def _sort_other(self, action: Action, tool: str, value: Any, call: int) -> Sorted:
        arguments = self._arguments
        before = after = 0
        targets: tuple[str, ...] = ()
        if action == "file_edit":
            targets, old, new = arguments.edit(value)
            before, after = fingerprint(old), fingerprint(new)
        elif action != "delegation" and action != "plan":
            targets = arguments.targets(value)
        shape = fingerprint(f"{tool}\0{blanked(arguments.gist(value))}")
        return Sorted(self._remembered(action, targets), targets, "", "", call, shape, before, after)

    def _remembered(self, action: Action, targets: tuple[str, ...]) -> Action:
        """Reading and writing the agent's own notes is memory, not work on files."""
        if targets and action in _MEMORY:
            path = "/" + targets[0].replace("\\", "/")
            if path.rpartition("/")[2] in self._memory_files or any(part in path for part in self._memory_folders):
                return _MEMORY[action]
        return action

    def _action(self, framework: str, tool: str) -> _ToolActions:
        if len(self._actions) > 10_000:
            self._actions.clear()
        commands = {
            name[len(tool) + 1 :]: cast(Action, self._tools[place].names[name])
            for place in ("generic", framework)
            for name in self._longer.get((place, tool), ())
        }
        actions = _ToolActions(cast(Action, self._search(framework, tool)), commands)
        self._actions[framework, tool] = actions
        return actions

    def _search(self, framework: str, tool: str) -> str:
        own = self._tools.get(framework, _NO_TOOLS)
        generic = self._tools["generic"]
        lower = tool.lower()
        return (
            _table_action(own, tool)
            or generic.names.get(tool)
            or self._served(tool)
            or own.otherwise
            or _table_action(generic, lower)
            or ("delegation" if "subagent" in lower else "other")
        )

    def _served(self, tool: str) -> str:
        """The action of a protocol server's tool, `mcp__server__tool` or `server__tool`."""
        if "__" not in tool:
            return ""
        *servers, name = tool.removeprefix("mcp__").split("__")
        words = [word.lower() for word in _WORDS.findall(name)]
        memory = self._lists["memory"]
        server_words = [word.lower() for server in servers for word in _WORDS.findall(server)]
        if any(word in memory["servers"] for word in server_words):
            first = next((word for word in words if word in memory["write"] or word in memory["read"]), "")
            return "memory_write" if first in memory["write"] else "memory_read"
        if "subagent" in tool.lower():
            return "delegation"
        verbs = self._lists["verbs"].items()
        return next((action for word in words for action, names in verbs if word in names), "other")


def _table_action(tools: Tools, tool: str) -> str:
    exact = tools.names.get(tool)
    if exact:
        return exact
    return next((action for pattern, action in tools.patterns if fnmatchcase(tool, pattern)), "")


def _encoded(value: Any) -> bytes:
    try:
        return _encode(value)
    except (TypeError, ValueError, RecursionError, OverflowError):
        return repr(value).encode("utf-8", "surrogatepass")


_LONGEST_SCRIPT = 32_768
_INNER_CALL = re.compile(r"\btools\.([A-Za-z_]\w*)\s*\(")
_COMMAND = re.compile(
    r"""\b(?:cmd|command)["']?\s*:\s*("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|`(?:[^`\\]|\\.)*`)""", re.DOTALL
)
_PATH = re.compile(r"""\b(?:path|file_path)["']?\s*:\s*["'`]([^"'`\n]{1,400})["'`]""")
# Actions from the weakest to the strongest.
_RANKS: tuple[Action, ...] = (
    *("plan", "other", "memory_read", "file_read", "search", "memory_write", "file_edit", "delegation", "shell_exec"),
)


def sort_cell(normalizer: Normalizer, framework: str, tool: str, script: str) -> tuple[Sorted, list[Action]]:
    """Sort a script by the strongest tool it calls, with the targets of its like, else as a command; then each call."""
    whole = Sorted("shell_exec", call=normalizer.sort(framework, tool, script).call, shape=shape(script[:4096]))
    inner = [normalizer.sort(framework, *call) for call in _inner_calls(script)]
    if not inner:
        return whole._replace(program=tool), []
    best = max(inner, key=lambda one: (_RANKS.index(one.action), PURPOSE_RANKS[one.purpose]))
    targets = dict.fromkeys(target for one in inner if one.action == best.action for target in one.targets)
    actions = [one.action for one in inner]
    return best._replace(call=whole.call, shape=whole.shape, targets=tuple(targets)[:MOST_TARGETS]), actions


def script_arguments(script: str) -> dict[str, str]:
    """Return the patch and the commands in a script, or the script itself if it contains neither as plain text."""
    calls = [(tool, arguments) for tool, arguments in _inner_calls(script) if arguments]
    patch = next((text(arguments) for tool, arguments in calls if tool == "apply_patch"), "")
    commands = "\n".join(filter(None, (text(table(arguments).get("command")) for _, arguments in calls)))
    named = {name: value for name, value in (("command", commands), ("patch", patch)) if value}
    return named or next((table(arguments) for _, arguments in calls), {"title": script})


def _inner_calls(script: str) -> list[tuple[str, object]]:
    """Return the tools that a script calls, with their arguments as far as they are plain text."""
    source = script[:_LONGEST_SCRIPT]
    calls = list(_INNER_CALL.finditer(source))
    ends = [*(call.start() for call in calls[1:]), len(source)]
    pairs = zip(calls, ends, strict=False)
    return [(call[1], _inner_arguments(call[1], source, source[call.end() : end])) for call, end in pairs]


def _inner_arguments(tool: str, script: str, rest: str) -> object:
    """Return the arguments of one call, if the script contains them as plain text."""
    if tool == "apply_patch":
        return _escaped(script) if "*** " in script else {}
    command = _COMMAND.search(rest)
    if command:
        return {"command": _unquoted(command.group(1))}
    path = _PATH.search(rest)
    return {"path": path.group(1)} if path else {}


def _unquoted(quoted: str) -> str:
    if quoted.startswith('"'):
        decoded = decode(quoted)
        if isinstance(decoded, str):
            return decoded
    return _escaped(quoted[1:-1])


def _escaped(written: str) -> str:
    return written.replace("\\n", "\n").replace("\\'", "'").replace('\\"', '"')


class AgentKit(Kit):
    """The tables and the fault counter that all readers of one run share."""

    def __init__(
        self, normalizer: Normalizer, models: Models, diagnostics: Diagnostics, agents: tuple[Agent, ...] = ()
    ) -> None:
        super().__init__(diagnostics, agents)
        self.normalizer = normalizer
        self.models = models

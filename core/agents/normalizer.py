"""From a tool's name and arguments, whatever framework they come from, to one vocabulary."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from posixpath import basename, join, normpath
from typing import Any, NamedTuple, cast

import msgspec

from core.agents.arguments import Arguments
from core.agents.patch import read_patch
from core.agents.purposes import Purposes, options_match
from core.agents.shell_script import Part, split
from core.agents.tables import Tables, Tools, read_tables
from core.engine.fingerprint import blanked, fingerprint
from core.errors import SettingsError
from core.events import Action, Purpose

MOST_TARGETS = 16
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*\+?=")
_SUFFIX = re.compile(r"[\w\-]\.[A-Za-z]\w{0,5}$")
_NO_PATH = re.compile(r"""[$*?{}<>|"'`\s=,;@]|://|^-|^\d+$|^/dev/""")
_RANGE = re.compile(r":(:.*|\d[\d:-]*)$")
_DRIVE = re.compile(r"[A-Za-z]:[\\/]")
_KEYWORDS = frozenset(
    ("if", "then", "else", "elif", "do", "while", "until", "!", "{", "}", "done", "fi", "esac")
)
_CONTROL = frozenset(("for", "case", "select", "function", "in"))
_SHELLS = frozenset(("bash", "sh", "zsh", "dash", "ksh", "fish"))
_VALUED = {
    "head": "nc",
    "tail": "ncs",
    "grep": "ABCmefd",
    "egrep": "ABCmefd",
    "fgrep": "ABCmefd",
    "rg": "ABCmeftgTjMEr",
    "ag": "ABCmG",
    "fd": "etEdx",
    "sed": "ef",
    "nl": "bvwsnihdlfp",
    "tree": "LIPoH",
    "ls": "Iw",
}
_PATTERN_FIRST = frozenset(("grep", "egrep", "fgrep", "zgrep", "rg", "ag", "ack", "fd", "fdfind", "git grep"))
_READ, _SEARCH, _EDIT, _EXEC = 1, 2, 3, 4
_NAMES: tuple[Action, ...] = ("shell_exec", "file_read", "search", "file_edit", "shell_exec")
_RANKS: dict[str, int] = {"destructive": 5, "commit": 4, "test": 3, "build": 2, "wait": 1, "": 0}
_DEEPEST = 4
_MOST_KNOWN = 4096
_LONGEST_KNOWN = 256
"""Letters of a simple command that is remembered."""


class Command(NamedTuple):
    """What a whole command line comes to."""

    action: Action
    program: str = ""
    purpose: Purpose = ""
    targets: tuple[str, ...] = ()
    before: str = ""
    """Of a patch, the text taken away."""
    after: str = ""


class _Judged(NamedTuple):
    strength: int
    program: str
    purpose: Purpose
    targets: list[str]
    patch: str = ""


_Simple = tuple[bool, tuple[str, ...]]
"""A simple command without redirections: whether it reads what another writes, and its words."""


class Shell:
    """Judges commands by lists of program names."""

    __slots__ = (
        "_edit",
        "_filters",
        "_known",
        "_neutral",
        "_purposes",
        "_read",
        "_runners",
        "_search",
        "_wrappers",
    )

    def __init__(self, lists: dict[str, tuple[str, ...]], purposes: Purposes) -> None:
        self._read = frozenset(lists["read"])
        self._search = frozenset(lists["search"])
        self._edit = frozenset(lists["edit"])
        self._neutral = frozenset(lists["neutral"])
        self._filters = frozenset(lists["filters"])
        self._wrappers = frozenset(lists["wrappers"])
        self._runners: dict[str, list[list[str]]] = {}
        for runner in lists["runners"]:
            first, *rest = runner.split()
            self._runners.setdefault(first, []).append(rest)
        self._purposes = purposes
        self._known: dict[_Simple, tuple[_Judged, str | None]] = {}
        """Simple commands come again and again: what each is, and the folder it enters."""

    def judge(self, command: Any) -> Command:
        """Judge a command line, or a list of words that is run without a shell."""
        if isinstance(command, str):
            parts = split(command)
        elif isinstance(command, list) and all(isinstance(word, str) for word in command):
            parts = [Part(list(command), [], False, [])]
        else:
            return Command("shell_exec")
        found: list[_Judged] = []
        self._walk(parts, found, "", 0)
        return _strongest(found)

    def _walk(self, parts: list[Part], found: list[_Judged], folder: str, depth: int) -> None:
        for part in parts:
            plain = not part.writes and not part.here
            key = (part.piped, tuple(part.words))
            known = self._known.get(key) if plain else None
            if known is None:
                words = self._bare(part.words)
                inner = _script_of(words)
                if inner is not None and depth < _DEEPEST:
                    self._walk(split(inner), found, folder, depth + 1)
                    continue
                judged = self._part(part, words)
                known = judged, _entered(judged.program, words)
                if plain and inner is None:
                    self._keep(key, known)
            judged, entered = known
            if folder and judged.targets:
                judged = judged._replace(targets=[_under(folder, target) for target in judged.targets])
            found.append(judged)
            if entered is not None:
                folder = _under(folder, entered)

    def _keep(self, key: _Simple, known: tuple[_Judged, str | None]) -> None:
        if sum(map(len, key[1])) <= _LONGEST_KNOWN:
            if len(self._known) >= _MOST_KNOWN:
                self._known.clear()
            self._known[key] = known

    def _bare(self, words: list[str]) -> list[str]:
        """The words without assignments, keywords and programs that only run another."""
        at, end = 0, len(words)
        while at < end:
            word = words[at]
            if word in _KEYWORDS or ("=" in word and _ASSIGNMENT.match(word)):
                at += 1
            elif (
                word in self._wrappers or ("/" in word and basename(word) in self._wrappers)
            ) and at + 1 < end:
                at = _after_options(words, at + 1, basename(word))
            else:
                runs = self._after_runner(words, at)
                if runs == at:
                    break
                at = runs
        return words[at:] if at else words

    def _after_runner(self, words: list[str], at: int) -> int:
        """Where the program begins that the one at `at` runs; `at` where it runs none."""
        for rest in self._runners.get(words[at], ()):
            begin = at + 1 + len(rest)
            if len(words) > begin and words[at + 1 : begin] == rest:
                begin = _after_options(words, begin, "")
                return begin if begin < len(words) else at
        return at

    def _part(self, part: Part, words: list[str]) -> _Judged:
        writes = part.writes
        if writes:
            writes = [target for target in writes if not target.startswith("/dev/") and "$" not in target]
        if not words or words[0] in _CONTROL:
            return _Judged(_EDIT if writes else 0, words[0] if words else "", "", writes)
        program = words[0].replace("\\", "/") if "\\" in words[0] else words[0]
        if "/" in program:
            program = basename(program).removesuffix(".exe")
        if program == "git":
            words = _plain_git(words)
        purpose = self._purposes.of(program, words)
        strength, targets, patch = self._kind(part, program, words)
        if purpose and purpose != "wait":
            strength = _EXEC
        if writes and strength < _EXEC:
            return _Judged(_EDIT, program, purpose, writes, patch)
        if strength == _EXEC:
            targets = [path for word in words[1:] if (path := _looks_like_path(word))]
            if "/" in words[0] and words[0].startswith("."):
                targets.insert(0, words[0])
        return _Judged(strength, program, purpose, targets, patch)

    def _kind(self, part: Part, program: str, words: list[str]) -> tuple[int, list[str], str]:
        if program in self._edit:
            patch = next((text for text in (*part.here, *words[1:]) if "*** " in text or "+++ " in text), "")
            return _EDIT, _operands(words, "") if not patch else [], patch
        if program in ("sed", "perl") and any(options_match(word, "-i") for word in words[1:4]):
            return _EDIT, _operands(words, program)[1:], ""
        if part.piped and program in self._filters:
            return (_SEARCH if program in self._search else 0), [], ""
        if program in self._read:
            return (0 if part.here else _READ), _operands(words, program), ""
        if program == "sed":
            return _READ, _operands(words, program)[1:], ""
        phrase = f"git {words[1]}" if program == "git" and len(words) > 1 else program
        if program in self._search or phrase in self._search:
            return self._searching(phrase, words)
        return (0 if program in self._neutral else _EXEC), [], ""

    def _searching(self, phrase: str, words: list[str]) -> tuple[int, list[str], str]:
        if phrase == "find":
            for option in ("-exec", "-execdir"):
                if option in words:
                    inner = words[words.index(option) + 1 :]
                    strength = (
                        self._kind(Part(inner, [], False, []), basename(inner[0]), inner)[0] if inner else 0
                    )
                    return max(_SEARCH, strength), _before_options(words), ""
            return _SEARCH, _before_options(words), ""
        operands = _operands(words[phrase.count(" ") :], phrase)
        given = any(options_match(word, "-e") or word == "--files" for word in words[1:])
        return _SEARCH, operands[1:] if phrase in _PATTERN_FIRST and not given else operands, ""


def _entered(program: str, words: list[str]) -> str | None:
    """The folder that `cd` goes to; None of any other command, or where that cannot be told."""
    enters = program in ("cd", "pushd") and len(words) > 1 and not _NO_PATH.search(words[1])
    return words[1] if enters else None


def _under(folder: str, target: str) -> str:
    """A path as seen from a folder; one with a drive of its own stands by itself."""
    return target if _DRIVE.match(target) else normpath(join(folder, target))


def _strongest(found: list[_Judged]) -> Command:
    if not found:
        return Command("shell_exec")
    leading = found[0]
    strength, purpose, targets = leading.strength, leading.purpose, leading.targets
    patches = leading.patch
    for part in found[1:]:
        if _RANKS[part.purpose] > _RANKS[purpose]:
            purpose = part.purpose
        if part.strength > strength:
            leading, strength, targets, patches = part, part.strength, part.targets, part.patch
        elif part.strength == strength:
            if _RANKS[part.purpose] > _RANKS[leading.purpose] or not leading.program:
                leading = part
            if part.targets:
                targets = targets + part.targets
            if part.patch:
                patches = f"{patches}\n{part.patch}"
    if patches:
        patch = read_patch(patches)
        return Command(_NAMES[strength], leading.program, purpose, patch.targets, patch.before, patch.after)
    unique = tuple(dict.fromkeys(targets))[:MOST_TARGETS] if targets else ()
    return Command(_NAMES[strength], leading.program, purpose, unique)


def _script_of(words: list[str]) -> str | None:
    """The script in `bash -lc SCRIPT` or `eval SCRIPT`."""
    if len(words) < 2:
        return None
    program = basename(words[0]) if "/" in words[0] else words[0]
    if program == "eval":
        return " ".join(words[1:])
    if program in _SHELLS:
        for at, word in enumerate(words[1:-1], 1):
            if options_match(word, "-c"):
                return words[at + 1]
            if not word.startswith("-"):
                return None
    return None


def _after_options(words: list[str], at: int, wrapper: str) -> int:
    """Where the wrapped command begins."""
    end = len(words)
    while at < end:
        word = words[at]
        if word.startswith("-"):
            at += (
                2
                if word in ("-u", "-n", "-I", "-L", "-P", "-s", "-k", "--with", "--extra", "--group", "-p")
                else 1
            )
        elif _ASSIGNMENT.match(word) or (wrapper in ("timeout", "gtimeout", "nice") and word[:1].isdigit()):
            at += 1
        else:
            break
    return at


def _plain_git(words: list[str]) -> list[str]:
    at = 1
    while at < len(words) and words[at].startswith("-"):
        at += 2 if words[at] in ("-C", "-c", "--git-dir", "--work-tree") else 1
    return ["git", *words[at:]]


def _operands(words: list[str], program: str) -> list[str]:
    """The words that are not options; numbers, ranges and expansions are left out of reading commands."""
    valued = _VALUED.get(program, "")
    found: list[str] = []
    skip = False
    for word in words[1:]:
        if skip:
            skip = False
        elif word.startswith("-") and len(word) > 1:
            skip = len(word) == 2 and word[1] in valued and not (program == "sed" and word[1] == "e")
        elif word != "-":
            found.append(word)
    keep = 1 if program in _PATTERN_FIRST or program in ("sed", "perl") else 0
    return found[:keep] + [word for word in found[keep:] if not _NO_PATH.search(word)]


def _before_options(words: list[str]) -> list[str]:
    found = []
    for word in words[1:]:
        if word.startswith(("-", "(", "!", "\\")):
            break
        if not _NO_PATH.search(word):
            found.append(word)
    return found


def _looks_like_path(word: str) -> str:
    """The path in a word of a command that runs something, or nothing."""
    if not ("/" in word or "." in word or "\\" in word) or len(word) > 200:
        return ""
    if ":" in word:
        word = _RANGE.sub("", word)
    if _NO_PATH.search(word):
        return ""
    parted = "/" in word or "\\" in word
    return word if (parted and not word.endswith(":")) or _SUFFIX.search(word) else ""


_WORDS = re.compile(r"[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])")
_NO_TOOLS = Tools({}, [], "")
_SHAPED = 4096
"""How much of a command its shape is made from."""
_REMEMBERED = 1024
"""Calls with no more bytes of arguments than this are sorted once and remembered."""
_MOST_REMEMBERED = 4096
_MEMORY: dict[str, Action] = {"file_read": "memory_read", "file_edit": "memory_write"}
_decode = msgspec.json.Decoder().decode
_encode = msgspec.json.Encoder(order="sorted").encode


class Sorted(NamedTuple):
    """What a call is, without its content."""

    action: Action
    targets: tuple[str, ...] = ()
    program: str = ""
    purpose: Purpose = ""
    call: int = 0
    shape: int = 0
    before: int = 0
    after: int = 0


class _ToolActions(NamedTuple):
    """What a tool does, and what it does when it is given certain commands."""

    action: Action
    commands: dict[str, Action]


class _Judges(NamedTuple):
    """What is made of tables alone, so that all who sort by the same ones share it."""

    arguments: Arguments
    shell: Shell
    longer: dict[tuple[str, str], list[str]]
    """The names of a framework's tools that go on after this one and a space."""
    actions: dict[tuple[str, str], _ToolActions]
    known: dict[tuple[str, str, bytes], Sorted]
    """Tools and calls that were sorted before: a memo that changes nothing."""


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


class Normalizer:
    """Sorts calls by tables of tool names."""

    __slots__ = (
        "_actions",
        "_arguments",
        "_known",
        "_lists",
        "_longer",
        "_memory_files",
        "_memory_folders",
        "_shell",
        "_tools",
        "outcomes",
    )

    def __init__(self, tables: Tables) -> None:
        self._take(tables)

    @classmethod
    def load(cls, *extra: Path) -> Normalizer:
        """Our tables, with the user's laid over them."""
        return cls(read_tables(*extra))

    def update(self, *extra: Path) -> str:
        """Read the tables again; where one is broken everything stays, and what is wrong is said."""
        try:
            self._take(read_tables(*extra))
        except SettingsError as error:
            return str(error)
        return ""

    def _take(self, tables: Tables) -> None:
        self._tools = tables.tools
        self._lists = tables.lists
        judges = _our_judges() if tables is read_tables() else _judges(tables)
        self._arguments, self._shell, self._longer, self._actions, self._known = judges
        self._memory_files = tuple(tables.lists["memory"]["files"])
        self._memory_folders = tuple(f"/{folder}/" for folder in tables.lists["memory"]["folders"])
        self.outcomes = tables.lists["outcomes"]

    def sort(self, framework: str, tool: str, arguments: Any) -> Sorted:
        """Sort one call; arguments may be a value, or JSON that was not decoded yet."""
        if type(arguments) is not msgspec.Raw and type(arguments) is not bytes:
            raw = (
                arguments.encode("utf-8", "surrogatepass")
                if isinstance(arguments, str)
                else _encoded(arguments)
            )
            return self._sort(framework, tool, arguments, raw)
        raw = bytes(arguments)
        if len(raw) > _REMEMBERED:
            return self._sort_raw(framework, tool, raw)
        key = (framework, tool, raw)
        known = self._known.get(key)
        if known is None:
            known = self._sort_raw(framework, tool, raw)
            if len(self._known) >= _MOST_REMEMBERED:
                self._known.clear()
            self._known[key] = known
        return known

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
        """Of a call without a command: one that names a running command and gives it nothing waits."""
        if type(value) is not dict or not value or self._arguments.targets(value):
            return ""
        return "" if str(value.get("chars") or value.get("code") or "").strip() else "wait"

    def _sort_other(self, action: Action, tool: str, value: Any, call: int) -> Sorted:
        told = self._arguments
        before = after = 0
        targets: tuple[str, ...] = ()
        if action == "file_edit":
            targets, old, new = told.edit(value)
            before, after = fingerprint(old), fingerprint(new)
        elif action != "delegation" and action != "plan":
            targets = told.targets(value)
        shape = fingerprint(f"{tool}\0{blanked(told.gist(value))}")
        return Sorted(self._remembered(action, targets), targets, "", "", call, shape, before, after)

    def _remembered(self, action: Action, targets: tuple[str, ...]) -> Action:
        """Reading and writing the agent's own notes is memory, not work on files."""
        if targets and action in _MEMORY:
            path = "/" + targets[0].replace("\\", "/")
            if path.rpartition("/")[2] in self._memory_files or any(
                part in path for part in self._memory_folders
            ):
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
        found = _ToolActions(cast(Action, self._search(framework, tool)), commands)
        self._actions[framework, tool] = found
        return found

    def _search(self, framework: str, tool: str) -> str:
        own = self._tools.get(framework, _NO_TOOLS)
        generic = self._tools["generic"]
        lower = tool.lower()
        return (
            _named(own, tool)
            or generic.names.get(tool)
            or self._served(tool)
            or own.otherwise
            or _named(generic, lower)
            or ("delegation" if "subagent" in lower else "other")
        )

    def _served(self, tool: str) -> str:
        """The action of a protocol server's tool, `mcp__server__tool` or `server__tool`."""
        if "__" not in tool:
            return ""
        *servers, name = tool.removeprefix("mcp__").split("__")
        words = [word.lower() for word in _WORDS.findall(name)]
        memory = self._lists["memory"]
        named = [word.lower() for server in servers for word in _WORDS.findall(server)]
        if any(word in memory["servers"] for word in named):
            writes = next(
                (
                    word in memory["write"]
                    for word in words
                    if word in memory["write"] or word in memory["read"]
                ),
                False,
            )
            return "memory_write" if writes else "memory_read"
        if "subagent" in tool.lower():
            return "delegation"
        for word in words:
            for action, verbs in self._lists["verbs"].items():
                if word in verbs:
                    return action
        return "other"


def _named(tools: Tools, tool: str) -> str:
    found = tools.names.get(tool)
    if found:
        return found
    return next((action for pattern, action in tools.patterns if fnmatchcase(tool, pattern)), "")


def _encoded(value: Any) -> bytes:
    try:
        return _encode(value)
    except (TypeError, ValueError, RecursionError, OverflowError):
        return repr(value).encode("utf-8", "surrogatepass")

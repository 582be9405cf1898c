"""Tiers of calls: a command is as strict as its strictest part; what is not understood is never a read."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import cache
from itertools import takewhile
from math import inf
from pathlib import Path
from posixpath import basename, join, normpath
from typing import Any, NamedTuple

from core.agents.normalizer import Sorted
from core.engine.response.permits import CallTier
from core.hooks.shell_grammar import UNKNOWN, Simple, Unreadable, simple_commands
from core.settings.response import GuardSettings

_RANKS: dict[CallTier, int] = {"read": 0, "write": 1, "privileged": 2}
_DEEPEST = 12
_ENDS = (";", "+", "\\;")
_MOST_PARTS = 1_000
_READING = frozenset(("file_read", "search", "memory_read", "plan"))
# A path inside of the folder a command runs in, spelled out.
_INSIDE = re.compile(r"(?!\.git(?:/|$))(?!\.+/*$)[\w.][\w./@+-]*")
_VERSIONS = frozenset(("--version", "-version", "--help"))
_TOKENS = re.compile(r"[^\s'\"`(),;:=@\[\]{}<>|&]+")
_WORDS = re.compile(r"[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])")
_HOME = re.compile(r"^(?:/root|/home/[^/]+|/Users/[^/]+)(?=/|$)")
_ASSIGNED = re.compile(r"[A-Za-z_]\w*\+?=")
_DRAINED = re.compile(r'"(?:[^"\\]|\\.)*"')
_AWK_WRITES = re.compile(r"\bprintf?\b[^;}\n]*?[>|]|\|\s*getline|\|&")
_KEYED = "query sql statement statements queries command cmd script code method function"
_STOPS = frozenset(["kill", "pkill", "killall", "systemctl", "service", "taskkill", "xargs", "fuser", "stop-process"])


class Verdict(NamedTuple):
    """The tier of a call and the reason for it."""

    tier: CallTier = "read"
    why: str = "it only reads"
    own: bool = False  # It concerns the guard itself: no approval for a whole session covers it.
    kind: str = ""  # The kind of call that an approval for a session covers; blank for only this call.


class _Words(NamedTuple):
    """The words of a command by role."""

    options: list[tuple[str, str]]  # Each with its value.
    operands: list[str]
    rest: int  # Where the first operand is.

    def has(self, rules: str) -> bool:
        """Whether one of these options is given, whole or shortened as GNU programs allow."""
        options = _list(rules)
        long = [rule for rule in options if rule.startswith("--")]
        return any(
            name in options or (len(name) > 4 and name.startswith("--") and any(rule.startswith(name) for rule in long))
            for name, _ in self.options
        )


_Entry = Mapping[str, Any]  # What the table says of a program.
_NO_COMMAND = object()
_DESTROYS = Verdict("privileged", "the command destroys something")


@cache
def _table() -> dict[str, Any]:
    table = tomllib.loads(Path(__file__).with_name("tiers.toml").read_text("utf-8"))
    table["program"] = _each_name(table["program"])
    for name, further in table["aliases"].items():
        for alias in further.split():
            table["program"].setdefault(alias, table["program"].get(name, {}))
    table["program"]["docker-compose"] = table["program"]["docker"]["sub"]["compose"]
    for tier, names in table["plain"].items():
        for name in names.split():
            table["program"].setdefault(name, {"tier": tier})
    return table


def _each_name(entries: dict[str, Any]) -> dict[str, Any]:
    """Expand entries written for several names to one entry per name."""
    for entry in entries.values():
        if "sub" in entry:
            entry["sub"] = _each_name(entry["sub"])
    return {name: entry for names, entry in entries.items() for name in names.split()}


@cache
def _list(text: str) -> frozenset[str]:
    return frozenset(text.split())


def call_tier(tool: str, kind: Sorted, arguments: Any, settings: GuardSettings) -> Verdict:
    """The tier of an agent's call: by its command, by its name and arguments, or by the files it names."""
    command = command_of(arguments)
    edits = isinstance(command, str) and command.isidentifier() and not kind.program
    if command is not None and ("__" not in tool or kind.program) and not (edits and kind.action != "shell_exec"):
        verdict = command_tier(command, settings.commands, settings.paths)
        return verdict if verdict.tier != "read" or kind.purpose != "destructive" else _DESTROYS
    if "__" in tool or kind.action in ("other", "shell_exec"):
        return tool_tier(tool, arguments, settings.paths)
    judge = _Judge((), settings.paths)
    if kind.action in _READING:
        judge.secrets(kind.targets)
    else:
        judge.lift("write", "it writes" if kind.action == "file_edit" else f"{tool} may write")
        for target in kind.targets:
            judge.path(target)
    verdict = judge.verdict
    return verdict if verdict.tier == "privileged" else verdict._replace(kind=kind.action)


def command_of(arguments: Any) -> Any:
    """The command among a tool's arguments, as a text or as words; None if there is none."""
    if isinstance(arguments, str):
        return arguments
    if not isinstance(arguments, Mapping):
        return None
    command = arguments.get("command", arguments.get("cmd", _NO_COMMAND))
    return None if command is _NO_COMMAND else command if isinstance(command, str | list) else []


def command_tier(command: Any, patterns: Sequence[str] = (), paths: Sequence[str] = ()) -> Verdict:
    """The tier of a shell script, or of a list of words that is run without a shell.

    `patterns` are further commands and `paths` further files that need the person.
    """
    judge = _Judge(patterns, paths)
    if isinstance(command, list) and command and all(isinstance(word, str) for word in command):
        judge.part(Simple([word.replace("\0", "?") for word in command], [], [], [], False, []), 0)
    elif isinstance(command, str):
        judge.script(command, 0, piped=False)
    else:
        judge.lift("privileged", "the command cannot be read")
    return judge.verdict._replace(kind=judge.kind())


def tool_tier(name: str, arguments: Any, paths: Sequence[str] = ()) -> Verdict:
    """The tier of a tool that is known by its name and arguments alone."""
    signs, judge = _table()["signs"], _Judge((), paths)
    words = [word.lower() for word in _WORDS.findall(name.rpartition("__")[2])]
    if any(word in _list(signs["destroys"]) for word in words):
        judge.lift("privileged", f"{name} is destructive, judging by its name")
    elif name not in _list(signs["asks"]) and (
        any(word in _list(signs["writes"]) for word in words)
        or not any(word in _list(signs["reads"]) for word in words)
    ):
        judge.lift("write", f"{name} may write")
    for key, text in _texts(arguments):
        if key.lower() in _list(_KEYED) or "sql" in key.lower():
            judge.code(text, "sql", "the arguments are destructive")
            if re.search(signs["code"], text):
                judge.lift("privileged", "the arguments are destructive")
            if re.search(signs["sql_writes"], text):
                judge.lift("write", "the arguments write")
            if key.lower() in ("command", "cmd", "script"):
                judge.script(text, 1, piped=False)
            if key.lower() == "method" and text.upper() == "DELETE":
                judge.lift("privileged", "the arguments are destructive")
            elif key.lower() == "method" and text.upper() not in ("GET", "HEAD", "OPTIONS"):
                judge.lift("write", "the arguments write")
        if judge.verdict.tier != "read" or fnmatchcase(_plain_path(text), "*nooscope/intake*"):
            judge.path(text)
    return judge.verdict


def _texts(value: Any, key: str = "", depth: int = 0) -> Iterator[tuple[str, str]]:
    """The short texts in arguments, each with the name it is under."""
    if isinstance(value, str):
        if len(value) <= 100_000:
            yield key, value
    elif depth < 6 and isinstance(value, Mapping):
        for name, inner in value.items():
            yield from _texts(inner, str(name), depth + 1)
    elif depth < 6 and isinstance(value, list):
        for inner in value:
            yield from _texts(inner, key, depth + 1)


class _Judge:
    """Judges one call; its verdict only ever gets stricter."""

    def __init__(self, patterns: Sequence[str], paths: Sequence[str]) -> None:
        self.verdict = Verdict()
        self._patterns = patterns
        self._paths = paths
        self._folder = ""
        self._left = _MOST_PARTS
        self._text = ""
        self._parts: list[Simple] = []
        self._fetched: set[str] = set()  # Names of files that it downloads.
        self._nested = False  # It contains a program text, or a command that runs another.

    def kind(self) -> str:
        """Return the kind of call an approval covers: writes of the same programs, removals of similar files.

        Blank for whatever else needs the person, and where one program runs another or a text: that is approved
        as it is, or not at all.
        """
        if self.verdict.own or self._nested or not self._parts:
            return ""
        if self.verdict.tier != "privileged":
            return " ".join(sorted({part.words[0] for part in self._parts if part.words}))
        first, *_ = self._parts
        if len(self._parts) > 1 or first[1:] != ([], [], [], False, []) or first.words[0] != "rm":
            return ""
        operands = [word for word in first.words[1:] if not word.startswith("-")]
        if not operands or not all(_INSIDE.fullmatch(word) and ".." not in word for word in operands):
            return ""
        return " ".join(word for word in first.words if word not in operands)

    def lift(self, tier: CallTier, why: str, *, own: bool = False) -> None:
        """Make the verdict at least this strict."""
        if _RANKS[tier] > _RANKS[self.verdict.tier] or (own and not self.verdict.own):
            self.verdict = Verdict(tier, why, own)

    def script(self, text: str, depth: int, *, piped: bool) -> None:
        """Judge every command of a script."""
        if depth > _DEEPEST:
            self.lift("privileged", "commands are nested too deep to be understood")
            return
        self._nested = self._nested or depth > 0
        if not self._text:
            self._text = text
        if re.search(_table()["signs"]["bomb"], text):
            self.lift("privileged", "it starts itself repeatedly")
        try:
            parts = simple_commands(text)
        except Unreadable as error:
            self.lift("privileged", f"the command cannot be understood: {error}")
            return
        if depth == 0:
            self._parts = parts
        for part in parts:
            self.part(part._replace(piped=part.piped or piped), depth)

    def part(self, part: Simple, depth: int) -> None:
        """Judge one simple command with its redirections."""
        self._left -= 1
        if self._left < 0:
            self.lift("privileged", "the command has too many parts")
            return
        for target in part.writes:
            if target not in ("/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty"):
                self.lift("write", "it writes to a file")
                self.path(target)
        for name, value in part.assignments:
            self._environment(name, value, depth)
        self.secrets(part.reads)
        if part.words:
            if self._patterns and self.verdict.tier != "privileged":
                line = " ".join(part.words)
                match = next((one for one in self._patterns if fnmatchcase(line, one)), None)
                if match:
                    self.lift("privileged", f"the command is like {match}")
            self._command(part.words, part, depth, many=False)

    def _environment(self, name: str, value: str, depth: int) -> None:
        if name in _list(_table()["signs"]["environment"]):
            if not name.endswith("PAGER"):
                self.lift("write", f"it sets {name}")
            if name.endswith(("PRELOAD", "LIBRARIES")) or name == "BASH_ENV":
                self.lift("privileged", f"it sets {name}")
            elif "PATH" not in name and name != "HOME" and UNKNOWN not in value:
                self.script(value, depth + 1, piped=False)

    def path(self, target: str) -> None:
        """Judge a file that may be written."""
        if self.verdict.own or not target or len(target) > 4096:
            return
        paths = _table()["paths"]
        plain = _plain_path(target)
        above = "/" + plain.lstrip("./") if plain.startswith("../../../") else ""
        for path in {plain, above, _plain_path(join(self._folder, target)) if self._folder else ""}:
            if not path:
                continue
            if _is_under(path, _list(paths["own"])):
                self.lift("privileged", "it changes the settings of the guard or of an agent's hooks", own=True)
            elif self.verdict.tier != "privileged" and (
                _is_under(path, _list(paths["protected"]), parents=False) or _is_under(path, self._paths)
            ):
                self.lift("privileged", f"it writes to a protected path: {path.replace(UNKNOWN, '?')[:80]}")

    def code(self, text: str, kind: str, why: str = "the program text destroys something") -> None:
        """Judge a program text by the signs of its language."""
        self._nested = True
        signs = _table()["signs"]
        if re.search(signs["sql" if kind == "sql" else "code"], text):
            self.lift("privileged", why)
        for token in _TOKENS.findall(text[:100_000]) if kind != "sql" else ():
            if "/" in token:
                self.path(token)

    def _command(self, words: list[str], part: Simple, depth: int, *, many: bool) -> None:
        for _ in range(_DEEPEST):
            at = 0
            while at < len(words) and _ASSIGNED.match(words[at]):
                name, _, value = words[at].partition("=")
                self._environment(name.rstrip("+"), value, depth)
                at += 1
            words = words[at:]
            if not words:
                return
            entry, name = self._entry(words[0])
            if entry is None:
                return
            if len(words) == 2 and self._asks_version(entry, words, part):
                return
            following = self._judge(entry, name, words, part, depth, many=many)
            if following is None:
                return
            many = many or bool(entry.get("many"))
            words, self._nested = following, True
        self.lift("privileged", "commands are nested too deep to be understood")

    @staticmethod
    def _asks_version(entry: _Entry, words: list[str], part: Simple) -> bool:
        """Whether a program is only asked which version it is, or how it is used."""
        name, option = words
        if option in _VERSIONS:
            return bool(entry) or "/" not in name
        short = bool(entry) if option == "-V" else option == "-v" and bool(_SUB_KEYS & entry.keys() or "code" in entry)
        return short and not (part.piped or part.here or part.reads)

    def _entry(self, word: str) -> tuple[dict[str, Any] | None, str]:
        programs = _table()["program"]
        name = basename(word.replace("\\", "/")).removesuffix(".exe")
        if UNKNOWN in name or not name:
            self.lift("privileged", "it runs a program whose name is not known beforehand")
            return None, ""
        for candidate in (name, name.rstrip("0123456789."), name.partition(".")[0], name.lower()):
            if candidate in programs and ("/" not in word or _ordinary(word)):
                return programs[candidate], candidate
        return {}, name

    def _judge(
        self, entry: _Entry, name: str, words: list[str], part: Simple, depth: int, *, many: bool
    ) -> list[str] | None:
        """Judge one program by its entry; the words of the command that it runs, if it runs one."""
        subs = _SUB_KEYS & entry.keys()
        runs = "runs" in entry
        parsed = _parse(entry, words, stop=runs or bool(subs))
        if subs:
            inner = self._subcommand(entry, name, words, parsed, part, depth, many=many)
            if inner is not _NOT_LISTED:
                return inner
        tier: CallTier = entry.get("tier", "write")
        why = f"{name} may write" if tier == "write" else f"{name} needs you"
        lowered = self._only_reads(entry, parsed, part)
        if lowered or self._runs_module(entry, parsed):
            tier = "read"
            if lowered and runs:
                return None
        if _names_destruction(words[1:4] if not entry else parsed.operands[1:3] if "code" in entry else ()):
            tier, why = "privileged", f"{name} destroys something"
        if len(parsed.operands) > entry.get("most", inf) and not parsed.has(entry.get("lists", "")):
            tier = "write" if tier == "read" else tier
        if many and "many_tier" in entry:
            tier, why = entry["many_tier"], f"{name} is run on files that are not known beforehand"
        self.lift(tier, why)
        self._raise(entry, name, parsed)
        self._inner_scripts(entry, parsed, part, depth)
        if name in ("cd", "pushd"):
            self._enter(parsed.operands)
        if "git" in entry:
            self._git_settings(parsed, depth)
        self._kills(name, words)
        self._runs_download(entry, words, parsed)
        following = self._following(entry, name, words, parsed, part, depth)
        only_reads = lowered and self.verdict.tier == "read"
        self._check_paths(entry, words, parsed, following is not None or only_reads)
        return following

    @staticmethod
    def _runs_module(entry: _Entry, parsed: _Words) -> bool:
        """Whether an interpreter only runs a module that is judged as a program of its own."""
        return "modules" in entry and any(
            option == "-m" and value in _table()["program"] for option, value in parsed.options
        )

    def _only_reads(self, entry: _Entry, parsed: _Words, part: Simple) -> bool:
        """Return whether these arguments make a program that may write only read."""
        modules = {value for option, value in parsed.options if option == "-m"}
        return (
            parsed.has(entry.get("lower", ""))
            or ("lower_bare" in entry and not parsed.operands)
            or ("lower_single" in entry and len(parsed.operands) == 1 and not parsed.options)
            or (len(parsed.operands) < 2 and bool(modules & _list(entry.get("read_modules", ""))))
            or (entry.get("code_kind") == "sql" and self._only_asks(entry, parsed, part))
        )

    def _only_asks(self, entry: _Entry, parsed: _Words, part: Simple) -> bool:
        """Whether a client of a database is given only queries."""
        signs, texts = _table()["signs"], self._program_texts(entry, parsed, _list(entry.get("code", "")))
        return (
            bool(texts)
            and not (part.here or part.piped or part.reads)
            and all(
                len(text) < 2000
                and re.match(signs["sql_reads"], statement)
                and not re.search(signs["sql_writes"], statement)
                for text in texts
                for statement in text.strip().rstrip(";").split(";")
            )
        )

    def _raise(self, entry: _Entry, name: str, parsed: _Words) -> None:
        spared = parsed.has(entry.get("spares", ""))
        operands = [] if spared else [text for one in parsed.operands for text in (one, one.lower())]
        for key in ("write", "privileged", "own"):
            rules = entry.get(key, "")
            if parsed.has(rules) or any(fnmatchcase(one, rule) for rule in rules.split() for one in operands):
                does = "writes" if key == "write" else "destroys something"
                self.lift("write" if key == "write" else "privileged", f"this call of {name} {does}", own=key == "own")
        for rule in entry.get("privileged_values", "").split():
            option, _, value = rule.partition("=")
            texts = [text.upper() if value.isupper() else text for one, text in parsed.options if one == option]
            if any(fnmatchcase(text, value) for text in texts):
                self.lift("privileged", f"this call of {name} destroys something")

    def _subcommand(
        self, entry: _Entry, name: str, words: list[str], parsed: _Words, part: Simple, depth: int, *, many: bool
    ) -> list[str] | None:
        if "git" in entry:
            self._git_settings(parsed, depth)
        self._raise(entry, name, parsed)
        if parsed.rest >= len(words):
            if (
                name in ("git", "npm", "docker", "kubectl", "gh")
                or entry.get("tier") == "read"
                or parsed.has(entry.get("lower", ""))
            ):
                return None
            return _NOT_LISTED
        sub, rest = words[parsed.rest].lower(), words[parsed.rest :]
        if sub == "help":
            return None
        nested = entry.get("sub", {}).get(sub)
        if nested is not None:
            return self._judge(nested, f"{name} {sub}", rest, part, depth, many=many)
        if "cloud" in entry:
            self._cloud(name, rest)
            return None
        for key, tier in _SUBS:
            if sub in _list(entry.get(key, "")):
                verb = "needs you" if tier == "privileged" else "may write"
                self.lift(tier, f"{name} {sub} {verb}", own=key == "sub_own")
                after = _parse({"valued": ""}, rest, stop=False)
                if tier == "read" and after.has(entry.get("every_write", "")):
                    self.lift("write", f"this call of {name} {sub} writes")
                if tier != "read":
                    self._check_paths({}, rest, after, False)
                return None
        if UNKNOWN in sub:
            self.lift("privileged", f"what {name} does is not known beforehand")
        return _NOT_LISTED

    def _cloud(self, name: str, words: list[str]) -> None:
        """A program of many nested subcommands: the verb says what it does."""
        signs = _table()["signs"]
        subcommands = list(takewhile(lambda word: not word.startswith("-"), words))
        verbs = [word.partition("-")[0].lower() for word in ":".join(subcommands).split(":")]
        service = len(subcommands) > 2 or name == "aws"
        changes = set(verbs[service:]) & _list(signs["writes"])
        if any(verb in _list(signs[kind]) for verb in verbs for kind in ("destroys", "cloud_destroys")):
            self.lift("privileged", f"{name} destroys something")
        elif changes or not set(verbs) & _list(signs["reads"]):
            grants = re.search(signs["grants"], " ".join(subcommands))
            self.lift("privileged" if grants else "write", f"{name} {'changes permissions' if grants else 'may write'}")
        elif any(word in ("get-object", "get-credentials", "get-login-password") for word in subcommands):
            self.lift("write", f"{name} may write")

    def _inner_scripts(self, entry: _Entry, parsed: _Words, part: Simple, depth: int) -> None:
        kind = entry.get("code_kind", "")
        scripts, code = _list(entry.get("scripts", "")), _list(entry.get("code", ""))
        for value in (value for option, value in parsed.options if option in scripts):
            if entry.get("many"):
                self._command([*value.split(), UNKNOWN], part, depth + 1, many=True)
            else:
                self._judge_nested(value, depth, piped=part.piped)
        for operand in parsed.operands if "defines" in entry else ():
            self._judge_nested(operand.partition("=")[2], depth, piped=part.piped)
        texts = self._program_texts(entry, parsed, code)
        reads_input = (
            "stdin" in entry
            and not texts
            and not ("modules" in entry and parsed.has("-m"))
            and (
                not parsed.operands
                or parsed.operands[0] in ("-", "/dev/stdin")
                or ("shell" in entry and ("-s", "") in parsed.options)
            )
        )
        if reads_input or kind == "sql" or "input" in entry:
            texts.extend(part.here)
        for text in texts:
            if entry.get("shell") or ("stdin" in entry and text.startswith(UNKNOWN)):
                self._judge_nested(text, depth, piped=False)
            elif kind in ("awk", "sed"):
                self._judge_filter(kind, text, depth)
            else:
                self.code(text, kind)
        if kind == "sql" and part.piped:
            self.code(self._text, "sql", "the program text destroys something")
        if "stdin" in entry:
            scripted = scripts & {option for option, _ in parsed.options}
            if (reads_input and (part.piped or UNKNOWN in part.here) and not scripted and not part.here) or any(
                operand.startswith(UNKNOWN) for operand in parsed.operands[:1]
            ):
                self.lift(entry["stdin"], "it runs the output of another command")

    @staticmethod
    def _program_texts(entry: _Entry, parsed: _Words, code: frozenset[str]) -> list[str]:
        """The program texts that a command line contains."""
        texts = [value for option, value in parsed.options if option in code]
        if entry.get("code_all"):
            texts.extend(parsed.operands[1:])
        elif entry.get("code_first") and not texts and not parsed.has("-f --file"):
            texts.extend(parsed.operands[:1])
        return texts

    def _judge_nested(self, text: str, depth: int, *, piped: bool) -> None:
        if UNKNOWN in text:
            self.lift("privileged", "it runs a script that is not known beforehand")
        else:
            self.script(text, depth + 1, piped=piped)

    def _judge_filter(self, kind: str, text: str, depth: int) -> None:
        if UNKNOWN in text:
            self.lift("write", f"what {kind} does is not known beforehand")
        elif kind == "sed":
            for command in _sed_runs(text):
                self.lift("write", "this sed script writes")
                if command:
                    self._judge_nested(command, depth, piped=True)
        else:
            bare = re.sub(r"\([^()]*\)", "", _DRAINED.sub('""', text))
            if "system" in bare or _AWK_WRITES.search(bare):
                self.lift("write", "this awk program writes")
                for string in _DRAINED.findall(text):
                    self.path(string[1:-1])
                    if "|" in bare or "system" in bare:
                        self.script(string[1:-1].replace('\\"', '"'), depth + 1, piped=True)

    def _git_settings(self, parsed: _Words, depth: int) -> None:
        for option, value in parsed.options:
            if option == "-c":
                key, _, command = value.partition("=")
                if not any(fnmatchcase(key, one) for one in _list(_table()["signs"]["harmless_git"])):
                    self.lift("write", f"git runs with another {key.replace(UNKNOWN, '?')}")
                    self._judge_nested(command.lstrip("!"), depth, piped=False)

    def _kills(self, name: str, words: list[str]) -> None:
        if name in _STOPS and "nooscope" in self._text + " ".join(words):
            self.lift("privileged", "it stops nooscope", own=True)
        if name == "kill" and len(words) > 2 and words[-1] == "-1":
            self.lift("privileged", "it ends every process")

    def _runs_download(self, entry: _Entry, words: list[str], parsed: _Words) -> None:
        """Remember the files a command downloads; running one of them needs the person."""
        if "fetches" in entry:
            targets = [value for option, value in parsed.options if option in _list(entry["fetches"])]
            self._fetched.update(basename(one) for one in targets or parsed.operands)
        elif {basename(one) for one in (words[0], *(parsed.operands[:1] if "stdin" in entry else ()))} & self._fetched:
            self.lift("privileged", "it runs a file that it downloads")

    def _enter(self, operands: list[str]) -> None:
        target = operands[0] if operands else "~"
        if UNKNOWN not in target or "/" in target:
            self._folder = _plain_path(join(self._folder, target))[-256:]

    def _inner_commands(self, inner: frozenset[str], words: list[str], part: Simple, depth: int, *, long: bool) -> None:
        """Judge the commands that follow options such as `-exec`."""
        for at, word in enumerate(words):
            joined = len(word) > 2 and word[0] == "-" and word[1] != "-" and word[:2] in inner and not long
            if word.partition("=")[0] not in inner and not joined:
                continue
            end = next((stop for stop in range(at + 1, len(words)) if words[stop] in _ENDS), len(words))
            run = words[at + 1 : end]
            if run:
                self._nested = True
                self._command([*run, UNKNOWN], part, depth + 1, many=True)
            else:
                self.lift("privileged", "it runs a program whose name is not known beforehand")

    def _following(
        self, entry: _Entry, name: str, words: list[str], parsed: _Words, part: Simple, depth: int
    ) -> list[str] | None:
        inner = _list(entry.get("inner", ""))
        if inner:
            self._inner_commands(inner, words, part, depth, long=bool(entry.get("long")))
            return None
        if "modules" in entry:
            module = next((value for option, value in parsed.options if option == "-m"), "")
            if module:
                at = words.index(module) if module in words else len(words)
                return [module, *words[at + 1 :]] if module in _table()["program"] else None
        if not entry:
            return self._wrapped(words)
        if "runs" not in entry:
            return None
        rest = words[parsed.rest :]
        skipped = 0
        while rest and (skipped < entry["runs"] or rest[0] == "--"):
            skipped += rest[0] != "--"
            rest = rest[1:]
            if name.startswith(("docker", "kubectl")) and rest and rest[0] == "--":
                rest = rest[1:]
        if len(rest) > 1 and rest[0] in _list(entry.get("scripts", "")):
            self._judge_nested(rest[1], depth, piped=part.piped)
            return None
        if not rest:
            return None
        if entry.get("many"):
            rest = [*rest[0].split(), *rest[1:], UNKNOWN]
        if entry.get("joins"):
            self._judge_nested(" ".join(rest[:1] if name == "trap" else rest), depth, piped=part.piped)
            return None
        return rest

    @staticmethod
    def _wrapped(words: list[str]) -> list[str] | None:
        """Return what an unlisted program may run: all after `--`, or from the first listed program on."""
        if "--" in words[1:]:
            return words[words.index("--", 1) + 1 :] or None
        programs = _table()["program"]
        starts = (at for at, word in enumerate(words[1:5], 1) if len(programs.get(basename(word), ())) > 1)
        return words[at:] if (at := next(starts, 0)) else None

    def secrets(self, files: Iterable[str]) -> None:
        """Look for our token among files that are read."""
        for word in files:
            plain = _plain_path(join(self._folder, word.lstrip("@")))
            if "intake" in plain and _is_under(plain, _list(_table()["paths"]["secret"])):
                self.lift("privileged", "it reads nooscope's access token", own=True)

    def _check_paths(self, entry: _Entry, words: list[str], parsed: _Words, wraps: bool) -> None:
        """Check the paths in a command that writes, and our token in any command."""
        self.secrets(words[1:])
        if wraps or entry.get("reads_paths") or (entry.get("tier", "write") == "read" and self.verdict.tier == "read"):
            return
        texts = _list(entry.get("texts", ""))
        ignored = {value for option, value in parsed.options if option in texts}
        writes = parsed.has(entry.get("write", "")) or len(parsed.operands) > entry.get("most", inf)
        if entry.get("tier") == "read" and not writes:
            return
        for word in words[1:]:
            if word in ignored:
                continue
            pieces = (word, word.partition("=")[2], word.lstrip("@"), word.partition("@")[2], word.rpartition(":")[2])
            for piece in pieces:
                if piece and not piece.startswith("-"):
                    self.path(piece)


_SUB_KEYS = frozenset(("sub", "sub_read", "sub_write", "sub_privileged", "sub_own", "cloud"))
_NOT_LISTED: list[str] = ["\0not listed"]
_SUBS: tuple[tuple[str, CallTier], ...] = (
    ("sub_own", "privileged"),
    ("sub_privileged", "privileged"),
    ("sub_write", "write"),
    ("sub_read", "read"),
)


def _parse(entry: _Entry, words: list[str], *, stop: bool) -> _Words:
    """Divide words into options with their values and operands; `stop` at the first operand."""
    valued = _list(" ".join(entry.get(key, "") for key in ("valued", "scripts", "code")))
    options: list[tuple[str, str]] = []
    operands: list[str] = []
    at, rest, ended = 1, 0, False
    if entry.get("clusters") and len(words) > 1 and not words[1].startswith("-"):
        options.extend((f"-{letter}", "") for letter in words[1][:16])
        at = 2
    while at < len(words):
        word = words[at]
        if ended or not word.startswith("-") or word == "-":
            rest = rest or at
            if stop:
                return _Words(options, words[at:], at)
            operands.append(word)
        elif word == "--":
            options.append(("--", ""))
            ended = True
        elif word.startswith("--") or entry.get("long"):
            name, equals, value = word.partition("=")
            if not equals and name in valued and at + 1 < len(words):
                at += 1
                value = words[at]
            options.append((name, value))
        else:
            at = _cluster(word, words, at, valued, _list(entry.get("shorts", "")), options)
        at += 1
    return _Words(options, operands, rest or len(words))


def _cluster(
    word: str, words: list[str], at: int, valued: Iterable[str], shorts: Iterable[str], options: list[tuple[str, str]]
) -> int:
    """Read `-abc VALUE`; where its last word is."""
    if word in valued and len(word) > 2:
        options.append((word, words[at + 1] if at + 1 < len(words) else ""))
        return at + 1
    for place, letter in enumerate(word[1:], 2):
        option = f"-{letter}"
        if option in valued:
            if place < len(word):
                options.append((option, word[place:].removeprefix("=")))
                return at
            options.append((option, words[at + 1] if at + 1 < len(words) else ""))
            return at + 1
        options.append((option, ""))
        if option in shorts:
            return at
    return at


def _names_destruction(words: Iterable[str]) -> bool:
    """Whether a subcommand such as `destroy`, `db:drop` or `migrate:fresh` is among the words."""
    signs = _list(_table()["signs"]["subcommands"])
    return any(part in signs for word in words for part in word.split(":"))


def _ordinary(word: str) -> bool:
    """Whether a program is where the system keeps its own, or the project its tools."""
    folder = word.rpartition("/")[0]
    return folder.endswith(("bin", "Scripts")) or word.startswith("@") or UNKNOWN in folder


def _plain_path(target: str) -> str:
    """A path without detours, with `~` for any home."""
    path = normpath(re.sub(r"/{2,}", "/", target.replace("\\", "/"))) if target else ""
    return _HOME.sub("~", path).lower()


def _is_under(path: str, patterns: Iterable[str], *, parents: bool = True) -> bool:
    """Whether a path is, contains or would replace what one of the patterns names."""
    for pattern in patterns:
        one = pattern.lower()
        rooted = "/" + path if one.startswith("*") else path  # A folder `bin` of a project is not that of the system.
        if fnmatchcase(path, one) or fnmatchcase(rooted, one):
            return True
        if parents or one.endswith("/*"):
            folder = one.rstrip("*").rpartition("/")[0]
            if folder not in ("", "*") and (fnmatchcase(path, folder) or fnmatchcase(rooted, folder)):
                return True
    return False


_SED_ADDRESS = re.compile(
    r"\s*(?:\d+(?:~\d+)?|\$|/(?:[^/\\\n]|\\.)*/[IM]*|\\(.)(?:(?!\1)[^\\\n]|\\.)*\1[IM]*|\+\d+|~\d+)?\s*,?"
)
_SED_BLANK = re.compile(r"[\s!;]*")
_SED_PLAIN = re.compile(
    r"[\s;]*(?:[=dDgGhHnNpPxzF{}]|[lqQL]\s*\d*|[btT:]\s*[^;}\n]*|[rR]\s*[^\n]*|[aic](?:\\\n|\s*)[^\n]*|#[^\n]*)"
)


def _sed_runs(script: str) -> Iterator[str]:
    """Return the command a sed script runs; empty if it only writes or is not understood."""
    at = 0
    while at < len(script):
        for _ in range(2):
            address = _SED_ADDRESS.match(script, at)
            at = address.end() if address else at
        blank = _SED_BLANK.match(script, at)
        at = blank.end() if blank else at
        if at >= len(script):
            return
        line_end = script.find("\n", at) % (len(script) + 1)
        plain = _SED_PLAIN.match(script, at)
        if script[at] in "sy":
            mark = re.escape(script[at + 1 : at + 2] or "/")
            half = rf"((?:(?!{mark})[^\\]|\\.)*){mark}"
            body = re.compile(rf".{mark}{half}{half}([gpIiMm\d]*)(w?)(e?)", re.S).match(script, at)
            if body and body[5]:
                yield re.sub(r"(?<!\\)&|\\\d", UNKNOWN, body[2]) or UNKNOWN
            elif not body or body[4] or script[body.end() : body.end() + 1].isalpha():
                yield ""
            at = body.end() if body and not body[4] else line_end
        elif script[at] == "e":
            yield script[at + 1 : line_end].strip() or UNKNOWN
            at = line_end
        elif plain and plain.end() > at:
            at = plain.end()
        else:
            yield ""
            at = line_end

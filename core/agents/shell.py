"""The meaning of a shell command: what it does, to which files, and what for."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from posixpath import basename, join, normpath
from typing import Any, NamedTuple

from core.agents.shell_script import Part, split
from core.agents.tables import known_pairs, known_phrases
from core.events import PURPOSES, Action, Purpose

_FILE = re.compile(r"^\*\*\* (?:Add|Update|Delete) File: (.+?)\s*$|^\+\+\+ (?:b/)?([^\t\n]+)", re.MULTILINE)
_REMOVED = re.compile(r"^-(?!-- )(.*)$", re.MULTILINE)
_ADDED = re.compile(r"^\+(?!\+\+ )(.*)$", re.MULTILINE)


class Patch(NamedTuple):
    """The content of a patch."""

    targets: tuple[str, ...]
    before: str
    after: str


def read_patch(text: str) -> Patch:
    """Read a patch in either of the two usual notations."""
    targets = dict.fromkeys(match.group(1) or match.group(2).strip() for match in _FILE.finditer(text))
    targets.pop("/dev/null", None)
    return Patch(tuple(targets), "\n".join(_REMOVED.findall(text)), "\n".join(_ADDED.findall(text)))


_INTERPRETERS = frozenset(("python", "pypy", "node", "ruby", "perl", "php", "bash", "sh", "zsh", "deno", "bun", "tsx"))
_TEST_FILE = re.compile(r"(test_.*|.*_test|.*[.-]test|.*[.-]spec|runtests|run_tests?)\.\w+$")
_MANY_GOALS = frozenset(("make", "just", "mvn", "gradle", "gradlew", "rake", "ninja"))


_ORDER: dict[Purpose, int] = {"destructive": 0, "commit": 1, "test": 2, "build": 3, "wait": 4}
_Phrase = tuple[tuple[str, ...], Purpose]  # Further words that a command must contain, and its purpose then.


class Purposes:
    """Phrases such as `npm run test`, by program and by the word after it."""

    def __init__(self, lists: dict[str, tuple[str, ...]]) -> None:
        self._named: dict[str, dict[str, list[_Phrase]]] = {}
        self._any: dict[str, list[_Phrase]] = {}
        for purpose in PURPOSES[1:]:
            for phrase in lists.get(purpose, ()):
                program, *rest = phrase.split()
                if rest and not rest[0].startswith("-") and rest[0] != ".":
                    by_word = self._named.setdefault(program, {})
                    by_word.setdefault(rest[0], []).append((tuple(rest[1:]), purpose))
                else:
                    self._any.setdefault(program, []).append((tuple(rest), purpose))
        by_words = [listed for by_word in self._named.values() for listed in by_word.values()]
        for phrases in (*self._any.values(), *by_words):
            phrases.sort(key=lambda phrase: (_ORDER[phrase[1]], -len(phrase[0])))

    def of(self, program: str, words: list[str]) -> Purpose:
        """The purpose of one simple command."""
        purpose = self._by_phrase(program, words)
        if purpose:
            return "" if purpose == "commit" and "--dry-run" in words else purpose
        if program.rstrip("0123456789.") in _INTERPRETERS:
            for at, word in enumerate(words[1:], 1):
                if not word.startswith("-"):
                    script = basename(word)
                    return "test" if _TEST_FILE.match(script) else self._by_phrase(script, words[at:])
        return "test" if "." in program and _TEST_FILE.match(program) else ""

    def _by_phrase(self, program: str, words: list[str]) -> Purpose:
        best: Purpose = ""
        by_word = self._named.get(program)
        if by_word is not None:
            for word in words[1:]:
                if word.startswith("-"):
                    continue
                for rest, purpose in by_word.get(word) or by_word.get(word.partition(":")[0]) or ():
                    if not best or _ORDER[purpose] < _ORDER[best]:
                        best = purpose if _holds(words, rest) else best
                if program not in _MANY_GOALS:
                    break
        for rest, purpose in self._any.get(program, ()):
            if (not best or _ORDER[purpose] < _ORDER[best]) and _holds(words, rest):
                best = purpose
        return best


def options_match(word: str, option: str) -> bool:
    """Whether a word gives an option, alone, with a value, or among other letters such as -rf."""
    if word == option or word.startswith(option + "="):
        return True
    if len(option) != 2 or not word.startswith("-") or word.startswith("--"):
        return False
    if option == "-i":
        return word.startswith("-i") or re.fullmatch(r"-[a-zA-Z]*i", word) is not None
    return option[1] in word and word[1:].isalpha()


def _holds(words: list[str], rest: tuple[str, ...]) -> bool:
    """Whether a command contains all these words and options."""
    for required in rest:
        if required.startswith("-"):
            if not any(options_match(word, required) for word in words):
                return False
        elif required not in words and not any(word.startswith(required + ":") for word in words):
            return False
    return True


MOST_TARGETS = 16
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*\+?=")
_SUFFIX = re.compile(r"[\w\-]\.[A-Za-z]\w{0,5}$")
_NO_PATH = re.compile(r"""[$*?{}<>|"'`\s=,;@]|://|^-|^\d+$|^/dev/""")
_RANGE = re.compile(r":(:.*|\d[\d:-]*)$")
_DRIVE = re.compile(r"[A-Za-z]:[\\/]")
_KEYWORDS = frozenset(("if", "then", "else", "elif", "do", "while", "until", "!", "{", "}", "done", "fi", "esac"))
_CONDITIONAL = frozenset(("if", "then", "elif", "else", "while", "until", "do", "case", "{", "function"))
_CONTROL = frozenset(("for", "case", "select", "function", "in"))
_SHELLS = frozenset(("bash", "sh", "zsh", "dash", "ksh", "fish"))
_VALUED = known_pairs("option-values")
_PATTERN_FIRST = frozenset(("grep", "egrep", "fgrep", "zgrep", "rg", "ag", "ack", "fd", "fdfind", "git grep"))
_WRITES_ALL = frozenset(("rm", "mv", "touch", "unlink", "tee", "truncate", "dos2unix", "unix2dos"))
_WRITES_LAST = frozenset(("cp", "ln", "install", "rsync"))
# What may rewrite the files it is given, else all below the folder.
_FORMATTERS = tuple(phrase.split() for phrase in known_phrases("formatters"))
_WRITERS = _WRITES_ALL | _WRITES_LAST | {"sed", "perl", "awk", "gawk", "curl", "wget", "dd", "tar", "unzip"}
_GIT_REWRITES = frozenset(("apply", "am", "merge", "pull", "rebase", "cherry-pick", "revert"))
_GIT_WRITES = _GIT_REWRITES | {"cherry", "rm", "mv", "checkout", "restore", "switch", "stash", "reset", "clean"}
# Calls by which a script writes a file, and the names of files in it.
_SCRIPT_WRITES = re.compile(
    r"""\bopen\([^()\n]*,\s*(?:mode\s*=\s*)?['"][rb+]*[wax]|\bwrite_(?:text|bytes)\(|\bwriteFile|\bFile\.write\("""
)
_QUOTED_FILE = re.compile(r"""['"]([\w./-]*\w\.[A-Za-z]\w{0,5})['"]""")
_redirects = re.compile(r">(?!&\d|[ \t]*/dev/null)").search
_words = re.compile(r"\w+").findall
_LOOKS_ONLY = frozenset(("--check", "--diff", "--dry-run", "--check-formatted", "--check-only"))
_READ, _SEARCH, _EDIT, _EXEC = 1, 2, 3, 4
_NAMES: tuple[Action, ...] = ("shell_exec", "file_read", "search", "file_edit", "shell_exec")
PURPOSE_RANKS: dict[str, int] = {"destructive": 5, "commit": 4, "test": 3, "build": 2, "wait": 1, "": 0}
_DEEPEST = 4
_MOST_KNOWN = 4096
_LONGEST_KNOWN = 256  # Letters of a simple command that is remembered.


class Command(NamedTuple):
    """The meaning of a whole command line."""

    action: Action
    program: str = ""
    purpose: Purpose = ""
    targets: tuple[str, ...] = ()
    before: str = ""  # Of a patch, the text taken away.
    after: str = ""


class _Judged(NamedTuple):
    strength: int
    program: str
    purpose: Purpose
    targets: list[str]
    patch: str = ""


class ShellWrite(NamedTuple):
    """The effect of a command on a file."""

    surely: bool
    content: str | None = None  # Its whole text afterwards, if the command names it.
    deletes: bool = False


_SURELY, _MAYBE = ShellWrite(True), ShellWrite(False)


# A simple command without redirections: whether it reads what another writes, and its words.
_Simple = tuple[bool, tuple[str, ...]]


class Shell:
    """Judges commands by lists of program names."""

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
        # Simple commands come again and again: what each is, and the folder it enters.
        self._cached_verdicts: dict[_Simple, tuple[_Judged, str | None]] = {}

    def judge(self, command: Any) -> Command:
        """Judge a command line, or a list of words that is run without a shell."""
        verdicts: list[_Judged] = []
        self._judge_parts(_parts(command), verdicts, "", 0)
        return _strongest(verdicts)

    def _judge_parts(self, parts: list[Part], verdicts: list[_Judged], folder: str, depth: int) -> None:
        for part in parts:
            plain = not part.writes and not part.here
            key = (part.piped, tuple(part.words))
            cached = self._cached_verdicts.get(key) if plain else None
            if cached is None:
                words = self._bare(part.words)
                inner = _script_of(words)
                if inner is not None and depth < _DEEPEST:
                    self._judge_parts(split(inner), verdicts, folder, depth + 1)
                    continue
                judged = self._part(part, words)
                cached = judged, _entered(judged.program, words)
                if plain and inner is None:
                    self._keep(key, cached)
            judged, entered = cached
            if folder and judged.targets:
                judged = judged._replace(targets=[_under(folder, target) for target in judged.targets])
            verdicts.append(judged)
            if entered is not None:
                folder = _under(folder, entered)

    def commands(self, command: Any, depth: int = 0) -> Iterator[list[str]]:
        """Yield the words of every simple command, without what only runs it and without the options of git."""
        for part in _parts(command):
            words = self._bare(part.words)
            inner = _script_of(words) if depth < _DEEPEST else None
            if inner is not None:
                yield from self.commands(inner, depth + 1)
            elif words:
                words = [basename(words[0]), *words[1:]]
                yield _plain_git(words) if words[0] == "git" else words

    def writes(self, command: Any) -> dict[str, ShellWrite]:
        """Return what a command line writes, by its path; `.` is all that is in the folder."""
        paths: dict[str, ShellWrite] = {}
        if isinstance(command, str) and not _looks_like_writing(command):
            return paths
        self._add_writes(_parts(command), paths, "", 0)
        return paths

    def _add_writes(self, parts: list[Part], paths: dict[str, ShellWrite], folder: str, depth: int) -> None:
        branches = any(part.operator == "||" or _CONDITIONAL.intersection(part.words[:1]) for part in parts)
        for part in parts:
            words = self._bare(part.words)
            inner = _script_of(words)
            if inner is not None and depth < _DEEPEST:
                self._add_writes(split(inner), paths, folder, depth + 1)
                continue
            copies = words == ["cat"] and len(part.here) == 1 and part.literal and not (part.appends or branches)
            redirected = ShellWrite(True, part.here[0] if copies else None)
            targets = dict.fromkeys(_named_files(part.writes), redirected)
            if words and words[0] not in _CONTROL:
                words = [basename(words[0]), *words[1:]]
                for target, write in _written(_plain_git(words) if words[0] == "git" else words, part.here).items():
                    above, pattern, _ = target.partition("*")
                    path = (above.rpartition("/")[0] or ".") if pattern else target
                    if not _NO_PATH.search(path):
                        targets[path] = ShellWrite(False) if pattern else write
            for target, write in targets.items():
                path = _under(folder, target)
                earlier = paths.pop(path, write)
                paths[path] = write._replace(surely=write.surely or earlier.surely)
            entered = _entered(words[0], words) if words else None
            folder = folder if entered is None else _under(folder, entered)

    def _keep(self, key: _Simple, verdict: tuple[_Judged, str | None]) -> None:
        if sum(map(len, key[1])) <= _LONGEST_KNOWN:
            if len(self._cached_verdicts) >= _MOST_KNOWN:
                self._cached_verdicts.clear()
            self._cached_verdicts[key] = verdict

    def _bare(self, words: list[str]) -> list[str]:
        """The words without assignments, keywords and programs that only run another."""
        at, end = 0, len(words)
        while at < end:
            word = words[at]
            if word in _KEYWORDS or ("=" in word and _ASSIGNMENT.match(word)):
                at += 1
            elif (word in self._wrappers or ("/" in word and basename(word) in self._wrappers)) and at + 1 < end:
                at = _after_options(words, at + 1, basename(word))
            else:
                runs = self._after_runner(words, at)
                if runs == at:
                    break
                at = runs
        return words[at:] if at else words

    def _after_runner(self, words: list[str], at: int) -> int:
        """Return where the program begins that the one at `at` runs; `at` if it runs none."""
        for rest in self._runners.get(words[at], ()):
            begin = at + 1 + len(rest)
            if len(words) > begin and words[at + 1 : begin] == rest:
                begin = _after_options(words, begin, "")
                return begin if begin < len(words) else at
        return at

    def _part(self, part: Part, words: list[str]) -> _Judged:
        writes = _named_files(part.writes)
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
                    strength = self._kind(Part(inner), basename(inner[0]), inner)[0] if inner else 0
                    return max(_SEARCH, strength), _before_options(words), ""
            return _SEARCH, _before_options(words), ""
        operands = _operands(words[phrase.count(" ") :], phrase)
        has_pattern = any(options_match(word, "-e") or word == "--files" for word in words[1:])
        return _SEARCH, operands[1:] if phrase in _PATTERN_FIRST and not has_pattern else operands, ""


def _looks_like_writing(command: str) -> bool:
    """Whether a command line contains what one that writes a file does."""
    words = set(_words(command))
    if not _WRITERS.isdisjoint(words) or ("git" in words and not _GIT_WRITES.isdisjoint(words)) or _redirects(command):
        return True
    formats = any(first in command and all(word in command for word in rest) for first, *rest in _FORMATTERS)
    return formats or (("(" in command or "writeFile" in command) and _SCRIPT_WRITES.search(command) is not None)


def _parts(command: Any) -> list[Part]:
    """Return the simple commands of a command line, or of a list of words; none of anything else."""
    if isinstance(command, str):
        return split(command)
    is_words = isinstance(command, list) and all(isinstance(word, str) for word in command)
    return [Part(list(command))] if is_words else []


def _named_files(targets: list[str]) -> list[str]:
    """Return the files among the targets of redirections; devices and expansions are left out."""
    return [target for target in targets if not target.startswith("/dev/") and "$" not in target]


def _written(words: list[str], scripts: Sequence[str]) -> dict[str, ShellWrite]:
    """Return what a simple command writes, by its path."""
    program, operands = words[0], [word for word in words[1:] if not word.startswith("-")]
    if program == "git" and operands:
        return _written_by_git(operands.pop(0), words, operands)
    for name, *rest in _FORMATTERS:
        if name == program and _holds(words, tuple(rest)) and not _LOOKS_ONLY.intersection(words):
            return dict.fromkeys([word for word in operands if word not in rest] or ["."], _MAYBE)
    if program in ("sed", "perl", "awk", "gawk") and any(options_match(word, "-i") for word in words[1:4]):
        return dict.fromkeys([word for word in operands if word][1:], _SURELY)
    if program.rstrip("0123456789.") in _INTERPRETERS:
        return dict.fromkeys(_named_by_script("\n".join((*scripts, *words[1:]))), _MAYBE)
    if program in ("curl", "wget", "dd"):
        option = {"curl": "-o", "wget": "-O", "dd": ""}[program]
        files = [after for word, after in pairwise(words) if (option and word == option) or after.startswith("of=")]
        return {file.removeprefix("of="): _SURELY for file in files}
    if program in ("tar", "unzip"):
        unpacks = program == "unzip" or any("x" in word for word in words[1:2]) or "--extract" in words
        folders = [word for before, word in pairwise(words) if before in ("-C", "--directory", "-d")]
        return dict.fromkeys(folders or ["."], _MAYBE) if unpacks else {}
    if program in _WRITES_LAST:
        return dict.fromkeys(operands[-1:], _SURELY)
    if program not in _WRITES_ALL:
        return {}
    options = {option for option in "rRf" if any(options_match(word, f"-{option}") for word in words)}
    removes = program in ("rm", "unlink") and not options & {"r", "R"}
    return dict.fromkeys(operands, ShellWrite(program != "rm" or not options, deletes=removes))


def _named_by_script(script: str) -> list[str]:
    """Return the files that a script names, if it writes any."""
    if not _SCRIPT_WRITES.search(script):
        return []
    return list(dict.fromkeys(name for name in _QUOTED_FILE.findall(script) if "//" not in name))[:MOST_TARGETS]


def _written_by_git(subcommand: str, words: list[str], operands: list[str]) -> dict[str, ShellWrite]:
    """Return what a git command writes in the working tree, by its path."""
    if subcommand in ("rm", "mv"):
        return {} if "--cached" in words else dict.fromkeys(operands, ShellWrite(True, deletes=subcommand == "rm"))
    paths = words[words.index("--") + 1 :] if "--" in words else [word for word in operands if _looks_like_path(word)]
    if subcommand in ("checkout", "restore", "switch"):
        if {"-b", "-c", "-B", "-C", "--orphan"}.intersection(words):
            return {}
        if subcommand == "restore" and "--staged" in words and "--worktree" not in words:
            return {}
        names_files = "--" in words or subcommand == "restore" or any(_SUFFIX.search(word) for word in operands)
        named = [*paths, *(["."] if "." in operands or (operands and not names_files) else [])]
        return dict.fromkeys(named, _MAYBE)
    stashes = subcommand == "stash" and operands[:1] in ([], ["push"], ["save"])
    resets = subcommand == "reset" and "--hard" in words
    cleans = subcommand == "clean" and any(options_match(word, "-f") for word in words)
    return {".": _MAYBE} if stashes or resets or cleans or subcommand in _GIT_REWRITES else {}


def _entered(program: str, words: list[str]) -> str | None:
    """Return the folder that `cd` enters; None for any other command or an unknown folder."""
    enters = program in ("cd", "pushd") and len(words) > 1 and not _NO_PATH.search(words[1])
    return words[1] if enters else None


def _under(folder: str, target: str) -> str:
    """Return a path relative to a folder; a path with a drive stays as it is."""
    return target if _DRIVE.match(target) else normpath(join(folder, target))


def _strongest(verdicts: list[_Judged]) -> Command:
    if not verdicts:
        return Command("shell_exec")
    leading = verdicts[0]
    strength, purpose, targets = leading.strength, leading.purpose, leading.targets
    patches = leading.patch
    for part in verdicts[1:]:
        if PURPOSE_RANKS[part.purpose] > PURPOSE_RANKS[purpose]:
            purpose = part.purpose
        if part.strength > strength:
            leading, strength, targets, patches = part, part.strength, part.targets, part.patch
        elif part.strength == strength:
            if PURPOSE_RANKS[part.purpose] > PURPOSE_RANKS[leading.purpose] or not leading.program:
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
            at += 2 if word in ("-u", "-n", "-I", "-L", "-P", "-s", "-k", "--with", "--extra", "--group", "-p") else 1
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
    operands: list[str] = []
    skip = False
    for word in words[1:]:
        if skip:
            skip = False
        elif word.startswith("-") and len(word) > 1:
            skip = len(word) == 2 and word[1] in valued and not (program == "sed" and word[1] == "e")
        elif word != "-":
            operands.append(word)
    keep = 1 if program in _PATTERN_FIRST or program in ("sed", "perl") else 0
    return operands[:keep] + [word for word in operands[keep:] if not _NO_PATH.search(word)]


def _before_options(words: list[str]) -> list[str]:
    operands = []
    for word in words[1:]:
        if word.startswith(("-", "(", "!", "\\")):
            break
        if not _NO_PATH.search(word):
            operands.append(word)
    return operands


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

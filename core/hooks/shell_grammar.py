"""A shell script read by its grammar: every simple command in it, however deep it is nested.

Nothing is run. An expansion whose value the script itself does not give is `UNKNOWN` in a word.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import NamedTuple

UNKNOWN = "\0"
LONGEST = 1 << 18  # Characters of a script beyond which it is not read.
_SPLIT = "\1"  # Separates words inside of one that an unquoted expansion divides.
_DEEPEST = 40
_BLANK = re.compile(r"(?:[ \t\r]|\\\r?\n)+")
_OPERATOR = re.compile(r"&&|\|\||\|&|;;&|;;|;&|[;|&\n]")
_REDIRECT = re.compile(r"(?:\d+|\{\w+\})?(&>>?|>>|>\||>&|<<<|<<-?|<>|<&|>(?!\()|<(?!\())[ \t]*")
_DELIMITER = re.compile(r"(?:'[^'\n]*'|\"[^\"\n]*\"|\\.|[^ \t\r\n;&|<>()'\"\\])+")
_ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)(?:\[[^\]\s]*\])?\+?=")
_FUNCTION = re.compile(r"[ \t]*\([ \t]*\)")
_PLAIN = re.compile(r"[^ \t\r\n'\"\\`$|&;<>()]+")
_INSIDE = re.compile(r"[^\"\\$`]+")
_NAME = re.compile(r"\$(?:([A-Za-z_]\w*)|\{([A-Za-z_]\w*)\}|[0-9@*#?$!-])")
_BARE = re.compile(r"(?<![$\w{])[A-Za-z_]\w*")
_BRACES = re.compile(r"\{[^{}]*(?:,|\.\.)[^{}]*\}")
_ESCAPE = re.compile(r"\\(?:x([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{1,4})|U([0-9a-fA-F]{1,8})|([0-7]{1,3})|c?(.))", re.S)
_LETTERS = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "e": "\033", "E": "\033", "f": "\f", "v": "\v"}
_SKIPPED = frozenset(("if", "then", "else", "elif", "do", "while", "until", "!", "{", "}", "done", "fi"))
_PLACES = {
    "HOME": "~",
    "PWD": ".",
    "IFS": " ",
    "XDG_DATA_HOME": "~/.local/share",
    "XDG_CONFIG_HOME": "~/.config",
    "CLAUDE_CONFIG_DIR": "~/.claude",
    "CODEX_HOME": "~/.codex",
}


class Unreadable(ValueError):
    """A script that the grammar does not cover."""


class Simple(NamedTuple):
    """One simple command."""

    words: list[str]
    assignments: list[tuple[str, str]]
    writes: list[str]  # Files it is redirected to.
    here: list[str]  # Texts it gets on standard input.
    piped: bool  # Standard input comes from another command.
    reads: list[str]  # Files that are its standard input.


def simple_commands(script: str) -> list[Simple]:
    """Every simple command of a script, in order; raises `Unreadable` if the grammar does not cover it."""
    if len(script) > LONGEST:
        raise Unreadable("it is too long")
    if UNKNOWN in script or _SPLIT in script:
        raise Unreadable("it contains control characters")
    scanner = _Scanner(script, [], {}, Counter(_BARE.findall(script)), 0)
    scanner.commands("")
    return scanner.found


class _Scanner:
    """Reads one text in a single pass."""

    __slots__ = ("at", "constants", "depth", "found", "names", "pending", "piped", "text")

    def __init__(
        self, text: str, parts: list[Simple], constants: dict[str, str], names: Counter[str], depth: int
    ) -> None:
        self.text = text
        self.at = 0
        self.found = parts
        self.constants = constants
        self.names = names  # How often a name is in the script other than as an expansion.
        self.depth = depth
        self.piped = False  # All that follows may read what another command writes.
        self.pending: list[tuple[str, bool, bool, list[str]]] = []  # Here-documents whose text begins on the next line.

    def commands(self, closer: str) -> None:
        """Read commands up to `closer`: a bracket, the end of a case's branch, or the end of the text."""
        self.depth += 1
        if self.depth > _DEEPEST:
            raise Unreadable("it is nested too deep")
        piped = self.piped
        while True:
            self._blank()
            mark = self.text[self.at : self.at + 1]
            if mark in ("", ")"):
                if mark != closer:
                    raise Unreadable(f"unmatched {closer or mark}")
                self.at += len(mark)
                break
            operator = None if mark == "&" and self._next("&>") else _OPERATOR.match(self.text, self.at)
            if operator:
                self.at = operator.end()
                piped = operator.group() in ("|", "|&") or self.piped
                if mark == "\n":
                    self._bodies()
                elif operator.group() in (";;", ";&", ";;&"):
                    if closer != ";;":
                        raise Unreadable("a branch ends outside of a case")
                    break
            elif mark == "(":
                self._bracket(piped)
            elif self._simple(piped, closer):
                break
        self.depth -= 1

    def _bracket(self, piped: bool) -> None:
        if self._next("(("):
            self.at += 2
            self._arithmetic()
            return
        self.at += 1
        before, self.piped = self.piped, piped
        self.commands(")")
        self.piped = before

    def _simple(self, piped: bool, closer: str) -> bool:
        """Read one simple command; whether it was the word that closes a case."""
        one = Simple([], [], [], [], piped, [])
        while True:
            self._blank()
            mark = self.text[self.at : self.at + 1]
            if not mark or mark in "\n;|)" or (mark == "&" and not self._next("&>")):
                break
            if mark == "#":
                self._comment()
            elif redirect := _REDIRECT.match(self.text, self.at):
                self._redirection(redirect, one)
            elif mark == "(":
                if not one.words:
                    break
                self._function(one)
            elif not one.words and (assignment := _ASSIGNMENT.match(self.text, self.at)):
                self._assignment(assignment, one)
            elif self._add_word(one, piped) == "esac":
                if closer != ";;":
                    raise Unreadable("esac without a case")
                return True
        if one.words or one.assignments or one.writes or one.here or one.reads:
            self.found.append(one)
        return False

    def _comment(self) -> None:
        end = self.text.find("\n", self.at)
        self.at = len(self.text) if end < 0 else end

    def _function(self, one: Simple) -> None:
        function = _FUNCTION.match(self.text, self.at)
        if not function or len(one.words) != 1:
            raise Unreadable("an unexpected bracket")
        self.at = function.end()
        one.words.clear()

    def _assignment(self, assignment: re.Match[str], one: Simple) -> None:
        self.at = assignment.end()
        name, value = assignment[1], " ".join(self._array() if self._next("(") else self._value())
        one.assignments.append((name, value))
        if name == "IFS":
            self.constants.clear()
        elif "IFS" not in self.names and self.names[name] == 1 and UNKNOWN not in value and "+" not in assignment[0]:
            self.constants[name] = value

    def _add_word(self, one: Simple, piped: bool) -> str:
        """Add the next word to a command, unless it is a keyword; the keyword, else blank."""
        start = self.at
        words = self._word()
        raw = self.text[start : self.at]
        if not raw:
            raise Unreadable("an unexpected character")
        if not one.words and not one.assignments and self._keyword(raw, piped):
            return raw
        if not one.words and words and _BRACES.search(raw):
            words[0] = UNKNOWN
        one.words.extend(words)
        if raw.endswith("=") and self._next("("):
            one.words.extend(self._array())
        return ""

    def _keyword(self, raw: str, piped: bool) -> bool:
        """Whether a word belongs to a compound command, and then read what only that can contain."""
        if raw in ("for", "select"):
            self._blank()
            if self._next("(("):
                self._bracket(piped=False)
                return True
            self._word()
            self._lines()
            if re.compile(r"in\b").match(self.text, self.at):
                self._word()
                while not self._ends():
                    if not self._word():
                        raise Unreadable("a list is not closed")
        elif raw == "case":
            self._blank()
            self._word()
            self._lines()
            if "".join(self._word()) != "in":
                raise Unreadable("a case without in")
            self._branches()
        elif raw == "function":
            self._blank()
            self._word()
            function = _FUNCTION.match(self.text, self.at)
            self.at = function.end() if function else self.at
        elif raw == "[[":
            self._condition()
        elif raw not in _SKIPPED and raw != "esac":
            return False
        self.piped = self.piped or piped
        return True

    def _ends(self) -> bool:
        self._blank()
        mark = self.text[self.at : self.at + 1]
        if mark and mark in "&|<>()":
            raise Unreadable("a list is not closed")
        return not mark or mark in "\n;"

    def _branches(self) -> None:
        while True:
            self._lines()
            if re.compile(r"esac\b").match(self.text, self.at):
                self.at += 4
                return
            if self._next("("):
                self.at += 1
            while not self._next(")"):
                self._blank()
                if self._next("|"):
                    self.at += 1
                elif not self._next(")") and not self._word():
                    raise Unreadable("a branch is not closed")
            self.at += 1
            before = self.at
            self.commands(";;")
            if self.text[max(before, self.at - 4) : self.at] == "esac":
                return

    def _condition(self) -> None:
        while True:
            self._lines()
            mark = self.text[self.at : self.at + 1]
            if not mark:
                raise Unreadable("]] is missing")
            if mark in "<>&|();":
                self.at += 1
                continue
            start = self.at
            self._word()
            if self.text[start : self.at] == "]]":
                return

    def _redirection(self, redirect: re.Match[str], one: Simple) -> None:
        operator = redirect[1]
        self.at = redirect.end()
        if operator in ("<<", "<<-"):
            delimiter = _DELIMITER.match(self.text, self.at)
            if not delimiter:
                raise Unreadable("a here-document has no end mark")
            self.at = delimiter.end()
            quoted = any(mark in delimiter[0] for mark in "'\"\\")
            mark = re.sub(r"['\"\\]", "", delimiter[0])
            self.pending.append((mark, quoted, operator == "<<-", one.here))
            return
        target = " ".join(self._word())
        if operator == "<<<":
            one.here.append(target)
        elif operator in (">&", "<&") and (target.rstrip("-").isdecimal() or target == "-"):
            return
        elif ">" in operator:
            if not target:
                raise Unreadable("a redirection has no target")
            one.writes.append(target)
        else:
            one.reads.append(target)
            if UNKNOWN in target:
                one.here.append(UNKNOWN)

    def _bodies(self) -> None:
        for delimiter, quoted, stripped, here in self.pending:
            start, body = self.at, []
            while start < len(self.text):
                end = self.text.find("\n", start)
                end = len(self.text) if end < 0 else end
                line = self.text[start:end]
                start = end + 1
                if (line.lstrip("\t") if stripped else line).rstrip("\r") == delimiter:
                    break
                body.append(line)
            self.at = min(start, len(self.text))
            text = "\n".join(body)
            here.append(text if quoted else self._inner(text)._double(""))
        self.pending.clear()

    def _inner(self, text: str) -> _Scanner:
        if self.depth >= _DEEPEST:
            raise Unreadable("it is nested too deep")
        return _Scanner(text, self.found, self.constants, self.names, self.depth + 1)

    def _next(self, mark: str) -> bool:
        return self.text.startswith(mark, self.at)

    def _blank(self) -> None:
        blank = _BLANK.match(self.text, self.at)
        self.at = blank.end() if blank else self.at

    def _lines(self) -> None:
        """Skip blanks, line ends, comments and the `;` before a keyword."""
        while True:
            self._blank()
            if self._next("\n"):
                self.at += 1
                self._bodies()
            elif self._next("#"):
                self._comment()
            else:
                return

    def _array(self) -> list[str]:
        self.at += 1
        words: list[str] = []
        while True:
            self._lines()
            if self._next(")"):
                self.at += 1
                return words
            word = self._word()
            if not word:
                raise Unreadable("an array is not closed")
            words.extend(word)

    def _value(self) -> list[str]:
        return [] if self.text[self.at : self.at + 1] in ("", " ", "\t", "\n", ";", "&", "|", ")") else self._word()

    def _word(self) -> list[str]:
        """One word without its quotes; several if an expansion divides it, none if there is none."""
        text, end, start = self.text, len(self.text), self.at
        pieces: list[str] = []
        while self.at < end:
            plain = _PLAIN.match(text, self.at)
            if plain:
                pieces.append(plain.group())
                self.at = plain.end()
                continue
            mark = text[self.at]
            if mark == "'":
                pieces.append(self._single(self.at + 1))
            elif mark == '"':
                self.at += 1
                pieces.append(self._double('"'))
            elif mark == "\\":
                if text.startswith(("\n", "\r\n"), self.at + 1):
                    self.at = text.index("\n", self.at) + 1
                    continue
                pieces.append(text[self.at + 1 : self.at + 2])
                self.at = min(end, self.at + 2)
            elif mark == "$":
                pieces.append(self._dollar(quoted=False))
            elif mark == "`":
                pieces.append(self._backtick())
            elif text.startswith(("<(", ">("), self.at):
                self.at += 1
                self._bracket(piped=mark == ">")
                pieces.append(UNKNOWN)
            elif mark in "(" and pieces and pieces[-1][-1:] in "?*+@!":
                raise Unreadable("a pattern that not every shell knows")
            else:
                break
        if self.at == start:
            return []
        word = "".join(pieces)
        return [part for part in word.split(_SPLIT) if part] if _SPLIT in word else [word]

    def _single(self, start: int) -> str:
        close = self.text.find("'", start)
        if close < 0:
            raise Unreadable("a quote is not closed")
        self.at = close + 1
        return self.text[start:close]

    def _double(self, closer: str) -> str:
        """The text up to `closer`, or to the end; what it substitutes is read as commands."""
        text, end = self.text, len(self.text)
        pieces: list[str] = []
        while self.at < end:
            inside = _INSIDE.match(text, self.at)
            if inside:
                pieces.append(inside.group())
                self.at = inside.end()
                continue
            mark = text[self.at]
            if mark == '"':
                self.at += 1
                if closer:
                    return "".join(pieces)
                pieces.append(mark)
            elif mark == "\\":
                following = text[self.at + 1 : self.at + 2]
                pieces.append(
                    following if following in ("$", "`", '"', "\\") else "" if following == "\n" else mark + following
                )
                self.at += 2
            elif mark == "$":
                pieces.append(self._dollar(quoted=True))
            else:
                pieces.append(self._backtick())
        if closer:
            raise Unreadable("a quote is not closed")
        return "".join(pieces)

    def _dollar(self, *, quoted: bool) -> str:
        text = self.text
        name = _NAME.match(text, self.at)
        if name:
            self.at = name.end()
            value = self._variable(name[1] or name[2] or "")
            return value if quoted else re.sub(r"[ \t\n]+", _SPLIT, value)
        if self._next("$(("):
            self.at += 3
            self._arithmetic()
        elif self._next("$("):
            self.at += 1
            self._bracket(piped=self.piped)
        elif self._next("${"):
            self.at += 2
            self._braced()
        elif self._next("$'") and not quoted:
            return self._escaped()
        elif self._next('$"') and not quoted:
            self.at += 2
            return self._double('"')
        else:
            self.at += 1
            return "$"
        return UNKNOWN

    def _variable(self, name: str) -> str:
        if name in self.constants:
            return self.constants[name]
        return _PLACES[name] if name in _PLACES and not self.names[name] else UNKNOWN

    def _escaped(self) -> str:
        start = at = self.at + 2
        while (at := self.text.find("'", at)) > 0:
            slashes = at
            while slashes > start and self.text[slashes - 1] == "\\":
                slashes -= 1
            if (at - slashes) % 2 == 0:
                self.at = at + 1
                return _ESCAPE.sub(_unescape, self.text[start:at])
            at += 1
        raise Unreadable("a quote is not closed")

    def _backtick(self) -> str:
        start = at = self.at + 1
        while at < len(self.text) and self.text[at] != "`":
            at += 2 if self.text[at] == "\\" else 1
        if at >= len(self.text):
            raise Unreadable("a quote is not closed")
        self.at = at + 1
        inner = self._inner(re.sub(r"\\([`\\$])", r"\1", self.text[start:at]))
        inner.piped = self.piped
        inner.commands("")
        return UNKNOWN

    def _braced(self) -> None:
        self._balanced("{", "}")

    def _arithmetic(self) -> None:
        self._balanced("(", ")")
        if not self._next(")"):
            raise Unreadable("arithmetic that could be a command")
        self.at += 1

    def _balanced(self, opening: str, closing: str) -> None:
        """Step over an expression; what it substitutes is read as commands."""
        depth, text, end = 1, self.text, len(self.text)
        self.depth += 1
        if self.depth > _DEEPEST:
            raise Unreadable("it is nested too deep")
        while self.at < end:
            mark = text[self.at]
            if mark == "$" and not self._next("$'"):
                self._dollar(quoted=True)
                continue
            if mark == "`":
                self._backtick()
                continue
            if mark == '"':
                self.at += 1
                self._double('"')
                continue
            if mark == "'" and opening == "{":
                self._single(self.at + 1)
                continue
            if opening == "{" and text.startswith(("<(", ">("), self.at):
                raise Unreadable("a command in an expansion")
            self.at += 2 if mark == "\\" else 1
            depth += (mark == opening) - (mark == closing)
            if depth == 0:
                self.depth -= 1
                return
        raise Unreadable(f"{closing} is missing")


def _unescape(match: re.Match[str]) -> str:
    for digits, base in ((match[1], 16), (match[2], 16), (match[3], 16), (match[4], 8)):
        if digits:
            number = int(digits, base)
            return chr(number) if 1 < number < 0x110000 else UNKNOWN
    return _LETTERS.get(match[5], match[5] if match[5] in "\\'\"?" else match[0])

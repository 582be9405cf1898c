"""A shell script taken apart into its simple commands, without running or expanding anything."""

from __future__ import annotations

import re

from msgspec import Struct

LONGEST = 32_768  # Of a longer script only the beginning is looked at.

_BLANK = re.compile(r"(?:[ \t\r]|\\\r?\n)+")
_OPERATOR = re.compile(r"(&&|\|\||\|&|;;|[;|&\n()])[ \t]*")
_HERE = re.compile(r"<<(-)?[ \t]*(?:'([^'\n]+)'|\"([^\"\n]+)\"|(\\)?([\w.-]+))")
_REDIRECT = re.compile(r"(\d*)(&>>?|>>|>\||>&|<<<|<>|<&|>|<)[ \t]*")
# Words that nothing has to be taken off.
_RUN = re.compile(r"(?:[^\s'\"\\`$|&;<>()#][^\s'\"\\`$|&;<>()]*(?:[ \t]+|\Z))+")
# Redirections that write no file.
_QUIET = re.compile(r"(?:[12]?>&[12]|[12&]?>>?[ \t]*/dev/null)(?=[\s;|&)]|\Z)[ \t]*")
_WINDOWS = re.compile(r"(?:[A-Za-z]:|\.\.?)(?:\\[\w .-]+)*")
# The beginning of a path whose parts are parted by backslashes, and what may come next of it.
_WINDOWS_MORE = re.compile(r"[\w .-]*(?:\\[\w .-]+)*")
_DRIVE = 4  # Pieces of a word in which such a path has to begin.
_NAMING = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-")
_ESCAPED = frozenset(("$", "`", '"', "\\", "\n"))  # Characters that a backslash escapes between double quotes.
_PLAIN = re.compile(r"[^\s'\"\\`$|&;<>()]+")
_EXPANDED = re.compile(r"[$`\\]")  # Characters by which a shell changes a here-document.
_INSIDE = re.compile(r"[^\"\\$`]+")


class Part(Struct):
    """One simple command of a script."""

    words: list[str]
    operator: str = ""  # What stands before it.
    writes: list[str] = []  # Files its output is redirected to.
    appends: bool = False  # Whether it adds to one of them.
    here: list[str] = []  # The here-documents it is given.
    literal: bool = True  # Whether those are complete and the shell changes nothing in them.

    @property
    def piped(self) -> bool:
        """Whether it reads what the part before it writes."""
        return self.operator in ("|", "|&")


def split(script: str) -> list[Part]:
    """Return the simple commands of a script in order, without quotes and with `$()` for substitutions."""
    return _Scanner(script[:LONGEST]).run()


class _Scanner:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.parts: list[Part] = []
        self.part = Part([])
        self.heres: list[tuple[re.Match[str], Part]] = []

    def run(self) -> list[Part]:
        text, end = self.text, len(self.text)
        while self.at < end:
            run = _RUN.match(text, self.at)
            if run:
                self.at = run.end()
                self.part.words.extend(run.group().split())
                continue
            mark = text[self.at]
            quiet = _QUIET.match(text, self.at) if mark in "12&>" else None
            if quiet:
                self.at = quiet.end()
                continue
            if mark in " \t\r\\":
                blank = _BLANK.match(text, self.at)
                if blank:
                    self.at = blank.end()
                    continue
            if mark == "#":
                line = text.find("\n", self.at)
                self.at = end if line < 0 else line
            elif (mark in "<>&" or mark.isdigit()) and self._redirection():
                continue
            elif mark in "&|;\n()":
                self._operator()
            else:
                self.part.words.append(self._word())
        self._close()
        return self.parts

    def _operator(self) -> None:
        match = _OPERATOR.match(self.text, self.at)
        operator = match.group(1) if match else self.text[self.at]
        self.at = match.end() if match else self.at + 1
        self._close(operator)
        if operator == "\n":
            self._bodies()

    def _close(self, operator: str = "") -> None:
        if self.part.words or self.part.writes or self.part.here:
            self.parts.append(self.part)
        self.part = Part([], operator)

    def _redirection(self) -> bool:
        here = _HERE.match(self.text, self.at)
        if here and not self.text.startswith("<<<", self.at):
            self.at = here.end()
            self.heres.append((here, self.part))
            return True
        match = _REDIRECT.match(self.text, self.at)
        if not match:
            return False
        self.at = match.end()
        if self.at >= len(self.text) or self.text[self.at] in "&|;\n()":
            if self.text.startswith(("&1", "&2", "&-"), self.at):
                self.at += 2
            elif self.text.startswith("(", self.at):
                self.at = _substitution(self.text, self.at)
            return True
        target = self._word()
        number, operator = match.groups()
        if ">" in operator and number in ("", "1") and not (operator == ">&" and (target.isdigit() or target == "-")):
            self.part.writes.append(target)
            self.part.appends = self.part.appends or operator in (">>", "&>>")
        return True

    def _bodies(self) -> None:
        for here, part in self.heres:
            body, at = _body(self.text, self.at, _delimiter(here))
            part.here.append(body)
            literal = here[2] or here[3] or here[4] or not _EXPANDED.search(body)
            part.literal = part.literal and bool(literal) and not here[1] and at > self.at + len(body)
            self.at = at
        self.heres.clear()

    def _word(self) -> str:
        text, end = self.text, len(self.text)
        pieces: list[str] = []
        checked, windows = 0, False
        while self.at < end:
            plain = _PLAIN.match(text, self.at)
            if plain:
                pieces.append(plain.group())
                self.at = plain.end()
                continue
            mark = text[self.at]
            if mark == "'":
                close = text.find("'", self.at + 1)
                close = end if close < 0 else close
                pieces.append(text[self.at + 1 : close])
                self.at = close + 1
            elif mark == '"':
                piece, self.at = _double(text, self.at + 1)
                pieces.append(piece)
            elif mark == "\\" and self.at + 1 < end and text[self.at + 1] != "\n":
                if checked <= _DRIVE or windows:
                    pattern = _WINDOWS_MORE if windows else _WINDOWS
                    windows = bool(pattern.fullmatch("".join(pieces[checked if windows else 0 :])))
                    checked = len(pieces)
                if windows and text[self.at + 1] in _NAMING:
                    pieces.append(mark)
                    self.at += 1
                    continue
                pieces.append(text[self.at + 1])
                self.at += 2
            elif mark == "$":
                piece, self.at = _dollar(text, self.at)
                pieces.append(piece)
            elif mark == "`":
                self.at = _backtick(text, self.at)
                pieces.append("$()")
            else:
                break
        if not pieces and self.at < end:
            self.at += 1
        return "".join(pieces)


def _delimiter(here: re.Match[str]) -> str:
    return here[2] or here[3] or here[5]


def _body(text: str, start: int, delimiter: str) -> tuple[str, int]:
    """Return a here-document from `start`, and where the script continues."""
    match = re.compile(rf"^[ \t]*{re.escape(delimiter)}[ \t]*$", re.MULTILINE).search(text, start)
    if not match:
        return text[start:], len(text)
    return text[start : match.start()], match.end()


def _double(text: str, at: int) -> tuple[str, int]:
    """The content of a double-quoted string that begins at `at`, and the place after it."""
    pieces: list[str] = []
    end = len(text)
    while at < end:
        inside = _INSIDE.match(text, at)
        if inside:
            pieces.append(inside.group())
            at = inside.end()
            continue
        mark = text[at]
        if mark == '"':
            return "".join(pieces), at + 1
        if mark == "\\":
            following = text[at + 1 : at + 2]
            pieces.append(following if following in _ESCAPED else mark + following)
            at += 2
        elif mark == "$":
            piece, at = _dollar(text, at)
            pieces.append(piece)
        else:
            at = _backtick(text, at)
            pieces.append("$()")
    return "".join(pieces), end


def _dollar(text: str, at: int) -> tuple[str, int]:
    if text.startswith("$(", at):
        return "$()", _substitution(text, at + 1)
    if text.startswith("${", at):
        close = text.find("}", at)
        close = len(text) - 1 if close < 0 else close
        return text[at : close + 1], close + 1
    return "$", at + 1


def _backtick(text: str, at: int) -> int:
    close = text.find("`", at + 1)
    return len(text) if close < 0 else close + 1


def _substitution(text: str, at: int) -> int:
    """The place after the bracket that closes the one at `at`; quotes and here-documents are stepped over."""
    depth, end = 0, len(text)
    delimiters: list[str] = []
    while at < end:
        mark = text[at]
        at += 1
        if mark == "(":
            depth += 1
        elif mark == ")":
            depth -= 1
            if depth == 0:
                return at
        elif mark == "\\":
            at += 1
        elif mark == "'":
            close = text.find("'", at)
            at = end if close < 0 else close + 1
        elif mark == '"':
            at = _double(text, at)[1]
        elif mark == "<":
            here = _HERE.match(text, at - 1)
            if here:
                delimiters.append(_delimiter(here))
                at = here.end()
        elif mark == "\n":
            for delimiter in delimiters:
                at = _body(text, at, delimiter)[1]
            delimiters.clear()
    return end

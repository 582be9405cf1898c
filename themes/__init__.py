"""Themes: one file each, ours and the user's, checked before they reach the screen."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Collection, Iterable
from pathlib import Path
from typing import Annotated, Any, NamedTuple

from msgspec.structs import asdict
from textual.app import App
from textual.color import Color, ColorParseError
from textual.theme import BUILTIN_THEMES, Theme

from core.folders import read_failure, small_file, user_settings_file
from core.settings.group import Group, Invalid, Spec

FOLDER = Path(__file__).parent

# Our own colours, and what they are in a theme that does not name them.
VARIABLES: dict[str, str] = {
    "axis-frustration": "$error",
    "axis-seeking": "$warning",
    "axis-confidence": "$success",
    "axis-fatigue": "$secondary",
    "axis-flow": "$accent",
    "axis-uncertainty": "$primary",
    "threshold": "$foreground",
    "baseline": "$foreground 50%",
    "quiet": "$foreground 55%",
    "heat-1": "$primary 40%",
    "heat-2": "$primary",
    "heat-3": "$warning",
    "heat-4": "$error",
    "live": "$success",
    "alert": "$error",
}


def defaults(theme: Theme) -> dict[str, str]:
    """Our colours for a theme that does not name them, taken from those it has."""
    colours = theme.to_color_system().generate()
    filled = {}
    for name, like in VARIABLES.items():
        colour, _, share = like.removeprefix("$").partition(" ")
        filled[name] = f"{colours[colour]} {share}".strip()
    return filled


def _colour(value: str) -> str:
    _parse(value)
    return value


def _colours(values: dict[str, str]) -> dict[str, str]:
    for name, value in values.items():
        if name not in VARIABLES:
            raise ValueError(f"{name} is not a variable; the variables are {', '.join(VARIABLES)}")
        _parse(value)
    return values


def _parse(value: str) -> None:
    try:
        Color.parse(value)
    except ColorParseError:
        raise ValueError(f"{value!r} is not a colour; write #rrggbb or a name such as teal") from None


_Colour = Annotated[str, Spec(after=_colour)]


class ThemeFile(Group):
    """What a theme file may say."""

    name: Annotated[str, Spec(pattern=r"^[a-z0-9][a-z0-9-]{0,39}$")]
    primary: _Colour
    sentence: str = ""
    dark: bool = True
    secondary: _Colour | None = None
    accent: _Colour | None = None
    foreground: _Colour | None = None
    background: _Colour | None = None
    surface: _Colour | None = None
    panel: _Colour | None = None
    success: _Colour | None = None
    warning: _Colour | None = None
    error: _Colour | None = None
    variables: Annotated[dict[str, str], Spec(after=_colours)] = {}

    def theme(self) -> Theme:
        """The same for Textual."""
        values = asdict(self)
        del values["sentence"]
        return Theme(**values)


class Loaded(NamedTuple):
    """Themes that can be used, and a line for each file that cannot."""

    themes: tuple[Theme, ...]
    sentences: dict[str, str]
    complaints: tuple[str, ...]


def load(*folders: Path) -> Loaded:
    """Our own themes and those of the given folders; of two with one name the later wins."""
    themes: dict[str, Theme] = {}
    sentences: dict[str, str] = {}
    complaints: list[str] = []
    for path in _files([FOLDER, *folders], complaints):
        try:
            said = tomllib.loads(small_file(path).decode())
            ours = path.parent == FOLDER
            file = ThemeFile(**said) if ours else ThemeFile.parse(said)
        except (OSError, UnicodeDecodeError) as error:
            complaints.append(f"{path}: cannot be read ({read_failure(error)})")
        except tomllib.TOMLDecodeError as error:
            complaints.append(f"{path}: is not TOML: {error}")
        except Invalid as error:
            complaints += [f"{path}: {_said(fault)}" for fault in error.errors()]
        else:
            themes[file.name] = file.theme()
            sentences[file.name] = file.sentence
    return Loaded(tuple(themes.values()), sentences, tuple(complaints))


def _files(folders: Iterable[Path], complaints: list[str]) -> Iterable[Path]:
    for folder in folders:
        try:
            yield from sorted(folder.glob("*.toml"))
        except OSError as error:
            complaints.append(f"{folder}: cannot be read ({read_failure(error)})")


# What a field must be that is not a colour.
_MUST = {
    "name": "1 to 40 of a-z, 0-9 and -, and not begin with -",
    "sentence": "a text",
    "dark": "true or false",
    "variables": "a table of colours",
}


def _said(fault: Any) -> str:
    field = ".".join(map(str, fault["loc"])) or "theme"
    must = _MUST.get(field, "a colour: #rrggbb or a name such as teal")
    match fault["type"]:
        case "value_error":
            return f"{field}: {str(fault['msg']).removeprefix('Value error, ')}"
        case "extra_forbidden":
            return f"{field}: unknown; a theme has {', '.join(ThemeFile.__annotations__)}"
        case "missing":
            return f"{field}: missing; it must be {must}"
    return f"{field}: must be {must}"


def unknown_theme(wanted: str, own: Collection[str], others: Iterable[str] = BUILTIN_THEMES) -> str:
    """That a theme is not there, and which are: ours and the person's, then those of Textual."""
    there = (*sorted(own), *sorted(set(others) - set(own)))
    return f"there is no theme {wanted!r}; available: {', '.join(there)}"


def missing_theme(wanted: str, loaded: Loaded) -> str:
    """What is wrong with the theme that a person wants; blank where it is there."""
    known = {theme.name for theme in loaded.themes}
    return "" if wanted in known or wanted in BUILTIN_THEMES else unknown_theme(wanted, known)


_USUAL = "nocturne"
_AT_ONCE = 3  # Faults that are reported one by one.


def user_theme_folder() -> Path:
    """Where a person puts themes of their own."""
    return user_settings_file().parent / "themes"


class ThemeFiles:
    """Registers themes with the app; a broken file is reported once, and the last good theme stays."""

    def __init__(self, app: App[Any], folder: Path, complain: Callable[[str], object]) -> None:
        self._app = app
        self._folder = folder
        self._complain = complain
        self._files: list[tuple[str, int, int]] | None = None  # Their names, times and sizes.
        self._reported: set[str] = set()
        self.sentences: dict[str, str] = {}  # What each theme is for.

    def begin(self, theme: str) -> None:
        """Register all themes and apply the chosen one."""
        complaints = self._register() or ()
        if theme not in self._app.available_themes:
            own = set(self._app.available_themes) - set(BUILTIN_THEMES)
            complaints = (f"{unknown_theme(theme, own, ())}; ctrl+p, then Theme, lists all", *complaints)
            theme = _USUAL
        self._app.theme = theme
        self._report(complaints)

    def look(self) -> None:
        """Take in what changed since the last look."""
        complaints = self._register()
        if complaints is not None:
            self._app._watch_theme(self._app.theme)
            self._report(complaints)

    def _report(self, complaints: tuple[str, ...]) -> None:
        """The first of them in one notice, which must leave room for others on a small screen."""
        if complaints:
            more = len(complaints) - _AT_ONCE
            rest = [f"and {more} more: nooscope doctor lists them"] if more > 0 else []
            self._complain("\n".join([*complaints[:_AT_ONCE], *rest]))

    def _register(self) -> tuple[str, ...] | None:
        """Return what is wrong with the files and was not reported yet; None if no file came, went or changed."""
        files = [_file_state(path) for path in sorted(self._folder.glob("*.toml"))]
        if files == self._files:
            return None
        self._files = files
        loaded = load(self._folder)
        for theme in loaded.themes:
            self._app.register_theme(theme)
        self.sentences = loaded.sentences
        fresh = tuple(complaint for complaint in loaded.complaints if complaint not in self._reported)
        self._reported = set(loaded.complaints)
        return fresh


def _file_state(path: Path) -> tuple[str, int, int]:
    try:
        status = path.stat()
    except OSError:
        return path.name, 0, 0
    return path.name, status.st_mtime_ns, status.st_size

"""Two small windows of the bench: which profile to take over, and where to save."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import ClassVar, NamedTuple

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from core.errors import StoreError
from core.report.formatting import count, plain
from core.settings.draft import Draft
from core.store.profiles import Kind, ProfileFiles, Scope, SettingsProfile
from tui.widgets.common.leaving import Dialog

_CSS = """
{name} {{
    align: center middle;
    & > Vertical {{
        width: 76; max-width: 96%; height: auto; max-height: 90%;
        border: round $accent; background: $background; padding: 0 1;
        border-title-color: $accent; border-title-style: bold; border-subtitle-color: $quiet;
    }}
    & OptionList, & OptionList:focus {{
        height: auto; max-height: 20; border: none; background: $background; padding: 0;
        scrollbar-size-vertical: 1;
    }}
    & Input, & Input:focus {{ border: none; height: 1; background: $panel; margin: 0 0 1 0; padding: 0 1; }}
    & Static {{ color: $quiet; }}
}}
"""
_LEAVE = Binding("escape", "dismiss(None)", "back", id="profiles.leave", tooltip="Leave without changes")
_SCOPES: dict[Scope, str] = {"built-in": "preset", "user": "mine", "project": "this project"}


class ProfilePicker(Dialog[SettingsProfile | None]):
    """Presets and profiles, each with its sentence."""

    DEFAULT_CSS = _CSS.format(name="ProfilePicker")
    BINDINGS: ClassVar[list[BindingType]] = [_LEAVE]
    HELP: ClassVar[str] = "Enter loads the profile as one change; u undoes it."

    def __init__(self, profiles: list[SettingsProfile]) -> None:
        super().__init__()
        self._profiles = profiles

    def compose(self) -> ComposeResult:
        with Vertical() as box:
            box.border_title = "Presets and profiles"
            box.border_subtitle = "enter take over · esc back"
            yield OptionList(
                *(Option(_described(each), id=str(number)) for number, each in enumerate(self._profiles))
            )

    @on(OptionList.OptionSelected)
    def _chosen(self, event: OptionList.OptionSelected) -> None:
        self.dismiss(self._profiles[int(event.option_id or 0)])


def _described(profile: SettingsProfile) -> Content:
    values = count(len(profile.values), "value") if profile.values else "built-in values"
    faults = f" · {count(len(profile.complaints), 'line')} left out" if profile.complaints else ""
    return Content.assemble(
        (plain(profile.name, 40), "bold"),
        (f"  {_SCOPES[profile.scope]} · {values}{faults}\n", "dim"),
        plain(profile.sentence, 200) or "no description",
    )


class SaveWish(NamedTuple):
    """What to save, and where."""

    kind: Kind
    scope: Scope
    name: str = ""
    sentence: str = ""


class SaveScreen(Dialog[Path | None]):
    """A name and a sentence for a profile, or only into a settings file; stays open until it is saved."""

    DEFAULT_CSS = _CSS.format(name="SaveScreen")
    BINDINGS: ClassVar[list[BindingType]] = [_LEAVE]
    HELP: ClassVar[str] = "Type a name, then choose where to save it; tab moves between fields."

    def __init__(self, files: ProfileFiles, changed: int, save: Callable[[SaveWish], Path]) -> None:
        super().__init__()
        self._files = files
        self._changed = changed
        self._save = save

    def compose(self) -> ComposeResult:
        places: tuple[tuple[str, str, str], ...] = (
            ("profile user", "A profile of mine", str(self._files.folder("user"))),
            ("profile project", "A profile of this project", str(self._files.folder("project"))),
            ("settings user", "Into my settings, for every session", str(self._files.file("user"))),
            ("settings project", "Into this project's settings", str(self._files.file("project"))),
        )
        with Vertical() as box:
            box.border_title = f"Save {count(self._changed, 'change')}"
            box.border_subtitle = "enter goes on, and saves at the end · esc back"
            yield Input(placeholder="name of the profile", id="name")
            yield Input(placeholder="what it is for, in one sentence", id="sentence")
            yield OptionList(
                *(
                    Option(Content.assemble((title, "bold"), (f"\n{plain(where, 70)}", "dim")), id=key)
                    for key, title, where in places
                )
            )
            yield Static("", id="problem", markup=False)

    @on(Input.Submitted)
    def _next(self) -> None:
        self.focus_next()

    @on(Input.Changed)
    def _retyped(self) -> None:
        """What was wrong with the last try is not said of the next one."""
        self.query_one("#problem", Static).update("")

    @on(OptionList.OptionSelected)
    def _chosen(self, event: OptionList.OptionSelected) -> None:
        if not self.is_active:
            return
        words = (event.option_id or "").split()
        kind: Kind = "profile" if words[0] == "profile" else "settings"
        scope: Scope = "user" if words[1] == "user" else "project"
        name = self.query_one("#name", Input).value.strip()
        wish = SaveWish(kind, scope, name, self.query_one("#sentence", Input).value.strip())
        try:
            if kind == "profile" and not name:
                raise StoreError("a profile needs a name")
            self.dismiss(self._save(wish))
        except StoreError as error:
            self.query_one("#problem", Static).update(plain(str(error)))
            if kind == "profile":
                self.query_one("#name", Input).focus()


def save_draft(files: ProfileFiles, draft: Draft, wish: SaveWish) -> Path:
    """Write all that was changed as a profile or into the settings; the file it stands in."""
    if wish.kind == "profile":
        return files.save_profile(wish.name, wish.sentence, draft.changes, wish.scope)
    return files.save_settings(draft.changes, wish.scope, draft.begun)

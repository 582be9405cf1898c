"""The dialog of the bench: use the changed settings, save them, reset them, or load a profile."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Literal, NamedTuple, TypeAlias

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from core.errors import StoreError
from core.report.formatting import count, plain
from core.settings.draft import Draft
from core.store.profiles import Kind, ProfileFiles, Scope, SettingsProfile
from tui.widgets.common.dialog import Box

_SCOPES: dict[Scope, str] = {"built-in": "preset", "user": "profile of yours", "project": "profile of this project"}


def _described(profile: SettingsProfile) -> Content:
    values = count(len(profile.values), "value") if profile.values else "built-in values"
    faults = f" · {count(len(profile.complaints), 'line')} left out" if profile.complaints else ""
    return Content.assemble(
        (plain(profile.name, 40), "bold"),
        (f"  load this {_SCOPES[profile.scope]} · {values}{faults}\n", "dim"),
        plain(profile.sentence, 200) or "no description",
    )


class SaveWish(NamedTuple):
    """What to save, and where."""

    kind: Kind
    scope: Scope
    name: str = ""
    sentence: str = ""


# The file that was saved, the profile to load, or what else to do with the changes.
SaveAnswer: TypeAlias = Path | SettingsProfile | Literal["use", "reset"]


class SaveScreen(Box[SaveAnswer]):
    """Asks what to do with the changed settings; stays open until a file is saved."""

    DEFAULT_CSS = """
    SaveScreen OptionList, SaveScreen OptionList:focus {
        height: auto; max-height: 20; border: none; background: $surface; padding: 0; scrollbar-size-vertical: 1;
    }
    SaveScreen Static { color: $quiet; }
    """
    AUTO_FOCUS = "OptionList"

    def __init__(
        self, files: ProfileFiles, changed: int, save: Callable[[SaveWish], Path], profiles: list[SettingsProfile]
    ) -> None:
        super().__init__()
        self._files = files
        self._changed = changed
        self._save = save
        self._profiles = profiles

    def compose(self) -> ComposeResult:
        with Vertical() as box:
            box.border_title = f"{count(self._changed, 'changed setting')}"
            box.border_subtitle = "enter choose · esc cancel"
            yield OptionList(*self._options())
            name = Input(placeholder="name of the profile", id="name")
            sentence = Input(placeholder="what it is for, in one sentence", id="sentence")
            name.display = sentence.display = False
            yield name
            yield sentence
            yield Static("", id="problem", markup=False)

    def _options(self) -> Iterator[Option]:
        folder, file = self._files.folder, self._files.file
        if self._changed:
            yield _option("use", "Use them now", "from the newest event on, in this session")
            yield _option("settings user", "Save for every session", str(file("user")))
            yield _option("settings project", "Save for this project", str(file("project")))
            yield _option("profile user", "Save as a profile of mine", str(folder("user")))
            yield _option("profile project", "Save as a profile of this project", str(folder("project")))
        yield _option("reset", "Reset all settings", "to their built-in values; u undoes it")
        for number, profile in enumerate(self._profiles):
            yield Option(_described(profile), id=f"load {number}")

    @on(Input.Submitted, "#name")
    def _next(self) -> None:
        self.query_one("#sentence", Input).focus()

    @on(Input.Changed)
    def _retyped(self) -> None:
        """Clear the problem of the last try."""
        self.query_one("#problem", Static).update("")

    @on(OptionList.OptionSelected)
    def _chosen(self, event: OptionList.OptionSelected) -> None:
        if not self.is_active:
            return
        choice, _, where = (event.option_id or "").partition(" ")
        if choice in ("use", "reset"):
            self.dismiss("use" if choice == "use" else "reset")
        elif choice == "load":
            self.dismiss(self._profiles[int(where)])
        elif choice == "profile":
            self._scope: Scope = "user" if where == "user" else "project"
            for line in self.query(Input):
                line.display = True
            self.query_one("#name", Input).focus()
        else:
            self._save_as(SaveWish("settings", "user" if where == "user" else "project"))

    @on(Input.Submitted, "#sentence")
    def _save_profile(self) -> None:
        name, sentence = (self.query_one(f"#{part}", Input).value.strip() for part in ("name", "sentence"))
        self._save_as(SaveWish("profile", self._scope, name, sentence))

    def _save_as(self, wish: SaveWish) -> None:
        try:
            if wish.kind == "profile" and not wish.name:
                raise StoreError("a profile needs a name")
            self.dismiss(self._save(wish))
        except StoreError as error:
            self.query_one("#problem", Static).update(plain(str(error)))
            if wish.kind == "profile":
                self.query_one("#name", Input).focus()


def _option(key: str, title: str, where: str) -> Option:
    return Option(Content.assemble((title, "bold"), (f"  {plain(where, 70)}", "dim")), id=key)


def save_draft(files: ProfileFiles, draft: Draft, wish: SaveWish) -> Path:
    """Write all that was changed as a profile or into the settings; return the file."""
    if wish.kind == "profile":
        return files.save_profile(wish.name, wish.sentence, draft.changes, wish.scope)
    return files.save_settings(draft.changes, wish.scope, draft.begun)

"""The bench: change settings, compare, apply, save, sweep, label."""

from __future__ import annotations

import time
from functools import partial
from pathlib import Path
from typing import ClassVar
from weakref import WeakKeyDictionary

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical
from textual.reactive import var
from textual.widgets import Input

from core.report.formatting import count
from core.settings import Settings
from core.settings.draft import Draft, Editing, TableRow
from core.settings.layers import tunables
from core.store.labels import Label
from core.store.profiles import ProfileFiles, SettingsProfile, taken_over
from core.timeline.firings import judged_labels, missed_label
from core.timeline.timeline import Timeline
from tui.feed.messages import Apply, Failed, Jump, Seek
from tui.feed.view import View
from tui.screens.tuning_bench.bench_keys import BENCH_KEYS
from tui.screens.tuning_bench.effects import Effects
from tui.screens.tuning_bench.label_store import Labelled, save_labels
from tui.screens.tuning_bench.profile_screens import ProfilePicker, SaveScreen, save_draft
from tui.screens.tuning_bench.value_entry import Accepted, ValueEntry, ValueQuestion
from tui.widgets.common.entry_line import EntryLine
from tui.widgets.tuning.setting_details import DetailsContent, KeyPrompt, SettingDetails
from tui.widgets.tuning.settings_list import SettingsList
from tui.widgets.tuning.type_line import TypeLine

_DRAFTS: WeakKeyDictionary[Timeline, Draft] = WeakKeyDictionary()
"""One draft for each recording, so that nothing is lost when the bench is left."""


class Bench(Horizontal):
    """Panels that show and ask; the draft, the what-if and the line one types in stand behind them."""

    HELP: ClassVar[str] = """\
## Tuning

Turn settings on the left; on the right stands what would have fired with them. Nothing holds before it is
applied, and nothing is kept before it is saved.
"""

    DEFAULT_CSS = """
    Bench { height: 1fr; }
    Bench #knobs { width: 5fr; max-width: 84; }
    Bench #settings { height: 1fr; }
    Bench #meaning { height: 5; overflow: hidden hidden; }
    Bench #typed, Bench #find { display: none; height: 1; border: none; padding: 0 2; background: $panel; }
    Bench.-typing #typed, Bench.-finding #find { display: block; }
    Bench #effects { width: 6fr; }
    Bench.-asking #meaning { height: 6; }
    Bench.-side { dock: right; width: 46; layout: vertical; }
    Bench.-side #knobs { width: 100%; height: 3fr; }
    Bench.-side #effects { width: 100%; height: 4fr; }
    Bench.-side #figures { display: none; }
    """
    BINDINGS: ClassVar[list[BindingType]] = BENCH_KEYS

    view: var[View | None] = var(None)
    recording: var[Timeline | None] = var(None)

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self.profile_files = ProfileFiles.usual()
        self._edit(Draft(Settings()))

    def _edit(self, draft: Draft) -> None:
        self._editing = Editing(draft)
        self._entry = ValueEntry(self._editing)

    @property
    def draft(self) -> Draft:
        """The settings as they are being changed."""
        return self._editing.draft

    @property
    def effects(self) -> Effects:
        """What the draft would do."""
        return self.query_one(Effects)

    def compose(self) -> ComposeResult:
        with Vertical(id="knobs"):
            yield SettingsList(id="settings")
            yield SettingDetails(id="meaning")
            yield TypeLine(id="typed")
            yield EntryLine("words of a name or a sentence", enter="to the list", escape="close", id="find")
        yield Effects(id="effects").data_bind(Bench.view, Bench.recording)

    def on_mount(self) -> None:
        self._save_labels([], withdraw=False)
        if self.has_class("-side"):
            self.query_one(SettingsList).focus()
        self._show()

    # What comes down

    def watch_recording(self, recording: Timeline | None) -> None:
        if recording is not None:
            begun = recording.changes[0].settings
            self._edit(_DRAFTS.setdefault(recording, Draft(recording.settings, begun)))
        if self.is_mounted:
            self.effects.forget()
            if recording is not None:
                self._show()
                self._follow(recording)

    def watch_view(self, view: View | None) -> None:
        if view is not None and self.recording is not None and self.is_mounted:
            self._follow(self.recording)

    def _follow(self, recording: Timeline) -> None:
        """Follow changes of the settings in force, and new events."""
        if recording.settings is not self.draft.base:
            self._rebase(recording.settings)
        else:
            self.effects.follow(recording, self.draft.edits)

    def _rebase(self, settings: Settings) -> None:
        """Other settings are in force now: what is changed is changed against them."""
        self.draft.rebase(settings)
        self.effects.forget()
        self._show()

    # What is shown

    def _show(self, problem: str = "") -> None:
        """Hand the draft to the panels and ask what it would do."""
        self.query_one(SettingsList).drafted = self.draft.drafted
        self._explain(problem)
        self.effects.run(self.recording, self.draft.edits)

    def _explain(self, problem: str = "") -> None:
        panel = self.query_one(SettingsList)
        self.query_one(SettingDetails).said = DetailsContent(
            panel.drafted, panel.chosen, problem, self._asked()
        )
        self.effects.emphasise(panel.name_here)

    def _asked(self) -> KeyPrompt | None:
        """The key or word that is being typed, where one is."""
        if not self.has_class("-asking"):
            return None
        line, asked = self.query_one(TypeLine), self._entry.question
        return KeyPrompt(asked.name, asked.inside, f"which {asked.noun}?", line.fitting, line.value)

    # The line one types in

    def _ask(self, question: ValueQuestion) -> None:
        self.add_class("-typing")
        self.set_class(question.what != "value", "-asking")
        self.query_one(TypeLine).ask(question.hint, question.text, question.words)
        self._explain()

    @on(Input.Changed, "#typed")
    def _typing(self, event: Input.Changed) -> None:
        event.stop()
        if self.has_class("-asking"):
            self._explain()

    @on(Input.Submitted, "#typed")
    def _typed(self, event: Input.Submitted) -> None:
        event.stop()
        line = self.query_one(TypeLine)
        answer = self._entry.answer(event.value.strip(), line.fitting, self.recording)
        if isinstance(answer, ValueQuestion):
            self._ask(answer)
        elif isinstance(answer, Accepted):
            self._close_line()
            self._show()
            self.query_one(SettingsList).show(answer.name, answer.path)
        else:
            self._explain(answer)

    def action_offer(self, by: int) -> None:
        self.query_one(TypeLine).offer(by)

    def action_complete(self) -> None:
        self.query_one(TypeLine).complete()

    def _close_line(self) -> None:
        self.remove_class("-typing", "-finding", "-asking")
        self.query_one(SettingsList).focus()

    # The search

    @on(Input.Changed, "#find")
    def _find(self, event: Input.Changed) -> None:
        event.stop()
        self.query_one(SettingsList).words = event.value.strip()

    @on(Input.Submitted, "#find")
    def _found(self, event: Input.Submitted) -> None:
        event.stop()
        self.end_input()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """While something is typed all keys are the line's, but the one that leaves it."""
        if action in ("offer", "complete"):
            line = self.query_one(TypeLine)
            return line.has_focus and bool(line.offers)
        if action == "end_input":
            settings = self.query_one(SettingsList)
            return bool(self._has_line or settings.words or settings.only_changed)
        return not isinstance(self.screen.focused, Input) and super().check_action(action, parameters)

    @property
    def _has_line(self) -> bool:
        """A line to type or to search in is open."""
        return self.has_class("-typing") or self.has_class("-finding")

    def action_end_input(self) -> None:
        self.end_input()

    def end_input(self) -> bool:
        """Leave the line one types in, and then the search; False where there was neither."""
        settings = self.query_one(SettingsList)
        if self._has_line:
            self._close_line()
            self._explain()
            return True
        if settings.words or settings.only_changed:
            self.query_one("#find", Input).value = ""
            settings.words, settings.only_changed = "", False
            return True
        return False

    def action_search(self) -> None:
        self.add_class("-finding")
        self.query_one("#find", Input).focus()

    def action_changed(self) -> None:
        panel = self.query_one(SettingsList)
        panel.only_changed = not panel.only_changed

    # Changes

    def on_settings_list_chosen(self, message: SettingsList.Chosen) -> None:
        message.stop()
        self._explain()

    def on_settings_list_nudged(self, message: SettingsList.Nudged) -> None:
        message.stop()
        name, row = message.name, message.row
        knob = row.knob if row is not None else tunables()[name]
        if knob.kind in ("text", "table"):
            self._ask(self._entry.ask_value(name, row))
        else:
            self._show(self._editing.nudge(name, row, message.direction, fine=message.fine))

    def on_settings_list_typing(self, message: SettingsList.Typing) -> None:
        message.stop()
        if message.row is not None and message.row.state == "gone":
            self._restore(message.row)
        else:
            self._ask(self._entry.ask_value(message.name, message.row))

    def on_settings_list_adding(self, message: SettingsList.Adding) -> None:
        message.stop()
        self._ask(self._entry.ask_row(message.name, message.path, self.recording))

    def on_settings_list_removing(self, message: SettingsList.Removing) -> None:
        message.stop()
        self._show(self._editing.remove(message.row))

    def _restore(self, row: TableRow) -> None:
        problem = self._editing.restore(row)
        if problem is None:
            self._moved(False, "it has its built-in value already")
        else:
            self._show(problem)

    def action_reset(self) -> None:
        row = self.query_one(SettingsList).chosen
        if isinstance(row, TableRow) and row.path:
            self._restore(row)
        else:
            names = self.query_one(SettingsList).names_here()
            self._moved(self._editing.reset(names), "it has its built-in value already")

    def action_reset_all(self) -> None:
        self._moved(self._editing.reset(tunables()), "every setting has its built-in value already")

    def action_undo(self) -> None:
        self._moved(self._editing.undo(), "nothing to undo")

    def action_redo(self) -> None:
        self._moved(self._editing.redo(), "nothing to redo")

    def _moved(self, moved: bool, otherwise: str) -> None:
        self._editing.end_nudges()
        if moved:
            self._show()
        else:
            self.post_message(Failed(otherwise))

    # What differs

    def action_difference(self, direction: int) -> None:
        """Put the playhead at the next or previous difference; to trouble where nothing is changed."""
        if self.view is None or self.effects.compared is None:
            self.post_message(Jump(direction > 0))
        elif (found := self.effects.difference_from(self.view.index, direction)) is not None:
            self.post_message(Seek(found))
        else:
            self.post_message(Failed(f"no difference {'later' if direction > 0 else 'earlier'}"))

    def action_apply(self) -> None:
        """Let the draft hold from the newest event on."""
        if not self.draft.edits:
            self.post_message(Failed("no setting has been changed"))
            return
        applied = self.draft.settings
        self.post_message(Apply(applied))
        live = self.view is not None and self.view.mode != "replay"
        when = "from the newest event on" if live else "after the last event; s keeps it for other sessions"
        self.notify(f"{count(len(self.draft.edits), 'change')} in force {when}")
        self._rebase(applied)

    # Profiles and files

    def action_profiles(self) -> None:
        """Choose a preset or a profile."""
        found = self.profile_files.profiles()
        for profile in found:
            for complaint in profile.complaints:
                self.post_message(Failed(str(complaint)))
        self.app.push_screen(ProfilePicker(found), self._take_over)

    def _take_over(self, profile: SettingsProfile | None) -> None:
        if profile is None:
            return
        problem = self._editing.set_all(taken_over(profile, self.draft.begun))
        self._show(problem)
        if problem:
            self.post_message(Failed(f"{profile.name}: {problem}"))

    def action_save(self) -> None:
        """Ask where to keep what differs from how the session began, in force already or not."""
        if changes := self.draft.changes:
            save = partial(save_draft, self.profile_files, self.draft)
            self.app.push_screen(SaveScreen(self.profile_files, len(changes), save), self._saved)
        else:
            self.post_message(Failed("nothing to save: no setting differs from what the session began with"))

    def _saved(self, path: Path | None) -> None:
        if path is not None:
            self.notify(f"saved as {path}", markup=False)

    def action_sweep(self) -> None:
        """Try the setting under the cursor over its range; again, put the chart away."""
        name = self.query_one(SettingsList).name_here
        self.effects.toggle_sweep(name, self.draft.value(name) if name else None, self.draft.edits)

    # Labels

    def action_judge(self) -> None:
        """Say of what fired at the playhead that it is right; again, that it is wrong; again, nothing."""
        if self.recording is not None and self.view is not None:
            labels, gone, problem = judged_labels(
                self.effects.labels, self.recording, self.view.index, time.time()
            )
            if problem:
                self.post_message(Failed(problem))
            else:
                self._save_labels(labels, withdraw=gone)

    def action_missed(self) -> None:
        """Say of the playhead that something should have fired there; again, take it back."""
        view = self.view
        if self.recording is not None and view is not None:
            label, gone = missed_label(
                self.effects.labels, self.recording, view.index, view.agent, time.time()
            )
            self._save_labels([label], withdraw=gone)

    def _save_labels(self, labels: list[Label], *, withdraw: bool) -> None:
        save_labels(self, getattr(self.app, "feed", None), labels, withdraw=withdraw)

    def on_labelled(self, message: Labelled) -> None:
        message.stop()
        self.effects.show_labels(message.labels)

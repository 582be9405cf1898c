"""The bench: change settings, see what they would do, apply, save, sweep, label."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, ClassVar
from weakref import WeakKeyDictionary

from textual import on
from textual._path import CSSPathType
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical
from textual.reactive import var
from textual.widget import Widget
from textual.widgets import Input
from textual.worker import get_current_worker

from core.errors import StoreError
from core.report.formatting import count
from core.settings import Settings
from core.settings.draft import Draft, value_text
from core.settings.layers import tunables
from core.store.bookmarks import Label, Labels
from core.store.profiles import ProfileFiles, SettingsProfile, profile_changes
from core.timeline.rerun import judged_labels, missed_label
from core.timeline.timeline import Timeline
from core.timeline.whatif import Sweep, WhatIf, WhatIfResult, sweep_recording, usual_grid
from tui.feed.messages import Apply, Failed, Latest, Seek, ShowWhatIf
from tui.feed.view import View
from tui.keys import bind
from tui.screens.board import FLAT, Board
from tui.screens.dialogs import SaveAnswer, SaveScreen
from tui.widgets.common.key_line import EntryLine
from tui.widgets.tuning.comparison import Comparison, Figures, FiringTable, SweepChart
from tui.widgets.tuning.settings_list import DetailsContent, Listing, SettingDetails, SettingsList

_PATIENCE = 0.1  # Seconds for which a what-if waits for its result to be painted.


class Effects(Vertical):
    """Actual against what-if, what fired, the playhead under both, and a sweep on demand."""

    @dataclass
    class Ran(Latest):
        """From the worker: what is known by now."""

        result: WhatIfResult

    view: var[View | None] = var(None)
    recording: var[Timeline | None] = var(None)

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.compared: WhatIfResult | None = None
        self.labels: tuple[Label, ...] = ()
        self._whatif: WhatIf | None = None
        self._running = False
        self._painted = threading.Event()  # The last result is on the screen.

    def compose(self) -> ComposeResult:
        yield Comparison(id="comparison").data_bind(Effects.view, Effects.recording)
        yield SweepChart(id="sweep").data_bind(Effects.view, Effects.recording)
        yield FiringTable(id="firings").data_bind(Effects.view, Effects.recording)
        yield Figures(id="figures").data_bind(Effects.view, Effects.recording)

    def show_labels(self, labels: tuple[Label, ...]) -> None:
        """Show what people said of firings."""
        self.labels = labels
        self.query_one(Comparison).labels = labels

    def forget(self) -> None:
        """Drop the what-if: another recording, or other settings in force."""
        self._whatif = None

    def run(self, recording: Timeline | None, edits: Mapping[str, Any]) -> None:
        """Show what these edits would do, unless they are shown or run already."""
        if recording is None or not len(recording) or not edits:
            self.forget()
            self.workers.cancel_group(self, "whatif")
            self._compare(None)
        elif self._whatif is None or self._whatif.edits != edits:
            self._whatif = WhatIf(recording, edits)
            self._start(self._whatif)

    def follow(self, recording: Timeline, edits: Mapping[str, Any]) -> None:
        """Take in events that came since."""
        whatif = self._whatif
        if whatif is not None and whatif.behind and not self._running:
            self._start(whatif)
        elif whatif is None and edits:
            self.run(recording, edits)

    def _start(self, whatif: WhatIf) -> None:
        """Run it in a thread that pauses while its results are painted, so that neither waits long."""
        painted = self._painted = threading.Event()

        def post(result: WhatIfResult) -> None:
            painted.clear()
            self.post_message(self.Ran(result))
            painted.wait(_PATIENCE)

        def work() -> None:
            worker = get_current_worker()
            whatif.run(post, lambda: worker.is_cancelled)

        self._running = True
        self.run_worker(work, name="what-if", group="whatif", thread=True, exclusive=True)

    def on_effects_ran(self, message: Ran) -> None:
        """Show a result, unless a newer what-if was asked for since."""
        message.stop()
        result = message.result
        if self._whatif is not None and result.edits is self._whatif.edits:
            self._running = not result.complete
            self._compare(result)
            self.call_after_refresh(self._painted.set)

    def _compare(self, result: WhatIfResult | None) -> None:
        self.compared = result
        for panel in (self.query_one(Comparison), self.query_one(FiringTable), self.query_one(Figures)):
            panel.compared = result

    def next_difference(self, index: int) -> int | None:
        """Return the next place at which the draft changes what fires, around the end."""
        changes = self.compared.changes() if self.compared is not None else ()
        places = sorted(place + 1 for place, _, _ in changes)
        return next((place for place in places if place > index), places[0] if places else None)

    def toggle_sweep(self, name: str, present: Any, edits: Mapping[str, Any]) -> None:
        """Try a setting over its range; asked for the same again, put the chart away."""
        recording, chart = self.recording, self.query_one(SweepChart)
        same = chart.sweep is None or chart.sweep.name in ("", name)
        if self.end_sweep() and same:
            return
        if recording is None or not len(recording):
            return
        if not name or tunables()[name].kind not in ("number", "integer"):
            self.post_message(Failed("only a setting with a range can be swept"))
            return
        self.add_class("-sweeping")
        chart.sweep = Sweep(name, present, (), 1, len(recording), len(self.labels))
        values, labels, tried = usual_grid(tunables()[name], present), self.labels, dict(edits)

        def work() -> None:
            worker = get_current_worker()
            reported = 0

            def report(sweep: Sweep) -> bool:
                nonlocal reported
                if not worker.is_cancelled and len(sweep.points) != reported:
                    reported = len(sweep.points)
                    self.call_later(self._show_sweep, sweep)
                return not worker.is_cancelled

            sweep_recording(recording, name, values, labels, report, tried)

        self.run_worker(work, name="sweep", group="sweep", thread=True, exclusive=True)

    def _show_sweep(self, sweep: Sweep) -> None:
        chart = self.query_one(SweepChart)
        if chart.sweep is not None and chart.sweep.name == sweep.name:
            chart.sweep = sweep

    def end_sweep(self) -> bool:
        """Put the chart away; False if it is not shown."""
        self.workers.cancel_group(self, "sweep")
        is_open = self.has_class("-sweeping")
        self.remove_class("-sweeping")
        return is_open


# The keys of the bench, in the order of the line of keys.
BENCH_KEYS: list[BindingType] = [
    bind("part.1", "list_only('common')", "common", "The thresholds that matter most"),
    bind("part.2", "list_only('all')", "all", "Every setting"),
    bind("search", "search", "find", "Find a setting", show=True),
    bind("back", "end_input", "", "Close the line, the search or the bench", show=True),
    bind("tune.whatif", "app.whatif", show=True),
    bind("tune.save", "save", show=True),
    bind("tune.reset", "reset", show=True),
    bind("tune.undo", "undo", show=True),
    bind("tune.redo", "redo"),
    bind("part.3", "list_only('changed')", "changed", "Only changed settings", show=True),
    bind("jump.difference", "difference", "next change", "Go to the next difference", show=True),
    bind("view", "sweep", "sweep", "Try this setting over its whole range", show=True),
    bind("alone", "app.tune_beside", "beside", "The bench beside the panels, or alone"),
    bind("judge", "judge", "label", "Label what fired here, or what should have fired"),
]

# One draft for each recording, so that nothing is lost when the bench is left.
_DRAFTS: WeakKeyDictionary[Timeline, Draft] = WeakKeyDictionary()
# What was in force before changed settings were put in use, the latest last, and the changes themselves.
_REPLACED: WeakKeyDictionary[Timeline, list[tuple[Settings, dict[str, Any]]]] = WeakKeyDictionary()


def draft_of(recording: Timeline) -> Settings | None:
    """Return the settings drafted for a recording on the bench; None if none is changed."""
    draft = _DRAFTS.get(recording)
    return draft.settings if draft is not None and draft.edits else None


class Bench(Horizontal):
    """The bench: its panels, the draft of settings, the what-if and the input line."""

    BINDINGS: ClassVar[list[BindingType]] = BENCH_KEYS

    view: var[View | None] = var(None)
    recording: var[Timeline | None] = var(None)
    actual: var[Timeline | None] = var(None)  # What happened; `recording` may be what would have happened.

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self.profile_files = ProfileFiles.usual()
        self.draft = Draft(Settings())
        self._typed_name = ""  # The setting whose value is being typed.

    @property
    def effects(self) -> Effects:
        """The panels that show what the draft would do."""
        return self.query_one(Effects)

    def compose(self) -> ComposeResult:
        with Vertical(id="knobs"):
            yield SettingsList(id="settings")
            yield SettingDetails(id="meaning")
            yield EntryLine(enter="accept", escape="close", select_on_focus=True, id="typed")
            yield EntryLine("words of a name or a sentence", enter="to the list", escape="close", id="find")
        yield Effects(id="effects").data_bind(Bench.view, recording=Bench.actual)

    def on_mount(self) -> None:
        self._save_labels([], withdraw=False)
        if self.has_class("-side"):
            self.query_one(SettingsList).focus()
        self._show()

    # What comes down

    def watch_recording(self, recording: Timeline | None) -> None:
        """Keep to what happened while the screen shows what would have happened."""
        if self.view is None or not self.view.what_if:
            self.actual = recording
        elif self.actual is None:
            self.actual = getattr(self.app, "actual", None)

    def watch_actual(self, recording: Timeline | None) -> None:
        if recording is not None:
            initial = recording.changes[0].settings
            self.draft = _DRAFTS.setdefault(recording, Draft(recording.settings, initial))
        if self.is_mounted:
            self.effects.forget()
            if recording is not None:
                self._show()
                self._follow(recording)

    def watch_view(self, view: View | None) -> None:
        if view is not None and self.actual is not None and self.is_mounted:
            self._follow(self.actual)

    def _follow(self, recording: Timeline) -> None:
        """Follow changes of the settings in force, and new events."""
        if recording.settings is not self.draft.base:
            self._change_base(recording.settings)
        else:
            self.effects.follow(recording, self.draft.edits)

    def _change_base(self, settings: Settings) -> None:
        """Other settings are in force now: what is changed is changed against them."""
        self.draft.rebase(settings)
        self.effects.forget()
        self._show()

    # What is shown

    def _show(self, problem: str = "") -> None:
        """Hand the draft to the panels and ask what it would do."""
        self.query_one(SettingsList).drafted = self.draft.drafted
        self._explain(problem)
        self.effects.run(self.actual, self.draft.edits)
        if self.view is not None and self.view.what_if and not problem:
            self.post_message(ShowWhatIf(self.draft.settings if self.draft.edits else None))

    def _explain(self, problem: str = "") -> None:
        panel = self.query_one(SettingsList)
        self.query_one(SettingDetails).said = DetailsContent(panel.drafted, panel.chosen, problem)
        self.query_one(Comparison).named = panel.name_here  # its reading is drawn first

    # The line one types in

    def _ask(self, name: str) -> None:
        self.draft.end_nudges()
        self._typed_name = name
        self.add_class("-typing")
        line = self.query_one("#typed", EntryLine)
        line.placeholder, line.value = tunables()[name].allowed(), value_text(self.draft.value(name))
        line.focus()
        self._explain()

    @on(Input.Submitted, "#typed")
    def _typed(self, event: Input.Submitted) -> None:
        event.stop()
        problem = self.draft.type(self._typed_name, event.value.strip())
        if problem:
            self._explain(problem)
        else:
            self._close_line()
            self._show()
            self.query_one(SettingsList).show(self._typed_name)

    def _close_line(self) -> None:
        self.remove_class("-typing", "-finding")
        self.query_one(SettingsList).focus()

    # The search

    @on(Input.Changed, "#find")
    def _find(self, event: Input.Changed) -> None:
        event.stop()
        self.query_one(SettingsList).words = event.value.strip()

    @on(Input.Submitted, "#find")
    def _submit_search(self, event: Input.Submitted) -> None:
        event.stop()
        self.action_end_input()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """While a line is typed it gets all keys except escape."""
        if action == "end_input":
            settings = self.query_one(SettingsList)
            narrowed = bool(settings.words) or settings.listing != "common"
            return self._has_line or narrowed or self.effects.has_class("-sweeping")
        return not isinstance(self.screen.focused, Input) and super().check_action(action, parameters)

    @property
    def _has_line(self) -> bool:
        """A line to type or to search in is open."""
        return self.has_class("-typing") or self.has_class("-finding")

    def action_end_input(self) -> bool:
        """Close the line one types in, else the sweep, else the search; False if none is open."""
        settings = self.query_one(SettingsList)
        if self._has_line:
            self._close_line()
            self._explain()
            return True
        if self.effects.end_sweep():
            return True
        if settings.words or settings.listing != "common":
            self.query_one("#find", Input).value = ""
            settings.words, settings.listing = "", "common"
            return True
        return False

    def action_search(self) -> None:
        self.add_class("-finding")
        self.query_one("#find", Input).focus()

    def action_list_only(self, listing: Listing) -> None:
        """List the common thresholds, every setting, or those that are changed."""
        self.query_one(SettingsList).listing = listing

    # Changes

    def on_settings_list_chosen(self, message: SettingsList.Chosen) -> None:
        message.stop()
        self._explain()

    def on_settings_list_nudged(self, message: SettingsList.Nudged) -> None:
        message.stop()
        if tunables()[message.name].kind in ("text", "table"):
            self._ask(message.name)
        else:
            self._show(self.draft.nudge(message.name, message.direction, fine=message.fine))

    def on_settings_list_typing(self, message: SettingsList.Typing) -> None:
        message.stop()
        self._ask(message.name)

    def action_reset(self) -> None:
        names = self.query_one(SettingsList).names_here()
        self._moved(self.draft.reset(names), "it has its built-in value already")

    def action_undo(self) -> None:
        """Undo the last change; before all changes, put the settings in force that were so before."""
        undone = self.draft.undo()
        replaced = _REPLACED.get(self.actual) if self.actual is not None else None
        if not undone and replaced:
            settings, edits = replaced.pop()
            self.post_message(Apply(settings))
            self._change_base(settings)
            undone = not self.draft.lay(edits)
        self._moved(undone, "nothing to undo")

    def action_redo(self) -> None:
        self._moved(self.draft.redo(), "nothing to redo")

    def _moved(self, moved: bool, otherwise: str) -> None:
        self.draft.end_nudges()
        if moved:
            self._show()
        else:
            self.post_message(Failed(otherwise))

    # What differs

    def action_difference(self) -> None:
        """Put the playhead at the next difference, around the end."""
        index = 0 if self.view is None else self.view.index
        place = self.effects.next_difference(index)
        if place is not None:
            self.post_message(Seek(place))
        else:
            self.post_message(Failed("nothing fires differently with these settings"))

    def apply(self) -> None:
        """Use the changed settings from the newest event on."""
        if not self.draft.edits:
            self.post_message(Failed("no setting is changed"))
            return
        compared, settings = self.effects.compared, self.draft.settings
        if compared is not None and not compared.complete:
            still = f"the changes are still being tried ({compared.share:.0%})"
            self.post_message(Failed(f"{still}; try again when they are done"))
            return
        tried = compared.done if compared is not None else 0
        replaced = self.draft.base, dict(self.draft.edits)
        self.post_message(Apply(settings, tried, partial(self._say_applied, settings, replaced)))

    def _say_applied(self, settings: Settings, replaced: tuple[Settings, dict[str, Any]]) -> None:
        """Say that the changed settings hold, and keep those before for undo."""
        changes = count(len(replaced[1]), "change")
        if self.actual is not None:
            _REPLACED.setdefault(self.actual, []).append(replaced)
        if self.view is not None and self.view.mode != "replay":
            self.notify(f"{changes} in use from the newest event on; u undoes it")
        else:
            self.notify(
                f"{changes} in use from now on. This session is finished, so nothing in it changes: "
                "w shows it under these settings, S saves them for other sessions"
            )
        self._change_base(settings)

    # Profiles and files

    def action_save(self) -> None:
        """Ask whether to use the changed settings, to save them, or to load a profile."""
        profiles = self.profile_files.profiles()
        for profile in profiles:
            for complaint in profile.complaints:
                self.post_message(Failed(str(complaint)))
        self.app.push_screen(SaveScreen(self.profile_files, self.draft, profiles), self._saved)

    def _take_over(self, profile: SettingsProfile) -> None:
        problem = self.draft.lay(profile_changes(profile, self.draft.begun))
        self._show(problem)
        if problem:
            self.post_message(Failed(f"{profile.name}: {problem}"))

    def _saved(self, answer: SaveAnswer | None) -> None:
        if isinstance(answer, Path):
            self.notify(f"saved as {answer}", markup=False)
        elif isinstance(answer, SettingsProfile):
            self._take_over(answer)
        elif answer == "use":
            self.apply()
        elif answer == "reset":
            self._moved(self.draft.reset(tunables()), "every setting has its built-in value already")

    def action_sweep(self) -> None:
        """Try the setting under the cursor over its range; again, put the chart away."""
        name = self.query_one(SettingsList).name_here
        self.effects.toggle_sweep(name, self.draft.value(name) if name else None, self.draft.edits)

    # Labels

    def action_judge(self) -> None:
        """Label what fired at the playhead right or wrong; if nothing fired, that something should have."""
        recording, view = self.actual, self.view
        if recording is None or view is None:
            return
        labels, removed, problem = judged_labels(self.effects.labels, recording, view.index, time.time())
        if problem:
            label, removed = missed_label(self.effects.labels, recording, view.index, view.agent, time.time())
            labels = [label]
        self._save_labels(labels, withdraw=removed)

    def _save_labels(self, labels: list[Label], *, withdraw: bool) -> None:
        """Write labels, or take them back, and show all there are."""
        store: Labels | None = getattr(getattr(self.app, "feed", None), "labels", None)
        if store is None:
            if labels:
                self.post_message(Failed("labels cannot be saved before the session is known"))
            return

        def work() -> None:
            try:
                for label in labels:
                    (store.withdraw if withdraw else store.judge)(label)
                self.call_later(self.effects.show_labels, store.judged())
            except StoreError as error:
                self.post_message(Failed(str(error)))
            for notice in store.notices:
                self.post_message(Failed(notice))

        self.run_worker(work, name="labels", group="labels", thread=True)


_SLIM = 76  # Columns below which the sentences of the list would be cut.


class TuningScreen(Board):
    """The bench on a screen of its own."""

    CSS_PATH: ClassVar[CSSPathType | None] = ["board.tcss", "tuning.tcss"]
    AUTO_FOCUS = "SettingsList"

    def body(self) -> Iterable[Widget]:
        yield Bench(id="bench").data_bind(TuningScreen.view, TuningScreen.recording)

    def on_resize(self) -> None:
        """Put the effects below the list where both have no room beside each other."""
        self.set_class(self.size.width < _SLIM, "-slim")
        self.set_class(self.size.height < FLAT, "-flat")

    def action_leave(self) -> None:
        if not self.query_one(Bench).action_end_input():
            self.dismiss()

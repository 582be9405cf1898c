"""The bench: turn, undo, compare, apply, save, sweep, label."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any, ClassVar, cast

from textual import on
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.widgets import Input
from textual.worker import get_current_worker

from core.errors import StoreError
from core.settings.layers import tunables
from core.store.labels import Label
from core.store.profiles import Profile, taken_over
from core.timeline.sweep import Sweep, sweep_recording, usual_grid
from tui.messages import Apply, Failed, JumpMark, Seek
from tui.screens.profiles import ProfilePicker, SaveScreen, SaveWish
from tui.tuning.draft import nudged, spoken, written
from tui.tuning.judging import Judged, Keeper, keep, missed, told
from tui.tuning.shelf import Shelf
from tui.tuning.worktop import Worktop
from tui.widgets.comparison import Comparison
from tui.widgets.sliders import SettingsList
from tui.widgets.sweepchart import SweepChart
from tui.words import count


@dataclass
class Swept(Message):
    """From the worker: the values tried so far."""

    sweep: Sweep

    def can_replace(self, message: Message) -> bool:
        return isinstance(message, Swept)


class Bench(Worktop):
    """What every key of the bench does."""

    DEFAULT_CSS = """
    Bench { height: 1fr; }
    Bench #knobs { width: 5fr; max-width: 84; }
    Bench #settings { height: 1fr; }
    Bench #meaning { height: 4; overflow: hidden hidden; }
    Bench #typed, Bench #find { display: none; height: 1; border: none; padding: 0 2; background: $panel; }
    Bench.-typing #typed, Bench.-finding #find { display: block; }
    Bench #effects { width: 6fr; }
    Bench #comparison { height: 3fr; min-height: 7; }
    Bench #firings { height: 2fr; min-height: 5; }
    Bench #figures { height: 9; }
    Bench #sweep { display: none; height: 2fr; min-height: 7; }
    Bench.-sweeping #sweep { display: block; }
    Bench.-sweeping #figures { display: none; }
    Bench.-side { dock: right; width: 46; layout: vertical; }
    Bench.-side #knobs { width: 100%; height: 3fr; }
    Bench.-side #effects { width: 100%; height: 4fr; }
    Bench.-side #figures { display: none; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("slash", "search", "search", key_display="/", id="tune.search", tooltip="Find a setting"),
        Binding(
            "c", "changed", "changed", show=False, id="tune.changed", tooltip="Only settings that are changed"
        ),
        Binding(
            "r", "reset", "reset", id="tune.reset", tooltip="This setting or group back, again: built-in"
        ),
        Binding("R", "reset_all", "reset all", show=False, id="tune.reset_all", tooltip="All settings back"),
        Binding("u,ctrl+z", "undo", "undo", id="tune.undo", tooltip="Take the last change back"),
        Binding("U,ctrl+y", "redo", "redo", show=False, id="tune.redo", tooltip="Make it again"),
        Binding("n", "difference(1)", "difference", id="tune.next", tooltip="To the next difference"),
        Binding(
            "N",
            "difference(-1)",
            "difference",
            show=False,
            id="tune.previous",
            tooltip="The difference before",
        ),
        Binding("y", "apply", "apply", id="tune.apply", tooltip="Let these settings hold from now on"),
        Binding("s", "save", "save", id="tune.save", tooltip="Keep these settings as a profile or in a file"),
        Binding("p", "profiles", "presets", id="tune.profiles", tooltip="Take over a preset or a profile"),
        Binding("w", "sweep", "sweep", id="tune.sweep", tooltip="This setting over its whole range"),
        Binding("l", "judge", "label", id="tune.judge", tooltip="What fired here: right, wrong, no word"),
        Binding("L", "missed", "missed", show=False, id="tune.missed", tooltip="Something should have fired"),
    ]

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id, classes=classes)
        self.shelf = Shelf.usual()
        self.labels: tuple[Label, ...] = ()
        self._typing = ""
        self._last_nudge = ""

    def on_mount(self) -> None:
        self._keep([], gone=False)
        if self.has_class("-side"):
            self.query_one(SettingsList).focus()

    # The sliders

    def on_settings_list_chosen(self, message: SettingsList.Chosen) -> None:
        message.stop()
        self._explain()

    def on_settings_list_nudged(self, message: SettingsList.Nudged) -> None:
        message.stop()
        name = message.name
        tunable = tunables()[name]
        if tunable.kind in ("text", "table"):
            self._type(name)
            return
        value = nudged(tunable, self.draft.value(name), message.direction, fine=message.fine)
        problem = self.draft.set(name, value, joined=self._last_nudge == name)
        self._last_nudge = "" if problem else name
        self._show(problem)

    def on_settings_list_typing(self, message: SettingsList.Typing) -> None:
        message.stop()
        self._type(message.name)

    def _type(self, name: str) -> None:
        self._typing, self._last_nudge = name, ""
        self.add_class("-typing")
        typed = self.query_one("#typed", Input)
        typed.placeholder = tunables()[name].allowed()
        typed.value = written(self.draft.value(name))
        typed.focus()

    @on(Input.Submitted, "#typed")
    def _typed(self, event: Input.Submitted) -> None:
        event.stop()
        problem = self.draft.set(self._typing, spoken(tunables()[self._typing], event.value))
        self._show(problem)
        if not problem:
            self.end_input()

    @on(Input.Changed, "#find")
    def _find(self, event: Input.Changed) -> None:
        event.stop()
        self.query_one(SettingsList).words = event.value.strip()

    @on(Input.Submitted, "#find")
    def _found(self, event: Input.Submitted) -> None:
        event.stop()
        self.end_input()

    def end_input(self) -> bool:
        """Leave the line one types in, and then the search; False where there was neither."""
        settings = self.query_one(SettingsList)
        if self.has_class("-typing") or self.has_class("-finding"):
            self.remove_class("-typing", "-finding")
            self._explain()
            settings.focus()
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

    def action_reset(self) -> None:
        self._moved(self.draft.reset(self.query_one(SettingsList).names_here()), "it is built-in already")

    def action_reset_all(self) -> None:
        self._moved(self.draft.reset(tunables()), "every setting is built-in already")

    def action_undo(self) -> None:
        self._moved(self.draft.undo(), "nothing to undo")

    def action_redo(self) -> None:
        self._moved(self.draft.redo(), "nothing to make again")

    def _moved(self, moved: bool, otherwise: str) -> None:
        self._last_nudge = ""
        if moved:
            self._show()
        else:
            self.post_message(Failed(otherwise))

    def lay(self, values: dict[str, Any], what: str) -> None:
        """Take over a profile's values as one change."""
        problem = self.draft.lay(values)
        self._last_nudge = ""
        self._show(problem)
        if problem:
            self.post_message(Failed(f"{what}: {problem}"))

    def action_difference(self, direction: int) -> None:
        """Put the playhead at the next or previous difference; to the next alert where nothing is changed."""
        if self.view is None or self.compared is None:
            self.post_message(JumpMark(direction > 0))
            return
        places = sorted({place + 1 for place, _, _ in self.compared.changes()})
        found = [place for place in places if (place - self.view.index) * direction > 0]
        if found:
            self.post_message(Seek(found[0] if direction > 0 else found[-1]))
        else:
            self.post_message(Failed(f"no difference {'later' if direction > 0 else 'earlier'}"))

    def action_apply(self) -> None:
        """Let the draft hold from the newest event on."""
        if self.draft.edits:
            self.post_message(Apply(self.draft.settings))
            self.notify(f"{count(len(self.draft.edits), 'change')} in force from the newest event on")
        else:
            self.post_message(Failed("nothing is changed"))

    # Keeping

    def action_profiles(self) -> None:
        """Choose a preset or a profile."""
        found = self.shelf.profiles()
        for profile in found:
            for complaint in profile.complaints:
                self.post_message(Failed(str(complaint)))
        self.app.push_screen(ProfilePicker(found), self._take_over)

    def _take_over(self, profile: Profile | None) -> None:
        if profile is not None:
            self.lay(taken_over(profile), profile.name)

    def action_save(self) -> None:
        self.app.push_screen(SaveScreen(self.shelf, len(self.draft.edits)), self._save)

    def _save(self, wish: SaveWish | None) -> None:
        if wish is None:
            return
        try:
            if wish.kind == "profile":
                path = self.shelf.save_profile(wish.name, wish.sentence, self.draft.settings, wish.scope)
            else:
                path = self.shelf.save_settings(self.draft.edits, wish.scope)
        except StoreError as error:
            self.post_message(Failed(str(error)))
        else:
            self.notify(f"saved as {path}", markup=False)

    # The sweep

    def action_sweep(self) -> None:
        """Try the setting under the cursor over its range; again, put the chart away."""
        name, recording = self.query_one(SettingsList).name_here, self.recording
        chart = self.query_one(SweepChart)
        self.workers.cancel_group(self, "sweep")
        if self.has_class("-sweeping") and (chart.sweep is None or chart.sweep.name in ("", name)):
            self.remove_class("-sweeping")
            return
        if recording is None or not len(recording):
            return
        if not name or tunables()[name].kind not in ("number", "integer"):
            self.post_message(Failed("a sweep needs a setting with a range"))
            return
        present = self.draft.value(name)
        values = usual_grid(tunables()[name], present)
        edits, labels = dict(self.draft.edits), self.labels
        self.add_class("-sweeping")
        chart.sweep = Sweep(name, present, (), 1, len(recording), len(labels))

        def work() -> None:
            worker = get_current_worker()
            shown = 0

            def report(sweep: Sweep) -> bool:
                nonlocal shown
                if worker.is_cancelled:
                    return False
                if len(sweep.points) != shown:
                    shown = len(sweep.points)
                    self.post_message(Swept(sweep))
                return True

            sweep_recording(recording, name, values, labels, report, edits)

        self.run_worker(work, name="sweep", group="sweep", thread=True, exclusive=True)

    def on_swept(self, message: Swept) -> None:
        message.stop()
        chart = self.query_one(SweepChart)
        if chart.sweep is not None and chart.sweep.name == message.sweep.name:
            chart.sweep = message.sweep

    # Labels

    def action_judge(self) -> None:
        """Say of what fired at the playhead that it is right; again, that it is wrong; again, nothing."""
        if self.recording is not None and self.view is not None:
            labels, gone, problem = told(self.labels, self.recording, self.view.index, time.time())
            if problem:
                self.post_message(Failed(problem))
            else:
                self._keep(labels, gone=gone)

    def action_missed(self) -> None:
        """Say of the playhead that something should have fired there; again, take it back."""
        if self.recording is not None and self.view is not None:
            label, gone = missed(self.labels, self.recording, self.view.index, self.view.agent, time.time())
            self._keep([label], gone=gone)

    def _keep(self, labels: list[Label], *, gone: bool) -> None:
        feed = getattr(self.app, "feed", None)
        store = cast(Keeper, feed).labels if feed is not None else None
        if store is None:
            self.post_message(Failed("this session has no place for labels yet"))
            return
        self.run_worker(
            lambda: keep(store, labels, gone, self.post_message), name="labels", group="labels", thread=True
        )

    def on_judged(self, message: Judged) -> None:
        message.stop()
        self.labels = message.labels
        self.query_one(Comparison).labels = message.labels

"""The bench: turn, undo, compare, apply, save, sweep, label."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import ClassVar, cast

from textual.binding import Binding, BindingType
from textual.message import Message
from textual.worker import get_current_worker

from core.errors import StoreError
from core.report.formatting import count
from core.settings.layers import tunables
from core.store.labels import Label
from core.store.profiles import Profile, taken_over
from core.timeline.sweep import Sweep, sweep_recording, usual_grid
from tui.feed.messages import Apply, Failed, JumpMark, Seek
from tui.screens.profiles import ProfilePicker, SaveScreen, SaveWish
from tui.screens.tuning_bench.turning import Turning
from tui.widgets.tuning.comparison import Comparison
from tui.widgets.tuning.judging import Judged, Keeper, keep, missed, told
from tui.widgets.tuning.profile_files import Shelf
from tui.widgets.tuning.sliders import SettingsList
from tui.widgets.tuning.sweep_chart import SweepChart


@dataclass
class Swept(Message):
    """From the worker: the values tried so far."""

    sweep: Sweep

    def can_replace(self, message: Message) -> bool:
        return isinstance(message, Swept)


class Bench(Turning):
    """What every key of the bench does."""

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
    Bench #comparison { height: 3fr; min-height: 7; }
    Bench #firings { height: 2fr; min-height: 5; }
    Bench #figures { height: 9; }
    Bench #sweep { display: none; height: 2fr; min-height: 7; }
    Bench.-sweeping #sweep { display: block; }
    Bench.-sweeping #figures { display: none; }
    Bench.-asking #meaning { height: 6; }
    Bench.-side { dock: right; width: 46; layout: vertical; }
    Bench.-side #knobs { width: 100%; height: 3fr; }
    Bench.-side #effects { width: 100%; height: 4fr; }
    Bench.-side #figures { display: none; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("n", "difference(1)", "diff", id="tune.next", tooltip="To the next difference"),
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
        Binding(
            "l",
            "judge",
            "label",
            show=False,
            id="tune.judge",
            tooltip="What fired here: right, wrong, no word",
        ),
        Binding("L", "missed", "missed", show=False, id="tune.missed", tooltip="Something should have fired"),
    ]

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id, classes=classes)
        self.shelf = Shelf.usual()
        self.labels: tuple[Label, ...] = ()

    def on_mount(self) -> None:
        self._keep([], gone=False)
        if self.has_class("-side"):
            self.query_one(SettingsList).focus()

    # What differs

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
        if not self.draft.edits:
            self.post_message(Failed("nothing is changed"))
            return
        applied = self.draft.settings
        self.post_message(Apply(applied))
        live = self.view is not None and self.view.mode != "replay"
        when = "from the newest event on" if live else "after the last event; s keeps it for other sessions"
        self.notify(f"{count(len(self.draft.edits), 'change')} in force {when}")
        self.rebase(applied)

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
            self.lay(taken_over(profile, self.draft.base), profile.name)

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

"""The application: it only wires screens to the feed."""

from __future__ import annotations

import gc
import importlib
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from msgspec.structs import replace
from rich.console import Console
from textual import on
from textual.app import App, SystemCommand
from textual.binding import BindingType
from textual.command import CommandPalette
from textual.filter import LineFilter
from textual.message import Message
from textual.notifications import SeverityLevel
from textual.reactive import var
from textual.screen import Screen

import themes
from core.errors import NooscopeError
from core.extension.hooks import Extension
from core.extension.use import listening
from core.intake.link import IntakeLink
from core.intake.place import default_place
from core.live.carry_over import CarryOver
from core.live.hook_signs import HookBoard
from core.live.source import Target
from core.report.cost import DaySpent
from core.report.formatting import count, span
from core.report.now import Now
from core.settings import Settings
from core.store.bookmarks import Bookmark, Bookmarks
from core.store.carry_over import CarryOverStore
from core.store.last_look import Look
from core.timeline.cache import Cache, user_cache
from core.timeline.configured_start import ConfiguredStart, configured_start
from core.timeline.initial_state import PLAIN, InitialState
from core.timeline.jumps import Landing
from core.timeline.places import parse_place
from core.timeline.run_inputs import InitialStates
from core.timeline.timeline import Timeline
from themes.user_themes import UserThemes, user_theme_folder
from tui.draw.safe_lines import SAFE_LINES
from tui.feed import messages
from tui.feed.feed import Feed
from tui.feed.hangup import end_with_terminal
from tui.feed.notices import Terminal, notifier_of, terminal_title
from tui.feed.view import View
from tui.keys import KEYS
from tui.screens.main import MainScreen
from tui.screens.palette import OtherSessions, PlaceSearch, SessionSearch, key_commands
from tui.widgets.common.now_strip import NowStrip
from tui.widgets.common.panel import Panel
from tui.widgets.common.timeline_strip import TimelineStrip

if TYPE_CHECKING:
    from core.live.fleet.roster import Roster

_SCREENS = {
    "transcript": ("tui.screens.transcript", "TranscriptScreen"),
    "agents": ("tui.screens.agents", "AgentsScreen"),
    "mind": ("tui.screens.mind", "MindScreen"),
    "governance": ("tui.screens.governance", "GovernanceScreen"),
    "recap": ("tui.screens.recap", "RecapScreen"),
    "branches": ("tui.screens.branches", "BranchScreen"),
    "response": ("tui.screens.response", "ResponseScreen"),
    "tuning": ("tui.screens.tuning", "TuningScreen"),
    "extensions": ("tui.screens.extensions", "ExtensionsScreen"),
    "help": ("tui.screens.help", "HelpScreen"),
}
_FAULTS = 3
"""Faults of files shown one by one; a heap of them would cover what stands."""
_DAY_EVERY = 60.0
"""Seconds between two sums of what today costs, where there is a budget."""
_THEMES_EVERY = 2.0
"""Seconds between two looks at the user's themes."""


class NooscopeApp(App[None]):
    """One session at a time: the feed's views go down to the screens, their requests go up to the feed."""

    TITLE = "nooscope"
    CSS_PATH = Path(__file__).parent / "screens" / "main.tcss"
    BINDINGS: ClassVar[list[BindingType]] = KEYS
    ENABLE_COMMAND_PALETTE = True
    COMMANDS = App.COMMANDS | {PlaceSearch, SessionSearch, OtherSessions}

    view: var[View | None] = var(None)
    recording: var[Timeline | None] = var(None)
    bookmarks: var[tuple[Bookmark, ...]] = var(())
    hooks: var[HookBoard] = var(HookBoard())
    words: var[bool] = var(True)
    """What the person and the agent wrote is shown."""

    def __init__(
        self,
        target: Target | None,
        settings: Settings,
        *,
        cache: Cache | None = None,
        bookmarks: Callable[[str], Bookmarks] = Bookmarks,
        theme_folder: Path | None = None,
        fleet: Roster | None = None,
        live: bool = False,
        begin: Callable[[], ConfiguredStart] | None = None,
        carry_over: CarryOverStore | None = None,
        edits: Mapping[str, Any] | None = None,
        link: IntakeLink | None = None,
    ) -> None:
        super().__init__()
        self.error_console = Console(markup=False, highlight=False, stderr=True, color_system=None)
        self._fleet = fleet
        self._link = link
        self.settings = settings
        self.feed: Feed | None = None
        self._at = ""
        """Where the session is opened, once it is read."""
        self._target = target
        self._cache = cache
        self._shelf = bookmarks
        self._watching = live
        """Sessions that are followed take from others and leave to others, and give notices."""
        self._begin = begin
        self._carry_over = carry_over
        self._edits = dict(edits or {})
        self._complaints: list[str] = []
        """What is wrong with extensions, each shown once."""
        self._faults: tuple[str, ...] = ()
        """What was last wrong with policies and rules."""
        self._terminal_title: str = self.TITLE
        self._day: DaySpent | None = None
        """What all agents cost today, where there is a budget."""
        """Words of the log may be shown."""
        self._look: Look | None = None
        """How far the session on the screen was seen before."""
        self._settled = False
        """The session is read, and frozen so that collecting garbage does not walk it again."""
        self._themes = UserThemes(theme_folder or user_theme_folder())
        self._load_themes(first=True)
        if not settings.screen.motion:
            self.animation_level = "none"

    def get_theme_variable_defaults(self) -> dict[str, str]:
        return themes.defaults(self.current_theme)

    def get_line_filters(self) -> Sequence[LineFilter]:
        return [*super().get_line_filters(), SAFE_LINES]

    def get_default_screen(self) -> Screen[None]:
        return MainScreen(self.settings.screen)

    def on_mount(self) -> None:
        self.set_keymap(self.settings.screen.keymap)
        self.screen.data_bind(NooscopeApp.view, NooscopeApp.recording, NooscopeApp.bookmarks)
        self.set_interval(_THEMES_EVERY, self._load_themes)
        self.set_interval(_DAY_EVERY, self._reckon_day)
        self._reckon_day()
        if self._link is not None:
            self._link.show = lambda board: self.post_message(messages.HooksTold(board))
            self._link.start()
        if self._fleet is not None:
            self.action_fleet()
        elif self._target is None:
            self.action_sessions()
        else:
            self.open(self._target)

    def open(self, target: Target) -> None:
        """Open another session instead of the one on the screen."""
        if self.feed is not None:
            self.feed.stop()
        self.view, self.recording, self.bookmarks = None, None, ()
        self._settled = False
        self._at = target.at
        self._look = None
        gc.unfreeze()
        initial = self._initial()
        live = target.live and self._watching
        use = self.settings.response.prior.enabled
        self.feed = Feed(
            target,
            self.settings,
            self.post_message,
            cache=self._cache,
            bookmarks=self._shelf,
            carry_over=CarryOver(self.settings, initial=initial, use=use) if live else None,
            notifier=notifier_of(self) if live else None,
            initial_states=self._initial_states(initial),
            hooks=None if self._link is None else self._link.signs,
            extensions=self._listeners() if live else (),
        )
        self._tell_words()
        self.run_worker(self.feed.run, name="feed", group="feed", thread=True)

    def _listeners(self) -> list[Extension]:
        """Extensions for a session that is watched live; what is wrong with others is shown once."""
        made, complaints = listening()
        for sentence in complaints:
            if sentence not in self._complaints:
                self._complaints.append(sentence)
                self.call_later(self._complain, sentence)
        return made

    def _initial_states(self, initial: InitialState) -> InitialStates:
        return InitialStates(self.settings, initial, edits=self._edits, store=self._carry_over)

    def _initial(self) -> InitialState:
        """The policy and rules for a session that starts now; new faults in their files are shown."""
        if self._begin is None:
            return PLAIN
        initial, faults = self._begin()
        fresh = [fault for fault in faults if fault not in self._faults]
        for fault in fresh[:_FAULTS]:
            self.call_later(self._complain, fault)
        if len(fresh) > _FAULTS:
            left = count(len(fresh) - _FAULTS, "more fault")
            self.call_later(self._complain, f"{left} in rules and policies; `nooscope rules` names them all")
        self._faults = faults
        return initial

    def on_unmount(self) -> None:
        self._name_terminal(None)
        if self._link is not None:
            self._link.stop()
        if self.feed is not None:
            self.feed.stop()

    @on(messages.Seek)
    @on(messages.SeekTime)
    @on(messages.StepBy)
    @on(messages.Jump)
    @on(messages.GoLive)
    @on(messages.TogglePlay)
    @on(messages.SpeedChange)
    @on(messages.SelectAgent)
    @on(messages.ReturnTo)
    @on(messages.SetBookmark)
    @on(messages.RemoveBookmark)
    @on(messages.PreviewSteer)
    def _ask(self, message: Message) -> None:
        if self.feed is not None:
            self.feed.ask(message)

    @on(messages.HooksTold)
    def _hooks_told(self, message: messages.HooksTold) -> None:
        self.hooks = message.board
        self._ask(message)

    @on(messages.SteerPreviewed)
    def _steer_previewed(self, message: messages.SteerPreviewed) -> None:
        message.asker.previewed(message.words, message.effect)

    @on(messages.AnswerPermit)
    def _answer_permit(self, message: messages.AnswerPermit) -> None:
        from tui.screens.permit import answer_permit

        answer_permit(self, self._link, message.question, message.choice)

    @on(messages.ScreenChanged)
    def _tell_words(self) -> None:
        """Have words read only while they are seen."""
        if self.feed is not None:
            front = next((one for one in reversed(self.screen_stack) if not one.is_modal), None)
            watched = front is not None and bool(front.query(NowStrip))
            self.feed.ask(messages.ReadWords(self.words, watched))

    @on(messages.Apply)
    def _apply(self, message: messages.Apply) -> None:
        self.settings = message.settings
        self._reckon_day()
        self._ask(message)

    def _reckon_day(self) -> None:
        """Sum up what all agents cost today, while a live session is watched under a budget."""
        if not (self._watching and self.settings.screen.cost.budget):
            self._day = None
            return
        settings = self.settings

        def work() -> None:
            from core.live.day_cost import day_cost

            self.post_message(messages.DayReckoned(day_cost(settings, time.time())))

        self.run_worker(work, name="day", group="day", thread=True, exclusive=True)

    @on(messages.DayReckoned)
    def _day_reckoned(self, message: messages.DayReckoned) -> None:
        self._day = message.day
        if self.view is not None:
            self.view = replace(self.view, day=self._day)

    @on(messages.Arrived)
    def _arrived(self, message: messages.Arrived) -> None:
        if message.recording is not None and message.recording is not self.recording:
            self.recording = message.recording
        self.view = message.view if self._day is None else replace(message.view, day=self._day)
        if message.view.mode == "live" and self._watching:
            self._name_terminal(message.view)
        if not self._settled and message.view.loading is None:
            self._settled = True
            gc.freeze()
            self._go(self._at)
        if self.feed is not None and message.view.total:
            self.call_after_refresh(self.feed.seen)

    def _name_terminal(self, view: View | None) -> None:
        """Say in the terminal's title that the session on the screen needs the person."""
        needed = view is not None and view.status is not None and view.status.needs_you
        name = terminal_title(view.subject) if view is not None and needed else self.TITLE
        if name != self._terminal_title:
            self._terminal_title = name
            Terminal(self).write(f"\x1b]2;{name}\x07")

    @on(messages.Bookmarked)
    def _bookmarked(self, message: messages.Bookmarked) -> None:
        self.bookmarks = message.bookmarks

    @on(messages.LookedBefore)
    def _looked_before(self, message: messages.LookedBefore) -> None:
        """Say that something happened since; one key tells what."""
        self._look = message.look
        if message.new:
            since = span(max(0.0, time.time() - message.look.when))
            new = count(message.new, "event")
            self.notify(f"{new} since you last looked, {since} ago: press l to read them", markup=False)

    @on(messages.Failed)
    def _failed(self, message: messages.Failed) -> None:
        severity: SeverityLevel = "error" if message.fatal else "warning"
        self.notify(message.text, severity=severity, markup=False)
        if message.fatal and self.view is None:
            self.action_sessions()

    @on(messages.Noticed)
    def _noticed(self, message: messages.Noticed) -> None:
        severity: SeverityLevel = "information" if message.kind == "done" else "warning"
        self.notify(message.text, title=message.title, severity=severity, markup=False)

    @on(messages.OpenSession)
    def _open_session(self, message: messages.OpenSession) -> None:
        """Show it at once, from whichever screen it was asked for."""
        self.open(Target(message.path, message.live, message.session, message.at))
        while len(self.screen_stack) > 1:
            self.pop_screen()

    @on(messages.ShowTranscript)
    def _show_transcript(self, message: messages.ShowTranscript) -> None:
        self._push("transcript", message.path)

    def action_help_quit(self) -> None:
        """Quit on ctrl+c, as programs in a terminal do; copying a selection comes first."""
        self.exit()

    def action_toggle_play(self) -> None:
        self.post_message(messages.TogglePlay())

    def action_step(self, by: int) -> None:
        self.post_message(messages.StepBy(by))

    def action_seek(self, to: int) -> None:
        self.post_message(messages.Seek(to))

    def action_go_live(self) -> None:
        self.post_message(messages.GoLive())

    def action_speed(self, steps: int) -> None:
        self.post_message(messages.SpeedChange(steps))

    def action_jump(self, forward: bool, to: Landing = "trouble") -> None:
        self.post_message(messages.Jump(forward, to))

    def action_bookmark(self) -> None:
        """Ask for a note and set a bookmark; where one stands, ask whether it should go."""
        from tui.screens.bookmark import NoteScreen, RemovalScreen

        if self.view is None or not self.view.total:
            return
        place = self.view.index
        standing = next((mark for mark in self.bookmarks if mark.place == place), None)
        if standing is None:
            self.push_screen(NoteScreen(place), partial(self._set_bookmark, place))
        else:
            self.push_screen(RemovalScreen(standing), partial(self._remove_bookmark, place))

    def _set_bookmark(self, place: int, note: str | None) -> None:
        if note is not None:
            self.post_message(messages.SetBookmark(place, note))

    def _remove_bookmark(self, place: int, agreed: bool | None) -> None:
        if agreed:
            self.post_message(messages.RemoveBookmark(place))

    def action_words(self) -> None:
        """Hide all words of the log, or show them again, until the program ends."""
        self.words = not self.words
        if self.view is not None:
            self.view = replace(
                self.view, words=self.words, now=Now(), subject=replace(self.view.subject, title="")
            )
        self._tell_words()

    def action_zoom(self, steps: int) -> None:
        for strip in self.screen.query(TimelineStrip):
            strip.zoom_by(steps)

    def action_agent(self, by: int) -> None:
        if self.view is not None and len(self.view.agents) > 1:
            agents = self.view.agents
            here = agents.index(self.view.agent) if self.view.agent in agents else 0
            self.post_message(messages.SelectAgent(agents[(here + by) % len(agents)]))

    def action_goto(self) -> None:
        from tui.screens.goto import GotoScreen

        self.push_screen(GotoScreen(), self._go)

    def action_search(self) -> None:
        self.push_screen(CommandPalette([SessionSearch], placeholder="Find a mark, a path, a bookmark…"))

    def action_sessions(self) -> None:
        """All sessions, those at rest listed too."""
        from tui.screens.fleet import FleetScreen

        self.action_fleet()
        fleet = self.get_screen("fleet")
        if isinstance(fleet, FleetScreen):
            fleet.list_all()

    def action_fleet(self) -> None:
        if self.is_screen_installed("fleet") and self.get_screen("fleet") in self.screen_stack:
            return
        if not self.is_screen_installed("fleet"):
            from tui.screens.fleet import FleetScreen

            fleet = FleetScreen(self.settings, self._fleet, self._initial_states(self._initial()))
            self.install_screen(fleet.data_bind(NooscopeApp.hooks, NooscopeApp.words), "fleet")
        self.push_screen("fleet")

    def action_find(self) -> None:
        """Find words in all sessions, and open one where they stand."""
        from tui.screens.word_search import WordSearchScreen

        self.push_screen(WordSearchScreen(self.settings))

    def action_permit(self, choice: str) -> None:
        """Answer the oldest question of the session on the screen."""
        if self.view is not None and not self.view.words:
            self._complain("words are hidden: h shows what it asks, then answer")
            return
        waits = self.view.hooks.questions if self.view is not None and self.view.hooks is not None else ()
        first = min(waits, key=lambda one: (one.late, one.number), default=None)
        self.post_message(messages.AnswerPermit(choice, first))

    def action_steer(self) -> None:
        """Tell the agent on the screen something; what it would do is shown before it is sent."""
        from tui.screens.steer import SteerScreen

        if self.view is not None:
            session = self.view.subject.session
            self.push_screen(SteerScreen(session, self.view.hooks, self.settings, self._link))

    def action_resume(self) -> None:
        """Copy the command that resumes the session on the screen."""
        from tui.screens.at_hand import copy_resume

        if self.view is not None:
            about = self.view.subject
            copy_resume(self, about.tool, about.session, about.path, about.project)

    def action_next_in_need(self) -> None:
        """Open the next session that needs the person; the fleet where none is known to."""
        from tui.screens.fleet import FleetScreen

        fleet = self.get_screen("fleet") if self.is_screen_installed("fleet") else None
        here = "" if self.view is None else self.view.subject.path
        row = fleet.next_in_need(here) if isinstance(fleet, FleetScreen) else None
        if row is None:
            self.action_fleet()
        else:
            self.post_message(messages.OpenSession(row.path, True, row.session))

    @on(messages.EditFile)
    def _edit(self, message: messages.EditFile) -> None:
        from tui.screens.at_hand import open_in_editor

        if self.view is not None:
            open_in_editor(self, self.view.subject.project, message.path)

    def action_pane(self) -> None:
        """Go to the terminal the session on the screen runs in."""
        from tui.screens.at_hand import show_pane

        if self.view is not None:
            show_pane(self, self.view.subject.tool, self.view.subject.project)

    def action_recap(self) -> None:
        """What happened since the person last looked."""
        if self.recording is not None and len(self.recording):
            self._push("recap", self._look, time.time(), all_settings=self.settings)

    def show_panel(self, panel: Panel) -> None:
        """Go back to the main screen and focus one of its panels."""
        while len(self.screen_stack) > 1:
            self.pop_screen()
        panel.focus()

    def show_setting(self, name: str) -> None:
        """Open the bench with the cursor on a setting."""
        from tui.screens.tuning_bench.bench import Bench

        if not self.screen.query(Bench):
            self._push("tuning")
        self.call_after_refresh(self._find_setting, name)

    def _find_setting(self, name: str) -> None:
        from tui.widgets.tuning.settings_list import SettingsList

        for settings in self.screen.query(SettingsList):
            settings.show(name)

    def action_show(self, name: str) -> None:
        self._push(name)

    def action_tune_beside(self) -> None:
        """Show or hide the bench beside the main screen; where there is no room, on a screen of its own."""
        from tui.screens.tuning_bench.bench import Bench

        beside = self.screen.query(Bench)
        if beside and isinstance(self.screen, MainScreen):
            self.screen.leave_beside()
        elif isinstance(self.screen, MainScreen) and not self.screen.has_class("-narrow"):
            self.screen.mount(Bench(classes="-side").data_bind(NooscopeApp.view, NooscopeApp.recording))
        else:
            self._push("tuning")

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "agent":
            return self.view is not None and len(self.view.agents) > 1
        return super().check_action(action, parameters)

    def get_system_commands(self, screen: Screen[Any]) -> Iterable[SystemCommand]:
        yield from key_commands(screen)
        yield SystemCommand("Theme", "Change the colours", self.action_change_theme)
        yield SystemCommand("Picture", "Save the screen as SVG", self.deliver_screenshot)
        if self.view is not None:
            for name in self.view.agents:
                yield SystemCommand(f"Show agent {name}", "", lambda name=name: self._select(name), False)

    def _select(self, name: str) -> None:
        self.post_message(messages.SelectAgent(name))

    def _go(self, spoken: str | None) -> None:
        timeline = self.recording
        if not spoken or timeline is None or not len(timeline):
            return
        try:
            share = float(spoken[:-1]) / 100 if spoken.endswith("%") else None
            to = parse_place(timeline, spoken) if share is None else round(share * len(timeline))
        except (NooscopeError, ValueError) as error:
            self.notify(str(error), severity="warning", markup=False)
        else:
            self.post_message(messages.Seek(to))

    def _push(self, name: str, *given: object, **named: object) -> None:
        """Open one of the other screens, or leave it where it is open."""
        module, kind = _SCREENS[name]
        make = getattr(importlib.import_module(module), kind)
        if isinstance(self.screen, make):
            self.pop_screen()
        else:
            screen = make(*given, settings=self.settings.screen, **named)
            self.push_screen(screen.data_bind(NooscopeApp.view, NooscopeApp.recording, NooscopeApp.bookmarks))

    def _load_themes(self, first: bool = False) -> None:
        loaded = self._themes.look()
        if loaded is None:
            return
        for theme in loaded.themes:
            self.register_theme(theme)
        if first:
            known = self.settings.screen.theme in self.available_themes
            self.theme = self.settings.screen.theme if known else "nocturne"
            if not known:
                self.call_later(self._complain, f"there is no theme {self.settings.screen.theme!r}")
        else:
            self._watch_theme(self.theme)
        for complaint in loaded.complaints:
            self.call_later(self._complain, complaint)

    def _complain(self, text: str) -> None:
        self.notify(text, severity="warning", markup=False)


def run_app(
    target: Target | None,
    settings: Settings,
    fleet: Roster | None = None,
    project: Path | None = None,
    *,
    edits: Mapping[str, Any] | None = None,
    plain: bool = False,
) -> int:
    """Show a session, or all of them where none is named, until the person leaves."""
    app = NooscopeApp(
        target,
        settings,
        cache=user_cache(settings),
        fleet=fleet,
        live=True,
        begin=partial(configured_start, project),
        carry_over=None if plain else CarryOverStore(),
        edits=edits,
        link=IntakeLink(default_place()),
    )
    end_with_terminal()
    app.run()
    return app.return_code or 0

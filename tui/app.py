"""The application: it only wires screens to the feed."""

from __future__ import annotations

import gc
import importlib
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from msgspec.structs import replace
from rich.console import Console
from textual import on
from textual.app import App
from textual.binding import BindingType
from textual.command import CommandPalette, Provider
from textual.events import Key
from textual.filter import LineFilter
from textual.message import Message
from textual.notifications import Notify, SeverityLevel
from textual.reactive import var
from textual.screen import Screen

import core.timeline.arrays  # noqa: F401 before anything that imports numpy
import themes
from core.live.hook_signs import HookBoard
from core.live.source import Target
from core.report.formatting import count, span
from core.report.now import Now
from core.store.bookmarks import Bookmark, Bookmarks
from core.timeline.timeline import Timeline
from tui import garbage
from tui.draw.kept_lines import SAFE_LINES
from tui.feed import messages
from tui.feed.feed import Feed
from tui.feed.notices import TerminalTitle, notifier_of, tell_faults
from tui.feed.sessions import DAY_EVERY, OTHERS_AFTER, DayBudget, Opening, OtherSessions, is_first_session
from tui.feed.view import View
from tui.keys import APP_KEYS, keymap_faults
from tui.screens import SCREENS
from tui.screens.main import MainScreen
from tui.widgets.common.header import NowStrip
from tui.widgets.common.panel import Panel
from tui.widgets.common.timeline_strip import TimelineStrip

if TYPE_CHECKING:
    from core.hooks.link import IntakeLink
    from core.live.fleet.roster import Roster
    from core.settings import Settings
    from core.store.bookmarks import Look
    from core.store.carry_over import CarryOverStore
    from core.timeline.initial_state import ConfiguredStart
    from core.timeline.opening import Cache
    from core.timeline.places import Landing
    from tui.screens.fleet import FleetScreen


NOTHING_YET = "nothing is recorded yet"
_OPEN_ONE = "this works in a session: open one with enter first"


# Actions on the session that is open.
SESSION_ACTIONS = frozenset(
    ("toggle_play", "step", "seek", "go_live", "speed", "jump", "bookmark", "zoom", "whatif", "steer", "recap", "judge")
) | {"search", "resume", "permit"}


class SessionApp(App[None]):
    """Shows one session; requests from its widgets arrive as messages."""

    view: var[View | None] = var(None)
    recording: var[Timeline | None] = var(None)
    bookmarks: var[tuple[Bookmark, ...]] = var(())

    actual: Timeline | None = None  # What happened, while `recording` may be what would have happened.
    settings: Settings
    link: IntakeLink | None  # The way to the agents' hooks.

    def action_toggle_play(self) -> None:
        """Play or pause; over the recap of a finished session, play it from the start."""
        self._leave_recap()
        self.post_message(messages.TogglePlay())

    def _leave_recap(self) -> bool:
        from tui.screens.recap import RecapScreen

        if isinstance(self.screen, RecapScreen):
            self.screen.dismiss()
            return True
        return False

    def action_step(self, by: int) -> None:
        self.post_message(messages.StepBy(by))

    def action_seek(self, to: int) -> None:
        """Go to a place; `home` over the recap of a finished session plays it from the start."""
        if self._leave_recap():
            self.post_message(messages.TogglePlay())
        else:
            self.post_message(messages.Seek(to))

    def action_whatif(self) -> None:
        """Switch the whole screen between what happened and what would have happened."""
        from tui.screens.bench import draft_of

        if self.view is None or self.recording is None:
            self.complain(NOTHING_YET)
        elif self.view.what_if:
            self.post_message(messages.ShowWhatIf(None))
        elif (settings := draft_of(self.recording)) is None:
            self.complain("no setting is changed: change one on the bench (t) first")
        else:
            self.post_message(messages.ShowWhatIf(settings))

    def action_go_live(self) -> None:
        self.post_message(messages.GoLive())

    def action_speed(self, steps: int) -> None:
        self.post_message(messages.SpeedChange(steps))

    def action_jump(self, forward: bool, to: Landing = "trouble") -> None:
        self.post_message(messages.Jump(forward, to))

    def action_bookmark(self) -> None:
        """Ask for a note and set a bookmark; if there is one already, ask whether to remove it."""
        from tui.screens.dialogs import ask_bookmark

        if self.view is not None and self.view.total:
            ask_bookmark(self, self.view.index, self.bookmarks)
        else:
            self.complain(NOTHING_YET)

    def action_zoom(self, steps: int) -> None:
        if not any(strip.zoom_by(steps) for strip in self.screen.query(TimelineStrip)):
            self.complain("the timeline cannot be zoomed any further here")

    def action_search(self) -> None:
        from tui.screens.palette import SessionPlaces

        self.push_screen(CommandPalette([SessionPlaces], placeholder="A time, an event, a path, a mark, a bookmark…"))

    def search_themes(self) -> None:
        from tui.screens.palette import ThemeSearch

        self.push_screen(CommandPalette([ThemeSearch], placeholder="A theme, or what it is for…"))

    def action_permit(self, choice: str) -> None:
        """Answer the oldest question of the session on the screen."""
        from tui.screens.dialogs import oldest_question

        if self.view is not None and not self.view.words:
            self.complain("words are hidden: h shows what it asks, then answer")
        else:
            signs = None if self.view is None else self.view.hooks
            self.post_message(messages.AnswerPermit(choice, oldest_question(signs)))

    def action_steer(self) -> None:
        """Tell the agent on the screen something; what it would do is shown before it is sent."""
        from tui.screens.dialogs import SteerScreen

        if self.view is not None:
            self.push_screen(SteerScreen(self.view, self.settings, self.link))

    def action_resume(self) -> None:
        """Go to the terminal the session on the screen runs in, or offer to run what resumes it."""
        from tui.screens.dialogs import resume

        if self.view is not None:
            about = self.view.subject
            resume(self, about.tool, about.session, about.path, about.project)

    @on(Panel.Zoom)
    def _cannot_zoom(self) -> None:
        """Answer a panel that no screen shows alone."""
        self.complain("this panel cannot be shown larger here")

    @on(messages.EditFile)
    def _edit(self, message: messages.EditFile) -> None:
        from tui.screens.dialogs import open_in_editor

        if self.view is not None:
            open_in_editor(self, self.view.subject.project, message.path)

    @property
    def shows_session(self) -> bool:
        """Whether the screen in front shows one session; dialogs and help count as the screen below them."""
        below = (one for one in reversed(self.screen_stack) if not (one.is_modal or hasattr(one, "IS_HELP")))
        return not getattr(next(below, None), "SHOWS_NO_SESSION", False)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Leave out the keys of one session on a screen that shows none."""
        other_screen = action == "show" and parameters != ("help",)
        if (other_screen or action in SESSION_ACTIONS) and not self.shows_session:
            return False
        return super().check_action(action, parameters)

    def on_key(self, event: Key) -> None:
        """Say why a key of one session does nothing on a screen that shows none."""
        off = event.key in self._bindings.key_to_bindings and event.key not in self.screen.active_bindings
        if off and not self.shows_session:
            self.complain(_OPEN_ONE)

    def go(self, text: str | None) -> None:
        """Go to a place as a person writes it."""
        from tui.screens.palette import go_to

        if text and self.recording is not None:
            go_to(self, self.recording, text)

    def on_notify(self, event: Notify) -> None:
        """Take away a notice that says the same: pressed five times, a key is answered by one."""
        notification = event.notification
        for one in list(self._notifications):
            if (one.title, one.message) == (notification.title, notification.message):
                self._unnotify(one, refresh=False)

    def complain(self, text: str) -> None:
        """Tell the person what is wrong."""
        self.notify(text, severity="warning", markup=False)


THEMES_EVERY = 2.0  # Seconds between two looks at the person's themes.


def _provider(name: str) -> Callable[[], type[Provider]]:
    """One of the command palette's providers, imported when the palette is first opened."""

    def load() -> type[Provider]:
        from tui.screens import palette

        provider: type[Provider] = getattr(palette, name)
        return provider

    return load


class NooscopeApp(SessionApp):
    """One session at a time: the feed's views go down to the screens, their requests go up to the feed."""

    TITLE = "nooscope"
    CSS_PATH = Path(__file__).parent / "screens" / "main.tcss"
    BINDINGS: ClassVar[list[BindingType]] = APP_KEYS
    ENABLE_COMMAND_PALETTE = True
    COMMANDS: ClassVar[set[type[Provider] | Callable[[], type[Provider]]]] = set(
        map(_provider, ("ActionSearch", "SessionSearch", "OtherSessions"))
    )

    hooks: var[HookBoard] = var(HookBoard())
    words: var[bool] = var(True)  # What the person and the agent wrote is shown.

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
        faults: Sequence[str] = (),
    ) -> None:
        super().__init__()
        self.error_console = Console(markup=False, highlight=False, stderr=True, color_system=None)
        self.link = link
        self.settings = settings
        self.feed: Feed | None = None
        complain = partial(self.call_later, self.complain)
        self._opening = Opening(
            complain, cache=cache, bookmarks=bookmarks, begin=begin, carry_over=carry_over, edits=edits, link=link
        )
        self._faults = faults  # What is wrong with the settings.
        self._fleet = fleet
        self._at = ""  # Where the session is opened, once it is read.
        self._target = target
        self._watching = live  # Sessions that are followed take from others and leave to others, and give notices.
        self._terminal_title = TerminalTitle(self, self.TITLE)
        self._day = DayBudget(self, watching=live)
        self._others = OtherSessions(self, settings, fleet, lambda: self._opening.initial_states(self.settings))
        # A newer session in the same folder takes the place of one that rests.
        self._follows = target is not None and target.newest
        self._first_screen = ""  # Shown once the session is read; of a finished one, its recap.
        self._look: Look | None = None  # How far the session on the screen was seen before.
        self._painted_feed: Feed | None = None  # Its first view is painted.
        self._settled = False  # The session is read, and frozen so that collecting garbage does not walk it again.
        self.theme_files = themes.ThemeFiles(self, theme_folder or themes.user_theme_folder(), complain)
        self.theme_files.begin(settings.screen.theme)
        if not settings.screen.motion:
            self.animation_level = "none"

    def get_theme_variable_defaults(self) -> dict[str, str]:
        return themes.defaults(self.current_theme)

    def refresh_css(self, animate: bool = True) -> None:
        """Before the first screen is there, what is parsed for the theme is kept for it."""
        if self.screen_stack:
            super().refresh_css(animate=animate)
            return
        self.stylesheet.set_variables(self.get_css_variables())
        self.stylesheet.parse()
        self.stylesheet.update(self, animate=animate)

    def get_line_filters(self) -> Sequence[LineFilter]:
        return [*super().get_line_filters(), SAFE_LINES]

    def get_default_screen(self) -> Screen[None]:
        awaited = self._fleet is None and self._target is not None
        return MainScreen(self.settings.screen, awaited=awaited, size=self.size)

    def on_mount(self) -> None:
        self.set_keymap(self.settings.screen.keymap)
        self.screen.data_bind(NooscopeApp.view, NooscopeApp.recording, NooscopeApp.bookmarks)
        self.set_interval(THEMES_EVERY, self.theme_files.look)
        self.set_interval(DAY_EVERY, lambda: self._day.reckon(self.settings))
        self._day.reckon(self.settings)
        if self._watching:
            self.set_timer(OTHERS_AFTER, self._others.begin)
        tell_faults(self, [*self._faults, *keymap_faults(self.settings.screen.keymap)])
        if self.link is not None:
            self.link.show = lambda board: self.post_message(messages.HooksTold(board))
            self.link.start()
        if self._fleet is None and self._target is not None:
            self.open(self._target)
            return
        garbage.collect_as_usual()
        if self._fleet is not None:
            self.action_fleet()
        else:
            self.action_sessions()

    def open(self, target: Target, *, play: bool = True) -> None:
        """Open a session instead of the one on the screen; a saved one plays, or opens at its end."""
        if self.feed is not None:
            self.feed.stop()
        self.view, self.recording, self.bookmarks = None, None, ()
        self._settled = False
        self._at = target.at
        self._look = None
        gc.unfreeze()
        notifier = notifier_of(self, self.settings) if target.live and self._watching else None
        self._first_screen = "" if play or target.live or target.at else "recap"
        self.feed = self._opening.feed(target, self.settings, self.post_message, notifier, play=play)
        self._tell_words()
        self.run_worker(self.feed.run, name="feed", group="feed", thread=True)

    def on_unmount(self) -> None:
        self._others.stop()
        self._terminal_title.show(None)
        if self.link is not None:
            self.link.stop()
        if self.feed is not None:
            self.feed.stop()

    @on(messages.Request)
    def _ask(self, message: Message) -> None:
        if self.feed is not None:
            self.feed.ask(message)

    def action_judge(self) -> None:
        """Label the session on the screen good, then bad, then neither."""
        from tui.screens.dialogs import judge_session

        store = self.feed.labels if self.feed is not None else None
        if store is None or self.actual is None or self.view is None or self.view.loading is not None:
            self.complain(NOTHING_YET)
        else:
            judge_session(self, store, self.actual.events)

    @on(messages.HooksTold)
    def _hooks_told(self, message: messages.HooksTold) -> None:
        self.hooks = message.board
        self._ask(message)

    @on(messages.AnswerPermit)
    def _answer_permit(self, message: messages.AnswerPermit) -> None:
        from tui.screens.dialogs import answer_permit

        answer_permit(self, self.link, message.question, message.choice)

    @on(messages.ScreenChanged)
    def _tell_words(self) -> None:
        """Have words read only while they are seen."""
        if self.feed is not None:
            front = next((one for one in reversed(self.screen_stack) if not one.is_modal), None)
            watched = front is not None and bool(front.query(NowStrip))
            self.feed.ask(messages.ReadWords(self.words, watched))

    @on(messages.Applied)
    def _applied(self, message: messages.Applied) -> None:
        self.settings = message.request.settings
        self._day.reckon(self.settings)
        message.request.done()

    @on(messages.DayReckoned)
    def _day_reckoned(self, message: messages.DayReckoned) -> None:
        self._day.spent = message.day
        if self.view is not None:
            self.view = self._day.shown_in(self.view)

    @on(messages.SessionsSeen)
    def _sessions_seen(self, message: messages.SessionsSeen) -> None:
        self._others.take(message.rows, message.now)
        fleet = self._opened_fleet
        if fleet is not None and fleet in self.screen_stack[-1:]:
            fleet.post_message(messages.SessionsSeen(message.rows, message.now))
        if self.view is None:
            return
        self.view = self._others.shown_in(self.view, self.hooks)
        newer = self._others.newer(self.view) if self._follows and self.view.mode == "live" else None
        if newer is not None and len(self.screen_stack) == 1 and not self.view.status_needs_you:
            self.notify(f"{newer.agent} started another session here", markup=False)
            self.open(Target(newer.path, True, newer.session, newest=True))

    @on(messages.Arrived)
    def _arrived(self, message: messages.Arrived) -> None:
        if message.feed not in (None, self.feed) or not self.screen_stack:
            return
        view = self._day.shown_in(message.view)
        if self.view is None or view.what_if == self.view.what_if:
            self._show_recording(message.recording)
        self.view = self._others.shown_in(view, self.hooks)
        self._show_recording(message.recording)
        if message.view.mode == "live" and self._watching:
            self._terminal_title.show(message.view)
        if not self._settled and message.view.loading is None:
            self._settled = True
            gc.freeze()
            self.go(self._at)
            main = self.screen_stack[0]
            if self._watching and self.view.total and isinstance(main, MainScreen) and is_first_session():
                main.show_captions()
            if self._first_screen and self.view.total:
                recap = self._first_screen == "recap"
                options = {"all_settings": self.settings} if recap else {}
                self._toggle(self._first_screen, *((None, time.time()) if recap else ()), **options)
                self._first_screen = ""
        if self.feed is not None and message.view.total:
            self.call_after_refresh(self._painted, self.feed)

    def _show_recording(self, recording: Timeline | None) -> None:
        if recording is not None and recording is not self.recording:
            self.recording = recording
            if self.view is None or not self.view.what_if:
                self.actual = recording

    def _painted(self, feed: Feed) -> None:
        if feed is not self._painted_feed:
            self._painted_feed = feed
            garbage.collect_as_usual()
            feed.first_painted()

    @on(messages.Bookmarked)
    def _bookmarked(self, message: messages.Bookmarked) -> None:
        self.bookmarks = message.bookmarks

    @on(messages.LookedBefore)
    def _looked_before(self, message: messages.LookedBefore) -> None:
        """Say that something has happened since the last visit; one key shows what."""
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
        live = message.live or self._others.is_live(message.path, message.session)
        self.open(Target(message.path, live, message.session, message.at), play=False)
        self._first_screen = message.show or self._first_screen
        self._to_main()

    @on(messages.ShowChanges)
    def _show_changes(self, message: messages.ShowChanges) -> None:
        self._toggle("changes", message.path)

    @on(messages.CompareSessions)
    def _compare_sessions(self, message: messages.CompareSessions) -> None:
        from tui.screens.compare import CompareScreen

        self.clear_notifications()  # The hint to mark a second session.
        self.push_screen(CompareScreen(message.paths, message.ids, self.settings))

    @on(messages.ShowTranscript)
    def _show_transcript(self, message: messages.ShowTranscript) -> None:
        self._toggle("transcript", message.path)

    def action_help_quit(self) -> None:
        """Quit on ctrl+c, as programs in a terminal do; copying a selection comes first."""
        self.exit()

    def action_words(self) -> None:
        """Hide all words of the log, or show them again, until the program ends."""
        self.words = not self.words
        if not self.words:
            self.clear_notifications()
        if self.view is not None:
            self.view = replace(self.view, words=self.words, now=Now(), subject=replace(self.view.subject, title=""))
        self._tell_words()
        self.refresh_bindings()

    @property
    def key_names(self) -> Mapping[str, str]:
        """Keys that do something else now than what they are called."""
        return {} if self.words else {"words.hide": "show words"}

    def action_sessions(self) -> None:
        """All sessions, those at rest listed too."""
        self._to_fleet().list_all()

    def action_fleet(self) -> None:
        self._to_fleet()

    @property
    def _opened_fleet(self) -> FleetScreen | None:
        """The list of all sessions, once it was opened."""
        if not self.is_screen_installed("fleet"):
            return None
        from tui.screens.fleet import FleetScreen

        return self.get_screen("fleet", FleetScreen)

    def _to_fleet(self) -> FleetScreen:
        """Open the list of all sessions; if it is open already, leave the screens over it."""
        fleet = self._opened_fleet
        if fleet is None:
            fleet = self._make_fleet()
            self.install_screen(fleet, "fleet")
        if fleet not in self.screen_stack:
            self.push_screen("fleet")
        while self.screen is not fleet:
            self.pop_screen()
        return fleet

    def action_fleet_back(self) -> None:
        """Show all sessions; if there are none, keep the present screen."""
        self._to_fleet().visit()

    def _make_fleet(self) -> FleetScreen:
        from tui.screens.fleet import FleetScreen

        def watch(wanted: bool) -> None:
            if wanted or self._watching:
                self._others.start("all" if wanted else "needing")
            else:
                self._others.stop()

        return FleetScreen(self.settings, watch).data_bind(NooscopeApp.hooks, NooscopeApp.words)

    def action_find(self) -> None:
        """Find words in all sessions, and open one at a result."""
        from tui.screens.word_search import WordSearchScreen

        if not self.words:
            self.complain("words are hidden: h shows them, then search")
            return
        self.push_screen(WordSearchScreen(self.settings))

    def action_next_in_need(self) -> None:
        """Open the next session that needs the person; if none is known to, say so and open the fleet."""
        row = self._others.next_needing(self.view, self.hooks) or self._others.newer(self.view)
        if row is None:
            self.action_fleet()
            self.notify(f"no {'other ' if self.view is not None else ''}session needs you now", markup=False)
        else:
            self.post_message(messages.OpenSession(row.path, True, row.session))

    def action_recap(self) -> None:
        """Show what has happened since the person last looked."""
        if self.recording is not None and len(self.recording):
            self._toggle("recap", self._look, time.time(), all_settings=self.settings)
        else:
            self.complain(NOTHING_YET)

    def show_panel(self, panel: Panel) -> None:
        """Go back to the main screen and focus one of its panels."""
        self._to_main()
        panel.focus()

    def _to_main(self) -> None:
        """Leave all screens over the main one."""
        while len(self.screen_stack) > 1:
            self.pop_screen()

    def action_show(self, name: str) -> None:
        if self.feed is None and self.view is None and name not in ("help", "extensions"):
            self.complain(_OPEN_ONE)
        else:
            self._toggle(name)

    def _toggle(self, name: str, *args: object, **options: object) -> None:
        """Open one of the screens, imported when it is first wanted, or leave it if it is open."""
        module, _, kind = SCREENS[name][0].partition(".")
        make = getattr(importlib.import_module(f"tui.screens.{module}"), kind)
        if isinstance(self.screen, make):
            self.screen.dismiss()
        else:
            self.push_screen(self._bind(make(*args, settings=self.settings.screen, **options)))

    def action_tune_beside(self) -> None:
        """Move the bench beside the main screen, or onto a screen of its own."""
        from tui.screens.bench import Bench, TuningScreen

        main = self.screen_stack[0]
        if self.screen is main and isinstance(main, MainScreen) and main.query(Bench):
            main.leave_beside()
            self._toggle("tuning")
        elif isinstance(self.screen, TuningScreen) and not main.has_class("-narrow"):
            self._to_main()
            main.mount(self._bind(Bench(classes="-side")))
        else:
            self.notify("the terminal is too narrow for the bench beside the panels")

    def _bind(self, widget: Any) -> Any:
        """Tie a screen, or the bench beside the main one, to what is shown."""
        marks = (NooscopeApp.bookmarks,) if isinstance(widget, Screen) else ()
        return widget.data_bind(NooscopeApp.view, NooscopeApp.recording, *marks)

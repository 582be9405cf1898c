"""The session that the application shows, and what keys do with it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import on
from textual.app import App
from textual.command import CommandPalette
from textual.notifications import Notify
from textual.reactive import var

from core.store.bookmarks import Bookmark
from core.timeline.timeline import Timeline
from tui.feed import messages
from tui.feed.view import View
from tui.widgets.common.timeline_strip import TimelineStrip

if TYPE_CHECKING:
    from core.intake.link import IntakeLink
    from core.settings import Settings
    from core.timeline.jumps import Landing


NOTHING_YET = "nothing is recorded yet"


class SessionApp(App[None]):
    """What is shown of one session; what is asked of it goes up as a message."""

    view: var[View | None] = var(None)
    recording: var[Timeline | None] = var(None)
    bookmarks: var[tuple[Bookmark, ...]] = var(())

    settings: Settings
    link: IntakeLink | None
    """The way to the agents' hooks."""

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
        from tui.screens.bookmark import ask_bookmark

        if self.view is not None and self.view.total:
            ask_bookmark(self, self.view.index, self.bookmarks)
        else:
            self.complain(NOTHING_YET)

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

        self.push_screen(GotoScreen(), self.go)

    def action_search(self) -> None:
        from tui.screens.palette import SessionSearch

        self.push_screen(CommandPalette([SessionSearch], placeholder="Find a mark, a path, a bookmark…"))

    def action_permit(self, choice: str) -> None:
        """Answer the oldest question of the session on the screen."""
        from tui.screens.permit import oldest_question

        if self.view is not None and not self.view.words:
            self.complain("words are hidden: h shows what it asks, then answer")
        else:
            signs = None if self.view is None else self.view.hooks
            self.post_message(messages.AnswerPermit(choice, oldest_question(signs)))

    def action_steer(self) -> None:
        """Tell the agent on the screen something; what it would do is shown before it is sent."""
        from tui.screens.steer import SteerScreen

        if self.view is not None:
            session = self.view.subject.session
            self.push_screen(SteerScreen(session, self.view.hooks, self.settings, self.link))

    def action_resume(self) -> None:
        """Copy the command that resumes the session on the screen."""
        from tui.screens.at_hand import copy_resume

        if self.view is not None:
            about = self.view.subject
            copy_resume(self, about.tool, about.session, about.path, about.project)

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

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "agent":
            return self.view is not None and len(self.view.agents) > 1
        return super().check_action(action, parameters)

    def go(self, spoken: str | None) -> None:
        """Go to a place as a person writes it."""
        from tui.screens.goto import go_to

        if spoken and self.recording is not None:
            go_to(self, self.recording, spoken)

    def on_notify(self, event: Notify) -> None:
        """Take away a notice that says the same: pressed five times, a key is answered by one."""
        told = event.notification
        for one in list(self._notifications):
            if (one.title, one.message) == (told.title, told.message):
                self._unnotify(one, refresh=False)

    def complain(self, text: str) -> None:
        """Tell the person what is wrong."""
        self.notify(text, severity="warning", markup=False)

"""Writes one sentence for the agent by hand, shows what it would do, and sends it."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Input, Label

from core.engine.response.advice import sentence
from core.hooks.link import IntakeLink
from core.live.hook_signs import HookSigns
from core.report.formatting import plain
from core.settings import Settings
from tui.feed.messages import PreviewSteer
from tui.keys import bind
from tui.widgets.common.leaving import Dialog

_EMPTY = "[nooscope] and your words, on one line, after its next call or with your next prompt"
_MORE = "write a fact rather than an order: “the mock still returns the old shape”"


class SteerScreen(Dialog[None]):
    """Enter shows what the sentence would do, enter again sends it, a changed sentence is shown again."""

    DEFAULT_CSS = """
    SteerScreen {
        align: center middle;
        & > Vertical {
            width: 84; max-width: 94%; height: auto; padding: 0 1;
            border: round $accent; border-title-color: $accent; background: $surface;
        }
        & Label { color: $quiet; width: 100%; }
        & #steer-sentence { color: $foreground; }
        & Input, & Input:focus { border: none; padding: 0; height: 1; background: $surface; }
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        bind("back", "dismiss", "cancel", "Cancel", show=True),
    ]

    def __init__(
        self, session: str, signs: HookSigns | None, settings: Settings, link: IntakeLink | None
    ) -> None:
        super().__init__()
        self._session = session
        self._obstacle = obstacle(signs, settings, link)
        self._link = link
        self._shown = ""
        """The sentence whose effect was last asked for."""
        self._ready = False
        """That effect stands on the screen."""

    def compose(self) -> ComposeResult:
        with Vertical() as box:
            box.border_title = "Tell the agent"
            yield Input(placeholder="one sentence", max_length=260)
            yield Label(Content(_EMPTY), id="steer-sentence")
            yield Label(Content(self._obstacle or _MORE), id="steer-effect")
            yield Label("enter shows what it would do, esc tells nothing", id="steer-keys")

    def on_input_changed(self, message: Input.Changed) -> None:
        self._ready = False
        self._say("steer-sentence", sentence(message.value) or _EMPTY)
        self._say("steer-effect", self._obstacle or _MORE)
        self._say("steer-keys", "enter shows what it would do, esc tells nothing")

    def on_input_submitted(self, message: Input.Submitted) -> None:
        words = sentence(message.value)
        if not words:
            return
        if self._ready and words == self._shown:
            self._send(message.value)
            return
        self._shown = words
        self.app.post_message(PreviewSteer(words, self))

    def previewed(self, words: str, effect: tuple[str, ...]) -> None:
        """From the feed: what the sentence would do."""
        if words != self._shown or not self.is_mounted:
            return
        told = "; ".join(effect) or "nothing in the model would move before the agent acts on it"
        self._say("steer-effect", f"taken like a prompt of yours: {told}. What the agent does, nobody knows.")
        if self._obstacle:
            self._say("steer-keys", self._obstacle)
        else:
            self._ready = True
            self._say("steer-keys", "enter sends it, esc tells nothing")

    def _send(self, message: str) -> None:
        link, session, app = self._link, self._session, self.app
        if link is None:
            return

        def work() -> None:
            fault = link.steer(session, message)
            said = fault or "the agent is told with its next call"
            app.call_from_thread(
                app.notify, said, severity="warning" if fault else "information", markup=False
            )

        app.run_worker(work, name="steer", group="steer", thread=True)
        self.dismiss()

    def _say(self, name: str, text: str) -> None:
        self.query_one(f"#{name}", Label).update(Content(plain(text, 600)))


def obstacle(signs: HookSigns | None, settings: Settings, link: IntakeLink | None) -> str:
    """Why nothing can be told now; blank where it can."""
    if link is None or not link.board.serving:
        return "no nooscope serves hooks: start it with --hooks, or run `nooscope listen`"
    if signs is None:
        return "no hook has called for this session: `nooscope hooks install AGENT --advise`, then go on"
    if signs.mode == "observe":
        return "its hooks only listen: install them again with --advise or --guard"
    if settings.response.advice.level == "off":
        return "response.advice.level is off: nothing is said to agents"
    return ""

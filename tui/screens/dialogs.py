"""Dialogs: answer a call that waits, set a bookmark, send a message."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, ClassVar

from textual.app import App, ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Input, Label

from core.engine.response.advice import sentence
from core.hooks.link import IntakeLink
from core.live.hook_signs import AskedChoice, HookSigns, PermitQuestion
from core.report.formatting import plain
from core.settings import Settings
from core.store.bookmarks import Bookmark
from tui.feed.messages import PreviewSteer, RemoveBookmark, SetBookmark
from tui.keys import bind
from tui.screens.fleet import FleetScreen
from tui.widgets.common.dialog import Dialog

_DONE = {
    "once": "let pass, once",
    "session": "let pass for the rest of the session",
    "deny": "denied; the agent reads why",
}


class ReasonScreen(Dialog[str | None]):
    """A line for the reason; gives it back, or None where the call waits on."""

    DEFAULT_CSS = """
    ReasonScreen {
        align: center middle;
        & > Vertical {
            width: 72; max-width: 90%; height: auto; padding: 0 1;
            border: round $accent; border-title-color: $accent; background: $surface;
        }
        & Label { color: $quiet; width: 100%; }
        & Input, & Input:focus { border: none; padding: 0; height: 1; background: $surface; }
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [bind("back", "dismiss(None)", "cancel", "Cancel", show=True)]

    def __init__(self, question: PermitQuestion) -> None:
        super().__init__()
        self._question = question

    def compose(self) -> ComposeResult:
        with Vertical() as box:
            box.border_title = f"Deny call {self._question.number}?"
            yield Label(Content(plain(self._question.what, 300)))
            yield Input(placeholder="why, in words the agent reads; or nothing", max_length=200)
            yield Label("enter denies it, esc lets it wait")

    def on_input_submitted(self, message: Input.Submitted) -> None:
        self.dismiss(message.value.strip())


class OptionScreen(ReasonScreen):
    """A line for the answer to one question of the agent: the number of an option, or own words."""

    def __init__(self, question: PermitQuestion, choice: AskedChoice) -> None:
        super().__init__(question)
        self._choice = choice

    def compose(self) -> ComposeResult:
        with Vertical() as box:
            box.border_title = "Answer its question"
            yield Label(Content(plain(self._choice.question, 300)))
            for place, option in enumerate(self._choice.options, 1):
                yield Label(Content(plain(f"{place}  {option}", 200)))
            yield Input(placeholder="the number of an option, or your own words", max_length=500)
            yield Label("Enter answers, Esc leaves it waiting")

    def on_input_submitted(self, message: Input.Submitted) -> None:
        value = message.value.strip()
        options = self._choice.options
        place = int(value) - 1 if value.isdecimal() else -1
        if value:
            self.dismiss(options[place] if 0 <= place < len(options) else value)


def oldest_question(signs: HookSigns | None) -> PermitQuestion | None:
    """The question of a session that is to be answered first; those that came too late go last."""
    waits = () if signs is None else signs.questions
    return min(waits, key=lambda one: (one.late, one.number), default=None)


def answer_permit(app: App[Any], link: IntakeLink | None, question: PermitQuestion | None, choice: str) -> None:
    """Answer a question that was seen; a denial asks for its reason first."""
    if question is None or link is None:
        others = len(link.board.questions) if link is not None else 0
        which = "one of another session does" if others == 1 else f"{others} of other sessions do"
        where = "choose its row" if isinstance(app.screen, FleetScreen) else "f shows them"
        more = f"; {which}: {where}" if others else ""
        app.notify(f"no call of this session waits for your permit{more}", markup=False)
    elif choice == "deny":
        app.push_screen(ReasonScreen(question), partial(_denied, app, link, question))
    elif question.choices:
        _ask_options(app, link, question, ())
    else:
        _send(app, link, question, choice, "")


def _ask_options(app: App[Any], link: IntakeLink, question: PermitQuestion, answers: tuple[str, ...]) -> None:
    """Ask for the answers to a question one by one, then send them together."""
    if len(answers) == len(question.choices):
        _send(app, link, question, "once", "", answers)
        return

    def took(answer: str | None) -> None:
        if answer is not None:
            _ask_options(app, link, question, (*answers, answer))

    app.push_screen(OptionScreen(question, question.choices[len(answers)]), took)


def _denied(app: App[Any], link: IntakeLink, question: PermitQuestion, reason: str | None) -> None:
    if reason is not None:
        _send(app, link, question, "deny", reason)


def _send(
    app: App[Any], link: IntakeLink, question: PermitQuestion, choice: str, reason: str, answers: tuple[str, ...] = ()
) -> None:
    """From a thread, for it waits for another program; what came of it is said."""

    where = "fleet" if isinstance(app.screen, FleetScreen) else "main screen"

    def work() -> None:
        fault = link.decide(question.number, choice, reason, where, answers)
        app.call_from_thread(
            app.notify,
            fault or plain(question.what, 200),
            title="Not answered" if fault else f"{_DONE[choice][:1].upper()}{_DONE[choice][1:]}",
            severity="warning" if fault else "information",
            markup=False,
        )

    app.run_worker(work, name="permit", group="permit", thread=True)


_BOX = """
    align: center middle;
    & > Vertical {
        width: 60; max-width: 90%; height: auto; padding: 0 1;
        border: round $accent; border-title-color: $accent; background: $surface;
    }
    & Label { color: $quiet; width: 100%; }
    & Input, & Input:focus { border: none; padding: 0; height: 1; background: $surface; }
"""


class NoteScreen(Dialog[str | None]):
    """A line for the note; gives it back, or None where no bookmark is wanted."""

    DEFAULT_CSS = f"NoteScreen {{ {_BOX} }}"
    BINDINGS: ClassVar[list[BindingType]] = [bind("back", "dismiss(None)", "cancel", "Cancel", show=True)]

    def __init__(self, place: int) -> None:
        super().__init__()
        self._place = place

    def compose(self) -> ComposeResult:
        with Vertical() as box:
            box.border_title = f"Bookmark at event {self._place:,}"
            yield Input(placeholder="a note, a name: and a note, or nothing", max_length=300)
            yield Label("enter sets it, esc sets none")

    def on_input_submitted(self, message: Input.Submitted) -> None:
        self.dismiss(message.value.strip())


class RemovalScreen(Dialog[bool | None]):
    """Whether the bookmark that stands here should go."""

    DEFAULT_CSS = f"RemovalScreen {{ {_BOX} }}"
    BINDINGS: ClassVar[list[BindingType]] = [
        bind("open", "dismiss(True)", "remove", "Remove the bookmark", show=True),
        bind("back", "dismiss(False)", "keep", "Keep the bookmark", show=True),
    ]

    def __init__(self, bookmark: Bookmark) -> None:
        super().__init__()
        self._bookmark = bookmark

    def compose(self) -> ComposeResult:
        with Vertical() as box:
            box.border_title = "Remove this bookmark?"
            yield Label(Content(plain(self._bookmark.name, 56)))
            if self._bookmark.note:
                yield Label(Content(plain(self._bookmark.note, 300)))
            yield Label("enter removes it, esc keeps it")


def ask_bookmark(app: App[Any], place: int, bookmarks: Sequence[Bookmark]) -> None:
    """Ask for a note and set a bookmark; where one stands, ask whether it should go."""
    standing = next((mark for mark in bookmarks if mark.place == place), None)
    if standing is None:
        app.push_screen(NoteScreen(place), partial(_set, app, place))
    else:
        app.push_screen(RemovalScreen(standing), partial(_remove, app, place))


def _set(app: App[Any], place: int, note: str | None) -> None:
    if note is not None:
        app.post_message(SetBookmark(place, note))


def _remove(app: App[Any], place: int, agreed: bool | None) -> None:
    if agreed:
        app.post_message(RemoveBookmark(place))


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
    BINDINGS: ClassVar[list[BindingType]] = [bind("back", "dismiss", "cancel", "Cancel", show=True)]

    def __init__(self, session: str, signs: HookSigns | None, settings: Settings, link: IntakeLink | None) -> None:
        super().__init__()
        self._session = session
        self._obstacle = obstacle(signs, settings, link)
        self._link = link
        self._shown = ""  # The sentence whose effect was last asked for.
        self._ready = False  # That effect stands on the screen.

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
        summary = "; ".join(effect) or "nothing in the model would move before the agent acts on it"
        self._say("steer-effect", f"taken like a prompt of yours: {summary}. What the agent does, nobody knows.")
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
            outcome = fault or "the agent is told with its next call"
            app.call_from_thread(app.notify, outcome, severity="warning" if fault else "information", markup=False)

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

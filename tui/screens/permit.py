"""Answers a call that waits for the person's permit: once, for the session, or no with a reason."""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar

from textual.app import App, ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Input, Label

from core.hooks.link import IntakeLink
from core.live.hook_signs import AskedChoice, HookSigns, PermitQuestion
from core.report.formatting import plain
from tui.keys import bind
from tui.screens.fleet import FleetScreen
from tui.widgets.common.leaving import Dialog

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
    BINDINGS: ClassVar[list[BindingType]] = [
        bind("back", "dismiss(None)", "cancel", "Cancel", show=True),
    ]

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


def answer_permit(
    app: App[Any], link: IntakeLink | None, question: PermitQuestion | None, choice: str
) -> None:
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
    app: App[Any],
    link: IntakeLink,
    question: PermitQuestion,
    choice: str,
    reason: str,
    answers: tuple[str, ...] = (),
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

"""Dialogs, and ways to the agent: its questions, messages, its terminal, the command that resumes it, the editor."""

from __future__ import annotations

import os
import shlex
import subprocess
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, Literal, TypeAlias, cast

from textual import on
from textual.app import App, SuspendNotSupported
from textual.binding import BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.notifications import SeverityLevel
from textual.widget import Widget
from textual.widgets import Input, Label, OptionList, Static
from textual.widgets.option_list import Option

from core.agents.registry import known_agents, prompt_command, resume_command
from core.engine.response.interventions import sentence
from core.errors import NooscopeError, StoreError
from core.events import Event
from core.hooks.connection import chosen_option, process_line
from core.hooks.link import IntakeLink
from core.live import tmux
from core.live.hook_signs import HookSigns, PermitQuestion, claude_sessions
from core.report.formatting import count, plain
from core.settings import Settings
from core.settings.draft import Draft
from core.store.bookmarks import Bookmark, Labels
from core.store.profiles import ProfileFiles, Scope, SettingsProfile
from core.timeline.own_labels import label_session, save_label
from tui.feed.messages import PreviewSteer, RemoveBookmark, SetBookmark
from tui.feed.view import View
from tui.keys import bind
from tui.widgets.common.key_line import Box, ConfirmScreen


class ResumeScreen(ConfirmScreen):
    """Asks whether to run the command that resumes a session, or to copy it; closed otherwise, it does nothing."""

    BINDINGS: ClassVar[list[BindingType]] = [bind("hand.resume", "dismiss(False)", "copy", "Copy it", show=True)]


def resume(app: App[Any], agent: str, session: str, path: str, project: str) -> None:
    """Go to the tmux pane a session's agent runs in; if there is none, offer to run what resumes it."""
    if show_pane(app, agent, session, project):
        return
    command = resume_command(agent, session, path, project)
    if not command:
        app.notify(f"no command is known to resume a session of {agent}", severity="warning", markup=False)
        return
    inside = bool(os.environ.get("TMUX"))
    where = "a new tmux window" if inside else "this terminal; nooscope comes back when it ends"
    lines = [command, f"enter runs it in {where}", "R copies it, for another terminal"]
    if session in _claude_lines():
        lines.insert(1, "it still runs, in another terminal")
    app.push_screen(ResumeScreen("Resume this session?", *lines), partial(_run_resume, app, command, inside))


def _run_resume(app: App[Any], command: str, inside: bool, agreed: bool | None) -> None:
    if agreed is None:
        return
    try:
        if agreed and inside:
            tmux.open_window(command)
            return
        if agreed:
            with app.suspend():
                subprocess.call(["/bin/sh", "-c", command])
            app.refresh()
            return
    except (OSError, SuspendNotSupported) as error:
        app.notify(str(error) or "nothing can be run from here", severity="warning", markup=False)
    copy_command(app, command)


def copy_command(app: App[Any], command: str) -> None:
    """Put a command on the clipboard, and show it unless words are hidden."""
    app.copy_to_clipboard(command)
    words = cast(Any, app).words
    app.notify(command if words else "paste it into a terminal", title="Copied", markup=False)


def judge_session(app: App[Any], store: Labels, events: Iterable[Event]) -> None:
    """Label a session good, then bad, then neither, and say what the labels teach."""

    def work() -> None:
        severity: SeverityLevel = "information"
        try:
            earlier = store.session()
            label = label_session(events, earlier is None, time.time()) if earlier is None or earlier.good else None
            words = f"{label.word if label else 'not labelled'}: {save_label(store, label).summary}"
        except NooscopeError as error:
            words, severity = str(error), "warning"
        app.call_from_thread(app.notify, words, title="Label of this session", severity=severity, markup=False)

    app.run_worker(work, name="label", group="label", thread=True)


def editor_command(environment: Mapping[str, str], project: str, path: str) -> list[str]:
    """Return the command that opens a file in the person's editor; raises `OSError` if it cannot be opened."""
    words = shlex.split(environment.get("VISUAL") or environment.get("EDITOR") or "")
    if not words:
        raise OSError("set the variable EDITOR to open files in your editor")
    file = Path(path) if path.startswith("/") else Path(project) / path
    if not file.is_absolute() or not file.is_file():
        raise OSError(f"{path}: no such file on this machine")
    return [*words, str(file)]


def open_in_editor(app: App[Any], project: str, path: str) -> None:
    """Leave the screen to the person's editor on a file, and come back."""
    try:
        command = editor_command(os.environ, project, path)
        with app.suspend():
            subprocess.call(command)
    except SuspendNotSupported:
        app.notify("cannot open an editor here", severity="warning", markup=False)
    except (OSError, ValueError) as error:
        app.notify(str(error), severity="warning", markup=False)
    app.refresh()


def show_pane(app: App[Any], agent: str, session: str, project: str) -> bool:
    """Show the tmux pane in which a session's agent runs; return whether there is one."""
    program = next((one.resume[0] for one in known_agents() if one.name == agent and one.resume), agent)
    lines = _claude_lines()
    processes = lines.pop(session, None)
    taken = frozenset().union(*lines.values())
    try:
        pane = tmux.pane_of(
            tmux.panes(), project, program, os.environ.get("TMUX_PANE", ""), processes, taken, tmux.running(program)
        )
        if pane is None:
            return False
        if os.environ.get("TMUX"):
            tmux.go_to_pane(pane)
        elif tmux.show_elsewhere(pane):
            app.notify("shown in the terminal that has tmux open", markup=False)
        else:
            with app.suspend():
                subprocess.call(["tmux", "attach-session", "-t", pane.id])
            app.refresh()
    except (OSError, SuspendNotSupported):
        return False
    return True


def _claude_lines() -> dict[str, set[str]]:
    """The process of each session of Claude Code that runs, with those above it."""
    sessions = claude_sessions(os.environ, Path.home()).items()
    return {name: {str(one) for one, _ in process_line(own.pid)} for name, own in sessions if own.status != "gone"}


_DONE = {"once": "allowed, once", "session": "allowed for the rest of the session", "deny": "denied"}


class AskScreen(Box[str]):
    """Asks for a line of text below some sentences; returns None if it is cancelled."""

    def __init__(self, title: str, *sentences: str, hint: str, keys: str, most: int) -> None:
        super().__init__(title, *sentences)
        self._hint, self._keys, self._most = hint, keys, most

    def inside(self) -> Iterable[Widget]:
        yield from super().inside()
        yield Input(placeholder=self._hint, max_length=self._most)
        yield Label(self._keys)

    def on_input_submitted(self, message: Input.Submitted) -> None:
        self.dismiss(message.value.strip())


def _shows_no_session(app: App[Any]) -> bool:
    return getattr(app.screen, "SHOWS_NO_SESSION", False)


def oldest_question(signs: HookSigns | None) -> PermitQuestion | None:
    """Return the question of a session that should be answered first; late ones come last."""
    waits = () if signs is None else signs.questions
    return min(waits, key=lambda one: (one.late, one.number), default=None)


def answer_permit(app: App[Any], link: IntakeLink | None, question: PermitQuestion | None, choice: str) -> None:
    """Answer a question that was seen; a denial asks for its reason first."""
    if question is None or link is None:
        others = len(link.board.questions) if link is not None else 0
        where = "choose its row" if _shows_no_session(app) else "f lists them"
        more = f"; {count(others, 'question')} in other sessions: {where}" if others else ""
        app.notify(f"nothing is waiting for approval here{more}", markup=False)
    elif choice == "deny":
        _ask_reason(app, link, question)
    elif question.choices:
        _ask_options(app, link, question, ())
    else:
        _send(app, link, question, choice, "")


def _ask_reason(app: App[Any], link: IntakeLink, question: PermitQuestion) -> None:
    """Ask for the reason of a denial, then deny."""

    def took(reason: str | None) -> None:
        if reason is not None:
            _send(app, link, question, "deny", reason)

    hint, keys = "a reason for the agent (optional)", "Enter denies it, Esc cancels"
    app.push_screen(AskScreen(f"Deny call {question.number}?", question.what, hint=hint, keys=keys, most=200), took)


def _ask_options(app: App[Any], link: IntakeLink, question: PermitQuestion, answers: tuple[str, ...]) -> None:
    """Ask for the answers to a question one by one, each the number of an option or free text; then send them."""
    if len(answers) == len(question.choices):
        _send(app, link, question, "once", "", answers)
        return
    choice = question.choices[len(answers)]

    def took(answer: str | None) -> None:
        if answer:
            _ask_options(app, link, question, (*answers, chosen_option(answer, choice.options)))
        elif answer is not None:
            _ask_options(app, link, question, answers)

    options = (f"{place}  {option}" for place, option in enumerate(choice.options, 1))
    hint, keys = "the number of an option, or your own words", "Enter answers, Esc cancels"
    screen = AskScreen("Answer its question", choice.question, *options, hint=hint, keys=keys, most=500)
    app.push_screen(screen, took)


def _send(
    app: App[Any], link: IntakeLink, question: PermitQuestion, choice: str, reason: str, answers: tuple[str, ...] = ()
) -> None:
    """Answer in a thread, as another program is involved, and report the result."""
    where = "fleet" if _shows_no_session(app) else "main screen"
    where += " in a browser" if app.is_web else ""

    def work() -> None:
        fault = link.decide(question.number, choice, reason, where, answers, question.at)
        title, severity = ("Not answered", "warning") if fault else (_DONE[choice].capitalize(), "information")
        words = fault or plain(question.what, 200)
        app.call_from_thread(app.notify, words, title=title, severity=severity, markup=False)

    app.run_worker(work, name="permit", group="permit", thread=True)


def ask_bookmark(app: App[Any], place: int, bookmarks: Sequence[Bookmark]) -> None:
    """Ask for a note and set a bookmark; if there is one already, ask whether to remove it."""

    def set_bookmark(note: str | None) -> None:
        if note is not None:
            app.post_message(SetBookmark(place, note))

    def remove(agreed: bool | None) -> None:
        if agreed:
            app.post_message(RemoveBookmark(place))

    standing = next((mark for mark in bookmarks if mark.place == place), None)
    if standing is None:
        hint, keys = "a note (optional), or NAME: note", "Enter sets the bookmark, Esc cancels"
        app.push_screen(AskScreen(f"Bookmark at event {place:,}", hint=hint, keys=keys, most=300), set_bookmark)
    else:
        lines = standing.name, standing.note, "Enter removes it, Esc keeps it"
        app.push_screen(ConfirmScreen("Remove this bookmark?", *lines), remove)


_EMPTY = "the agent gets it as one line, after its next call or with your next prompt"
_EMPTY_PROMPT = "your next prompt, sent by the agent's own command"
_TERMINAL = "Enter copies it and goes to the agent's terminal, Esc cancels"
_PATIENCE = 30.0  # Seconds an agent's own command may take.
_MORE = "a fact works better than an order: “the mock still returns the old shape”"
_PREVIEW = "Enter previews, Esc cancels"


class SteerScreen(Box[None]):
    """A message to the agent: Enter previews its effect, Enter again sends it.

    It goes through hooks. At rest, or without hooks, it is a prompt by the agent's own command; if the agent has
    no such command, its terminal is shown.
    """

    DEFAULT_CSS = """
    SteerScreen {
        & > Vertical { width: 84; }
        & #steer-sentence { color: $foreground; }
    }
    """

    def __init__(self, view: View, settings: Settings, link: IntakeLink | None) -> None:
        super().__init__("Message to the agent")
        self._subject = view.subject
        self._obstacle = obstacle(view.hooks, settings, link)
        at_rest = view.status is not None and view.status.at_rest
        self._prompts = (at_rest or bool(self._obstacle)) and bool(self._prompt(""))
        if self._prompts:
            self._obstacle = ""
        self._link = link
        self._shown = ""  # The message that was previewed last.
        self._ready = False  # Its effect is on the screen.

    def inside(self) -> Iterable[Widget]:
        yield Input(placeholder="a prompt" if self._prompts else "one sentence", max_length=260)
        yield Label(Content(self._words("")), id="steer-sentence")
        yield Label(Content(self._obstacle or _MORE), id="steer-effect")
        yield Label(_PREVIEW, id="steer-keys")

    def _prompt(self, words: str) -> list[str]:
        return prompt_command(self._subject.tool, self._subject.session, words)

    def _words(self, message: str) -> str:
        """Return the words the agent would get."""
        if self._prompts:
            return " ".join(message.split()) or _EMPTY_PROMPT
        return sentence(message) or _EMPTY

    def on_input_changed(self, message: Input.Changed) -> None:
        self._ready = False
        self._say("steer-sentence", self._words(message.value))
        self._say("steer-effect", self._obstacle or _MORE)
        self._say("steer-keys", _PREVIEW)

    def on_input_submitted(self, message: Input.Submitted) -> None:
        words = self._words(message.value)
        if not message.value.strip():
            return
        if self._ready and words == self._shown:
            self._send(message.value)
            return
        self._shown = words
        self.app.post_message(PreviewSteer(words, partial(self.call_later, self._show_preview)))

    def _show_preview(self, words: str, effect: tuple[str, ...]) -> None:
        """Show the effect that the feed computed."""
        if words != self._shown or not self.is_mounted:
            return
        summary = "; ".join(effect) or "nothing in the model changes before the agent acts"
        self._say("steer-effect", f"in the model: {summary}. What the agent will do is not predicted.")
        self._ready = True
        command = " ".join(self._prompt("")[:2])
        way = f"Enter sends it as a prompt with `{command}`" if self._prompts else "Enter sends it"
        self._say("steer-keys", f"{self._obstacle}. {_TERMINAL}" if self._obstacle else f"{way}, Esc cancels")

    def _send(self, message: str) -> None:
        link, subject, app = self._link, self._subject, self.app
        prompt = self._prompt(message) if self._prompts else []
        if self._obstacle:
            self.dismiss()
            app.copy_to_clipboard(message)
            resume(app, subject.tool, subject.session, subject.path, subject.project)
            return

        def work() -> None:
            fault = run_prompt(prompt) if prompt or link is None else link.steer(subject.session, message)
            outcome = fault or ("sent as a prompt" if prompt else "sent: the agent gets it with its next call")
            app.call_from_thread(app.notify, outcome, severity="warning" if fault else "information", markup=False)

        app.run_worker(work, name="steer", group="steer", thread=True)
        self.dismiss()

    def _say(self, name: str, text: str) -> None:
        self.query_one(f"#{name}", Label).update(Content(plain(text, 600)))


def run_prompt(command: Sequence[str]) -> str:
    """Run the agent's own command; return its error, or a blank string."""
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=_PATIENCE, check=False
        )
    except (OSError, subprocess.SubprocessError) as error:
        return f"the prompt was not sent: {error}"
    last = (done.stderr.strip() or "no reason was given").splitlines()[-1]
    return f"the prompt was not sent: {last}" if done.returncode else ""


def obstacle(signs: HookSigns | None, settings: Settings, link: IntakeLink | None) -> str:
    """Return why no message can be sent now; blank if it can."""
    if link is None or not link.board.serving:
        return "nooscope is not serving hooks: start it with --hooks, or run `nooscope hooks listen`"
    if signs is None or not signs.heard:
        return "no hook of this session has called yet: run `nooscope hooks install AGENT --advise`, then continue it"
    if signs.mode == "observe":
        return "its hooks only observe: install them again with --advise or --guard"
    if settings.response.advice.level == "off":
        return "response.advice.level is off: nothing is sent to agents"
    return ""


_SCOPES: dict[Scope, str] = {"built-in": "preset", "user": "profile of yours", "project": "profile of this project"}


def _described(profile: SettingsProfile) -> Content:
    values = count(len(profile.values), "value") if profile.values else "built-in values"
    faults = f" · {count(len(profile.complaints), 'line')} left out" if profile.complaints else ""
    about = f"  load this {_SCOPES[profile.scope]} · {values}{faults}\n", "dim"
    return Content.assemble((plain(profile.name, 40), "bold"), about, plain(profile.sentence, 200) or "no description")


# The file that was saved, the profile to load, or what else to do with the changes.
SaveAnswer: TypeAlias = Path | SettingsProfile | Literal["use", "reset"]


class SaveScreen(Box[SaveAnswer]):
    """Asks what to do with the changed settings; stays open until a file is saved."""

    DEFAULT_CSS = """
    SaveScreen OptionList, SaveScreen OptionList:focus {
        height: auto; max-height: 20; border: none; background: $surface; padding: 0; scrollbar-size-vertical: 1;
    }
    SaveScreen Static { color: $quiet; }
    """
    AUTO_FOCUS = "OptionList"

    def __init__(self, files: ProfileFiles, draft: Draft, profiles: list[SettingsProfile]) -> None:
        super().__init__(count(len(draft.changes), "changed setting"))
        self._files, self._draft, self._profiles = files, draft, profiles
        self._scope: Scope = "user"  # Where what is being saved goes.

    def on_mount(self) -> None:
        self.query_one(Vertical).border_subtitle = "enter choose · esc cancel"

    def inside(self) -> Iterable[Widget]:
        yield OptionList(*self._options())
        for line in (
            Input(placeholder="name of the profile", id="name"),
            Input(placeholder="what it is for, in one sentence", id="sentence"),
        ):
            line.display = False
            yield line
        yield Static("", id="problem", markup=False)

    def _options(self) -> Iterator[Option]:
        folder, file = self._files.folder, self._files.file
        if self._draft.changes:
            yield _option("use", "Use them now", "from the newest event on, in this session")
            yield _option("settings user", "Save for every session", str(file("user")))
            yield _option("settings project", "Save for this project", str(file("project")))
            yield _option("profile user", "Save as a profile of mine", str(folder("user")))
            yield _option("profile project", "Save as a profile of this project", str(folder("project")))
        yield _option("reset", "Reset all settings", "to their built-in values; u undoes it")
        for number, profile in enumerate(self._profiles):
            yield Option(_described(profile), id=f"load {number}")

    @on(Input.Submitted, "#name")
    def _next(self) -> None:
        self.query_one("#sentence", Input).focus()

    @on(Input.Changed)
    def _retyped(self) -> None:
        """Clear the problem of the last try."""
        self.query_one("#problem", Static).update("")

    @on(OptionList.OptionSelected)
    def _chosen(self, event: OptionList.OptionSelected) -> None:
        if not self.is_active:
            return
        choice, _, where = (event.option_id or "").partition(" ")
        self._scope = "user" if where == "user" else "project"
        if choice in ("use", "reset"):
            self.dismiss("use" if choice == "use" else "reset")
        elif choice == "load":
            self.dismiss(self._profiles[int(where)])
        elif choice == "profile":
            for line in self.query(Input):
                line.display = True
            self.query_one("#name", Input).focus()
        else:
            self._save(lambda: self._files.save_settings(self._draft.changes, self._scope, self._draft.begun))

    @on(Input.Submitted, "#sentence")
    def _save_profile(self) -> None:
        name, sentence = (self.query_one(f"#{part}", Input).value.strip() for part in ("name", "sentence"))
        if name:
            self._save(lambda: self._files.save_profile(name, sentence, self._draft.changes, self._scope))
        else:
            self._complain("a profile needs a name")

    def _save(self, save: Callable[[], Path]) -> None:
        try:
            self.dismiss(save())
        except StoreError as error:
            self._complain(str(error))

    def _complain(self, problem: str) -> None:
        self.query_one("#problem", Static).update(plain(problem))
        if (name := self.query_one("#name", Input)).display:
            name.focus()


def _option(key: str, title: str, where: str) -> Option:
    return Option(Content.assemble((title, "bold"), (f"  {plain(where, 70)}", "dim")), id=key)

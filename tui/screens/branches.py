"""The Branches tab: branches of the conversation, settings applied, a message preview and a dream."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import ClassVar

from textual import on
from textual.binding import BindingType
from textual.widget import Widget
from textual.widgets import Input
from textual.worker import get_current_worker

from core.agents.registry import make_kit
from core.errors import NooscopeError
from core.events import MAIN
from core.logs.finder import sessions
from core.logs.links import session_links
from core.report import conversation
from core.report.chrono import place_after
from core.report.formatting import plain
from core.settings import Settings
from core.settings.program import ScreenSettings
from core.timeline.rerun import Branch, copy_recording, dream, pre_steer
from core.timeline.timeline import Timeline
from tui.draw.line import Line, section
from tui.feed.messages import Failed, Seek
from tui.keys import bind
from tui.screens.board import Board
from tui.screens.model import ModelTab, TabLine
from tui.widgets.common.key_line import EntryLine
from tui.widgets.common.panel import TextPage

_WAITS = "reading…"
_NOTHING = "nothing recorded yet"
_SECTIONS = {
    "conversation": "The conversation",
    "applied": "Settings applied in this session, and what followed",
    "steer": "Preview a message before sending it",
    "dream": "A dream: past work in another order",
}
_EMPTY = {"steer": "press s and write a message for the agent at the playhead"}


class BranchScreen(ModelTab):
    """Shows what might have happened; nothing here changes the session."""

    TAB = "branches"
    AUTO_FOCUS = "TextPage"
    HAS_TIMELINE = False
    BINDINGS: ClassVar[list[BindingType]] = [
        bind("open", "type('#record')", "go to record", "Go to a record of the conversation", show=True),
        bind("hand.steer", "type('#steer')", "preview", "Preview a message at the playhead", show=True),
        bind("view", "dream", "dream again", "Dream with another seed", show=True),
    ]

    def __init__(self, settings: ScreenSettings | None = None) -> None:
        super().__init__(settings)
        self._told: dict[str, list[str]] = {}
        self._copy: Timeline | None = None
        self._tree: conversation.ConversationTree | None = None
        self._seed = 1
        self._begun = False

    def body(self) -> Iterable[Widget]:
        yield TabLine(self.TAB).data_bind(Board.view)
        yield TextPage(id="page")
        yield EntryLine("a message for the agent", enter="preview", escape="close", id="steer")
        hint = "number, id or hash of a record, then (optional) your own summary of what is in between"
        yield EntryLine(hint, enter="go there", escape="close", id="record")

    def on_mount(self) -> None:
        super().on_mount()
        self.query_one(TextPage).border_title = "Branches"
        self._show()

    def watch_recording(self) -> None:
        """Read once there is something to read; the page stays as it is while events come."""
        timeline, view = self.recording, self.view
        if self._begun or timeline is None or view is None or not len(timeline) or not self.is_mounted:
            return
        self._begun = True
        self._show()
        path, session = view.subject.path, view.subject.session
        settings = timeline.settings

        def work() -> None:
            worker = get_current_worker()
            self._tell("conversation", lambda: self._conversation(path, session, settings))
            copy = copy_recording(timeline, lambda *_: not worker.is_cancelled)
            if copy is None:
                return
            self._copy = copy
            start = copy.events[0].at
            self._tell("applied", lambda: conversation.applied_lines(conversation.applied_changes(copy), start))
            self._dream(copy)

        self.run_worker(work, name="branches", group="branches", thread=True, exclusive=True)

    watch_view = watch_recording

    def _dream(self, copy: Timeline) -> None:
        branch = dream(copy, self._seed)
        if _grown(branch):
            acceptance = copy.society.engine(MAIN).affect.modulation.mutation_acceptance
            self._tell("dream", lambda: conversation.dream_lines(branch, acceptance))

    def _tell(self, section: str, make: Callable[[], list[str]]) -> None:
        try:
            lines = make()
        except (NooscopeError, OSError) as error:
            lines = [str(error)]
        if not get_current_worker().is_cancelled:
            self.app.call_from_thread(self._put, section, lines)

    def _put(self, section: str, lines: list[str]) -> None:
        self._told[section] = lines
        if self.is_attached:
            self._show()

    def _show(self) -> None:
        sections, untold = dict(self._told), _WAITS if self._begun else _NOTHING
        self.query_one(TextPage).show(lambda width: _page(sections, untold, width), top=False)

    def _conversation(self, path: str, session: str, settings: Settings) -> list[str]:
        kit = make_kit(settings.ingest)
        matches = sessions([str(Path(path))], kit, settings.ingest.lines)
        chosen = [one for one in matches if not session or one.id == session] or matches
        if not chosen:
            return ["the log is gone"]
        self._tree = tree = conversation.ConversationTree(session_links(chosen[0], kit))
        return conversation.conversation_lines(tree, conversation.check_log(tree, chosen[0].path))

    def action_dream(self) -> None:
        """Recombine the past with the next seed."""
        copy = self._copy
        if copy is not None:
            self._seed += 1
            self._put("dream", [_WAITS])
            self.run_worker(lambda: self._dream(copy), name="dream", group="dream", thread=True, exclusive=True)

    @on(Input.Submitted, "#record")
    def _go_to_record(self, message: Input.Submitted) -> None:
        message.stop()
        record, _, summary = message.value.strip().partition(" ")
        self._close_entry()
        if not record:
            return
        if self._copy is None or self._tree is None:
            self.post_message(Failed("the session is still being read"))
            return
        try:
            node = self._tree.resolve(record)
            place = place_after(self._copy.events, node.where)
        except NooscopeError as error:
            self.post_message(Failed(str(error)))
        else:
            self.post_message(Seek(place, record=node.id, summary=summary.strip()))
            self.notify(f"record {node.place + 1} is event {place}", markup=False)

    @on(Input.Submitted, "#steer")
    def _try_sentence(self, message: Input.Submitted) -> None:
        message.stop()
        words = message.value.strip()
        self._close_entry()
        copy, view = self._copy, self.view
        if not words or view is None:
            return
        if copy is None:
            why = "the session is still being read" if self._begun else "nothing is recorded yet"
            self._put("steer", [f"“{plain(words)}” was not tried: {why}"])
            return
        place = min(view.index, len(copy))
        self._put("steer", [_WAITS])

        def work() -> None:
            branch = pre_steer(copy, words, place)
            if _grown(branch):
                self._tell("steer", lambda: conversation.steer_lines(branch))

        self.run_worker(work, name="steer", group="steer", thread=True, exclusive=True)

    def action_leave(self) -> None:
        if self.has_class("-typing"):
            self._close_entry()
        else:
            super().action_leave()

    def action_type(self, line: str) -> None:
        """Ask for the record to go to, or for the sentence that is to be tried."""
        self.add_class("-typing")
        entry = self.query_one(line, Input)
        entry.display = True
        entry.focus()

    def _close_entry(self) -> None:
        self.remove_class("-typing")
        for entry in self.query(EntryLine):
            entry.value, entry.display = "", False
        self.query_one(TextPage).focus()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Give all keys but escape to the input line while the person types."""
        if self.has_class("-typing") and action != "leave":
            return False
        return super().check_action(action, parameters)


def _grown(branch: Branch) -> bool:
    """Run a branch unless the screen is left meanwhile; then nothing of it stays."""
    worker = get_current_worker()
    branch.grow(lambda *_: not worker.is_cancelled)
    if worker.is_cancelled:
        branch.abort("the screen was closed")
    return not worker.is_cancelled


def _page(sections: dict[str, list[str]], untold: str, width: int) -> Iterator[Line]:
    for name, title in _SECTIONS.items():
        ink = "plain" if name in sections else "quiet"
        sentences = sections.get(name, [_EMPTY.get(name, untold)])
        yield from section(title, [(sentence, ink) for sentence in sentences], width)

"""What hooks tell on the screen: permits answered by key, a sentence told by hand, limits in the header."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from msgspec.structs import replace
from textual.pilot import Pilot
from textual.widgets import Input, Label

from core.hooks.connection import IntakeFolder
from core.hooks.link import IntakeLink
from core.live.fleet.roster import Roster
from core.live.hook_signs import HookAsk, HookBoard, HookSigns, PermitQuestion, StatusFigures
from core.live.source import Target
from core.report.plan_limits import PlanLimit
from core.settings import Settings
from core.settings.layers import with_value
from tests.core.logs.log_lines import prompt, session
from tests.tui.conftest import shown, until
from tests.tui.fleet_sessions import NOW, begin
from tui.app import NooscopeApp
from tui.screens.dialogs import AskScreen, SteerScreen, obstacle, run_prompt
from tui.screens.fleet import FleetScreen
from tui.widgets.common.header import NowStrip, StatusHeader


class Link(IntakeLink):
    """A link without a thread: tests tell what hooks tell."""

    def __init__(self, folder: Path) -> None:
        super().__init__(IntakeFolder(folder))
        self.decided: list[tuple[int, str, str]] = []
        self.steered: list[tuple[str, str]] = []

    def start(self) -> None:
        pass

    def tell(self, session: str, **signs: object) -> None:
        self.board = HookBoard(self.board.version + 1, True, {session: HookSigns(**{"heard": 1.0, **signs})})  # type: ignore[arg-type]
        self.show(self.board)

    def decide(self, number: int, choice: str, reason: str = "", *_: object) -> str:
        self.decided.append((number, choice, reason))
        return ""

    def steer(self, session: str, message: str) -> str:
        self.steered.append((session, message))
        return ""


def question(session: str, number: int = 3) -> PermitQuestion:
    return PermitQuestion(number, 1.0, session, "Bash", "rm -rf build", "the command destroys something")


async def open_app(app: NooscopeApp, pilot: Pilot[None]) -> str:
    view = await shown(app, pilot, lambda view: view.total > 0)
    return view.subject.session


@pytest.fixture
def link(tmp_path: Path) -> Link:
    return Link(tmp_path / "intake")


@pytest.fixture
def app(home: Path, still: Settings, link: Link) -> NooscopeApp:
    log = home / "log.jsonl"
    log.write_bytes(prompt(0.0) + session(3, first=1))
    return NooscopeApp(Target(log), still, theme_folder=home / "themes", link=link)


def strip(app: NooscopeApp, width: int = 120, height: int = 4) -> str:
    assert app.view is not None
    lines = app.screen.query_one(NowStrip).lines(app.view, width, height)
    return "\n".join("".join(piece for piece, _ in line) for line in lines)


@pytest.mark.parametrize(("key", "choice"), [("y", "once"), ("Y", "session")])
async def test_a_permit_is_seen_and_given(app: NooscopeApp, link: Link, key: str, choice: str) -> None:
    async with app.run_test(size=(120, 40)) as pilot:
        name = await open_app(app, pilot)
        link.tell(name, questions=(question(name),), mode="guard")
        view = await shown(app, pilot, lambda view: view.status is not None and view.status.needs_you)
        assert view.status is not None and view.status.why.startswith("needs your permit: rm -rf build")
        for width, height in ((120, 4), (80, 2)):
            assert "NEEDS YOU" in strip(app, width, height)
            assert "y allow  Y session  d deny" in strip(app, width, height)
        await pilot.press(key)
        await until(pilot, lambda: bool(link.decided))
        assert link.decided == [(3, choice, "")]
        link.tell(name, mode="guard")
        await shown(app, pilot, lambda view: view.status is not None and not view.status.needs_you)
        assert "y allow" not in strip(app)


async def test_hidden_words_of_a_hook_are_neither_shown_nor_told(app: NooscopeApp, link: Link) -> None:
    """Hiding them does not ring a second time."""
    app._watching = True
    async with app.run_test(size=(120, 40)) as pilot:
        name = await open_app(app, pilot)
        await pilot.press("h")
        await shown(app, pilot, lambda view: not view.words)
        link.tell(name, questions=(replace(question(name), at=time.time()),), mode="guard")
        view = await shown(app, pilot, lambda view: view.status is not None and view.status.needs_you)
        assert view.status is not None and view.status.why == "it waits for your answer"
        await until(pilot, lambda: bool(len(app._notifications)))
        told = [notice.message for notice in app._notifications]
        assert told == ["▲ It waits for your answer."]
        await pilot.press("h")
        await shown(app, pilot, lambda view: view.status is not None and "rm -rf" in view.status.why)
        assert len(app._notifications) == 1


async def test_a_denial_asks_why(app: NooscopeApp, link: Link) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        name = await open_app(app, pilot)
        link.tell(name, questions=(question(name),))
        await shown(app, pilot, lambda view: bool(view.hooks and view.hooks.questions))
        await pilot.press("d")
        await until(pilot, lambda: isinstance(app.screen, AskScreen))
        await pilot.press("escape")
        assert link.decided == []
        await pilot.press("d")
        await until(pilot, lambda: isinstance(app.screen, AskScreen))
        await pilot.press(*"no", "enter")
        await until(pilot, lambda: bool(link.decided))
        assert link.decided == [(3, "deny", "no")]


async def test_nothing_is_permitted_unseen(app: NooscopeApp, link: Link) -> None:
    """No question, one of another session, or words hidden: the key does nothing but say so."""
    async with app.run_test(size=(120, 40)) as pilot:
        name = await open_app(app, pilot)
        await pilot.press("y")
        link.tell("other", questions=(question("other"),))
        await until(pilot, lambda: bool(app.hooks.questions))
        await pilot.press("y")
        link.tell(name, questions=(question(name),))
        await shown(app, pilot, lambda view: bool(view.hooks and view.hooks.questions))
        said = [notice.message for notice in app._notifications]
        await pilot.press("h", "y")
        await pilot.pause()
        assert link.decided == []
        said += [notice.message for notice in app._notifications]
        assert any("in other sessions: f lists them" in text for text in said)
        assert any("words are hidden" in text for text in said)


async def test_a_permission_asked_is_seen_before_the_log_tells_it(app: NooscopeApp, link: Link) -> None:
    async with app.run_test(size=(120, 40)) as pilot:
        name = await open_app(app, pilot)
        before = app.view and app.view.total
        link.tell(name, asks=(HookAsk(1.0, "Bash asks for permission", "main", "c9"),))
        view = await shown(app, pilot, lambda view: view.status is not None and view.status.needs_you)
        assert view.total == before and "Bash asks for permission" in strip(app)


async def test_limits_and_the_window_come_to_the_screen(app: NooscopeApp, link: Link) -> None:
    async with app.run_test(size=(160, 45)) as pilot:
        name = await open_app(app, pilot)
        limits = (PlanLimit("x", 300, 0.61, 9e9, 0.0), PlanLimit("x", 10_080, 0.95, 9e9, 0.0))
        link.tell(name, figures=StatusFigures(window=1_000_000, context=0.42), limits=limits)
        await shown(app, pilot, lambda view: bool(view.hooks and view.hooks.figures.window))
        assert app.view is not None
        (line, *_) = app.screen.query_one(StatusHeader).lines(app.view, 160, 1)
        text = "".join(piece for piece, _ in line)
        assert "5h limit 61%" in text and "7d limit 95%" in text
        assert ("7d limit 95%", "alert") in line
        seen = "\n".join(piece.text for piece in app.screen._compositor.render_strips())
        assert "window of 1.0M tokens, 42%" in seen


def said(app: NooscopeApp, name: str) -> str:
    return str(app.screen.query_one(f"#{name}", Label).content)


async def test_a_sentence_is_shown_tried_and_then_sent(app: NooscopeApp, link: Link) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        name = await open_app(app, pilot)
        link.tell(name, mode="advise")
        await shown(app, pilot, lambda view: view.hooks is not None)
        await pilot.press("s")
        await until(pilot, lambda: isinstance(app.screen, SteerScreen))
        app.screen.query_one(Input).value = "the mock is old"
        await pilot.press("enter")
        await until(pilot, lambda: "Enter sends it" in said(app, "steer-keys"))
        assert said(app, "steer-sentence") == "[nooscope] the mock is old"
        assert "a new episode of the governor begins" in said(app, "steer-effect")
        assert link.steered == []
        app.screen.query_one(Input).value = "the mock is very old"
        await pilot.pause()
        await pilot.press("enter")
        await until(pilot, lambda: "Enter sends it" in said(app, "steer-keys"))
        assert link.steered == []
        await pilot.press("enter")
        await until(pilot, lambda: bool(link.steered))
        assert link.steered == [(name, "the mock is very old")]
        assert not isinstance(app.screen, SteerScreen)


async def test_what_cannot_be_told_leads_to_its_terminal(
    app: NooscopeApp, link: Link, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown_panes: list[object] = []

    def show_pane(*words: object) -> bool:
        shown_panes.append(words[2])
        return True

    monkeypatch.setattr("tui.screens.dialogs.show_pane", show_pane)
    async with app.run_test(size=(80, 24)) as pilot:
        name = await open_app(app, pilot)
        link.tell(name, mode="observe")
        await shown(app, pilot, lambda view: view.hooks is not None)
        await pilot.press("s", *"hi", "enter")
        await until(pilot, lambda: "only observe" in said(app, "steer-keys"))
        assert "goes to the agent's terminal" in said(app, "steer-keys") and not shown_panes
        await pilot.press("enter")
        await until(pilot, lambda: shown_panes == [name])
        assert link.steered == [] and app.clipboard == "hi"


async def test_a_prompt_is_sent_by_the_agents_own_command_after_confirming(
    app: NooscopeApp, link: Link, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran: list[list[str]] = []

    def run(command: list[str]) -> str:
        ran.append(command)
        return ""

    monkeypatch.setattr("tui.screens.dialogs.prompt_command", lambda *words: ["agent", "queue", *words])
    monkeypatch.setattr("tui.screens.dialogs.run_prompt", run)
    async with app.run_test(size=(80, 24)) as pilot:
        name = await open_app(app, pilot)
        await pilot.press("s", *"go", "enter")
        await until(pilot, lambda: "as a prompt with `agent queue`" in said(app, "steer-keys"))
        assert said(app, "steer-sentence") == "go" and not ran
        await pilot.press("enter")
        await until(pilot, lambda: ran == [["agent", "queue", "claude-code", name, "go"]])


def test_what_is_wrong_with_a_prompt_is_said() -> None:
    assert run_prompt(["true"]) == ""
    assert run_prompt(["sh", "-c", "echo no such thread >&2; exit 1"]).endswith("no such thread")
    assert "not sent" in run_prompt(["no-such-program-here"])


def test_why_nothing_can_be_told(link: Link) -> None:
    settings = Settings()
    assert "is not serving hooks" in obstacle(HookSigns(mode="guard"), settings, link)
    link.tell("s", mode="guard")
    assert "has called yet" in obstacle(None, settings, link)
    assert "only observe" in obstacle(HookSigns(heard=1.0), settings, link)
    off = with_value(settings, "response.advice.level", "off")
    assert "is off" in obstacle(HookSigns(heard=1.0, mode="advise"), off, link)
    assert obstacle(HookSigns(heard=1.0, mode="advise"), settings, link) == ""


@pytest.fixture
def fleet(home: Path, still: Settings, link: Link) -> NooscopeApp:
    for number, project in enumerate(("first", "second"), 1):
        begin(home, project, number, 20).write()
    roster = Roster(still, {}, home, wall=lambda: NOW)
    return NooscopeApp(None, still, fleet=roster, theme_folder=home / "themes", link=link)


def _ready(app: NooscopeApp) -> bool:
    screen = app.screen
    return isinstance(screen, FleetScreen) and len(screen.rows) == 2 and app.focused is not None


async def test_the_fleet_puts_who_asks_first_and_answers(fleet: NooscopeApp, link: Link) -> None:
    async with fleet.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: _ready(fleet))
        screen = fleet.screen
        assert isinstance(screen, FleetScreen)
        asks = screen.rows[-1].session
        link.tell(asks, questions=(question(asks, 8),))
        await until(pilot, lambda: any(row.status.word == "needs you" for row in screen.rows))
        (row,) = [row for row in screen.rows if row.status.word == "needs you"]
        assert row.session == asks and "rm -rf build" in row.why
        await pilot.press("home")
        await until(pilot, lambda: _chosen(screen) == asks)
        await pilot.press("y")
        await until(pilot, lambda: bool(link.decided))
        assert link.decided == [(8, "once", "")]
        link.tell(asks)
        await until(pilot, lambda: all(row.status.word != "needs you" for row in screen.rows))


def _chosen(screen: FleetScreen) -> str:
    from tui.widgets.fleet.fleet_table import FleetTable

    row = screen.query_one(FleetTable).chosen
    return row.session if row is not None else ""

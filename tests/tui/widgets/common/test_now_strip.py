"""What is going on: true, in the words of the log, at any size, and silent when words are hidden."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace
from rich.cells import cell_len

from core.agents.words import WordReader, Words
from core.events import Event
from core.live.status import Status, Word
from core.report.event_words import BYPASSES
from core.report.now import Now
from tests.core.logs import log_lines as logs
from tests.tui.conftest import shown, until
from tests.tui.panel_app import START, view_at
from tests.tui.screen_app import recorded
from tui.app import NooscopeApp
from tui.draw.line import STYLES
from tui.feed.view import View
from tui.widgets.common.header import NowStrip

NOW = Now(
    asked="migrate the billing service to the new API and add tests",
    asked_at=START - 720,
    characters=57,
    tool="Bash",
    doing="npm test -- billing",
    doing_at=START - 12,
    running=True,
    failed="npm test",
    failed_tool="Bash",
    error="FAIL billing.spec.ts: expected 200, got 404",
    failed_at=START - 60,
    times=4,
    said="Two tests still fail because the mock returns the old shape, so I will change it. " * 3,
    said_at=START - 70,
    failures=7,
    calls=20,
)
STATUS = Status("needs you", 3, START - 72, "asks you something (AskUserQuestion)")
SIZES = ((78, 2), (118, 4), (198, 6))


def view(**more: object) -> View:
    plain = view_at(recorded(60, 1), 40)
    return replace(plain, at=START, **{"status": STATUS, "now": NOW, **more})


def said(shown: View, width: int, height: int) -> list[str]:
    lines = NowStrip().lines(shown, width, height)
    assert len(lines) <= height
    for line in lines:
        assert {ink for _, ink in line} <= set(STYLES)
        assert sum(cell_len(text) for text, _ in line) <= width
    return ["".join(text for text, _ in line) for line in lines]


@pytest.mark.parametrize(("width", "height"), SIZES)
def test_the_three_questions_are_answered_at_every_size(width: int, height: int) -> None:
    lines = said(view(), width, height)
    assert lines[0].startswith(" ▲ NEEDS YOU  1m 12s   asks you something (AskUserQuestion)")
    text = "\n".join(lines)
    assert "now     Bash  npm test" in text and "for 12s" in text
    assert "FAIL billing" in text and "×4" in text


@pytest.mark.parametrize(("width", "height"), SIZES[1:])
def test_a_taller_strip_tells_what_was_asked_and_said(width: int, height: int) -> None:
    text = "\n".join(said(view(), width, height))
    assert "you     migrate the billing service" in text and "12m ago" in text
    assert "agent   “Two tests still fail" in text and "7 of the last 20 calls failed" in text


def test_a_call_that_is_over_is_not_called_doing() -> None:
    over = replace(NOW, running=False)
    assert any(line.startswith("last    Bash") and "12s ago" in line for line in said(view(now=over), 198, 6))


@pytest.mark.parametrize(("width", "height"), SIZES)
def test_a_call_that_was_not_let_through_is_said_to_be_rejected(width: int, height: int) -> None:
    refused = replace(NOW, running=False, rejected=True, times=0)
    text = "\n".join(said(view(now=refused), width, height))
    assert "last    Bash  ⊘ rejected  npm test -- billing" in text
    assert "rejected" not in "\n".join(said(view(), width, height))


@pytest.mark.parametrize("doing", ["", "npm test"])
def test_the_last_call_is_not_cut_while_there_is_room_beside_what_failed(doing: str) -> None:
    long_ago = replace(NOW, doing=doing, doing_at=START - 278 * 86_400 - 80_000, failed="", error="")
    line = said(view(now=long_ago), 78, 2)[1]
    assert f"now     Bash  {doing}" in line and "for 278d 22h" in line and "failed  Bash" in line
    refused = replace(NOW, doing=doing, running=False, rejected=True, failed="", error="")
    assert f"last    Bash  ⊘ rejected  {doing}" in said(view(now=refused), 78, 2)[1]


def test_nothing_failed_leaves_the_room_to_the_command() -> None:
    fine = replace(NOW, times=0, failed="", error="", failures=0, doing="x" * 300)
    line = said(view(now=fine), 118, 4)[2]
    assert "failed" not in line and line.count("x") > 80 and "…" in line


def test_of_a_long_path_the_end_stays() -> None:
    path = "/home/dev/" + "deep/" * 40 + "target.py"
    assert "target.py" in said(view(now=replace(NOW, doing=path)), 78, 2)[1]


@pytest.mark.parametrize(("width", "height"), [*SIZES, (40, 2), (20, 2), (30, 4)])
def test_words_are_never_markup_nor_escapes_and_never_too_wide(width: int, height: int) -> None:
    bad = "[red]x[/] \x1b[2J\u202e 这个问题又出现了 " * 20
    hostile = replace(NOW, asked=bad, doing=bad, failed=bad, error=bad, said=bad, tool=bad)
    text = "\n".join(said(view(now=hostile, status=replace_why(bad)), width, height))
    assert "\x1b" not in text and "\u202e" not in text


def replace_why(why: str) -> Status:
    return replace(STATUS, why=why)


@pytest.mark.parametrize(("width", "height"), SIZES)
def test_hidden_words_leave_figures_and_the_status(width: int, height: int) -> None:
    silent = replace(NOW, asked="", doing="", failed="", error="", said="")
    text = "\n".join(said(view(now=silent, words=False), width, height))
    assert "NEEDS YOU" in text and "1m 12s" in text and "words are hidden: h shows them" in text
    assert "AskUserQuestion" not in text and "×4" in text


@pytest.mark.parametrize(("level", "glyph"), [(3, " ▲ NEEDS YOU "), (2, "▲ NEEDS YOU"), (1, "▲ NEEDS YOU")])
def test_the_status_is_a_word_and_a_sign_without_colour(level: int, glyph: str) -> None:
    status = Status("needs you", level, None, "why")  # type: ignore[arg-type]
    assert said(view(status=status), 118, 4)[0].startswith(glyph + "   why")


async def test_words_are_read_only_while_somebody_looks(
    app_on: Callable[..., NooscopeApp], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Help hides the strip and the key hides the words: the log is read again after neither."""
    path = tmp_path / "log.jsonl"
    path.write_bytes(logs.prompt(0, "tidy up") + logs.call(1, "a") + logs.result(2, "a"))
    looked: list[Event] = []
    plain = WordReader.words

    def counted(self: WordReader, event: Event) -> Words:
        looked.append(event)
        return plain(self, event)

    monkeypatch.setattr(WordReader, "words", counted)
    app = app_on(path)
    async with app.run_test(size=(120, 40)) as pilot:
        await shown(app, pilot, lambda view: view.now.asked == "tidy up")
        strip = app.screen.query_one(NowStrip)
        assert strip.size.height == 4 and "tidy up" in strip.render_line(1).text
        assert app.view is not None and app.view.subject.title == "tidy up"
        await pilot.press("h")
        await shown(app, pilot, lambda view: not view.words)
        await grown(app, path, looked, pilot, 10)
        await pilot.press("h")
        await shown(app, pilot, lambda view: view.words and view.now.doing == "echo n10")
        await pilot.press("question_mark")
        await shown(app, pilot, lambda view: not view.now.doing)
        await grown(app, path, looked, pilot, 20)
        await pilot.press("escape")
        await until(pilot, lambda: app.view is not None and app.view.now.doing == "echo n20")


async def grown(app: NooscopeApp, path: Path, looked: list[Event], pilot: object, second: int) -> None:
    before = len(looked)
    total = app.view.total if app.view is not None else 0
    name = f"n{second}"
    with path.open("ab") as log:
        log.write(logs.call(second, name) + logs.result(second + 1, name))
    await shown(app, pilot, lambda view: view.total > total)  # type: ignore[arg-type]
    assert len(looked) == before


async def test_an_open_call_is_what_is_being_done(app_on: Callable[..., NooscopeApp], tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    path.write_bytes(logs.session(2) + logs.call(90, "open", "Bash", {"command": "make slow"}))
    app = app_on(path)
    async with app.run_test(size=(120, 40)) as pilot:
        view = await shown(app, pilot, lambda view: view.now.running)
        assert (view.now.tool, view.now.doing) == ("Bash", "make slow")
        await pilot.press("home")
        await shown(app, pilot, lambda view: view.index == 0 and not view.now.running)


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 60)])
@pytest.mark.parametrize("screen", ["", "transcript", "mind", "governor", "tuning"])
async def test_the_strip_stands_on_every_screen(
    app_on: Callable[..., NooscopeApp], log: Path, screen: str, size: tuple[int, int]
) -> None:
    app = app_on(log)
    async with app.run_test(size=size) as pilot:
        await shown(app, pilot, lambda view: view.total > 0)
        if screen:
            app.action_show(screen)
            await pilot.pause()
        strip = app.screen.query_one(NowStrip)
        assert strip.size.height == {24: 2, 40: 4, 60: 6}[size[1]]


@pytest.mark.parametrize(("word", "second"), [("done", "agent"), ("gave up", "agent"), ("working", "last")])
def test_two_lines_end_with_what_an_agent_at_rest_said(word: Word, second: str) -> None:
    calm = replace(NOW, running=False, failed="", error="", times=0)
    status = Status(word, 1, START - 3, "why")
    assert said(view(now=calm, status=status), 78, 2)[1].startswith(second)
    failed = view(now=replace(calm, times=2, failed="make", error="broke"), status=status)
    assert "failed" in said(failed, 78, 2)[1]


@pytest.mark.parametrize(("width", "height"), [(60, 2), (78, 2), (98, 2), (118, 4), (198, 6)])
def test_what_failed_lately_is_said_once(width: int, height: int) -> None:
    stands = Status("done", 0, START - 72, "it finished its turn and is waiting for a prompt")
    text = "\n".join(said(view(status=stands, now=replace(NOW, times=0, running=False)), width, height))
    assert text.count("7 of the last 20 calls failed") == 1


@pytest.mark.parametrize("width", [38, 45, 52, 78])
def test_what_it_does_is_never_left_out_for_when(width: int) -> None:
    assert said(view(), width, 2)[1].startswith("now     Bash")


def test_a_session_without_a_prompt_does_not_say_that_nothing_was_asked() -> None:
    none = replace(NOW, asked="", asked_at=0.0, characters=0)
    assert said(view(now=none), 118, 4)[1].startswith("you     no prompt")
    first = said(view(now=replace(NOW, asked_at=0.0)), 118, 4)[1]
    assert first.startswith("you     migrate the billing service")


def test_a_single_call_that_failed_is_told_as_one() -> None:
    alone = "\n".join(said(view(now=replace(NOW, failures=1, calls=1)), 118, 4))
    assert "its only call failed" in alone and "of the last" not in alone
    assert "1 of the last 2 calls failed" in said(view(now=replace(NOW, failures=1, calls=2)), 118, 4)[-1]


@pytest.mark.parametrize(
    ("mode", "width", "visible"),
    [("plan mode", 69, False), ("plan mode", 70, True), (BYPASSES, 60, True), (BYPASSES, 118, True), ("", 118, False)],
)
def test_what_it_may_do_without_asking_is_beside_the_prompt(mode: str, width: int, visible: bool) -> None:
    lines = NowStrip().lines(view(now=replace(NOW, mode=mode)), width, 4)
    (line,) = [line for line in lines if line[0][0].startswith("you")]
    text = "".join(part for part, _ in line)
    assert (mode in text and bool(mode)) == visible and text.rstrip().endswith("ago")
    assert not visible or line[-1][1] == ("alert" if mode == BYPASSES else "quiet")

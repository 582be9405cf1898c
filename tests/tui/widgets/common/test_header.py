"""The status: what matters is there at any width."""

from __future__ import annotations

import pytest
from msgspec.structs import replace
from rich.cells import cell_len

from bench.workload import session
from core.logs.follow import SAID, UNKNOWN
from core.report.cost import Spent
from core.settings import Settings
from core.timeline.timeline import Timeline
from tui.feed.feed import Film
from tui.feed.view import Mode, Subject, View
from tui.feed.viewpoint import Playhead
from tui.widgets.common.header import StatusHeader


@pytest.fixture(scope="module")
def view() -> View:
    settings = Settings()
    film = Film(Timeline(settings), Subject(path="/x/log.jsonl"), settings.screen.burn)
    head = Playhead(settings.timeline.play, live=True)
    for event in session(300, agents=2):
        film.add(event)
        head.grow(event.at)
    return film.view(head, "main", None)


def said(view: View, width: int, height: int) -> list[str]:
    return ["".join(text for text, _ in line) for line in StatusHeader().lines(view, width, height)]


@pytest.mark.parametrize("width", [40, 80, 120, 200])
@pytest.mark.parametrize("height", [1, 2])
def test_a_line_never_outgrows_its_width(view: View, width: int, height: int) -> None:
    lines = said(view, width, height)
    assert len(lines) == height
    assert all(cell_len(line) <= width for line in lines)


@pytest.mark.parametrize(
    ("mode", "playing", "word"),
    [
        ("live", False, "◉ LIVE"),
        ("paused", False, "‖ PAUSED"),
        ("replay", False, "▷ REPLAY x4"),
        ("replay", True, "▶ REPLAY x4"),
    ],
)
def test_the_mode_is_said_in_words_and_by_a_glyph(view: View, mode: Mode, playing: bool, word: str) -> None:
    for width, height in ((80, 1), (120, 2)):
        assert word in said(replace(view, mode=mode, playing=playing, speed=4.0), width, height)[0]


def test_cost_and_context_survive_at_eighty_columns(view: View) -> None:
    (line,) = said(view, 80, 1)
    sleep = view.frame.mind.sleep
    assert f" {100 * sleep.context:.0f}%" in line and f"${view.spent.dollars:.2f}" in line
    assert f"dream in ~{sleep.dream_ticks} ticks" in line


@pytest.mark.parametrize("agent", ["main", "agent-1"])
def test_they_survive_beside_a_long_title_and_a_sub_agent(view: View, agent: str) -> None:
    subject = Subject(path="/x/log.jsonl", title="mend the mill " * 9, model="gemini-3-flash-preview")
    held = replace(view, subject=subject, agent=agent, mode="replay", speed=4.0)
    (line,) = said(held, 78, 1)
    if agent != "main":
        assert f"agent {view.names[agent]}" in line
        (line,) = said(replace(held, subject=replace(subject, title="")), 78, 1)
    assert "context " in line and f" {100 * view.frame.mind.sleep.context:.0f}%" in line
    assert f"${view.spent.dollars:.2f}" in line


def test_an_unknown_price_is_said_to_be_unknown(view: View) -> None:
    assert "cost unknown" in said(replace(view, spent=Spent(0.0, 0, 3)), 120, 1)[0]
    assert "≥$1.00" in said(replace(view, spent=Spent(1.0, 2, 3)), 120, 1)[0]
    assert "$" not in said(replace(view, spent=Spent()), 120, 1)[0]


@pytest.mark.parametrize("width", [80, 120, 200])
def test_a_title_takes_the_room_that_is_left(view: View, width: int) -> None:
    titled = replace(view, subject=replace(view.subject, title="migrate the billing service " * 5))
    (line,) = said(titled, width, 1)
    assert cell_len(line) <= width and f"{100 * view.frame.mind.sleep.context:.0f}%" in line
    assert ("migrate" in line) is (width > 80)
    assert "migrate" not in said(replace(titled, words=False), width, 1)[0]


def test_a_wide_status_tells_the_rest(view: View) -> None:
    text = "\n".join(said(replace(view, in_flight=("Bash", "Grep"), skipped=3), 160, 2))
    for words in ("claude-code", "api", "sleep ", "tokens/min", "agent main", "running Bash +1", "3 lines skipped"):
        assert words in text


def test_tokens_that_a_log_never_tells_are_unknown_and_not_nothing(view: View) -> None:
    untold = replace(view, burn=0.0, subject=replace(view.subject, untold=("tokens",)))
    assert "tokens unknown" in "\n".join(said(untold, 160, 2))
    assert "0 tokens/min" in "\n".join(said(replace(view, burn=0.0), 160, 2))
    assert "tokens unknown" not in "\n".join(said(replace(untold, burn=5.0), 160, 2))


def test_a_notice_cannot_be_missed_and_words_of_the_model_are_not_here(view: View) -> None:
    governor = replace(view.frame.governor, state="HALTED", halt="STAGNATION")
    halted = replace(view, frame=replace(view.frame, governor=governor), notice="log.jsonl: gone; waiting for it")
    text = "\n".join(said(halted, 160, 2))
    assert "gone; waiting for it" in text
    assert "STAGNATION" not in text and "regime" not in text and "governor" not in text


def test_what_if_is_marked(view: View) -> None:
    assert "WHAT IF" in said(replace(view, what_if=True), 80, 1)[0]
    assert "WHAT IF" not in said(view, 80, 1)[0]


def test_text_from_a_log_cannot_command_the_terminal(view: View) -> None:
    subject = Subject(tool="x\x1b[2J", project="/a/[red]b\x07", model="m\u202e")
    text = "\n".join(said(replace(view, subject=subject), 160, 2))
    assert not any(char in text for char in "\x1b\x07\u202e")
    assert "[red]b" in text


@pytest.mark.parametrize(
    ("behind", "words"),
    [
        (0, ""),
        (SAID - 1, ""),
        (SAID, "◉ LIVE, 200 events behind"),
        (10_240, "◉ LIVE, 10,240 events behind"),
        (UNKNOWN, "◉ LIVE, behind"),
    ],
)
@pytest.mark.parametrize(("width", "height"), [(80, 1), (120, 2)])
def test_being_behind_is_said(view: View, behind: int, words: str, width: int, height: int) -> None:
    line = said(replace(view, mode="live", behind=behind), width, height)[0]
    assert words in line
    assert ("behind" in line) is bool(words)


@pytest.mark.parametrize(("behind", "calm"), [(0, True), (SAID - 1, True), (SAID, False), (UNKNOWN, False)])
def test_nothing_is_called_idle_while_more_is_unread(view: View, behind: int, calm: bool) -> None:
    receptor = view.frame.receptor
    resting = replace(receptor, meta=replace(receptor.meta, state="idle"), idle=True)
    frame = replace(view.frame, receptor=resting, story=replace(view.frame.story, state="idle"))
    idle = replace(view, mode="live", behind=behind, frame=frame)
    text = "\n".join(said(idle, 160, 2))
    assert ("silent for" in text) is calm


@pytest.mark.parametrize(
    ("project", "title", "words", "shown"),
    [
        ("/home/ada/mill", "mend the mill", True, "mill · gemini-3-fl"),
        ("", "mend the mill", True, "mend the mill · gemini-3-fl"),
        ("", "mend the mill", False, "log · gemini-3-fl"),
        ("", "", True, "log · gemini-3-fl"),
    ],
)
def test_a_session_without_a_project_is_named_by_its_title(
    view: View, project: str, title: str, words: bool, shown: str
) -> None:
    subject = Subject(path="/x/log.jsonl", project=project, title=title, model="gemini-3-flash-preview")
    (line,) = said(replace(view, subject=subject, words=words), 98, 1)
    assert shown in line


def test_a_window_that_a_plan_may_leave_smaller_is_told_beside_the_large_one(view: View) -> None:
    sleep = replace(view.frame.mind.sleep, context_tokens=160_000, compaction_point=920_000, context=160 / 920)
    frame = replace(view.frame, mind=replace(view.frame.mind, sleep=sleep))
    line, *_ = said(replace(view, frame=frame, subject=replace(view.subject, tool="claude-code")), 120, 2)
    assert "17%, or 96% if 200k" in line
    line, *_ = said(replace(view, frame=frame, subject=replace(view.subject, tool="codex")), 120, 2)
    assert "17%" in line and "200k" not in line


@pytest.mark.parametrize(("most", "told"), [(199_999, True), (200_000, True), (200_001, False)])
def test_a_window_that_held_more_is_not_taken_for_a_smaller_one(view: View, most: int, told: bool) -> None:
    sleep = replace(view.frame.mind.sleep, context_tokens=160_000, compaction_point=920_000, context_most=most)
    frame = replace(view.frame, mind=replace(view.frame.mind, sleep=sleep))
    line, *_ = said(replace(view, frame=frame, subject=replace(view.subject, tool="claude-code")), 120, 2)
    assert ("if 200k" in line) is told

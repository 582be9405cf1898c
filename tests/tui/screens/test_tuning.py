"""The bench: every key pressed, and what the person sees and what is asked for afterwards."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.widgets import Input

from bench.workload import session
from core.settings.layers import tunables, value_of
from core.settings.listing import SettingGroup, SettingRow
from core.store.profiles import read_profile
from tests.tui.tuning_app import Stage, seen, settle
from tui.feed.messages import Apply, Failed, Jump, Seek
from tui.screens.tuning_bench.profile_screens import ProfilePicker, SaveScreen
from tui.widgets.tuning.firing_table import FiringTable
from tui.widgets.tuning.setting_details import SettingDetails
from tui.widgets.tuning.settings_list import FIRST, SettingsList
from tui.widgets.tuning.sweep_chart import SweepChart

SIZE = (120, 40)


async def test_a_slider_moves_coarse_and_fine_and_the_what_if_follows(tmp_path: Path) -> None:
    app = Stage(tmp_path)
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        bench = app.bench
        assert bench.effects.compared is None
        assert "nothing changed" in seen(app)
        await pilot.press("left")
        assert bench.draft.value(FIRST) == pytest.approx(0.16)
        await pilot.press("shift+left")
        assert bench.draft.value(FIRST) == pytest.approx(0.15)
        await pilot.press("right", "shift+right")
        await settle(pilot)
        assert bench.draft.edits == {} or bench.draft.value(FIRST) != 0.2
        await pilot.press("left", "left", "left", "left", "left")
        await settle(pilot)
        compared = bench.effects.compared
        assert compared is not None
        assert compared.complete
        assert compared.edits == bench.draft.edits
        text = seen(app)
        assert "● 1 changed" in text
        assert "complete" in text
        assert "frustration  " in text and "_" not in text.partition("What would have fired")[2]


async def test_going_back_to_where_it_was_is_no_change(tmp_path: Path) -> None:
    app = Stage(tmp_path)
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        await pilot.press("left", "right")
        await settle(pilot)
        assert app.bench.draft.edits == {}
        assert app.bench.effects.compared is None


async def test_undo_takes_a_whole_slide_back_and_redo_makes_it_again(tmp_path: Path) -> None:
    app = Stage(tmp_path)
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        await pilot.press("left", "left", "down", "right", "right")
        other = app.bench.query_one(SettingsList).name_here
        assert set(app.bench.draft.edits) == {FIRST, other}
        await pilot.press("u")
        assert set(app.bench.draft.edits) == {FIRST}
        await pilot.press("u")
        assert app.bench.draft.edits == {}
        await pilot.press("u")
        assert isinstance(app.asked[-1], Failed)
        await pilot.press("U", "U")
        assert set(app.bench.draft.edits) == {FIRST, other}
        await pilot.press("ctrl+z")
        await pilot.press("ctrl+y")
        assert set(app.bench.draft.edits) == {FIRST, other}
        await settle(pilot)


async def test_reset_of_one_of_a_group_and_of_all(tmp_path: Path) -> None:
    app = Stage(tmp_path)
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        settings = app.bench.query_one(SettingsList)
        await pilot.press("left", "down", "left", "down", "left")
        assert len(app.bench.draft.edits) == 3
        await pilot.press("r")
        assert len(app.bench.draft.edits) == 2
        while not isinstance(settings.chosen, SettingGroup):
            await pilot.press("up")
        await pilot.press("r")
        assert app.bench.draft.edits == {}
        await pilot.press("down", "right", "R")
        assert app.bench.draft.edits == {}
        await pilot.press("R")
        assert isinstance(app.asked[-1], Failed)
        await settle(pilot)


async def test_a_typed_value_is_taken_or_refused_with_what_is_allowed(tmp_path: Path) -> None:
    app = Stage(tmp_path)
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        await pilot.press("enter")
        typed = app.bench.query_one("#typed", Input)
        assert typed.has_focus
        assert typed.value == "0.2"
        typed.value = "0.9"
        await pilot.press("enter")
        assert app.bench.draft.edits == {}
        assert typed.has_focus
        assert "✗ 0.9 is not allowed" in seen(app)
        assert "a number from 0 to 0.8" in app.bench.query_one(SettingDetails).said.problem
        typed.value = "nonsense"
        await pilot.press("enter")
        assert "✗" in seen(app)
        typed.value = "0.33"
        await pilot.press("enter")
        await settle(pilot)
        assert app.bench.draft.value(FIRST) == 0.33
        assert app.bench.query_one(SettingsList).has_focus
        await pilot.press("enter", "escape")
        assert app.bench.query_one(SettingsList).has_focus
        assert app.bench.draft.value(FIRST) == 0.33


@pytest.mark.parametrize(
    ("name", "typed", "value"),
    [
        ("response.loops.repeat.enabled", None, False),
        ("governor.profile", None, "conservative"),
        ("response.loops.repeat.times", "7", 7),
        ("response.loops.tools", "{Bash = {repeat = 0, retest = 9}}", {"Bash": {"repeat": 0, "retest": 9}}),
        ("response.notices.quiet_from", "22:30", "22:30"),
        ("receptor.emotion.half_life.flow", "240", 240.0),
    ],
)
async def test_every_kind_of_setting_can_be_set(
    name: str, typed: str | None, value: object, tmp_path: Path
) -> None:
    app = Stage(tmp_path)
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        app.bench.query_one(SettingsList).show(name)
        await pilot.pause()
        await pilot.press("E" if tunables()[name].kind == "table" else "enter")
        if typed is not None:
            app.bench.query_one("#typed", Input).value = typed
            await pilot.press("enter")
        await settle(pilot)
        assert app.bench.draft.value(name) == value
        assert app.bench.effects.compared is not None


async def test_a_search_narrows_and_escape_widens(tmp_path: Path) -> None:
    app = Stage(tmp_path)
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        settings = app.bench.query_one(SettingsList)
        await pilot.press("slash", *"half", "space", *"flow", "enter")
        assert settings.name_here == "receptor.emotion.half_life.flow"
        assert settings.has_focus
        listed = [row for row in settings._rows if isinstance(row, SettingRow)]
        assert all("flow" in f"{row.tunable.name} {row.tunable.sentence}".lower() for row in listed)
        await pilot.press("right", "escape")
        assert settings.words == ""
        await pilot.press("c")
        assert [row.tunable.name for row in settings._rows if isinstance(row, SettingRow)] == [
            "receptor.emotion.half_life.flow"
        ]
        await pilot.press("escape")
        assert not settings.only_changed
        await pilot.press("slash", *"zzzz")
        assert "no setting matches these words" in seen(app)
        await settle(pilot)


async def test_all_settings_are_there_and_groups_fold(tmp_path: Path) -> None:
    app = Stage(tmp_path)
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        settings = app.bench.query_one(SettingsList)
        headings = [row for row in settings._rows if isinstance(row, SettingGroup)]
        assert [name for row in headings for name in row.names] == list(tunables())
        await pilot.press("home")
        before = settings.count_rows()
        await pilot.press("enter")
        assert settings.count_rows() > before
        await pilot.press("left")
        assert settings.count_rows() == before
        await pilot.press("end", "enter", "pagedown", "pageup", "end")
        assert settings.name_here == list(tunables())[-1]


async def test_jumping_from_difference_to_difference(tmp_path: Path) -> None:
    app = Stage(tmp_path)
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        await pilot.press("n")
        assert isinstance(app.asked[-1], Jump)
        app.bench.query_one(SettingsList).show("receptor.ambient.offset.confidence")
        await pilot.press("left", "left", "left", "left")
        await settle(pilot)
        compared = app.bench.effects.compared
        assert compared is not None
        places = sorted({place + 1 for place, _, _ in compared.changes()})
        assert places
        await pilot.press("N")
        await pilot.pause()
        assert isinstance(app.asked[-1], Seek)
        assert app.asked[-1].to == places[-1]
        for _ in places:
            await pilot.press("N")
            await pilot.pause()
        assert app.view is not None
        assert app.view.index == places[0]
        await pilot.press("n")
        await pilot.pause()
        assert app.view.index == places[1]
        table = app.bench.query_one(FiringTable)
        table.focus()
        await pilot.press("down", "up", "enter")
        await pilot.pause()
        assert isinstance(app.asked[-1], Seek)


async def test_apply_holds_from_the_newest_event_on(tmp_path: Path) -> None:
    app = Stage(tmp_path)
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        await pilot.press("y")
        assert isinstance(app.asked[-1], Failed)
        await pilot.press("left", "left")
        await settle(pilot)
        await pilot.press("y")
        await settle(pilot)
        assert any(isinstance(each, Apply) for each in app.asked)
        assert value_of(app.timeline.settings, FIRST) == pytest.approx(0.12)
        assert app.timeline.changes[-1].after == 400
        assert app.bench.draft.edits == {}
        assert app.bench.effects.compared is None
        assert "○" in seen(app)
        await pilot.press("r")
        assert app.bench.draft.edits == {FIRST: 0.2}
        await settle(pilot)


async def test_what_is_in_force_is_saved_as_well(tmp_path: Path) -> None:
    app = Stage(tmp_path)
    mine = tmp_path / "mine" / "settings.toml"
    mine.parent.mkdir()
    mine.write_text("# my own\n[screen]\ntheme = 'orrery'\n")
    async with app.run_test(size=SIZE) as pilot:
        app.bench.profile_files = app.profile_files
        await settle(pilot)
        await pilot.press("left", "y")
        await settle(pilot)
        assert app.bench.draft.edits == {}
        await pilot.press("s")
        await pilot.pause()
        assert "Save 1 change" in seen(app)
        await pilot.press("tab", "tab", "down", "down", "enter")
        await settle(pilot)
        text = mine.read_text()
        assert text.startswith("# my own\n[screen]\ntheme = 'orrery'\n")
        assert "frustration = 0.16" in text
        await pilot.press("r", "y")
        await settle(pilot)
        await pilot.press("s")
        assert not isinstance(app.screen, SaveScreen)


async def test_where_nothing_is_changed_nothing_is_saved(tmp_path: Path) -> None:
    app = Stage(tmp_path)
    async with app.run_test(size=SIZE) as pilot:
        app.bench.profile_files = app.profile_files
        await settle(pilot)
        await pilot.press("s")
        await pilot.pause()
        assert not isinstance(app.screen, SaveScreen)
        said = app.asked[-1]
        assert isinstance(said, Failed) and said.text.startswith("nothing to save")
        assert not (tmp_path / "mine").exists()


async def test_the_what_if_goes_on_with_the_recording(tmp_path: Path) -> None:
    stream = session(500)
    app = Stage(tmp_path, stream[:300])
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        await pilot.press("left", "left", "left")
        await settle(pilot)
        app.timeline.extend(stream[300:])
        app.look(500)
        await settle(pilot)
        compared = app.bench.effects.compared
        assert compared is not None
        assert (compared.done, compared.total, compared.complete) == (500, 500, True)


async def test_a_preset_is_taken_over_as_one_change(tmp_path: Path) -> None:
    app = Stage(tmp_path)
    async with app.run_test(size=SIZE) as pilot:
        app.bench.profile_files = app.profile_files
        await settle(pilot)
        await pilot.press("left", "p")
        await pilot.pause()
        assert isinstance(app.screen, ProfilePicker)
        assert "claude-code" in seen(app)
        await pilot.press("down", "down", "down", "down", "enter")
        await settle(pilot)
        assert app.bench.draft.value(FIRST) == 0.12
        assert app.bench.draft.value("response.loops.failing.times") == 5
        await pilot.press("u")
        assert set(app.bench.draft.edits) == {FIRST}
        await pilot.press("p")
        await pilot.press("escape")
        await settle(pilot)
        assert set(app.bench.draft.edits) == {FIRST}


async def test_a_profile_is_saved_and_found_again(tmp_path: Path) -> None:
    app = Stage(tmp_path)
    async with app.run_test(size=SIZE) as pilot:
        app.bench.profile_files = app.profile_files
        await settle(pilot)
        await pilot.press("left", "s")
        await pilot.pause()
        assert isinstance(app.screen, SaveScreen)
        await pilot.press("tab", "tab", "enter")
        assert "a profile needs a name" in seen(app)
        await pilot.press(*"mine", "enter")
        assert "a profile needs a name" not in seen(app)
        await pilot.press(*"For me", "enter", "enter")
        await settle(pilot)
        path = tmp_path / "mine" / "profiles" / "mine.toml"
        profile = read_profile(path, "user")
        assert dict(profile.values) == {FIRST: 0.16}
        assert profile.sentence == "For me"
        assert list((tmp_path / "chains").iterdir()) == []
        await pilot.press("s", "tab", "tab", "down", "down", "down", "enter")
        await settle(pilot)
        assert "frustration = 0.16" in (tmp_path / "project" / ".nooscope.toml").read_text()
        await pilot.press("p")
        await pilot.press("end")
        await pilot.pause()
        assert "For me" in seen(app)


@pytest.mark.parametrize("name", ["../up", "x" * 41])
async def test_what_cannot_be_saved_can_be_mended_where_it_was_typed(name: str, tmp_path: Path) -> None:
    app = Stage(tmp_path)
    async with app.run_test(size=SIZE) as pilot:
        app.bench.profile_files = app.profile_files
        await settle(pilot)
        await pilot.press("left", "s", *name, "enter", *"For me", "enter", "enter")
        await pilot.pause()
        screen = app.screen
        assert isinstance(screen, SaveScreen)
        assert "cannot be the name of" in seen(app)
        field = screen.query_one("#name", Input)
        assert field.has_focus and field.value == name
        field.value = "mine"
        await pilot.press("enter", "enter", "enter")
        await settle(pilot)
        assert (tmp_path / "mine" / "profiles" / "mine.toml").read_text().startswith("# For me")


async def test_a_sweep_is_drawn_and_put_away(tmp_path: Path) -> None:
    app = Stage(tmp_path)
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        app.bench.query_one(SettingsList).show("receptor.ambient.offset.confidence")
        await pilot.press("w")
        await settle(pilot)
        sweep = app.bench.query_one(SweepChart).sweep
        assert sweep is not None
        assert len(sweep.points) >= 21
        text = seen(app)
        assert ".25 now" in text
        assert "confidence" in text
        await pilot.press("w")
        await pilot.pause()
        assert not app.bench.effects.has_class("-sweeping")
        app.bench.query_one(SettingsList).show("screen.motion")
        await pilot.press("w")
        await pilot.pause()
        assert isinstance(app.asked[-1], Failed)


async def test_labels_go_round_and_are_kept(tmp_path: Path) -> None:
    app = Stage(tmp_path)
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        mark = next(mark for mark in app.timeline.marks if mark.kind == "signal")
        app.look(mark.place + 1)
        for verdict in ("right", "wrong"):
            await pilot.press("l")
            await settle(pilot)
            assert {each.verdict for each in app.feed.labels.judged()} == {verdict}
            assert mark.name in [each.name for each in app.feed.labels.judged()]
        assert "✗" in seen(app)
        await pilot.press("l")
        await settle(pilot)
        assert app.feed.labels.judged() == ()
        quiet = next(place for place in range(400) if not app.timeline.marks.between(place, place + 1))
        app.look(quiet + 1)
        await pilot.press("l")
        await pilot.pause()
        assert isinstance(app.asked[-1], Failed)
        await pilot.press("L")
        await settle(pilot)
        assert [each.verdict for each in app.bench.effects.labels] == ["missed"]
        await pilot.press("L")
        await settle(pilot)
        assert app.bench.effects.labels == ()


async def test_the_draft_outlives_the_screen(tmp_path: Path) -> None:
    app = Stage(tmp_path)
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        await pilot.press("left")
        await settle(pilot)
        edits = dict(app.bench.draft.edits)
        await pilot.press("t")
        await pilot.pause()
        assert len(app.screen_stack) == 1
        app.on_mount()
        await settle(pilot)
        assert app.bench.draft.edits == edits
        assert app.bench.effects.compared is not None

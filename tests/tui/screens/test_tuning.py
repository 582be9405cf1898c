"""The bench: every key pressed, and what the person sees and what is asked for afterwards."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import Input, OptionList

from bench.workload import session
from core.settings.draft import SettingGroup, SettingRow
from core.settings.layers import tunables, value_of
from core.store.profiles import read_profile
from tests.tui.tuning_app import Stage, seen, settle
from tui.feed.messages import Apply, Failed, Seek
from tui.screens.dialogs import SaveScreen
from tui.widgets.tuning.comparison import FiringTable, SweepChart
from tui.widgets.tuning.settings_list import COMMON, FIRST, SettingDetails, SettingsList

SIZE = (120, 40)


async def choose(pilot: Pilot[None], answer: str) -> None:
    """Open the dialog of the bench and choose one of its answers."""
    await pilot.press("S")
    await pilot.pause()
    options = pilot.app.screen.query_one(OptionList)
    options.highlighted = options.get_option_index(answer)
    await pilot.press("enter")
    await pilot.pause()


async def test_a_slider_moves_and_the_what_if_follows(tmp_path: Path) -> None:
    app = Stage(tmp_path)
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        bench = app.bench
        assert bench.effects.compared is None
        assert "nothing changed" in seen(app)
        await pilot.press("left")
        assert bench.draft.value(FIRST) == pytest.approx(0.16)
        await pilot.press("left", "left", "left", "left")
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
        await pilot.press("2")
        settings.show(FIRST)
        await pilot.press("left", "down", "left", "down", "left")
        assert len(app.bench.draft.edits) == 3
        await pilot.press("r")
        assert len(app.bench.draft.edits) == 2
        while not isinstance(settings.chosen, SettingGroup):
            await pilot.press("up")
        await pilot.press("r")
        assert app.bench.draft.edits == {}
        await pilot.press("down", "right")
        assert len(app.bench.draft.edits) == 1
        await choose(pilot, "reset")
        assert app.bench.draft.edits == {}
        await pilot.press("u")
        assert len(app.bench.draft.edits) == 1
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
async def test_every_kind_of_setting_can_be_set(name: str, typed: str | None, value: object, tmp_path: Path) -> None:
    app = Stage(tmp_path)
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        app.bench.query_one(SettingsList).show(name)
        await pilot.pause()
        await pilot.press("enter")
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
        await pilot.press("3")
        assert [row.tunable.name for row in settings._rows if isinstance(row, SettingRow)] == [
            "receptor.emotion.half_life.flow"
        ]
        await pilot.press("escape")
        assert settings.listing == "common"
        await pilot.press("slash", *"zzzz")
        assert "no setting matches these words" in seen(app)
        await settle(pilot)


async def test_it_opens_with_the_common_thresholds_as_sentences(tmp_path: Path) -> None:
    app = Stage(tmp_path)
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        text = seen(app)
        assert "frustration fires .20 above normal" in text
        assert "same call 6 times in a row" in text
        listed = [row.tunable.name for row in app.bench.query_one(SettingsList)._rows if isinstance(row, SettingRow)]
        assert listed == list(COMMON) and 20 <= len(listed) <= 30
        await pilot.press("right")
        assert "frustration fires .24 above normal" in seen(app)


async def test_all_settings_are_there_and_groups_fold(tmp_path: Path) -> None:
    app = Stage(tmp_path)
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        settings = app.bench.query_one(SettingsList)
        await pilot.press("2")
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
        await pilot.press("]")
        assert isinstance(app.asked[-1], Failed)
        app.bench.query_one(SettingsList).show("receptor.ambient.offset.confidence")
        await pilot.press("left", "left", "left", "left")
        await settle(pilot)
        compared = app.bench.effects.compared
        assert compared is not None
        places = sorted({place + 1 for place, _, _ in compared.changes()})
        assert len(places) > 1
        for place in (places[0], places[1]):
            await pilot.press("]")
            await pilot.pause()
            assert isinstance(app.asked[-1], Seek) and app.asked[-1].to == place
        table = app.bench.query_one(FiringTable)
        table.focus()
        await pilot.press("down", "up", "enter")
        await pilot.pause()
        assert isinstance(app.asked[-1], Seek)


async def test_apply_holds_from_the_newest_event_on(tmp_path: Path) -> None:
    app = Stage(tmp_path)
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        await pilot.press("left", "left")
        await settle(pilot)
        await choose(pilot, "use")
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


async def test_u_takes_settings_out_of_use_again(tmp_path: Path) -> None:
    app = Stage(tmp_path)
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        await pilot.press("left", "left")
        await settle(pilot)
        await choose(pilot, "use")
        await settle(pilot)
        assert value_of(app.timeline.settings, FIRST) == pytest.approx(0.12)
        await pilot.press("u")
        await settle(pilot)
        assert value_of(app.timeline.settings, FIRST) == 0.2
        assert app.bench.draft.edits == {FIRST: pytest.approx(0.12)}
        await pilot.press("u")
        await settle(pilot)
        assert app.bench.draft.edits == {}
        assert value_of(app.timeline.settings, FIRST) == 0.2


async def test_what_is_in_use_is_saved_as_well(tmp_path: Path) -> None:
    app = Stage(tmp_path)
    mine = tmp_path / "mine" / "settings.toml"
    mine.parent.mkdir()
    mine.write_text("# my own\n[screen]\ntheme = 'orrery'\n")
    async with app.run_test(size=SIZE) as pilot:
        app.bench.profile_files = app.profile_files
        await settle(pilot)
        await pilot.press("left")
        await choose(pilot, "use")
        await settle(pilot)
        assert app.bench.draft.edits == {}
        await choose(pilot, "settings user")
        await settle(pilot)
        text = mine.read_text()
        assert text.startswith("# my own\n[screen]\ntheme = 'orrery'\n")
        assert "frustration = 0.16" in text


async def test_if_nothing_is_changed_nothing_can_be_saved(tmp_path: Path) -> None:
    app = Stage(tmp_path)
    async with app.run_test(size=SIZE) as pilot:
        app.bench.profile_files = app.profile_files
        await settle(pilot)
        await pilot.press("S")
        await pilot.pause()
        assert isinstance(app.screen, SaveScreen)
        assert "Save for every session" not in seen(app) and "Reset all settings" in seen(app)
        await pilot.press("escape")
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


async def test_a_preset_is_loaded_as_one_change(tmp_path: Path) -> None:
    app = Stage(tmp_path)
    async with app.run_test(size=SIZE) as pilot:
        app.bench.profile_files = app.profile_files
        await settle(pilot)
        await pilot.press("left")
        names = [profile.name for profile in app.profile_files.profiles()]
        await choose(pilot, f"load {names.index('eager')}")
        await settle(pilot)
        assert app.bench.draft.value("response.loops.failing.times") == 5
        await pilot.press("u")
        assert set(app.bench.draft.edits) == {FIRST}
        await pilot.press("S")
        await pilot.press("escape")
        await settle(pilot)
        assert set(app.bench.draft.edits) == {FIRST}


@pytest.mark.parametrize("name", ["", "../up", "x" * 41])
async def test_a_profile_is_saved_once_its_name_is_right(name: str, tmp_path: Path) -> None:
    app = Stage(tmp_path)
    async with app.run_test(size=SIZE) as pilot:
        app.bench.profile_files = app.profile_files
        await settle(pilot)
        await pilot.press("left")
        await choose(pilot, "profile user")
        await pilot.press(*name, "enter", *"For me", "enter")
        await pilot.pause()
        screen = app.screen
        assert isinstance(screen, SaveScreen)
        assert ("is not a valid profile name" if name else "a profile needs a name") in seen(app)
        field = screen.query_one("#name", Input)
        assert field.has_focus and field.value == name
        field.value = "mine"
        await pilot.press("enter", "enter")
        await settle(pilot)
        profile = read_profile(tmp_path / "mine" / "profiles" / "mine.toml", "user")
        assert dict(profile.values) == {FIRST: 0.16}
        assert profile.sentence == "For me"
        assert list((tmp_path / "chains").iterdir()) == []
        await pilot.press("S")
        await pilot.pause()
        await pilot.press("end")
        await pilot.pause()
        assert "For me" in seen(app)


async def test_a_sweep_is_drawn_and_put_away(tmp_path: Path) -> None:
    app = Stage(tmp_path)
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        app.bench.query_one(SettingsList).show("receptor.ambient.offset.confidence")
        await pilot.press("v")
        await settle(pilot)
        sweep = app.bench.query_one(SweepChart).sweep
        assert sweep is not None
        assert len(sweep.points) >= 21
        text = seen(app)
        assert ".25 now" in text
        assert "confidence" in text
        await pilot.press("v")
        await pilot.pause()
        assert not app.bench.effects.has_class("-sweeping")
        await pilot.press("v")
        assert app.bench.effects.has_class("-sweeping")
        await pilot.press("escape")
        await pilot.pause()
        assert not app.bench.effects.has_class("-sweeping"), "escape closes the sweep before the bench"
        assert app.bench.is_attached
        app.bench.query_one(SettingsList).show("screen.motion")
        await pilot.press("v")
        await pilot.pause()
        assert isinstance(app.asked[-1], Failed)


async def test_labels_go_round_and_are_kept(tmp_path: Path) -> None:
    app = Stage(tmp_path)
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        mark = next(mark for mark in app.timeline.marks if mark.kind == "signal")
        app.look(mark.place + 1)
        for verdict in ("right", "wrong"):
            await pilot.press("g")
            await settle(pilot)
            assert {each.verdict for each in app.feed.labels.judged()} == {verdict}
            assert mark.name in [each.name for each in app.feed.labels.judged()]
        assert "✗" in seen(app)
        await pilot.press("g")
        await settle(pilot)
        assert app.feed.labels.judged() == ()
        quiet = next(place for place in range(400) if not app.timeline.marks.between(place, place + 1))
        app.look(quiet + 1)
        await pilot.press("g")
        await settle(pilot)
        assert [each.verdict for each in app.bench.effects.labels] == ["missed"]
        await pilot.press("g")
        await settle(pilot)
        assert app.bench.effects.labels == ()


async def test_the_draft_outlives_the_screen(tmp_path: Path) -> None:
    app = Stage(tmp_path)
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        await pilot.press("left")
        await settle(pilot)
        edits = dict(app.bench.draft.edits)
        await pilot.press("escape")
        await pilot.pause()
        assert len(app.screen_stack) == 1
        app.on_mount()
        await settle(pilot)
        assert app.bench.draft.edits == edits
        assert app.bench.effects.compared is not None

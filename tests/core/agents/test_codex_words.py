"""What Codex and the person say: each answer has its own words, in the layout of every version."""

from __future__ import annotations

import tracemalloc
from pathlib import Path
from typing import Any

import pytest

from core.agents.codex.reader import Codex
from core.agents.codex.threads import Turns
from core.agents.registry import make_kit
from core.agents.words import words_of
from core.events import MAIN, Event, Prompt, ToolUse, Turn, Where
from core.logs.finder import sessions
from core.logs.glimpse import title_of
from core.logs.session import read_session
from tests.core.agents.samples import codex, codex_call, codex_meta, codex_output, codex_tokens, encoded, feed, new_kit

_META = codex_meta(0)


def _asked(second: int, text: str, **more: Any) -> dict[str, Any]:
    return codex("event_msg", second, type="user_message", message=text, **more)


def _event(second: int, text: str, **more: Any) -> dict[str, Any]:
    return codex("event_msg", second, type="agent_message", message=text, **more)


def _message(second: int, *texts: str, **more: Any) -> dict[str, Any]:
    content = [{"type": "output_text", "text": text} for text in texts]
    return codex("response_item", second, type="message", role="assistant", content=content, **more)


def _item(second: int, *texts: str, **more: Any) -> dict[str, Any]:
    content = [{"type": "Text", "text": text} for text in texts]
    return codex("event_msg", second, type="item_completed", item={"type": "AgentMessage", "content": content})


def _work(second: int) -> list[dict[str, Any]]:
    return [
        codex_call(second, f"c{second}", "shell", {"command": ["make"]}),
        codex_output(second + 1, f"c{second}", "ok"),
    ]


def _over(second: int, **more: Any) -> dict[str, Any]:
    return codex("event_msg", second, type="task_complete", **more)


def _turns(events: list[Event]) -> list[Turn]:
    return [event for event in events if isinstance(event, Turn)]


def _read(*lines: Any) -> list[Turn]:
    return _turns(feed(Codex(new_kit(), session="file"), [_META, *lines]))


def _stops(*lines: Any) -> list[str]:
    return [turn.stop for turn in _read(_asked(1, "go"), *lines)]


def _written(tmp_path: Path, *lines: Any) -> list[Event]:
    path = tmp_path / "rollout.jsonl"
    path.write_bytes(b"".join(encoded(line) + b"\n" for line in lines))
    kit = make_kit()
    [session] = sessions([path], kit)
    return list(read_session(session, kit))


_COUNT_FIRST = [
    _event(2, "I look."),
    codex_tokens(2, 100, 0, 10),
    _message(2, "I look."),
    *_work(3),
    _event(5, "It works."),
    codex_tokens(5, 300, 0, 20),
    _message(5, "It works."),
]
_MESSAGE_FIRST = [
    _event(2, "I look."),
    _message(2, "I look."),
    codex_tokens(2, 100, 0, 10),
    *_work(3),
    _event(5, "It works."),
    _message(5, "It works."),
    codex_tokens(5, 300, 0, 20),
]
_ITEMS = [
    _message(2, "I look."),
    _item(2, "I look."),
    codex_tokens(2, 100, 0, 10),
    *_work(3),
    _item(5, "It works."),
    codex_tokens(5, 300, 0, 20),
    _message(5, "It works."),
]
_ONE_SIGN = [line for line in _MESSAGE_FIRST if line["payload"]["type"] != "agent_message"]


@pytest.mark.parametrize("layout", [_COUNT_FIRST, _MESSAGE_FIRST, _ITEMS, _ONE_SIGN])
def test_an_answer_has_its_own_words_in_every_layout(tmp_path: Path, layout: list[Any]) -> None:
    """Whether the count comes before or after them, and by which signs they are told."""
    events = _written(tmp_path, _META, _asked(1, "go"), *layout, _asked(9, "more"), _event(10, "More."))
    turns = _turns(events)
    assert [words_of(turn).said for turn in turns] == ["I look.", "It works.", "More."]
    assert [turn.output_tokens for turn in turns] == [10, 10, 0]


def test_the_line_that_ends_a_turn_does_not_say_its_words_again(tmp_path: Path) -> None:
    events = _written(tmp_path, _META, _asked(1, "go"), *_COUNT_FIRST, _over(6, last_agent_message="It works."))
    assert [words_of(turn).said for turn in _turns(events)] == ["I look.", "It works.", ""]


def test_words_in_parts_are_told_once() -> None:
    """One sign tells them whole, the other a part at a time."""
    first, last = _read(
        _event(1, "One."),
        _event(1, "Two."),
        codex_tokens(1, 100, 0, 10),
        _message(1, "One.", "Two."),
        codex_tokens(2, 200, 0, 20),
    )
    assert first.said is not None
    assert last.said is None


def test_the_same_words_said_again_are_another_answer() -> None:
    turns = _read(
        *(_event(1, "Done."), codex_tokens(1, 100, 0, 10), _message(1, "Done.")),
        *(_event(2, "Done."), codex_tokens(2, 200, 0, 20), _message(2, "Done.")),
    )
    assert [turn.said is not None for turn in turns] == [True, True]


def test_words_wait_for_their_count_in_sight() -> None:
    """What is begun is held; the count makes one turn of it, which is not told twice."""
    reader = Codex(new_kit(), session="file")
    place = Where("log", 0, 1)
    for line in (_META, _asked(1, "go"), _event(2, "It works.")):
        reader.feed(encoded(line), place, 1)
    (held,) = _turns(reader.pending_events())
    assert (held.said, held.cost, held.output_tokens) == (place, None, 0)
    (turn,) = _turns(reader.feed(encoded(codex_tokens(2, 100, 0, 10)), place, 1))
    assert (turn.said, turn.output_tokens) == (place, 10)
    assert reader.pending_events() == []


def test_answers_without_a_count_end_where_another_begins() -> None:
    """The oldest logs count nothing: a result ends the answer that asked for it."""
    said = {"type": "message", "role": "assistant"}
    bare = [
        {"id": "t0", "timestamp": "2025-05-01T10:00:00.000Z", "instructions": None},
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "go"}]},
        {**said, "content": [{"type": "output_text", "text": "I look."}]},
        *(line["payload"] for line in _work(3)),
        {"type": "reasoning", "summary": []},
        {**said, "content": [{"type": "output_text", "text": "It works."}]},
    ]
    events = feed(Codex(new_kit(), session="file"), bare)
    assert [type(event).__name__ for event in events] == ["SessionStart", "Prompt", "ToolUse", "Turn", "Turn"]
    assert all(turn.said is not None and turn.cost is None for turn in _turns(events))


def test_words_before_a_prompt_or_a_stop_are_an_answer() -> None:
    """No count comes for what was cut off."""
    for after in (_asked(3, "no"), codex("event_msg", 3, type="turn_aborted", reason="interrupted")):
        events = feed(Codex(new_kit(), session="file"), [_META, _asked(1, "go"), _event(2, "I look."), after])
        assert [type(event).__name__ for event in events] == ["SessionStart", "Prompt", "Turn", "Prompt"]


def test_newer_logs_say_which_words_are_the_answer() -> None:
    on_the_way = [_event(2, "I look.", phase="commentary"), codex_tokens(2, 100, 0, 10), *_work(3)]
    answer = [_event(5, "It works.", phase="final_answer"), codex_tokens(5, 300, 0, 20)]
    assert _stops(*on_the_way, *answer, _over(6)) == ["commentary", "end_turn"]


def test_the_end_of_a_turn_is_told_once() -> None:
    """By the answer itself, or else by the line that says so; an error stays one."""
    said = [_event(2, "It works."), codex_tokens(2, 100, 0, 10)]
    failed = codex("event_msg", 3, type="error", message="overloaded")
    assert _stops(*said, _over(3), _over(4)) == ["", "end_turn"]
    assert _stops(_event(2, "It works."), _over(3)) == ["end_turn"]
    assert _stops(*said, failed, _over(4)) == ["", "error"]
    assert _stops(*said, _over(3, error={"message": "overloaded"})) == ["", "error"]
    assert _stops(*said, _over(3), _asked(4, "more"), _over(5)) == ["", "end_turn", "end_turn"]


def test_the_line_that_ends_a_turn_costs_nothing() -> None:
    *_, end = _read(_asked(1, "go"), *_work(2), _over(5))
    assert (end.cost, end.said, end.context_tokens) == (0.0, None, 0)


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("# Context from my IDE setup:\n\n## Open tabs:\n- a.py\n\n## My request for Codex:\nfix it\n", "fix it"),
        ("## My request for Codex:\nfix it", "fix it"),
        ("what does ## My request for Codex: mean", "what does ## My request for Codex: mean"),
    ],
)
def test_what_an_editor_tells_of_itself_is_not_asked(tmp_path: Path, written: str, meant: str) -> None:
    events = _written(tmp_path, _META, _asked(1, written))
    (prompt,) = [event for event in events if isinstance(event, Prompt)]
    (plain,) = [event for event in _written(tmp_path, _META, _asked(1, meant)) if isinstance(event, Prompt)]
    assert (prompt.characters, prompt.call) == (len(meant), plain.call)
    path = tmp_path / "rollout.jsonl"
    path.write_bytes(encoded(_META) + b"\n" + encoded(_asked(1, written)) + b"\n")
    [session] = sessions([path], make_kit())
    assert (words_of(prompt).said, title_of(session)) == (meant, meant)


@pytest.mark.parametrize(
    "prompt",
    [
        _asked(1, "", images=["data:image/png;base64,AAAA"]),
        _asked(1, "", local_images=["a.png"]),
        codex("event_msg", 1, type="item_completed", item={"type": "UserMessage", "content": [{"type": "image"}]}),
    ],
)
def test_an_image_alone_is_a_prompt(prompt: dict[str, Any]) -> None:
    events = feed(Codex(new_kit(), session="file"), [_META, prompt])
    assert sum(isinstance(event, Prompt) for event in events) == 1
    nothing = feed(Codex(new_kit(), session="file"), [_META, _asked(1, "", images=[])])
    assert not any(isinstance(event, Prompt) for event in nothing)


def test_words_of_a_long_thread_without_counts_are_not_gathered_whole() -> None:
    turns = Turns(new_kit())
    tracemalloc.start()
    for number in range(200):
        turns.say("message", f"{number} " + "x" * 5000, "", float(number), MAIN, Where("file", 0, 1))
    held, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert held < 100_000


def test_an_answer_without_words_is_on_its_way() -> None:
    """Its tokens are counted after its calls were answered, and it goes on from their results."""
    counted = [*_work(2), codex_tokens(4, 1000, 0, 10)]
    assert _stops(*counted) == ["wordless"]
    assert _stops(*counted, _message(5, "Done."), codex_tokens(6, 2000, 0, 20)) == ["wordless", ""]


@pytest.mark.parametrize(
    ("policy", "action"), [("on-request", "file_edit"), ("untrusted", "file_edit"), ("never", "shell_exec")]
)
def test_an_open_command_that_leaves_the_sandbox_may_ask_first(policy: str, action: str) -> None:
    reader = Codex(new_kit(), session="file")
    place = Where("log", 0, 1)
    arguments = {"command": ["touch", "../made"], "sandbox_permissions": "require_escalated"}
    context = codex("turn_context", 1, model="gpt", approval_policy=policy)
    call = codex_call(2, "c1", "shell", arguments)
    for line in (_META, context, call):
        reader.feed(encoded(line), place, 1)
    (held,) = [one for one in reader.pending_events() if isinstance(one, ToolUse)]
    assert (held.action, held.outcome) == (action, "pending")
    (done,) = [one for one in reader.feed(encoded(codex_output(3, "c1", "ok")), place, 1) if isinstance(one, ToolUse)]
    assert done.action != "file_edit" or done.program == "touch"
    assert reader.pending_events() == []


@pytest.mark.parametrize(
    ("script", "command"),
    [
        ('const r = await tools.exec_command({cmd:"pytest -q",workdir:"/p"}); text(r.output)', "pytest -q"),
        ("await tools.exec_command({cmd:'cat a'}); tools.exec_command({cmd:`make`})", "cat a\nmake"),
        (
            "for (const t of ALL_TOOLS.filter(x=>x.name)) text(t)",
            "for (const t of ALL_TOOLS.filter(x=>x.name)) text(t)",
        ),
        ('tools.apply_patch("*** Begin Patch\\n*** Update File: b.py\\n-x\\n+y\\n*** End Patch")', "b.py"),
    ],
)
def test_a_script_is_shown_by_what_it_runs(script: str, command: str, tmp_path: Path) -> None:
    asked = codex("response_item", 1, type="custom_tool_call", name="exec", input=script, call_id="c")
    output = "Script failed\nWall time 0.1 seconds\nOutput:\n\nScript error:\nno such file"
    done = codex("response_item", 2, type="custom_tool_call_output", call_id="c", output=output)
    [use] = [event for event in _written(tmp_path, _META, asked, done) if isinstance(event, ToolUse)]
    read = words_of(use)
    assert (read.command, read.output) == (command, "no such file")

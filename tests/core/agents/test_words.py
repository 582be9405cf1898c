"""The words behind events: found in every format, redacted, and read from the session's own logs alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from core.agents.claude_code.reader import ClaudeCode
from core.agents.codex.reader import Codex
from core.agents.registry import make_kit
from core.agents.values import attached
from core.agents.words import LONGEST, WordReader, Words, _end, answer, arguments, gist, speech, telling_line, words_of
from core.events import Event, Prompt, ToolUse, Turn, Where
from core.logs.finder import sessions
from core.logs.session import read_session
from tests.core.agents import samples


def written(tmp_path: Path, lines: list[Any], name: str = "log.jsonl") -> list[Event]:
    path = tmp_path / name
    path.write_bytes(b"".join(samples.encoded(line) + b"\n" for line in lines))
    kit = make_kit()
    [session] = sessions([path], kit)
    return list(read_session(session, kit))


def said(events: list[Event]) -> list[str]:
    return [words_of(event).said for event in events if isinstance(event, Turn)]


def test_an_answer_before_a_call_is_found_in_claude_code(tmp_path: Path) -> None:
    talk = samples.asks(1, "a", "Bash", {"command": "ls"}, message="m")
    talk["message"]["content"] = [{"type": "text", "text": "I look first."}]
    call = samples.asks(2, "a", "Bash", {"command": "ls -la"}, message="m")
    events = written(tmp_path, [samples.says(0, "look"), talk, call, samples.answers(3, "a", "total 0")])
    assert said(events) == ["I look first."]
    [use] = [event for event in events if isinstance(event, ToolUse)]
    assert words_of(use)[1:5] == ("ls -la", "", "", "total 0")


@pytest.mark.parametrize("more", [-1, 0, 1, 3 * LONGEST])
def test_of_a_long_answer_the_beginning_and_the_end_are_read(tmp_path: Path, more: int) -> None:
    question, secret = "Should I apply it?", "ghp_" + "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"
    text = f"The plan. {secret} ".ljust(LONGEST + more - len(question), ".") + question
    talk = samples.asks(1, "a", "Bash", {})
    talk["message"]["content"] = [{"type": "text", "text": text}]
    [words] = said(written(tmp_path, [samples.says(0, "plan it"), talk]))
    assert words.startswith("The plan. <redacted>") and words.endswith(question)
    assert len(words) <= LONGEST + 1


def test_an_answer_without_text_has_no_place() -> None:
    events = samples.feed(ClaudeCode(samples.new_kit()), [samples.asks(1, "a", "Bash", {"command": "ls"})])
    assert [event.said for event in events if isinstance(event, Turn)] == [None]


@pytest.mark.parametrize(
    "record",
    [
        {"kind": "AssistantMessage", "data": {"content": [{"kind": "text", "data": "Which file?"}]}},
        {"user": {"content": {"Prompt": {"prompt": "Add it"}}}, "assistant": {"Response": {"content": "Which file?"}}},
        {
            "requestId": "r",
            "message": {"text": "Add it"},
            "response": [{"kind": "thinking", "value": "Hm."}, {"value": "Which file?"}],
        },
        {
            "requestId": "r",
            "message": {"text": "Add it"},
            "response": [{"kind": "markdownContent", "content": {"value": "Which file?"}}],
        },
    ],
)
def test_an_answer_is_told_from_its_prompt_in_one_record(record: dict[str, Any]) -> None:
    assert speech([record], agent=True) == "Which file?"
    if "data" not in record:
        assert speech([record], agent=False) == "Add it"


def test_an_answer_is_found_in_codex_not_its_tokens(tmp_path: Path) -> None:
    text = [{"type": "output_text", "text": "Done with it."}]
    lines = [
        samples.codex_meta(0),
        samples.codex("event_msg", 1, type="user_message", message="do it"),
        samples.codex("response_item", 2, type="message", role="assistant", content=text),
        samples.codex_tokens(3, 100, 0, 10),
        samples.codex_tokens(4, 300, 0, 20),
    ]
    events = written(tmp_path, lines)
    turns = [event for event in events if isinstance(event, Turn)]
    assert said(events) == ["Done with it.", ""]
    assert turns[0].said != turns[0].where and turns[1].said is None
    assert Codex.name == "codex"


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"questions": [{"question": "Drop it?", "header": "x"}]}, "Drop it?"),
        ({"files": [{"path": "a.py"}, {"path": "b.py"}]}, "a.py\nb.py"),
        ({"commands": ["make", "make test"]}, "make\nmake test"),
        ({"todos": [{"content": "first", "status": "in_progress"}]}, "first (in progress)"),
        ({"command": "make test", "description": "run"}, "make test"),
        ({"command": ["make", "test"]}, "make test"),
        ({"query": "words", "limit": 3}, "words"),
        ({"limit": 3}, "limit 3"),
        ({"task_id": "b12", "block": True, "timeout": 30000}, "task b12"),
        ({"first_line": 3, "follow": False, "deep": True, "in": []}, "first line 3, no follow, deep"),
        ({}, ""),
        (None, ""),
    ],
)
def test_a_call_is_named_by_what_says_most(given: Any, told: str) -> None:
    assert gist(given, ()) == told


@pytest.mark.parametrize(
    ("record", "told"),
    [
        ({"toolCallId": "c", "result": {"content": "fine"}}, "fine"),
        ({"tool_use_id": "c", "type": "tool_result", "content": '{"name": "x"}'}, "name: x"),
        ({"tool_use_id": "c", "type": "tool_result", "content": '{"n": 3}'}, '{"n": 3}'),
        ({"id": "c", "state": {"input": {}, "output": "done"}}, "done"),
        ({"id": "other", "action": "ls", "observation": "a b", "state": {"open_file": "n/a"}}, "a b"),
    ],
)
def test_a_result_is_found_wherever_it_stands(record: dict[str, Any], told: str) -> None:
    assert answer([record], ToolUse(at=0, id="c")) == told


def test_a_step_that_holds_a_state_of_its_own_still_names_its_action() -> None:
    step = {"action": "ls -a", "observation": "x", "state": {"working_dir": "/"}}
    assert arguments([step], ToolUse(at=0, id="step-0")) == "ls -a"


def test_a_fenced_command_is_not_the_output_quoted_before_it() -> None:
    text = "It printed:\n```\nx > y\n```\nand\n```python\nx = 1\n```\nso\n```bash\nmake\n```\n```bash\nnever\n```"
    assert arguments([{"role": "assistant", "content": text}], ToolUse(at=0, id="c")) == "make"
    assert arguments([{"role": "assistant", "content": "```\nls\n```"}], ToolUse(at=0, id="c")) == "ls"


def test_only_the_speaker_is_heard() -> None:
    answer_ = {
        "role": "assistant",
        "content": [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "yes"}],
    }
    asked = {
        "role": "user",
        "content": [{"type": "text", "text": "<system-reminder>x"}, {"type": "text", "text": "hi"}],
    }
    assert speech([answer_, asked], agent=True) == "yes"
    assert speech([answer_, asked], agent=False) == "hi"


def test_colours_of_a_terminal_are_left_out(tmp_path: Path) -> None:
    secret = "sk-ant-" + "api03-" + "Ab1" * 30
    text = f"\x1b[7m171\x1b[0m type \x1b]0;title\x07x {secret[:9]}\x1b[1m{secret[9:]}"
    lines = [samples.asks(1, "a", "Bash", {"command": "tsc"}), samples.answers(2, "a", text)]
    [use] = [event for event in written(tmp_path, lines) if isinstance(event, ToolUse)]
    output = words_of(use).output
    assert output.startswith("171 type x ") and secret not in output


def test_a_refusal_of_the_agent_is_told_without_its_tags(tmp_path: Path) -> None:
    told = "<tool_use_error>File has not been read yet.</tool_use_error>"
    call = samples.asks(1, "a", "Edit", {"file_path": "/p/a.py"})
    events = written(tmp_path, [samples.says(0, "go"), call, samples.answers(2, "a", told, error=True)])
    [use] = [event for event in events if isinstance(event, ToolUse)]
    assert words_of(use).output == "File has not been read yet."


def test_a_log_may_be_named_by_a_way_round(tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    log = tmp_path / "other" / ".." / "session"
    reader = WordReader((log,))
    assert reader.inside(Where(str(log), 0, 1))
    assert reader.inside(Where(str(log / "part.json"), 0, 1))
    assert not reader.inside(Where(str(log / ".." / "secret.json"), 0, 1))
    assert not reader.inside(Where(str(tmp_path / "session"), 0, 1))


def test_nothing_outside_the_logs_is_read(tmp_path: Path) -> None:
    """An event may name any place; only those in the session's own logs are opened."""
    own, other = tmp_path / "own.jsonl", tmp_path / "other.jsonl"
    for path in (own, other):
        path.write_text('{"role": "user", "content": "private"}\n')
    reader = WordReader((own,))
    inside = Prompt(at=0, characters=1, where=Where(str(own), 0, own.stat().st_size))
    outside = Prompt(at=0, characters=1, where=Where(str(other), 0, other.stat().st_size))
    around = Prompt(at=0, characters=1, where=Where(f"{own}/../other.jsonl", 0, 60))
    assert reader.words(inside).said == "private"
    assert not reader.words(outside).said and not reader.words(around).said


@pytest.mark.parametrize(
    ("output", "line"),
    [
        ("12 passed, 0 failed\nexit", "exit"),
        ("Traceback (most recent call last)\nKeyError: 'a'\nDuring\nValueError: b\n", "ValueError: b"),
        ("one.c:3: error: first\none.c:9: error: second", "one.c:3: error: first"),
        ("bash: foo: command not found", "bash: foo: command not found"),
        ("1 item\nE   AssertionError:   assert 200 == 404\n1 failed", "AssertionError: assert 200 == 404"),
        ("These paths are ignored:\npriv/a\npriv/b\nhint: use -f", "These paths are ignored: priv/a"),
        ("These paths are ignored:\ntwo words\npriv/b", "priv/b"),
        ("priv/a\nthese:", "these:"),
    ],
)
def test_the_line_that_tells(output: str, line: str) -> None:
    assert telling_line(output) == line


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("<user_query>\nfix it\n</user_query>", "fix it"),
        ("<USER_REQUEST>fix it</USER_REQUEST>\n<ADDITIONAL_METADATA>x</ADDITIONAL_METADATA>", "fix it"),
        ("<task>\nfix it\n</task>\n\n<environment_details>x</environment_details>", "fix it"),
        ('<user_input mode="yolo">fix it</user_input>', "fix it"),
        (
            "<command-message>review</command-message>\n<command-name>/review</command-name>\n"
            "<command-args>the last commit</command-args>",
            "/review the last commit",
        ),
        ("use a <task> element </task> here", "use a <task> element </task> here"),
        ("<b>bold</b> is what I want", "<b>bold</b> is what I want"),
    ],
)
def test_a_prompt_is_what_the_person_wrote(tmp_path: Path, written: str, meant: str) -> None:
    path = tmp_path / "log.jsonl"
    path.write_bytes(samples.encoded(samples.says(0, written)) + b"\n")
    kit = make_kit()
    [session] = sessions([path], kit)
    [prompt] = [event for event in read_session(session, kit) if isinstance(event, Prompt)]
    assert words_of(prompt).said == meant


@pytest.mark.parametrize(
    ("record", "told"),
    [
        ({"content": [{"type": "image", "source": {"media_type": "image/png", "data": "AA"}}]}, "an image"),
        ({"content": [{"type": "image"}, {"type": "image"}, {"type": "document"}]}, "2 images and a document"),
        ({"payload": {"type": "user_message", "message": "", "images": ["data:"], "local_images": []}}, "an image"),
        ({"payload": {"item": {"content": [{"type": "local_image", "path": "a.png"}]}}}, "an image"),
        ({"parts": [{"inlineData": {"mimeType": "image/png", "data": "AA"}}]}, "an image"),
        ({"args": {"content": "", "image_urls": ["data:a", "data:b"]}}, "2 images"),
        ({"llm_message": {"content": [{"type": "image", "image_urls": ["data:a", "data:b"]}]}}, "2 images"),
        ({"type": "file", "mime": "application/pdf"}, "a document"),
        ({"content": "", "images": "none", "type": ["image"], "mime": {}}, ""),
    ],
)
def test_a_prompt_without_words_is_what_it_holds(record: object, told: str) -> None:
    assert attached([record]) == told


def test_an_image_alone_is_said_to_be_one(tmp_path: Path) -> None:
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AA"}}
    events = written(tmp_path, [samples.says(0, [image]), samples.says(1, [image, {"type": "text", "text": "so"}])])
    assert [words_of(event).said for event in events if isinstance(event, Prompt)] == ["an image", "so"]


def test_an_error_that_is_none_is_not_what_went_wrong() -> None:
    said = "Command: python3 a.py\nOutput: can't open file 'a.py': no such file\nError: (none)\nExit Code: 2"
    assert telling_line(said) == "Output: can't open file 'a.py': no such file"


@pytest.mark.parametrize(
    ("output", "line"),
    [
        ("<tool_use_error>File does not exist.</tool_use_error>", "File does not exist."),
        ("error: <b>no</b> closing", "error: <b>no</b> closing"),
        ("<error></error>", "<error></error>"),
    ],
)
def test_the_marks_an_agent_puts_round_an_error_are_left_out(output: str, line: str) -> None:
    assert telling_line(output) == line


def test_what_codex_puts_before_an_output_is_left_away() -> None:
    told = ("Chunk ID: 617d2b", "Wall time: 0.94 seconds", "Process exited with code 1", "Original token count: 29")
    head = "\n".join((*told, "Output:", ""))
    assert _end(head + "fatal: no such branch") == "fatal: no such branch"
    assert _end(head) == "" and _end("Output:\nmine") == "Output:\nmine"


def test_line_ends_that_were_escaped_are_line_ends() -> None:
    said = '{"reason": "Pre-commit failed:\\n\\n[DIALYZER]\\nerror: no PLT\\n"}'
    assert telling_line(said) == "error: no PLT"
    assert telling_line("error: C:\\new\\name is missing") == "error: C:\\new\\name is missing"


@pytest.mark.parametrize(
    ("record", "said"),
    [
        ([{"type": "text", "data": {"text": "mend the mill"}}, {"type": "finish", "data": {}}], "mend the mill"),
        ({"type": "turn.prompt", "input": [{"type": "text", "text": "mend"}], "origin": {"kind": "user"}}, "mend"),
    ],
)
def test_a_prompt_is_read_in_the_forms_of_crush_and_kimi(record: object, said: str) -> None:
    assert speech([record], agent=False) == said


def test_an_answer_of_kimi_is_read_from_its_part() -> None:
    part = {"type": "content.part", "part": {"type": "text", "text": "All is green."}}
    assert speech([{"type": "context.append_loop_event", "event": part}], agent=True) == "All is green."
    thought = {"type": "content.part", "part": {"type": "think", "think": "hm", "text": ""}}
    assert speech([{"type": "context.append_loop_event", "event": thought}], agent=True) == ""


def test_what_copilot_puts_after_an_output_is_left_away() -> None:
    assert _end("no match\n<shellId: 50 completed with exit code 1>") == "no match"
    assert _end("<shellId: 50 completed with exit code 1>") == ""


def test_a_hint_is_not_what_went_wrong() -> None:
    said = "These paths are ignored:\n_build\nhint: use -f\nhint: git config advice.addIgnoredFile false"
    assert telling_line(said) == "These paths are ignored: _build"
    assert telling_line("hint: use -f") == "hint: use -f"


GIVEN = {"host": "h", "password": "hunter" + "two", "auth": {"token": "k3y" + "V4lue9x"}, "apiKey": "k3y" + "V4lue9x"}


def test_a_secret_among_the_arguments_is_not_told(tmp_path: Path) -> None:
    call = samples.asks(1, "a", "mcp__db__connect", GIVEN)
    [use] = [event for event in written(tmp_path, [call, samples.answers(2, "a", "ok")]) if isinstance(event, ToolUse)]
    assert words_of(use).command == "host h, password <redacted>, apiKey <redacted>"


@pytest.mark.parametrize("given", [GIVEN, samples.encoded(GIVEN).decode()])
def test_a_secret_in_a_result_is_not_told(given: Any) -> None:
    told = answer([{"tool_use_id": "c", "type": "tool_result", "content": given}], ToolUse(at=0, id="c"))
    assert "hunter" not in told and "k3y" not in told
    inner = {**GIVEN, "auth": ""}
    assert answer([{"toolCallId": "c", "result": inner}], ToolUse(at=0, id="c")) == (
        "host: h\npassword: <redacted>\napiKey: <redacted>"
    )


def test_a_secret_in_a_list_of_words_is_not_told() -> None:
    asked = {"id": "c", "input": {"command": ["sshpass", "-p", "hunter" + "two", "ssh", "host"]}}
    assert gist(arguments([asked], ToolUse(at=0, id="c")), ()) == "sshpass -p <redacted> ssh host"


def test_a_log_that_was_written_anew_shows_no_torn_lines(tmp_path: Path) -> None:
    """The places of its events lie amid other lines by then."""
    lines = [
        samples.says(0, "hello there"),
        samples.asks(1, "a", "Bash", {"command": "make"}),
        samples.answers(2, "a", "total 0"),
        samples.says(3, "go on then"),
    ]
    events = written(tmp_path, lines)
    written(tmp_path, [{"type": "summary", "summary": "a mill", "leafUuid": "1"}, *lines])
    assert {words_of(event) for event in events} == {Words()}

"""A glance at a line of Claude Code never passes over one that matters."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from core.agents.claude_code.lines import decode_line, matters, passes

KINDS = (
    "user",
    "assistant",
    "system",
    "progress",
    "attachment",
    "queue-operation",
    "summary",
    "mode",
    "file-history-snapshot",
    "last-prompt",
)
INNER = ("agent_progress", "hook_progress", "bash_progress", "queued_command", "hook_additional_context", "")
WORDS = ("{", '{"type":"progress","data":{"type":"x"', "<task-notification>", "a\\b", "ä", "/home/x", "")


@st.composite
def lines(draw: st.DrawFn) -> dict[str, Any]:
    inner = {"type": draw(st.sampled_from(INNER)), "hookName": draw(st.sampled_from(WORDS))}
    fields: dict[str, Any] = {
        "type": draw(st.sampled_from(KINDS)),
        "data": inner,
        "attachment": {"type": draw(st.sampled_from(INNER)), "prompt": draw(st.sampled_from(WORDS))},
        "content": draw(st.sampled_from(WORDS)),
        "cwd": draw(st.sampled_from(WORDS)),
        "parentUuid": draw(st.sampled_from(("u-1", None))),
        "message": {"type": "message", "content": draw(st.sampled_from(WORDS))},
    }
    names = draw(st.lists(st.sampled_from(sorted(fields)), unique=True))
    return {name: fields[name] for name in names}


@settings(max_examples=1000, deadline=None)
@given(lines(), st.booleans(), st.booleans(), st.sampled_from(["", "\n"]))
def test_what_matters_is_not_passed_over(line: dict[str, Any], spelled: bool, packed: bool, end: str) -> None:
    between = (",", ":") if packed else (", ", ": ")
    record = (json.dumps(line, ensure_ascii=spelled, separators=between) + end).encode()
    if passes(record):
        assert not matters(decode_line(record))


def test_what_claude_code_writes_and_does_not_matter_is_passed_over() -> None:
    head = '{"parentUuid":"u-1","cwd":"/x","sessionId":"s",'
    hook = head + '"type":"progress","data":{"type":"hook_progress","hookName":"PostToolUse:Read","command":"x"},'
    for record in (hook + '"uuid":"u-2"}\n', '{"type":"file-history-snapshot","snapshot":{}}\n'):
        assert passes(record.encode())
    assert not passes(hook.replace("hook_progress", "agent_progress").encode() + b'"uuid":"u-2"}')
    assert not passes(head.encode() + b'"type":"user","message":{}}')

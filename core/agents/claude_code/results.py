"""What Claude Code's lines say of a call's end."""

from __future__ import annotations

from core.agents.calls import Result
from core.agents.claude_code.lines import BackgroundTask, Block, ClaudeLine, ToolDetails, read_part
from core.agents.claude_code.texts import block_text, result_text
from core.agents.outcomes import exit_code

STARTERS = frozenset(("Task", "Agent"))
"""Tools that start a sub-agent."""
_make = tuple.__new__
"""Builds a named tuple without its Python-level constructor: one is made for every result."""
_TOLD = frozenset(("Grep", "Glob", "TaskOutput", "AgentOutputTool", "BashOutput", "WebFetch"))


def read_result(line: ClaudeLine, block: Block, tool: str) -> tuple[Result, ToolDetails | None]:
    """How a call of this tool ended, and what the line tells beside it."""
    text = result_text(block)
    failed = block.is_error is True
    told: ToolDetails | None = None
    empty: bool | None = None
    running = False
    code = exit_code(text) if failed else None
    if tool in _TOLD or tool in STARTERS:
        told = _as_told(line)
        if told is not None:
            empty, running, code = _judge(tool, told, code)
    elif failed and not text:
        text = block_text(line.tool_use_result)
    size = None
    if not text and isinstance(block.content, list) and block.content:
        size = sum(len(memoryview(piece.source)) for piece in block.content)
        empty = False
    return _make(Result, (text, failed, code, False, False, empty, running, None, size)), told


def _as_told(line: ClaudeLine) -> ToolDetails | None:
    told = read_part(line.tool_use_result, ToolDetails)
    return told if isinstance(told, ToolDetails) else None


def _judge(tool: str, told: ToolDetails, code: int | None) -> tuple[bool | None, bool, int | None]:
    """Whether it found nothing, whether it still runs, and its exit code."""
    if tool == "Grep" or tool == "Glob":
        if told.mode == "count" and told.num_matches is not None:
            return told.num_matches == 0, False, code
        if told.num_files is not None and told.mode != "content":
            return told.num_files == 0, False, code
    task = read_part(told.task, BackgroundTask)
    if isinstance(task, BackgroundTask):
        return None, task.status == "running", code if task.exit_code is None else task.exit_code
    return None, False, code

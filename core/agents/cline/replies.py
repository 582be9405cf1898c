"""Calls and their results in what Cline and its kin say to a model: blocks, or words in a text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from core.agents.calls import Result
from core.agents.loose import decode, items, table, text, words

_TOOLS = (
    *("read_file", "write_to_file", "replace_in_file", "apply_diff", "apply_patch", "insert_content"),
    *("search_and_replace", "edit_file", "new_rule", "search_files", "list_files", "codebase_search"),
    *("list_code_definition_names", "web_fetch", "web_search", "browser_action", "execute_command"),
    *("read_command_output", "new_task", "use_subagents", "update_todo_list", "plan_mode_respond"),
    *("use_mcp_tool", "access_mcp_resource", "ask_followup_question", "attempt_completion", "switch_mode"),
    *("fetch_instructions", "run_slash_command", "condense", "summarize_task", "report_bug"),
)
_CALL = re.compile(rf"<({'|'.join(_TOOLS)})>(.*?)</\1>", re.DOTALL)
_FIELD = re.compile(r"<(\w{1,40})>\n?(.*?)\n?</\1>", re.DOTALL)
_RESULT = re.compile(r"\A\[(\w{1,60})(?: for .{0,4000}?)?\] Result:[ \n]?(.*)\Z", re.DOTALL)
_SKIPPED = re.compile(r"\ATool \[(\w{1,60})\] was not executed because")
_EXIT = re.compile(r"\bexit(?:ed with)? code:? (-?\d{1,9})", re.IGNORECASE)
_HEAD = 500
_FAILED = ("The tool execution failed", "<error>", "Error:", "[ERROR]")
_DENIED = "The user denied"


class Called(NamedTuple):
    """One call."""

    id: str
    tool: str
    arguments: Any


class Reply(NamedTuple):
    """What came back for one call; blank ids belong to the call that waits."""

    id: str
    tool: str
    said: str
    error: bool = False
    skipped: bool = False


def called_in(content: Any) -> Iterator[Called]:
    """The calls of an answer: blocks, or in older versions tags in its text."""
    blocks = [table(one) for one in items(content)]
    native = [one for one in blocks if one.get("type") == "tool_use"]
    for one in native:
        yield Called(text(one.get("id")), text(one.get("name")), _arguments(one.get("input")))
    if native:
        return
    said = content if isinstance(content, str) else "\n".join(text(one.get("text")) for one in blocks)
    for tool, inner in _CALL.findall(said):
        yield Called("", tool, dict(_FIELD.findall(inner)))


def _arguments(given: Any) -> Any:
    """The arguments of a call; a list of files or commands in the words of a single one."""
    told = table(given)
    commands = [one for one in items(told.get("commands")) if isinstance(one, str)]
    if commands and "command" not in told:
        return {**told, "command": "\n".join(commands)}
    paths = [text(table(one).get("path")) for one in items(told.get("files")) if isinstance(one, dict)]
    return {**told, "paths": list(filter(None, paths))} if any(paths) and "path" not in told else given


def replies(content: Any) -> Iterator[Reply]:
    """The results in a message to the model: blocks with ids, or texts that name their tool."""
    last: Reply | None = None
    for block in [{"text": content}] if isinstance(content, str) else map(table, items(content)):
        if block.get("type") == "tool_result":
            yield _block(block)
            continue
        said = text(block.get("text"))
        found, skipped = _RESULT.match(said), _SKIPPED.match(said)
        if found or skipped:
            if last is not None:
                yield last
            last = (
                Reply("", found[1], found[2]) if found else Reply("", skipped[1], said, skipped=True)  # type: ignore[index]
            )
        elif last is not None and not last.said and not said.startswith("<environment_details>"):
            last = last._replace(said=said)
    if last is not None:
        yield last


def _block(block: dict[str, Any]) -> Reply:
    told = block.get("content")
    opened = (
        decode(told.encode("utf-8", "surrogatepass")) if isinstance(told, str) and told[:1] in "{[" else None
    )
    parts = [one for one in (items(told) or items(opened) or [opened]) if isinstance(one, dict)]
    failed = any(one.get("success") is False for one in parts)
    results = [
        text(one.get("result")) or text(one.get("error"))
        for one in parts
        if "result" in one or "error" in one
    ]
    said = "\n".join(results) if any(results) else words(told)
    return Reply(
        text(block.get("tool_use_id")), text(block.get("name")), said, block.get("is_error") is True or failed
    )


def reply_result(reply: Reply) -> Result:
    """The facts a result's text holds."""
    head = reply.said[:_HEAD]
    status = (
        text(table(decode(reply.said.encode("utf-8", "surrogatepass"))).get("status"))
        if head[:1] == "{"
        else ""
    )
    shell = reply.tool in ("", "execute_command", "run_commands", "read_command_output", "bash")
    exited = _EXIT.search(head) if shell else None
    return Result(
        text=reply.said,
        error=reply.error
        or status == "error"
        or head.startswith(_FAILED)
        or "The tool execution failed" in head,
        exit_code=int(exited[1]) if exited else None,
        rejected=head.startswith(_DENIED) or status == "denied",
        collateral=reply.skipped or (head.startswith("Tool [") and "was not executed because" in head),
    )

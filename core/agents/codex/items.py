"""What an item of a Codex rollout holds, whichever era wrote it."""

from __future__ import annotations

from typing import Any

from core.agents.loose import decode, items, table, text


def called_item(item: dict[str, Any]) -> tuple[str, str, Any]:
    """The id, tool and arguments of a call."""
    kind = text(item.get("type"))
    call = text(item.get("call_id")) or text(item.get("id"))
    if kind == "local_shell_call":
        return call, kind, {"command": table(item.get("action")).get("command")}
    if kind == "custom_tool_call":
        return call, text(item.get("name")), item.get("input")
    if kind == "tool_search_call":
        return call, kind, item.get("arguments")
    tool = text(item.get("name"))
    space = text(item.get("namespace"))
    given = item.get("arguments")
    if isinstance(given, str):
        decoded = decode(given.encode("utf-8", "surrogatepass"))
        given = given if decoded is None else decoded
    return call, f"{space}{tool}" if space.endswith("__") else tool, given


def pictured(told: dict[str, Any]) -> bool:
    """Whether a prompt holds images, in the words of any era."""
    parts = [text(table(part).get("type")) for part in items(told.get("content"))]
    return bool(told.get("images") or told.get("local_images")) or any("image" in part for part in parts)

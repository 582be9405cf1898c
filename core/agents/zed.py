"""Zed: threads of its agent, each a row of a database with a compressed document."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from core.agents.calls import Result
from core.agents.models import CALLING, ENDED
from core.agents.reader import NO_TOKENS, TranscriptReader, holds_table
from core.agents.values import items, table, text, token_counts, words
from core.logs.database import Rows, RowsRead, json_row, reading, select
from core.logs.discovery import Found, Listed, database_sessions
from core.logs.format import Format
from core.logs.lines import seconds, unpacked

_ROW = ("id", "summary", "updated_at", "created_at", "data_type", "data", "parent_id", "folder_paths")
_EVENT = 2_000  # Bytes that an event takes up in a thread, by and large.
_REFUSED = ("Tool canceled by user", "Permission to run tool denied by user")
_TOKENS = ("input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")


class ZedReader(TranscriptReader):
    """A row is the whole thread and is rewritten, so every reading adds what is new in it."""

    name = "zed"
    untold = ("times", "cost")
    gaps = "times only of a thread's beginning and last change"
    many = True
    kinds = frozenset(("User", "Agent", "Compaction", "Resume"))  # Of messages.

    def setup(self) -> None:
        self._spent = NO_TOKENS

    def read(self, value: Any) -> None:
        """Add what is new in a thread's row."""
        row = self.table(value, "thread")
        thread = table(row.get("thread"))
        if not thread:
            self.note("a thread that cannot be decompressed")
            return
        model = table(thread.get("model"))
        self.model = text(model.get("model"))
        name = text(row.get("id"))
        if not self.begun or name != self.session:
            self.add(*self.close_all())
            self.now = seconds(row.get("created_at")) or seconds(row.get("updated_at")) or 0.0
            self._spent = NO_TOKENS
            trees = items(table(thread.get("initial_project_snapshot")).get("worktree_snapshots"))
            folder = _folder(row) or next((text(table(one).get("worktree_path")) for one in trees), "")
            self.begin(name, project=folder, parent=row.get("parent_id"), synthetic_time=True)
        for place, message in enumerate(self.items(thread.get("messages"), "messages")):
            key = f"{name}/{place}"
            if key not in self.read_ids:
                self.check_kind(text(message) or next(iter(table(message)), ""))
            self.enter(f"/messages/{place}")
            self._message(key, table(message))
        self.enter()
        self._spend(table(thread.get("cumulative_token_usage")))

    def _message(self, name: str, message: dict[str, Any]) -> None:
        user, agent = table(message.get("User")), table(message.get("Agent"))
        if user and self.is_new(name):
            prompt_text = "\n".join(_part_text(part) for part in items(user.get("content")))
            self.add(self.prompt(prompt_text))
        elif agent:
            self._answer(name, agent)
        elif "Compaction" in message and self.is_new(name):
            self.add(self.compaction())

    def _answer(self, name: str, agent: dict[str, Any]) -> None:
        parts = [table(part) for part in items(agent.get("content"))]
        calls = [table(part["ToolUse"]) for part in parts if "ToolUse" in part]
        answer_text = "\n".join(text(part.get("Text")) for part in parts if "Text" in part)
        if self.is_new(name):
            self.answer(answer_text, message=name, stop=CALLING if calls else ENDED, cost=0.0)
        results = table(agent.get("tool_results"))
        for place, call in enumerate(calls):
            called = text(call.get("id")) or f"{name}/{place}"
            arguments = call.get("input", call.get("raw_input"))
            if self.is_new(called):
                self.call(called, text(call.get("name")), arguments)
            facts = table(results.get(called))
            if facts and self.calls.tool(called):
                content = facts.get("content")
                body = words(content) or _part_text(next(iter(items(content)), content))
                refused = any(phrase in body[:200] for phrase in _REFUSED)
                result = Result(text=body, error=facts.get("is_error") is True, rejected=refused)
                self.result(called, result, timed=False)

    def _spend(self, usage: dict[str, Any]) -> None:
        """Add what the thread spent since the last reading."""
        totals = token_counts(usage, *_TOKENS)
        more, self._spent = totals.since(self._spent), totals
        self.add(self.total(self.model, None, more, f"spent/{self.session}/{'/'.join(map(str, totals))}"))

    @staticmethod
    def listing(path: Path) -> list[Listed]:
        """Return the sessions of a database."""
        with reading(path) as database:
            rows = list(select(database, "threads", [one for one in _ROW if one != "data"]))
        events = max(2, path.stat().st_size // max(1, len(rows)) // _EVENT)
        return [
            Listed(str(row["id"]), _folder(row), text(row.get("summary")), seconds(row.get("updated_at")), events)
            for row in rows
        ]

    @staticmethod
    def rows(path: Path, session: str = "", read: RowsRead | None = None, *, heads: bool = False) -> Rows:
        """The threads of a database."""
        del read, heads
        with reading(path) as database:
            rest = ("WHERE id = ?", (session,)) if session else ("ORDER BY updated_at, id", ())
            for row in select(database, "threads", _ROW, *rest):
                data = row.get("data")
                thread = unpacked(data if isinstance(data, bytes) else text(data).encode("utf-8", "replace"))
                yield json_row("threads", {**row, "data": thread}, {"data": "thread"})


def survey(agent: str, root: Path, now: float, active_within: float) -> Iterator[Found]:
    """The threads of the database below a root."""
    yield from database_sessions(agent, root / "threads.db", ZedReader.listing, now, active_within)


def _folder(row: dict[str, Any]) -> str:
    """Return the first folder of a thread."""
    return text(row.get("folder_paths")).partition("\n")[0]


def _part_text(part: Any) -> str:
    facts = table(part)
    mention = table(facts.get("Mention"))
    return text(facts.get("Text")) or text(facts.get("text")) or text(mention.get("content"))


FORMATS = (Format("zed", "database", holds_table("threads", {"summary", "data_type", "data"}), ZedReader),)

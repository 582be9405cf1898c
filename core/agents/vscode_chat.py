"""VS Code Copilot Chat: a document of requests, or a log of the operations that change one."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlparse

from core.agents.calls import Result
from core.agents.reader import TranscriptReader, sidecar
from core.agents.tables import known_words
from core.agents.values import code, items, table, text, token_counts, whole_number, words
from core.agents.words import shown_command
from core.events import Where
from core.logs.format import Format, Sample
from core.logs.glimpse import Title
from core.logs.lines import seconds

_CANCELLED, _FAILED = 2, 3
_FINAL = (1, _CANCELLED, _FAILED)
_REFUSED = (0, 5)
_DEEPEST = 64


class VsCodeChatReader(TranscriptReader):
    """Keeps the state that the operations build, and reads what is new in each request."""

    name = "vscode-chat"
    untold = ("cost",)
    gaps = "tokens only for the last request of a turn; times of calls only for commands"
    # Of parts of a response.
    kinds = known_words("vscode-chat")

    def setup(self) -> None:
        self._state: dict[str, Any] = {}
        self._places: dict[int, Where] = {}  # The place of each request, or of what was last added to its response.

    def read(self, value: Any) -> None:
        """Add what is new in a snapshot or an operation."""
        entry = self.table(value, "entry")
        kind = entry.get("kind")
        if "requests" in entry and kind is None:
            self._state = entry
            self._places = {}
        elif kind == 0:
            self._state = table(entry.get("v"))
            requests = items(self._state.get("requests"))
            self._places = {place: self.here(f"/v/requests/{place}") for place in range(len(requests))}
        elif not isinstance(kind, int) or not self._apply(kind, items(entry.get("k")), entry):
            self.note("an operation that cannot be applied")
        elif (path := items(entry.get("k"))) == ["requests"]:
            added = len(items(entry.get("v")))
            first = len(items(self._state.get("requests"))) - added
            self._places |= {first + place: self.here(f"/v/{place}") for place in range(added)}
        elif path[:1] == ["requests"] and path[2:] == ["response"] and isinstance(path[1], int):
            self._places[path[1]] = self.here("/v")
        self._read_state()

    def _apply(self, kind: int, path: list[Any], entry: dict[str, Any]) -> bool:
        """Set, push or delete at a place of the state."""
        holder: Any = self._state
        if not 0 < len(path) <= _DEEPEST:
            return False
        for step in path[:-1]:
            holder = _inside(holder, step)
        last = path[-1]
        if kind == 2:
            listed = _inside(holder, last)
            if listed is None and isinstance(holder, dict):
                listed = holder[str(last)] = []
            if not isinstance(listed, list):
                return False
            if isinstance(cut := entry.get("i"), int) and cut >= 0:
                del listed[cut:]
            listed.extend(items(entry.get("v")))
            return True
        if isinstance(holder, list) and isinstance(last, int) and 0 <= last <= len(holder):
            holder[last : last + 1] = [] if kind == 3 else [entry.get("v")]
            return True
        if isinstance(holder, dict):
            if kind == 3:
                holder.pop(str(last), None)
            else:
                holder[str(last)] = entry.get("v")
            return True
        return False

    def _read_state(self) -> None:
        requests = self.placed(self._state.get("requests"), "requests")
        if not self.begun:
            times = [self._state.get("creationDate"), *(one.get("timestamp") for _, one in requests[:1])]
            at = next((stamp for one in times if (stamp := seconds(one)) is not None), None)
            self.now = at or 0.0
            folder = sidecar(str(Path(self.here().file).absolute().parent), "workspace.json")
            project = _path(text(folder.get("folder")) or text(folder.get("workspace")))
            name = text(self._state.get("sessionId"))
            self.begin(name, project=project, synthetic_time=at is None)
        for place, request in requests:
            self._place = self._places.get(place) or self.enter(f"/requests/{place}")
            self._request(request, place)

    def _request(self, request: dict[str, Any], place: int) -> None:
        name = text(request.get("requestId")) or f"request-{place}"
        if f"{name}/over" in self.read_ids:
            return
        at = seconds(request.get("timestamp"))
        self.model = text(request.get("modelId")).removeprefix("copilot/") or self.model
        if self.is_new(name):
            self.now = max(self.now, at or 0.0)
            self.add(self.prompt(words(request.get("message"))))
        result = table(request.get("result"))
        state = table(request.get("modelState"))
        took = whole_number(table(result.get("timings")).get("totalElapsed")) / 1000.0
        ended = seconds(state.get("completedAt")) or (None if at is None else at + took)
        self._calls(request, result, name)
        value = state.get("value")
        if value not in _FINAL and not result and self._state.get("requests", [])[-1] is request:
            return
        self.read_ids.add(f"{name}/over")
        self.now = max(self.now, ended or self.now)
        self._answer(request, result, name)
        if value == _CANCELLED or request.get("isCanceled") is True:
            self.add(self.prompt("", interrupt=True))

    def _answer(self, request: dict[str, Any], result: dict[str, Any], name: str) -> None:
        metadata = table(result.get("metadata")) or result
        parts = [table(part) for part in items(request.get("response"))]
        texts = [_markdown(part) for part in parts]
        self.check_parts(parts, "kind")
        failed = table(request.get("modelState")).get("value") == _FAILED or bool(result.get("errorDetails"))
        self.answer(
            "\n".join(filter(None, texts)),
            message=name,
            model=metadata.get("resolvedModel"),
            tokens=token_counts(metadata, "promptTokens", "outputTokens"),
            stop="error" if failed else "end_turn",
        )

    def _calls(self, request: dict[str, Any], result: dict[str, Any], name: str) -> None:
        """Add the calls of a request; the arguments of most are logged when it ends."""
        rounds = [table(one) for one in items(table(result.get("metadata")).get("toolCallRounds"))]
        calls_by_id = {text(call.get("id")): call for one in rounds for call in map(table, items(one.get("toolCalls")))}
        for place, part in enumerate(map(table, items(request.get("response")))):
            if part.get("kind") != "toolInvocationSerialized":
                continue
            called = text(part.get("toolCallId")) or f"{name}/{place}"
            data = table(part.get("toolSpecificData"))
            # Whether a call has an end: its own arguments may come later, with the request's.
            is_over = bool(result) or (part.get("isComplete") is True and bool(data))
            if not is_over or not self.is_new(called):
                continue
            call = table(calls_by_id.get(called))
            arguments = call.get("arguments")
            if command := shown_command(data):
                arguments = {"command": command}
            elif arguments is None:
                arguments = table(data.get("rawInput")) or _found_places(part.get("resultDetails"))
            call_result = _result(part, data)
            began = seconds(table(data.get("terminalCommandState")).get("timestamp"))
            self.now = max(self.now, began or 0.0)
            tool = text(call.get("name")) or text(part.get("toolId"))
            self.add(self.whole_call(called, tool, arguments, call_result))


def _result(part: dict[str, Any], data: dict[str, Any]) -> Result:
    state, details = table(data.get("terminalCommandState")), table(part.get("resultDetails"))
    confirmed = part.get("isConfirmed")
    kind = table(confirmed).get("type") if isinstance(confirmed, dict) else confirmed
    refused = kind is False or (kind in _REFUSED and not isinstance(kind, bool))
    output = text(table(data.get("terminalCommandOutput")).get("text")) or words(details.get("output"))
    exited = code(state.get("exitCode"))
    took = whole_number(state.get("duration")) / 1000.0
    return Result(
        text=output,
        error=details.get("isError") is True,
        exit_code=exited,
        rejected=refused,
        running=part.get("isComplete") is False,
        empty=False if exited is None and not output else None,
        duration=took or None,
    )


def _markdown(part: dict[str, Any]) -> str:
    if part.get("kind") == "markdownContent":
        return text(table(part.get("content")).get("value"))
    return text(part.get("value")) if "kind" not in part else ""


def _found_places(details: Any) -> dict[str, Any]:
    """Return what a call read or found, in place of its missing arguments."""
    locations = [table(one) for one in items(details)]
    return {"paths": [_path(one) for one in locations if _path(one)]}


def _path(value: Any) -> str:
    """The path of a URI, as a text or as an object."""
    inner = table(value)
    if inner:
        return text(inner.get("fsPath")) or text(inner.get("path")) or _path(inner.get("uri"))
    return unquote(urlparse(value).path) if isinstance(value, str) and "://" in value else text(value)


def _inside(holder: Any, step: Any) -> Any:
    if isinstance(holder, list):
        return holder[step] if isinstance(step, int) and 0 <= step < len(holder) else None
    return holder.get(str(step)) if isinstance(holder, dict) else None


def vscode_title(document: dict[str, Any]) -> Title | None:
    """The name of a session, in a snapshot or in the first line of a log."""
    title = text((table(document.get("v")) or document).get("customTitle"))
    return Title(2, title) if title else None


def _is_state(value: dict[str, Any]) -> bool:
    first = table(next(iter(items(value.get("requests"))), None))
    return "requests" in value and ("requestId" in first or ("sessionId" in value and "creationDate" in value))


def _document(sample: Sample) -> int:
    if _is_state(table(sample.document)):
        return 93
    head = sample.head[:4000]
    return 93 if b'"requests"' in head and b'"requestId"' in sample.head and b'"message"' in sample.head else 0


def _lines(sample: Sample) -> int:
    first = sample.records[0] if sample.records else {}
    return 95 if first.get("kind") == 0 and _is_state(table(first.get("v"))) else 0


FORMATS = (
    Format("vscode-chat", "document", _document, VsCodeChatReader, titles=vscode_title, id_key=("sessionId",)),
    Format("vscode-chat", "lines", _lines, VsCodeChatReader, titles=vscode_title),
)

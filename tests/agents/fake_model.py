"""A made-up model: real agents ask it over loopback, and it answers by a script.

It speaks Anthropic's Messages, OpenAI's Responses and chat completions, streamed or whole.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, NamedTuple

PATIENCE = 60.0
"""Seconds after which an answer that is held back goes out nevertheless."""
Json = dict[str, Any]
_SUMMARY = re.compile(r"create a (detailed|handoff) summary", re.IGNORECASE)
"""How agents ask for a summary of what is about to be cut."""
_TITLE = re.compile(r"generate a concise, single-line task title", re.IGNORECASE)
"""How Codex asks for a title of its session, in a conversation beside the story."""


@dataclass(frozen=True)
class Answer:
    """What the model says, or which tool it calls."""

    text: str = ""
    tool: str = ""
    given: Json = field(default_factory=dict)
    tokens: int = 1200
    """Tokens the model says it was sent."""
    held: bool = False
    """Wait until the test lets it go."""


def say(text: str, **more: Any) -> Answer:
    """An answer that ends the agent's turn."""
    return Answer(text=text, **more)


def use(tool: str, **given: Any) -> Answer:
    """A call."""
    return Answer(tool=tool, given=given)


class Asked(NamedTuple):
    """One request, as far as tests look at it."""

    path: str
    model: str
    tools: tuple[str, ...]
    texts: tuple[str, ...]
    """All texts of the conversation, in order."""


class FakeModel:
    """A server on loopback with one script for each story.

    A story is told in every conversation whose texts hold its name, an answer a request; when it is over,
    and in a conversation of no story, the model only says that it is done.
    """

    def __init__(self, stories: dict[str, list[Answer]]) -> None:
        self.asked: list[Asked] = []
        self.waiting = threading.Event()
        """Set while an answer is held back."""
        self._go = threading.Event()
        self._stories = {name: iter(answers) for name, answers in stories.items()}
        self._lock = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"model": self}))
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)

    @property
    def url(self) -> str:
        """Where agents find it."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> FakeModel:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.go()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def go(self) -> None:
        """Let the answer that is held back go out."""
        self._go.set()

    def answer(self, asked: Asked) -> Answer:
        """The next answer of the story this conversation belongs to."""
        with self._lock:
            self.asked.append(asked)
            answer = self._next(asked)
        if answer.held:
            self.waiting.set()
            self._go.wait(PATIENCE)
            self._go.clear()
            self.waiting.clear()
        return answer

    def _next(self, asked: Asked) -> Answer:
        if asked.texts and _SUMMARY.search(asked.texts[-1]):
            return say("What was done so far: a file was looked for.")
        if asked.texts and _TITLE.search(asked.texts[-1]):
            return say("Make it work")
        if asked.tools:
            for text in reversed(asked.texts):
                for name, answers in self._stories.items():
                    if name in text:
                        return next(answers, say("done"))
        return say("done")


def texts(value: Any) -> Iterator[str]:
    """Every text in a message, in order, without the names of roles and kinds."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from texts(item)
    elif isinstance(value, dict):
        for name in ("text", "content", "output", "parts", "functionResponse", "response", "error"):
            yield from texts(value.get(name))


class _Handler(BaseHTTPRequestHandler):
    model: FakeModel

    protocol_version = "HTTP/1.1"

    def log_message(self, *_: Any) -> None:
        pass

    def do_HEAD(self) -> None:
        self._send(b"")

    def do_GET(self) -> None:
        self._send(b'{"data": [], "models": []}')

    def do_POST(self) -> None:
        body = self._body()
        path = self.path.partition("?")[0]
        if path.endswith("/count_tokens"):
            self._send(b'{"input_tokens": 10}')
            return
        dialect = next((one for end, one in _DIALECTS.items() if path.endswith(end)), None)
        if dialect is None:
            self._send(b"{}")
            return
        conversation = body.get("messages", body.get("input", body.get("contents", [])))
        tools = tuple(
            str(one.get("name") or one.get("function", one).get("name"))
            for tool in body.get("tools") or ()
            for one in tool.get("functionDeclarations", [tool])
        )
        asked = Asked(path, str(body.get("model")), tools, tuple(texts(conversation)))
        number = len(self.model.asked)
        whole, parts = dialect(self.model.answer(asked), asked, number)
        if body.get("stream") or path.endswith(":streamGenerateContent"):
            self._send(b"".join(parts), "text/event-stream")
        else:
            self._send(json.dumps(whole).encode())

    def _body(self) -> Json:
        if "chunked" in self.headers.get("Transfer-Encoding", "").lower():
            data = b""
            while size := int(self.rfile.readline().strip() or b"0", 16):
                data += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
        else:
            data = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        try:
            told = json.loads(data)
        except ValueError:
            return {}
        return told if isinstance(told, dict) else {}

    def _send(self, data: bytes, kind: str = "application/json") -> None:
        try:
            self.send_response(200)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)
        except OSError:
            self.close_connection = True


def _event(value: Json) -> bytes:
    return f"event: {value['type']}\ndata: {json.dumps(value)}\n\n".encode()


def messages(answer: Answer, asked: Asked, number: int) -> tuple[Json, list[bytes]]:
    """An answer as Anthropic's Messages."""
    if answer.tool:
        block: Json = {"type": "tool_use", "id": f"toolu_{number:04}", "name": answer.tool, "input": answer.given}
        empty = {**block, "input": {}}
        delta: Json = {"type": "input_json_delta", "partial_json": json.dumps(answer.given)}
    else:
        block = {"type": "text", "text": answer.text}
        empty = {"type": "text", "text": ""}
        delta = {"type": "text_delta", "text": answer.text}
    stop = "tool_use" if answer.tool else "end_turn"
    usage = {"input_tokens": answer.tokens, "output_tokens": 20}
    whole = {
        "id": f"msg_{number:04}",
        "type": "message",
        "role": "assistant",
        "model": asked.model,
        "content": [block],
        "stop_reason": stop,
        "stop_sequence": None,
        "usage": usage,
    }
    ended = {"stop_reason": stop, "stop_sequence": None}
    parts: list[Json] = [
        {"type": "message_start", "message": {**whole, "content": [], "stop_reason": None}},
        {"type": "content_block_start", "index": 0, "content_block": empty},
        {"type": "content_block_delta", "index": 0, "delta": delta},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": ended, "usage": {"output_tokens": 20}},
        {"type": "message_stop"},
    ]
    return whole, [_event(part) for part in parts]


def responses(answer: Answer, asked: Asked, number: int) -> tuple[Json, list[bytes]]:
    """An answer as OpenAI's Responses."""
    if answer.tool:
        item: Json = {
            "type": "function_call",
            "id": f"fc_{number:04}",
            "call_id": f"call_{number:04}",
            "name": answer.tool.rpartition(".")[2],
            "arguments": json.dumps(answer.given),
        }
        if "." in answer.tool:
            item["namespace"] = answer.tool.partition(".")[0]
    else:
        said = [{"type": "output_text", "text": answer.text}]
        item = {"type": "message", "id": f"m_{number:04}", "role": "assistant", "content": said}
    usage = {
        "input_tokens": answer.tokens,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": 20,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": answer.tokens + 20,
    }
    whole = {"id": f"resp_{number:04}", "object": "response", "status": "completed", "output": [item], "usage": usage}
    parts: list[Json] = [
        {"type": "response.created", "response": {"id": whole["id"]}},
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": "response.completed", "response": whole},
    ]
    return whole, [_event(part) for part in parts]


def completions(answer: Answer, asked: Asked, number: int) -> tuple[Json, list[bytes]]:
    """An answer as chat completions."""
    if answer.tool:
        function = {"name": answer.tool, "arguments": json.dumps(answer.given)}
        call = {"index": 0, "id": f"call_{number:04}", "type": "function", "function": function}
        said: Json = {"role": "assistant", "content": None, "tool_calls": [call]}
    else:
        said = {"role": "assistant", "content": answer.text}
    stop = "tool_calls" if answer.tool else "stop"
    sent = {"prompt_tokens": answer.tokens, "completion_tokens": 20, "total_tokens": answer.tokens + 20}
    base = {"id": f"chat_{number:04}", "created": 0, "model": asked.model}
    whole = {
        **base,
        "object": "chat.completion",
        "choices": [{"index": 0, "message": said, "finish_reason": stop}],
        "usage": sent,
    }
    chunk = {**base, "object": "chat.completion.chunk"}
    parts: list[Json] = [
        {**chunk, "choices": [{"index": 0, "delta": said, "finish_reason": None}]},
        {**chunk, "choices": [{"index": 0, "delta": {}, "finish_reason": stop}]},
        {**chunk, "choices": [], "usage": sent},
    ]
    return whole, [*(f"data: {json.dumps(part)}\n\n".encode() for part in parts), b"data: [DONE]\n\n"]


def generated(answer: Answer, asked: Asked, number: int) -> tuple[Json, list[bytes]]:
    """An answer as Gemini's contents."""
    call = {"name": answer.tool, "args": answer.given, "id": f"call_{number:04}"}
    part = {"functionCall": call} if answer.tool else {"text": answer.text}
    used = {"promptTokenCount": answer.tokens, "candidatesTokenCount": 20, "totalTokenCount": answer.tokens + 20}
    content = {"role": "model", "parts": [part]}
    whole = {
        "candidates": [{"content": content, "finishReason": "STOP", "index": 0}],
        "usageMetadata": used,
        "modelVersion": asked.model,
    }
    return whole, [f"data: {json.dumps(whole)}\r\n\r\n".encode()]


_DIALECTS = {
    "/chat/completions": completions,
    "/messages": messages,
    "/responses": responses,
    "enerateContent": generated,
}

"""ACP, the Agent Client Protocol, one message per line; and Grok Build, whose log adds kinds of its own."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from msgspec import structs

from core.agents.calls import Result
from core.agents.models import CALLING, ENDED, retried_turn
from core.agents.reader import STEP, TranscriptReader, read_result, sidecar
from core.agents.tables import known_words
from core.agents.values import amount, beyond, code, items, table, text, whole_number, without_cached, words
from core.agents.words import shown_arguments
from core.events import Event, Prompt, Turn, Where
from core.logs.format import Format, Sample
from core.logs.lines import seconds

_ANSWER_KINDS = frozenset(("agent_message_chunk", "agent_message"))
_PROMPT_KINDS = frozenset(("user_message_chunk", "user_message"))
_CALL_KINDS = frozenset(("tool_call", "tool_call_update"))
_FINAL = frozenset(("completed", "failed", "cancelled"))
_FACTS = ("title", "kind", "rawInput", "name", "locations", "content", "rawOutput")


class AcpReader(TranscriptReader):
    """Texts come in chunks, and a call is reported again whenever it changes."""

    name = "acp"
    gaps = "tokens per turn; times only if the program that logged the messages recorded them"
    kinds = _ANSWER_KINDS | _PROMPT_KINDS | _CALL_KINDS | known_words("acp")

    thoughts = "thoughtTokens"  # The tokens of thoughts that are counted apart from the output.

    def setup(self) -> None:
        self._open_calls: dict[str, dict[str, Any]] = {}  # The facts of each open call so far.
        self._requests: dict[str, str] = {}  # Open requests: the method of each.
        # Open questions for permission: the call, and the kinds of the answers.
        self._options: dict[str, tuple[str, dict[str, str]]] = {}
        self._refused: set[str] = set()
        self._asked: Prompt | None = None  # The prompt in a log without requests, which may come in chunks.
        self._asked_text, self._asked_id = "", ""
        self._answer_text = ""
        self._said_at: Where | None = None  # The place of the answer's chunks.
        self._answers = 0
        self._context = (0, 0)
        self._cost = 0.0  # What the session cost so far, by its own count.
        self._charged = 0.0  # The part of it that turns have.
        self._plan = ""

    def own_pending(self) -> Iterable[Event]:
        """Return the prompt that may still get more chunks."""
        return filter(None, [self._asked])

    def read(self, value: Any) -> None:
        """Add the events of one message."""
        record = self.table(value, "message")
        at = seconds(record.get("timestamp"))
        message = table(record.get("message")) or record
        params = self.table(message.get("params"), "params")
        stamp = at if at is not None else seconds(table(params.get("_meta")).get("timestamp"))
        if stamp is not None or not self.now:
            self.moment(stamp)
        method, number = text(message.get("method")), str(message.get("id", ""))
        if method and number:
            self._requests[f"{record.get('from', '')}{number}"] = method
        if "update" in record:
            method, params = "session/update", record
        if method and not self.begun:
            self._open(params)
        if method.endswith("session/update"):
            if "session/load" not in self._requests.values():  # which repeats the session's past
                update = table(params.get("update"))
                if text(update.get("sessionUpdate")) not in _PROMPT_KINDS:
                    self._release_prompt()
                self._update(update)
        elif method:
            self._request(method, number, params)
        elif "result" in message or "error" in message:
            self._response(record, number, message)

    def _open(self, params: dict[str, Any]) -> None:
        self.begin(params.get("sessionId"), project=params.get("cwd"))

    def _request(self, method: str, number: str, params: dict[str, Any]) -> None:
        self._release_prompt()
        if method == "session/prompt":
            self._close()
            self.add(self.prompt(words(params.get("prompt"))))
        elif method == "session/request_permission":
            call = table(params.get("toolCall"))
            choices = map(table, items(params.get("options")))
            options = {text(one.get("optionId")): text(one.get("kind")) for one in choices}
            name = text(call.get("toolCallId"))
            self._options[number] = (name, options)
            self._tool({"sessionUpdate": "tool_call_update", **call})
        elif method == "session/cancel":
            self._close()
            self.add(self.prompt("", interrupt=True))

    def _response(self, record: dict[str, Any], number: str, message: dict[str, Any]) -> None:
        asker = {"agent": "client", "client": "agent"}.get(text(record.get("from")), "")
        method = self._requests.pop(f"{asker}{number}", "") or self._requests.pop(number, "")
        result = table(message.get("result"))
        if method in ("session/new", "session/load"):
            self.model = text(table(result.get("models")).get("currentModelId")) or self.model
        elif method == "session/request_permission" and number in self._options:
            name, options = self._options.pop(number)
            answer = table(result.get("outcome"))
            kind = options.get(text(answer.get("optionId")), "")
            if answer.get("outcome") == "cancelled" or kind.startswith("reject"):
                self._refused.add(name)
        elif method == "session/prompt":
            self._turn_over(text(result.get("stopReason")), table(result.get("usage")))
            if "error" in message:
                self.answer("", message=f"error-{self._line}", stop="error", cost=0.0)

    def _update(self, update: dict[str, Any]) -> None:
        kind = text(update.get("sessionUpdate"))
        self.check_kind(kind)
        if kind in _ANSWER_KINDS:
            self._add_words(words(update.get("content")))
        elif kind in _PROMPT_KINDS:
            if table(update.get("_meta")).get("hostTurn") is not True:
                self._add_prompt(words(update.get("content")), text(update.get("messageId")))
        elif kind in _CALL_KINDS:
            self._tool(update)
        elif kind == "usage_update":
            self._context = whole_number(update.get("used")), whole_number(update.get("size"))
            cost = table(update.get("cost"))
            self._cost = (amount(cost.get("amount")) if cost.get("currency") == "USD" else None) or self._cost
        elif kind == "compaction_update" and update.get("status") == "completed":
            self.add(self.compaction())
        elif kind == "state_update" and update.get("state") == "idle":
            self._turn_over("end_turn", {})
        elif kind in ("plan", "plan_update"):
            self._add_plan(update)

    def _add_prompt(self, chunk: str, message: str) -> None:
        """Add a prompt, or more of it, from a log that has no requests."""
        if "session/prompt" in self._requests.values() or not chunk.strip():
            return
        if message != self._asked_id:
            self._release_prompt()
        if self._asked is None:
            self._close()
            self._asked_text, self._asked_id = "", message
        self._asked_text += chunk
        first = self._asked
        at, where = (self.now, None) if first is None else (first.at, self._joined(first.where))
        self._asked = self.prompt(self._asked_text, at=at, where=where)

    def _release_prompt(self) -> None:
        """Add the prompt that is complete."""
        self.add(self._asked)
        self._asked = None

    def _joined(self, first: Where | None) -> Where:
        """Return the place from the first chunk of a text to this line."""
        here = self.here()
        return Where(here.file, first.offset, here.offset + here.length - first.offset) if first else here

    def _add_words(self, chunk: str) -> None:
        if not self._answer_text:
            self._answers += 1
            self._said_at = None
        self._answer_text += chunk
        self._said_at = self._joined(self._said_at)
        self.usage.update(self._turn(self._answer_text, message=f"answer-{self._answers}"))

    def _turn(self, answer_text: str, **facts: Any) -> Turn:
        turn = self.turn(answer_text, said_at=self._said_at, **facts)
        used, size = self._context
        return structs.replace(turn, context_tokens=used, context_window=size or turn.context_window) if used else turn

    def _close(self) -> None:
        """The answer that is open is over."""
        self.add(self.usage.close(self.agent))
        self._answer_text = ""

    def _turn_over(self, stop: str, usage: dict[str, Any], cost: float | None = None) -> None:
        cached = whole_number(usage.get("cachedReadTokens"))
        written = whole_number(usage.get("cachedWriteTokens") or usage.get("cacheCreationTokens"))
        answer_text, self._answer_text = self._answer_text, ""
        self.usage.close(self.agent)
        self._answers += 1
        answered = whole_number(usage.get("outputTokens")) + whole_number(usage.get(self.thoughts))
        if cost is None and (cost := beyond(self._cost, self._charged)):
            self._charged = self._cost
        turn = self._turn(
            answer_text=answer_text,
            message=f"turn-{self._answers}",
            stop={"cancelled": "aborted"}.get(stop, stop),
            tokens=without_cached(whole_number(usage.get("inputTokens")), answered, cached, written),
            cost=cost if usage or cost else 0.0 if not answer_text else None,
        )
        if usage.get("usageIsIncomplete") or usage.get("costIsPartial"):  # The sum of all turns is then a minimum.
            self.add(self.total(turn.model, cost, message=f"part-{self._answers}") if cost else None)
            turn = structs.replace(turn, cost=None)
        self.add(turn)
        if stop == "cancelled":
            self.add(self.prompt("", interrupt=True))
            self.add(*self.calls.give_up())
            self._open_calls.clear()

    def _add_plan(self, update: dict[str, Any]) -> None:
        """Add one use of a planning tool for each plan that differs from the last."""
        entries = items(update.get("entries")) or items(table(update.get("plan")).get("entries"))
        if str(entries) != self._plan:
            self._plan = str(entries)
            self.add(self.whole_call(f"plan-{self._line}", "plan", {"todos": entries}, Result(empty=False)))

    def _tool(self, update: dict[str, Any]) -> None:
        name = text(update.get("toolCallId"))
        if not name:
            self.note("call without an id")
            return
        self._close()
        status = text(update.get("status"))
        facts = {key: update[key] for key in _FACTS if update.get(key) is not None}
        fresh = name not in self._open_calls
        if fresh and self.calls.is_known(name) and update.get("sessionUpdate") != "tool_call":
            return
        call_facts = self._open_calls.setdefault(name, {})
        call_facts.update(facts)
        tool, arguments = self._tool_and_arguments(call_facts, update)
        if fresh:
            if not self.call(name, tool, arguments):
                del self._open_calls[name]
                return
        elif facts.keys() & {"rawInput", "name", "kind", "title", "locations"}:
            self.calls.amend(name, self.kit.normalizer.sort(self.name, tool, arguments), tool)
        if status in _FINAL:
            del self._open_calls[name]
            self.result(name, self._call_result(name, status, call_facts))

    def _tool_and_arguments(self, call_facts: dict[str, Any], update: dict[str, Any]) -> tuple[str, Any]:
        """Return a call's tool and arguments, if necessary from its kind, title and places."""
        tool = text(call_facts.get("name")) or text(table(update.get("_meta")).get("toolName"))
        title, kind = text(call_facts.get("title")), text(call_facts.get("kind"))
        arguments = call_facts.get("rawInput")
        if not tool:
            tool = kind or (title if title.isidentifier() else "other")
        if table(arguments):
            return tool, arguments
        return tool, shown_arguments(call_facts) or {"title": title}

    def _call_result(self, name: str, status: str, call_facts: dict[str, Any]) -> Result:
        raw = table(call_facts.get("rawOutput"))
        inner = table(raw.get("result")) or raw
        exited = code(inner.get("exit_code", inner.get("exitCode")))
        output = words(call_facts.get("content")) or words(call_facts.get("rawOutput"))
        late = inner.get("timed_out") is True or bool(inner.get("signal"))
        refused = name in self._refused or status == "cancelled"
        return Result(output, error=status == "failed" or late, exit_code=exited, rejected=refused)


def is_message(entry: dict[str, Any]) -> bool:
    """Whether a line is a message of this protocol, maybe in a logger's envelope."""
    message = table(entry.get("message")) or entry
    method = text(message.get("method"))
    params = table(message.get("params")) if method else entry
    return (
        (method.endswith("session/update") and "update" in params)
        or method in ("session/prompt", "session/new", "session/load")
        or ("sessionId" in params and "sessionUpdate" in table(params.get("update")))
    )


def _sniff(sample: Sample) -> int:
    return 90 if any(is_message(one) for one in sample.records[:8]) else 0


FORMATS = (Format("acp", "lines", _sniff, AcpReader),)


_TICKS = 1e10  # Units of its costs in a dollar.
_OWN = "_x.ai/"


class GrokReader(AcpReader):
    """A non-zero exit is still a completed call; waits for the person are not written."""

    name = "grok"
    gaps = "tokens per turn; times in whole seconds; the older chat history has no times"
    kinds = AcpReader.kinds | known_words("grok")

    thoughts = ""  # They are part of the tokens that it counts as output.

    def setup(self) -> None:
        super().setup()
        self._children: dict[str, str] = {}

    def read(self, value: Any) -> None:
        """Add the events of one message, or of one line of chat history."""
        record = self.table(value, "record")
        if "type" in record and "method" not in record:
            self._history(record)
        else:
            super().read(record)

    def _open(self, params: dict[str, Any], *, timed: bool = True) -> None:
        facts = sidecar(self.here().file, "summary.json")
        info = table(facts.get("info"))
        self.model = text(facts.get("current_model_id")) or self.model
        self.now = self.now or seconds(facts.get("created_at")) or 0.0
        project, branch, parent = info.get("cwd"), facts.get("head_branch"), facts.get("parent_session_id")
        untold = () if timed else ("times", "tokens", "cost")
        name = text(info.get("id")) or params.get("sessionId")
        self.begin(name, synthetic_time=not timed, untold=untold, project=project, branch=branch, parent=parent)

    def _update(self, update: dict[str, Any]) -> None:
        kind = text(update.get("sessionUpdate"))
        match kind:
            case "turn_completed":
                usage = table(update.get("usage"))
                ticks = amount(usage.get("costUsdTicks"))
                cost = None if ticks is None else ticks / _TICKS
                self._turn_over(text(update.get("stop_reason")) or "end_turn", usage, cost)
            case "subagent_spawned":
                child = text(update.get("child_session_id")) or text(update.get("subagent_id"))
                self._children[text(update.get("subagent_id"))] = child
                self.child_started(child, text(update.get("subagent_type")))
            case "subagent_finished":
                name = text(update.get("subagent_id"))
                tokens, uses = whole_number(update.get("tokens_used")), whole_number(update.get("tool_calls"))
                outcome = "failure" if update.get("error") or update.get("status") == "failed" else "success"
                self.child_ended(self._children.pop(name, name), outcome=outcome, tokens=tokens, tool_uses=uses)
            case "auto_compact_completed":
                before, after = update.get("tokens_before"), update.get("tokens_after")
                self.add(self.compaction(trigger="auto", before=before, after=after))
            case "retry_state":
                self.add(retried_turn(self.now, self.agent, self.here()))
            case "model_changed":
                self.model = text(update.get("model_id")) or text(update.get("model")) or self.model
            case "task_backgrounded":
                self.result(text(update.get("tool_call_id")), Result(running=True))
            case _:
                super()._update(update)

    def _history(self, line: dict[str, Any]) -> None:
        """A line of chat history, which has no time."""
        if not self.begun:
            self._open({}, timed=False)
        self.now += STEP
        self.check_kind(text(line.get("type")))
        match line.get("type"):
            case "user" if not line.get("synthetic_reason") or line["synthetic_reason"] == "interjection":
                self.add(self.prompt(words(line.get("content"))))
            case "assistant":
                calls = self.objects(line.get("tool_calls"), "tool_calls")
                stop, name = CALLING if calls else ENDED, f"line-{self._line}"
                model = text(line.get("model_id")) or self.model
                self.answer(words(line.get("content")), message=name, model=model, stop=stop)
                self.function_calls(calls, name)
            case "tool_result":
                result = read_result(line.get("content"), guess=True)
                self.result(text(line.get("tool_call_id")), result, timed=False)
            case "backend_tool_call":
                kind = table(line.get("kind"))
                failed = kind.get("status") in ("failed", "error")
                arguments, tool = table(kind.get("action")), text(kind.get("tool_type"))
                name = text(kind.get("id")) or f"line-{self._line}"
                result = Result(error=failed, empty=None if failed else False)
                self.add(self.whole_call(name, tool, arguments, result))


def _grok_updates(sample: Sample) -> int:
    """Messages in its envelope, or in a file of its name."""
    records = sample.records[:8]
    own = any(text(one.get("method")).startswith(_OWN) for one in sample.records[:32])
    enveloped = any("timestamp" in one and is_message(one) and "jsonrpc" not in one for one in records)
    is_named = sample.path.name == "updates.jsonl" and any(is_message(one) for one in records)
    return 96 if own or is_named or (enveloped and "message" not in records[0]) else 0


def _grok_history(sample: Sample) -> int:
    records = sample.records[:12]
    kinds = {text(one.get("type")) for one in records}
    all_known = kinds <= {"system", "user", "reasoning", "assistant", "tool_result", "backend_tool_call"}
    marks = {"prompt_index", "synthetic_reason", "model_id", "kind"}
    bare = not any({"uuid", "message", "timestamp"} & one.keys() for one in records)
    return 90 if records and all_known and bare and any(marks & one.keys() for one in records) else 0


GROK = (
    Format("grok", "lines", _grok_updates, GrokReader),
    Format("grok", "lines", _grok_history, GrokReader, title="Grok's chat history"),
)

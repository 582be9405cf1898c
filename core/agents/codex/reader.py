"""Codex CLI: rollouts of all four eras, from bare items to code mode."""

from __future__ import annotations

import re
from typing import Any

from msgspec.structs import replace

from core.agents.calls import Result, is_advice, said_event
from core.agents.codex.results import end_fact, found_nothing, item_fact, read_output
from core.agents.codex.threads import ChildThreads, Meta, Replay, Turns, read_meta, thread_files, thread_folders
from core.agents.normalizer import AgentKit, Sorted, sort_cell
from core.agents.reader import STEP, TranscriptReader
from core.agents.tables import known_words
from core.agents.values import decode_inner, items, table, text, words
from core.engine.values import fingerprint
from core.events import MAIN, Action, Event, ToolUse
from core.logs.format import Format, Sample
from core.logs.glimpse import Title, codex_request
from core.logs.lines import seconds

# Texts of the program in the person's name.
_ADDED = ("<environment_context>", "<user_instructions>", "<ENVIRONMENT", "# AGENTS.md instructions", "<turn_aborted>")
_PICTURED = "[image]"  # The text of a prompt without words.
_FOLDER = re.compile(r"(?:<cwd>|Current working directory: )([^<\n]{1,1000})")


class Prompts:
    """Let each prompt of a thread through once."""

    def __init__(self) -> None:
        self.last: tuple[str, int] = ("", 0)  # The kind of record of the last prompt, and a fingerprint of its text.

    def deduplicate(self, sign: str, raw_text: str, *, pictured: bool = False) -> str:
        """Return the person's text; blank if a program wrote it, or another kind of record just had it.

        `pictured` says whether it has images.
        """
        if is_added(raw_text):
            return ""
        prompt_text = codex_request(raw_text)
        if not prompt_text.strip():
            prompt_text = _PICTURED if pictured else ""
        if not prompt_text:
            return ""
        digest = fingerprint(prompt_text)
        repeated = self.last[1] == digest and self.last[0] != sign
        self.last = ("", 0) if repeated else (sign, digest)
        return "" if repeated else prompt_text


def is_added(message_text: str) -> bool:
    """Whether the program put a text into the person's mouth."""
    return message_text.lstrip().startswith(_ADDED)


def added_folder(message_text: str) -> str:
    """Return the folder that such a text names; blank if it names none."""
    match = _FOLDER.search(message_text[:4000]) if is_added(message_text) else None
    return match[1] if match else ""


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
    return call, f"{space}{tool}" if space.endswith("__") else tool, decode_inner(item.get("arguments"))


def pictured(record: dict[str, Any]) -> bool:
    """Whether a prompt contains images, in any version's form."""
    parts = [text(table(part).get("type")) for part in items(record.get("content"))]
    return bool(record.get("images") or record.get("local_images")) or any("image" in part for part in parts)


def codex_title(line: dict[str, Any]) -> Title | None:
    """The thread's name, as it was given or changed."""
    payload = table(line.get("payload"))
    title = text(payload.get("thread_name")) or text(line.get("thread_name"))
    return Title(3, title) if title else None


_ESCALATED = "require_escalated"  # How a call asks to leave the sandbox.
_CELL = "exec"  # The tool that runs a script, which calls other tools itself.
_CELLS = (_CELL, "wait")  # Tools whose output a script prints.
_KINDS = known_words("codex-records")
_ITEMS = frozenset(("message", "agent_message", "ghost_snapshot", "compaction", "compaction_summary", "other"))
# Events that are read, or that repeat what other lines say.
_EVENTS = known_words("codex-events")
_COMPLETED = known_words("codex-items")
_ALONE = frozenset(("web_search_call", "image_generation_call"))  # Calls that are logged once, when they are done.
_ENDS = frozenset(("patch_apply_end", "exec_command_end", "mcp_tool_call_end"))
# Signs that the agent's turn is over, or forgotten.
_OVER = frozenset(("task_complete", "turn_complete", "turn_aborted", "error", "thread_rolled_back"))
_LATE = frozenset(("tool_search_call", "local_shell_call", "function_call", "custom_tool_call"))
_ACTS = _LATE | _ALONE | {"reasoning"}  # Signs that the model answers, beside its words.
_OUTPUTS = known_words("codex-outputs")


class Codex(TranscriptReader):
    """Reads the lines of one thread."""

    name = "codex"
    untold = ("cost",)

    def __init__(self, kit: AgentKit, *, agent: str = MAIN, session: str = "") -> None:
        super().__init__(kit, agent=agent, session=session)
        self._replay = Replay()
        self._bare = False
        self._child = agent != MAIN
        self._turns = Turns(kit)
        self._prompts = Prompts()
        self._advice = ""
        self._compacted = ""
        self._facts: dict[str, Result] = {}
        self._asks = True  # Whether the person may be asked before a call runs.
        self._escalated: set[str] = set()  # Calls that ask to leave the sandbox.
        self._cell = ""  # The newest script, whose inner calls end under ids of their own.
        self._inner: list[Action] = []  # What the calls in it do.
        self._running: dict[str, Sorted] = {}
        self._children = ChildThreads(self.agent)

    def read(self, value: Any) -> None:
        """Add the events of one line."""
        if not isinstance(value, dict):
            self.note("not an object")
            return
        payload = value.get("payload")
        if not isinstance(payload, dict):
            if "payload" in value:
                self.note("payload is not an object")
            elif "record_type" not in value:
                self._read_bare(value)
            return
        self.moment(value.get("timestamp"))
        if value.get("type") == "session_meta":
            meta = read_meta(payload)
            if self._replay.begin(meta, self.now) and not self.begun:
                self._open(meta)
            return
        if not self.begun:
            self._open(Meta(self.session))
        self._read(value.get("type"), payload, value.get("ordinal"))

    def _read(self, kind: Any, payload: dict[str, Any], ordinal: Any) -> None:
        if self._replay.copied(self.now, text(payload.get("turn_id")), ordinal):
            self._pass_over(kind, payload)
        elif kind == "response_item":
            self._item(payload)
        elif kind == "event_msg":
            self._event(payload)
        elif kind == "compacted":
            self._compact("line")
        elif kind == "token_usage_record":
            self.add(self._turns.record(payload, self.now, self.agent, self.here()))
        if kind == "turn_context":
            self._turns.set_model(model=payload.get("model"))
            self._set_mode(payload)
        elif text(kind) not in _KINDS:
            self.skip(text(kind))

    def _open(self, meta: Meta, *, synthetic: bool = False) -> None:
        self.begun = True
        self._child = self._child or bool(meta.parent)
        self.calls.project = meta.cwd
        if self.agent == MAIN:
            self.begin(
                meta.session,
                project=meta.cwd,
                branch=meta.branch,
                version=meta.version,
                parent=meta.forked_from or meta.parent,
                synthetic_time=synthetic,
            )
            if meta.kept is not None and f"{meta.session}_" in self.here().file:
                self.add(self.rollback(0, meta.kept))

    def _set_mode(self, settings: dict[str, Any]) -> None:
        """Take over what the agent may do without asking: the approval policy and the sandbox, or the plan mode."""
        if "approval_policy" not in settings:
            return
        policy, sandbox = settings.get("approval_policy"), table(settings.get("sandbox_policy"))
        profile = table(settings.get("permission_profile"))
        walls = text(sandbox.get("type")) or text(sandbox.get("mode"))
        walls = walls or ("danger-full-access" if profile.get("type") == "disabled" else "")
        plans = table(settings.get("collaboration_mode")).get("mode") == "plan"
        self._asks = policy != "never"
        self._turns.mode = "plan" if plans else f"{text(policy)} {walls}".strip()

    def _read_bare(self, value: dict[str, Any]) -> None:
        """A line of the oldest era: a header, or an item without envelope and time."""
        stamp = seconds(value.get("timestamp"))
        if stamp is not None:
            self.now = stamp
        kind = value.get("type")
        if not self.begun:
            self._bare = True
            meta = Meta(text(value.get("id")), branch=text(table(value.get("git")).get("branch")))
            self._open(meta if kind is None else Meta(self.session), synthetic=True)
        if not isinstance(kind, str):
            if kind is not None:
                self.note("type is not text")
            return
        if stamp is None and kind not in _OUTPUTS and kind != "reasoning":
            self.now += STEP
        if kind == "message" and value.get("role") == "user":
            prompt_text = words(value.get("content"))
            self.calls.project = added_folder(prompt_text) or self.calls.project
            self._say("message", prompt_text, value)
        else:
            self._item(value)

    def _item(self, item: dict[str, Any]) -> None:
        kind = text(item.get("type"))
        self.check_parts(items(item.get("content")))
        if kind in _ACTS:
            self.add(self._turns.acts(self.agent))
        if kind in _LATE:
            self._call(item)
        elif kind in _ALONE:
            self._whole(item)
        elif kind in _OUTPUTS:
            self._output(item)
        elif kind == "message" and item.get("role") == "developer":
            message_text = words(item.get("content"))
            if is_advice(message_text):
                self._advice = message_text
                self._tell_advice()
        elif kind == "message" and item.get("role") == "assistant":
            self._speak(kind, item)
        elif kind not in _ITEMS and kind not in _ACTS:
            self.skip(f"response_item/{kind}")

    def _tell_advice(self, *, late: bool = False) -> None:
        """Add our advice after the result of its call, which the log has behind it."""
        if self._advice and (late or not self.calls.unanswered()):
            self.add(said_event(self._advice, self.now, self.agent, self.here()))
            self._advice = ""

    def _speak(self, sign: str, record: dict[str, Any]) -> None:
        """Read the agent's words, which are in one text or in parts."""
        phase, where = text(record.get("phase")), self.here()
        for part in items(record.get("content")) or [record.get("content") or record.get("message")]:
            self.add(self._turns.say(sign, words(part), phase, self.now, self.agent, where))

    def finish(self) -> list[Event]:
        """Return what only the end of the log completes."""
        self.out = []
        self._tell_advice(late=True)
        self.add(self._turns.uncounted(self.agent))
        return [*self.out, *super().finish()]

    def pending_events(self) -> list[Event]:
        """Return the open answer and calls of a growing thread.

        A command that asks to leave the sandbox has the action of an edit while it is open: Codex may ask
        the person before it runs.
        """
        calls = [
            replace(one, action="file_edit") if isinstance(one, ToolUse) and one.id in self._escalated else one
            for one in super().pending_events()
        ]
        return [*filter(None, [self._turns.uncounted(self.agent)]), *calls]

    def _call(self, item: dict[str, Any]) -> None:
        call, tool, arguments = called_item(item)
        if not call or not tool:
            self.note("call without id or name")
            return
        if not self.calls.begin(call, tool, arguments, self.now, self.agent, self.here()):
            return
        if self._asks and _ESCALATED in str(item.get("arguments") or item.get("input")):
            self._escalated.add(call)
        if tool == _CELL and isinstance(arguments, str):
            self._cell = call
            kind, self._inner = sort_cell(self.kit.normalizer, self.name, tool, arguments)
            self.calls.amend(call, kind)
        elif tool == "close_agent":
            self._children.closes(call, arguments)
        elif tool in ("write_stdin", "wait"):
            process = table(arguments)
            self._continue_process(call, str(process.get("session_id", process.get("cell_id", ""))))

    def _continue_process(self, call: str, process: str) -> None:
        """Sort a call that continues a running process like the call that started it."""
        started, own = self._running.get(process), self.calls.kind(call)
        if started is not None and own is not None:
            purpose = started.purpose or own.purpose
            kind = own._replace(
                action=started.action, program=started.program, purpose=purpose, targets=started.targets
            )
            self.calls.amend(call, kind)

    def _whole(self, item: dict[str, Any]) -> None:
        call = text(item.get("call_id")) or text(item.get("id")) or f"{item['type']}-{self._line}"
        if self.calls.is_known(call):
            return
        self.calls.settle(call)
        failed = item.get("status") in ("failed", "error")
        result = Result(error=failed, empty=None if failed else False)
        tool = text(item.get("type"))
        self._turns.searches += tool == "web_search_call"
        self.add(self.whole_call(call, tool, table(item.get("action")), result))

    def _output(self, item: dict[str, Any]) -> None:
        call = text(item.get("call_id")) or text(item.get("id"))
        cell = self._inner if self.calls.tool(call) in _CELLS else None
        result, process = read_output(item.get("output", item.get("tools")), cell)
        fact = self._facts.pop(call, None)
        if fact is not None:
            result = result._replace(
                error=result.error or fact.error,
                rejected=result.rejected or fact.rejected,
                exit_code=fact.exit_code if result.exit_code is None else result.exit_code,
                duration=fact.duration if fact.duration is not None else result.duration,
            )
        if self._bare:
            self.now += result.duration or STEP
        kind, tool = self.calls.kind(call), self.calls.tool(call)
        if process and kind is not None:
            self._running[process] = kind
        use = self.calls.end(call, self.now, result, self.here(), None, self._line)
        self.add(use)
        self._turns.answered()
        if self._advice:
            self._tell_advice(late=True)
        if use is not None and use.action == "delegation":
            well = use.outcome == "success"
            self.add(*self._children.answered(call, tool, item.get("output"), well, self.now, self.here()))

    def _event(self, event: dict[str, Any]) -> None:
        kind = text(event.get("type"))
        call = text(event.get("call_id"))
        if kind == "token_count":
            self._tokens(event)
        elif kind == "user_message":
            self._say(kind, text(event.get("message")), event)
        elif kind == "agent_message":
            self._speak(kind, event)
        elif kind == "item_completed":
            self._completed(table(event.get("item")))
        elif kind in ("task_started", "thread_settings_applied"):
            settings = table(event.get("thread_settings"))
            self._turns.set_model(model=settings.get("model"), window=event.get("model_context_window"))
            self._set_mode(settings)
        elif kind in _OVER:
            self._end(kind, event)
        elif kind == "context_compacted":
            self._compact("event")
        elif kind in _ENDS:
            self._add_fact(call, end_fact(event))
        elif kind in ("sub_agent_activity", "collab_agent_spawn_end"):
            self.add(*self._children.activity(event, self.now, self.here()))
        elif kind not in _EVENTS:
            self.skip(f"event_msg/{kind}")

    def _add_fact(self, call: str, fact: Result, command: Any = None) -> None:
        """Remember how a call ended; the first failure inside a script is the script's."""
        if self.calls.tool(call):
            self._facts[call] = fact
        elif self._cell and self.calls.tool(self._cell):
            before = self._facts.get(self._cell)
            action = self.kit.normalizer.sort(self.name, "exec_command", {"command": command}).action
            if len(self._inner) > 1 and found_nothing(action, fact.exit_code, fact.text):
                return
            if before is None or not (before.error or before.exit_code or before.rejected):
                self._facts[self._cell] = fact._replace(duration=None)

    def _end(self, kind: str, event: dict[str, Any]) -> None:
        """The agent ended its turn, or the person or an error did, or the person took turns back."""
        if kind == "thread_rolled_back":
            self.add(self._turns.close(self.agent))
            self._prompts = Prompts()
            self.add(None if self._child else self.rollback(event.get("num_turns")))
        elif kind == "turn_aborted":
            self.add(self._turns.close(self.agent))
            if event.get("reason") in (None, "interrupted"):
                self.add(self.prompt("", interrupt=True))
        elif kind == "error" or event.get("error"):
            self.add(*self._turns.fail(self.now, self.agent, self.here()))
        else:
            self.add(self._turns.end(self.now, self.agent, self.here()))

    def _completed(self, item: dict[str, Any]) -> None:
        """A finished item, in the words of newer logs."""
        kind = text(item.get("type"))
        if kind == "UserMessage":
            self._say(kind, words(item.get("content")), item)
        elif kind == "AgentMessage":
            self._speak(kind, item)
        elif kind == "ContextCompaction":
            self._compact("event")
        elif kind == "SubAgentActivity":
            self.add(*self._children.activity(item, self.now, self.here()))
        elif (fact := item_fact(item)) is not None:
            self._add_fact(text(item.get("id")), fact, item.get("command"))
        elif kind not in _COMPLETED:
            self.skip(f"item_completed/{kind}")

    def _say(self, sign: str, raw_text: str, record: dict[str, Any]) -> None:
        """Add a prompt; if two kinds of records repeat it, only once."""
        prompt_text = "" if self._child else self._prompts.deduplicate(sign, raw_text, pictured=pictured(record))
        if prompt_text:
            self.add(self._turns.close(self.agent))
            self.add(self.prompt(prompt_text, mode=self._turns.mode))

    def _tokens(self, event: dict[str, Any]) -> None:
        info = event.get("info")
        if info is None or isinstance(info, dict):
            self.add(self._turns.total(info, self.now, self.agent, self.here()))
        else:
            self.note("info is not an object")

    def _compact(self, sign: str) -> None:
        """A compaction leaves two signs; older logs leave one."""
        if self._compacted and self._compacted != sign:
            self._compacted = ""
            return
        self._compacted = sign
        self.add(self.compaction(before=self._turns.counts.context))

    def _pass_over(self, kind: Any, payload: dict[str, Any]) -> None:
        """A parent's line: only what later lines build on is remembered."""
        if kind == "response_item":
            call = text(payload.get("call_id")) or text(payload.get("id"))
            if call:
                self.calls.settle(call)
        elif kind == "event_msg" and payload.get("type") == "token_count":
            self._turns.pass_over(payload.get("info"))


def _sniff(sample: Sample) -> int:
    """How surely a log is Codex's."""
    for record in sample.records:
        if record.get("type") == "session_meta" and isinstance(record.get("payload"), dict):
            return 100
        if record.get("record_type") == "state":
            return 90
        if record.get("type") in ("response_item", "event_msg", "turn_context") and "payload" in record:
            return 90
        if record.get("type") in ("function_call", "local_shell_call") and "call_id" in record and "role" not in record:
            return 70
    first = sample.records[0] if sample.records else {}
    return 60 if {"id", "timestamp", "instructions"} <= first.keys() and "type" not in first else 0


FORMATS = (Format("codex", "lines", _sniff, Codex, thread_files, titles=codex_title, beside=thread_folders),)

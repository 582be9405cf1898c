"""mini-swe-agent's trajectories."""

from __future__ import annotations

import re
from typing import Any

from core.agents.calls import Result
from core.agents.reader import STEP, RunReader, untimed
from core.agents.values import amount, beyond, chat_tokens, code, table, text, words
from core.events import Turn, Where
from core.logs.decoding import seconds
from core.logs.format import Format, Sample

_FENCED = re.compile(r"```(?:bash|mswea_bash_command)\s*\n(.*?)\n```", re.DOTALL)
_RETURNED = re.compile(r"<returncode>\s*(-?\d{1,9})\s*</returncode>")
_OUTPUT = re.compile(r"<output>\n?(.*?)\n?</output>", re.DOTALL)
_TIMED_OUT = re.compile(r"timed out and has been killed|<exception>")
_REJECTED = re.compile(r"\ACommand not executed\b|user rejected your command", re.IGNORECASE)


class MiniSweAgentReader(RunReader):
    """An answer without exactly one command is not a call; the program then asks again."""

    name = "mini-swe-agent"
    gaps = "in older versions a result has the time of the next answer"

    def setup(self) -> None:
        self._waiting: list[str] = []

    def read(self, value: Any) -> None:
        """Add the events of the whole document."""
        document = self.table(value, "document")
        info = self.table(document.get("info"), "info")
        config = table(info.get("config"))
        messages = self.placed(document.get("messages"), "messages")
        times = [_time(message) for _, message in messages]
        known_times = [at for at in times if at is not None]
        self.now = known_times[0] if known_times else 0.0
        model = text(table(config.get("model")).get("model_name"))
        self.begin(
            self.now,
            text(document.get("instance_id")) or self.session,
            project=text(table(config.get("environment")).get("cwd")),
            model=model,
            version=text(info.get("mini_version")),
            synthetic_time=not known_times,
        )
        told_of_answers = sum(_cost(message) or 0.0 for _, message in messages)
        all_of_it = amount(table(info.get("model_stats")).get("instance_cost"))
        self._spent = self.total(model, rest) if (rest := beyond(all_of_it, told_of_answers)) else None
        answered = False
        for (place, message), at in zip(messages, times, strict=True):
            where = self.here(f"/messages/{place}")
            role = message.get("role")
            if role == "assistant":
                answered = True
                self._pass(at, timed=bool(known_times))
                self._answer(place, message, model, where)
            elif role in ("user", "tool", "exit") and answered:
                self._pass(at, timed=True)
                last = place == messages[-1][0]
                self._observe(message, where, last or role == "exit")
            elif role == "user":
                self.add(self.prompt(self.now, words(message.get("content")), where))
        self.end_run(info.get("exit_status"))

    def _pass(self, at: float | None, *, timed: bool) -> None:
        """Advance to the time of a message, or by a step if the log has no times."""
        if at is not None:
            self.moment(at)
        elif not timed:
            self.now += STEP

    def _answer(self, place: int, message: dict[str, Any], model: str, where: Where) -> None:
        self.add(*self.calls.give_up())
        self._waiting.clear()
        extra = table(message.get("extra"))
        answer_text = words(message.get("content"))
        cost = _cost(message)
        if cost is None and self._spent is not None:
            cost = 0.0
        self.add(self._turn(place, table(extra.get("response")), model, cost, where, answer_text))
        actions = extra.get("actions")
        if isinstance(actions, list):
            for number, action in enumerate(self.objects(actions, "actions")):
                name = text(action.get("tool_call_id")) or f"{place}/{number}"
                self._call(name, text(action.get("command") or action.get("action")), where)
            return
        commands = _FENCED.findall(answer_text)
        if len(commands) == 1:
            self._call(str(place), commands[0], where)

    def _call(self, name: str, command: str, where: Where) -> None:
        if self.calls.begin(name, "bash", {"command": command}, self.now, self.agent, where):
            self._waiting.append(name)

    def _turn(
        self, place: int, response: dict[str, Any], model: str, cost: float | None, where: Where, answer_text: str
    ) -> Turn:
        return self.turn(
            self.now,
            answer_text,
            where,
            chat_tokens(table(response.get("usage"))),
            message=text(response.get("id")) or f"turn-{place}",
            model=text(response.get("model")) or model,
            cost=cost,
        )

    def _observe(self, message: dict[str, Any], where: Where, last: bool) -> None:
        call_id = text(message.get("tool_call_id"))
        name = call_id if call_id in self._waiting else next(iter(self._waiting), "")
        if not name:
            return
        self._waiting.remove(name)
        output = words(message.get("content"))
        extra = table(message.get("extra"))
        returned = _RETURNED.search(output[:500])
        exited = code(extra.get("returncode"))
        if returned and exited is None:
            exited = int(returned.group(1))
        inner = _OUTPUT.search(output)
        failed = bool(_TIMED_OUT.search(output[:2000])) and exited is None
        if exited is None and not failed and not last and not _REJECTED.search(output[:200]):
            self.note("answer without a return code")
        result = Result(
            text=inner.group(1) if inner else output,
            error=failed,
            exit_code=exited,
            rejected=bool(_REJECTED.search(output[:200])),
        )
        use = self.calls.end(name, self.now, result, where, line=self._line)
        self.add(use if _time(message) is not None else untimed(use))


def _cost(message: dict[str, Any]) -> float | None:
    """Return the logged cost of an answer."""
    extra = table(message.get("extra"))
    return amount(table(table(extra.get("response")).get("usage")).get("cost")) or amount(extra.get("cost"))


def _time(message: dict[str, Any]) -> float | None:
    extra = table(message.get("extra"))
    for value in (extra.get("timestamp"), table(extra.get("response")).get("created"), message.get("timestamp")):
        at = seconds(value)
        if at is not None:
            return at
    return None


def _sniff(sample: Sample) -> int:
    """The name of the trajectory's format, or return codes in a conversation."""
    head = sample.head
    if not head.lstrip().startswith(b"{"):
        return 0
    if b'"mini_version"' in head or b'"mini-swe-agent-' in head:
        return 97
    return 85 if b'"messages"' in head and b"<returncode>" in head else 0


FORMATS = (Format("mini-swe-agent", "document", _sniff, MiniSweAgentReader, id_key=("instance_id",)),)

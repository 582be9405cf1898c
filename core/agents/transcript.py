"""The skeleton of readers whose logs are messages, with calls and results joined by an id."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import msgspec

from core.agents.calls import Result
from core.agents.loose import LooseReader, code, decode, kept, table, text, untimed, words
from core.events import AgentEnd, AgentStart, Event, Where
from core.logs.log_files import is_file, read_log

_EXIT_TEXT = re.compile(
    r"(?:exit(?:ed)?(?: with)?(?: exit)? (?:code|status)|return ?code)[: ]*(-?\d{1,9})", re.IGNORECASE
)
_FAILED = re.compile(r"\s*(?:ERROR\b|Error:|Error executing|Traceback \(most recent call last\))")
_STREAMS = frozenset(("output", "stdout", "content"))
_CODES = ("exit_code", "exitCode", "exit_status", "returncode", "return_code")


class TranscriptReader(LooseReader):
    """Adds answers, calls and results to the events with one line each."""

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self.model = ""

    def answer(self, at: float, said: str, out: list[Event], where: Where | None = None, **told: Any) -> None:
        """Add one answer of the model; `told` is what the log says of its tokens, cost and end."""
        told = {"model": self.model, "agent": self.agent, **told}
        kept(self.usage.once(self.kit.models.turn(at, where=where or self.here(), said=said, **told)), out)

    def call(
        self, name: str, tool: str, arguments: Any, at: float, where: Where | None = None, agent: str = ""
    ) -> bool:
        """Take in a call; arguments that are JSON in a text are decoded."""
        if isinstance(arguments, str):
            arguments = arguments.encode("utf-8", "surrogatepass")
        place = where or self.here()
        return self.calls.begin(
            name or f"{self._line}{place.entry}", tool or "invalid", arguments, at, agent or self.agent, place
        )

    def result(
        self,
        name: str,
        at: float,
        result: Result,
        out: list[Event],
        where: Where | None = None,
        *,
        timed: bool = True,
    ) -> None:
        """Add the tool use that a result completes; `timed` says whether the log times results."""
        use = self.calls.end(name, at, result, where or self.here(), line=self._line)
        kept(use if timed else untimed(use), out)

    def child_started(self, child: str, at: float, out: list[Event], role: str = "") -> None:
        """Add the start of a sub-agent."""
        out.append(AgentStart(at=at, agent=self.agent, where=self.here(), child=child, role=role))

    def child_ended(self, child: str, at: float, out: list[Event], *, well: bool = True, **told: Any) -> None:
        """Add a sub-agent's report."""
        outcome: Any = "success" if well else "failure"
        out.append(AgentEnd(at=at, agent=self.agent, where=self.here(), child=child, outcome=outcome, **told))


def sidecar(file: str, name: str) -> dict[str, Any]:
    """The object in a file beside a log; an empty one if there is none."""
    path = Path(file).with_name(name)
    try:
        return table(decode(read_log(path))) if file and is_file(path) else {}
    except OSError:
        return {}


def read_result(value: Any, *, error: bool = False, rejected: bool = False, guess: bool = False) -> Result:
    """What a result says: fields of an object or of JSON in a text, else its text.

    With `guess`, a log without a flag of its own, the text's exit code or error words decide.
    """
    told = value
    if isinstance(value, str) and value.lstrip()[:1] == "{":
        told = decode(value.encode("utf-8", "surrogatepass"))
    facts = table(told)
    exited = next((found for key in _CODES if (found := _exit(facts.get(key))) is not None), None)
    said = next((one for key in ("output", "stdout") if (one := text(facts.get(key)))), "") or words(value)
    if facts and not said and not _STREAMS & facts.keys():
        said = msgspec.json.encode(facts).decode()
    wrong = facts.get("success") is False or bool(facts.get("error")) or facts.get("timed_out") is True
    if guess and not facts and exited is None:
        codes = _EXIT_TEXT.findall(said[-400:])
        exited = int(codes[-1]) if codes else None
        wrong = exited is None and bool(_FAILED.match(said[:200]))
    return Result(text=said, error=error or wrong, exit_code=exited, rejected=rejected)


def _exit(value: Any) -> int | None:
    """An exit code, or the one in a text such as `exit status: 1`."""
    return code(value.rpartition(" ")[2]) if isinstance(value, str) else code(value)

"""The scenario language, small words: every one moves an agent's clock and leaves a deed behind."""

from __future__ import annotations

from collections.abc import Sequence

from sample_sessions.stage.deeds import (
    MAIN,
    Answered,
    Call,
    Compacted,
    Order,
    Remark,
    Returned,
    Said,
    Sent,
    Stopped,
    Usage,
    Used,
)
from sample_sessions.stage.dice import Dice
from sample_sessions.stage.reports import report
from sample_sessions.stage.stage import Stage

_CHARACTERS = 3.6  # Of a token.


class Actor:
    """One agent at work."""

    def __init__(
        self, stage: Stage, name: str = MAIN, *, at: float | None = None, context: int = 17_500, pace: float = 1.0
    ) -> None:
        self.stage = stage
        self.world = stage.world
        self.name = name
        self.at = stage.start if at is None else at
        self.began = self.at
        self.context = context
        self.pace = pace  # How long it thinks, as a factor.
        self.uses = 0
        self.spent = 0
        self.dice = Dice(f"{stage.name}/{name}")
        self._cached = 0

    def narrate(self, text: str, *shows: str) -> None:
        """Say what is to be noticed from here on, and what the engine must have shown since the last line."""
        tenths = int(10 * (self.at - self.stage.start))  # Rounded up, the last line would come after the last event.
        self.stage.remarks.append(Remark(tenths / 10, self.name, text, shows))

    # What the person does.

    def ask(self, text: str, after: float = 0.0) -> None:
        """The person asks for something, `after` some seconds."""
        self._pass(after)
        self.stage.deeds.append(Said(self._now(), self.name, text))
        self._grow(text)

    def interrupt(self, after: float = 2.0) -> None:
        """The person stops the agent."""
        self._pass(after)
        self.stage.deeds.append(Stopped(self._now(), self.name))

    def silence(self, seconds: float) -> None:
        """Nothing happens for a while."""
        self._pass(seconds)

    # What the agent does.

    def answer(self, text: str) -> None:
        """Say something and end the turn."""
        self._think(2.5, 8.0)
        self.stage.deeds.append(Answered(self._now(), self.name, text, self._usage(text)))

    def read(self, path: str, thought: str = "") -> None:
        """Read a file."""
        self._use(Call("read", path=path), self.world.text(path), thought, took=(0.04, 0.4))

    def search(self, pattern: str, *found: str, where: str = "", thought: str = "") -> None:
        """Search for a pattern; nothing is found where no file is named."""
        text = self.world.hits(pattern, found)
        self._use(Call("search", path=where, pattern=pattern), text, thought, hits=found, took=(0.1, 1.4))

    def find(self, pattern: str, *found: str, thought: str = "") -> None:
        """Look for files by their names."""
        self._use(Call("find", pattern=pattern), "\n".join(found), thought, hits=found, took=(0.1, 0.8))

    def look_up(self, question: str, text: str = "", thought: str = "") -> None:
        """Search the web."""
        self._use(Call("web", pattern=question), text, thought, took=(1.0, 4.0))

    def edit(self, path: str, old: str = "", new: str = "", *, fault: str = "", thought: str = "") -> None:
        """Change lines of a file; where none are named, some that would fit. With a fault nothing changes."""
        if not old:
            old, new = self.world.change(path, self.dice)
        if not fault:
            self.world.replace(path, old, new)
        call = Call("edit", path=path, old=old, new=new)
        self._use(call, fault, thought, code=1 if fault else 0, took=(0.05, 0.3))

    def write(self, path: str, thought: str = "") -> None:
        """Write a new file."""
        text = self.world.text(path)
        self._use(Call("write", path=path, new=text), "", thought, took=(0.05, 0.3))

    def run(
        self,
        command: str,
        output: str = "",
        code: int = 0,
        *,
        took: tuple[float, float] = (0.3, 4.0),
        thought: str = "",
    ) -> None:
        """Run a command."""
        self._use(Call("run", command=command), output, thought, code=code, took=took)

    def test(
        self, passed: int, *failures: str, only: str = "", took: tuple[float, float] = (2.0, 9.0), thought: str = ""
    ) -> None:
        """Run the tests; failures are written `name | why`."""
        command = f"{self.world.test} {only}".strip()
        seconds = self.dice.between(*took)
        output = report(command, passed, failures, seconds, self.dice)
        self.run(command, output, 1 if failures else 0, took=(seconds, seconds + 0.5), thought=thought)

    def commit(self, message: str) -> None:
        """Commit what was done."""
        short = self.dice.word(7, "0123456789abcdef")
        files, lines = 2 + self.dice.below(7), 20 + self.dice.below(180)
        output = f"[main {short}] {message}\n {files} files changed, {lines} insertions(+)"
        self.run(f'git commit -am "{message}"', output, took=(0.2, 0.9))

    def refuse(self, command: str, thought: str = "") -> None:
        """Ask for a command that the person does not allow."""
        self._use(Call("run", command=command), "", thought, code=1, took=(4.0, 20.0), refused=True)

    def plan(self, *steps: str, done: int = 0) -> None:
        """Write down what is to be done."""
        marked = tuple(f"✓{step}" if place < done else step for place, step in enumerate(steps))
        self._use(Call("plan", steps=marked), "", "", took=(0.02, 0.1))

    def compact(self, summary: str, left: int) -> None:
        """Sum the context up and cut it."""
        self._pass(self.dice.between(18.0, 40.0))
        self.stage.deeds.append(Compacted(self._now(), self.name, self.context, left, summary))
        self.context, self._cached = left, 0

    def delegate(self, thought: str, *orders: Order, pace: float = 1.0, context: int = 9_000) -> list[Actor]:
        """Start sub-agents; they work on until each is gathered."""
        self._think(4.0, 12.0)
        usage = self._usage(thought + "".join(order.task for order in orders))
        self.stage.deeds.append(Sent(self._now(), self.name, thought, orders, usage))
        self.uses += len(orders)
        children = []
        for place, order in enumerate(orders):
            child = Actor(self.stage, order.child, at=self.at + 0.4 * place + 0.3, context=context, pace=pace)
            child.ask(order.task)
            children.append(child)
        return children

    def gather(self, *reports: tuple[Actor, str]) -> None:
        """Take in what sub-agents report, each when it is done."""
        for child, text in sorted(reports, key=lambda report: report[0].at):
            child.answer(text)
            self.at = max(self.at, child.at) + 0.2
            lasted = child.at - child.began
            self.stage.deeds.append(Returned(self._now(), self.name, child.name, text, child.spent, child.uses, lasted))
            self._grow(text)

    # How time and tokens go by.

    def _use(
        self,
        call: Call,
        result: str,
        thought: str,
        *,
        code: int = 0,
        hits: Sequence[str] = (),
        took: tuple[float, float] = (0.2, 1.0),
        refused: bool = False,
    ) -> None:
        self._think(3.0, 27.0)
        called_at = self._now()
        words = thought + call.new + call.command + call.pattern
        usage = self._usage(words)
        self._pass(self.dice.between(*took))
        self.uses += 1
        self.stage.deeds.append(
            Used(self._now(), self.name, called_at, thought, call, result, code, tuple(hits), usage, refused)
        )
        self._grow(result)

    def _usage(self, words: str) -> Usage:
        output = 40 + int(len(words) / _CHARACTERS) + self.dice.below(160)
        fresh = 3 + self.dice.below(9)
        cached = self._cached
        usage = Usage(fresh, cached, max(0, self.context - cached - fresh), output)
        self._cached = self.context
        self.context += output
        self.spent += fresh + usage.written + output
        return usage

    def _grow(self, text: str) -> None:
        self.context += int(len(text) / _CHARACTERS) + 12

    def _think(self, least: float, most: float) -> None:
        self._pass(self.dice.between(least, most) * self.pace)

    def _pass(self, seconds: float) -> None:
        self.at += seconds

    def _now(self) -> float:
        return round(self.at, 3)

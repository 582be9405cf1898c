"""A listener: it hears of what happens outside the step, words what an agent is told, and may ask before a call."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import ClassVar

from platformdirs import user_data_path

from core.engine.mind.episode import Episode
from core.engine.mind.fabric import Ticked
from core.engine.mind.sleep import Dream
from core.engine.percept import Axis
from core.engine.society import Society
from core.extension import Answer, Extension, ToolCall


class Diary(Extension):
    """Writes a line for each session, episode and dream; asks before anything is pushed."""

    name: ClassVar[str] = "diary"
    version: ClassVar[str] = "1.0"
    about: ClassVar[str] = "Keeps a diary of sessions and dreams, and asks before a push."

    def _write(self, line: str) -> None:
        path = user_data_path("nooscope", appauthor=False, ensure_exists=True) / "diary.log"
        with path.open("a", encoding="utf-8") as stream:
            stream.write(line + "\n")

    def on_session_start(self, session: str) -> None:
        """A session is followed."""
        self._write(f"session {session}")

    def on_episode(self, episode: Episode) -> None:
        """A stretch of work ended."""
        self._write(f"episode {episode.number}: {episode.action} -> {episode.outcome}")

    def on_dream(self, dream: Dream) -> None:
        """A dream cycle ran."""
        self._write(f"dream {dream.number}: {dream.words()}")

    def on_tool_call(self, call: ToolCall) -> Answer:
        """Where hooks guard the agent, the person decides about every push."""
        return "ask" if "git push" in call.what else "pass"

    def before_agent_start(self, session: str) -> Iterable[str]:
        """An agent starts: it is offered a line beside the playbook."""
        return ["Keep commits small."]

    def on_input(self, session: str, words: str) -> str:
        """The person's message goes to the agent as said, marked as theirs."""
        return f"{words.rstrip('.')}, says the person."

    def on_context(self, session: str, words: str) -> str:
        """Advice goes to the agent with a reference to the diary."""
        return f"{words} It is in the diary."

    def after_tick(self, tick: Ticked) -> Mapping[Axis, float]:
        """After each delta tick, later sessions are a little more sensitive to fatigue."""
        return {"fatigue": 0.01} if tick.kind == "delta" else {}

    def on_shutdown(self, society: Society) -> None:
        """The session is no longer watched."""
        self._write(f"left after {society.frame().events} events")

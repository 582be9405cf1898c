"""Our own words to an agent, as its log holds them: known by their mark."""

from __future__ import annotations

import re

from core.engine.fingerprint import fingerprint
from core.events import ADVICE_MARK, MAIN, Advice, Where

ADVICE_BYTES = ADVICE_MARK.encode()


def is_advice(text: str) -> bool:
    """Whether a text is a sentence of ours."""
    return text.startswith(ADVICE_MARK)


_AT_THE_END = re.compile(
    r"\n\n(?:<hook_context>"
    r"|Tool \"[^\"\n]{1,100}\" [a-z]{1,20}\. Additional guidance from \w{1,40} hooks:\n)?"
    r"(\[nooscope\][^\n]{0,400}?)(?:</hook_context>)?\s*\Z"
)
"""A sentence behind a tool's output, as our OpenCode module, Gemini CLI and Copilot CLI put it there."""
_LONGEST = 700


def split_advice(text: str) -> tuple[str, str]:
    """A tool's output without the sentence of ours at its end, and that sentence or a blank."""
    found = _AT_THE_END.search(text, max(0, len(text) - _LONGEST)) if ADVICE_MARK in text else None
    return (text[: found.start()], found[1]) if found else (text, "")


def said_event(sentence: str, at: float, agent: str = MAIN, where: Where | None = None) -> Advice:
    """The event of a sentence that reached an agent."""
    sentence = sentence.strip()
    return Advice(at=at, agent=agent, where=where, characters=len(sentence), call=fingerprint(sentence))

"""Our own words to an agent, as its log holds them: known by their mark."""

from __future__ import annotations

from core.agents.fingerprint import fingerprint
from core.events import MAIN, Advice, Where

ADVICE_MARK = "[nooscope]"
"""What every sentence we hand to an agent begins with."""
ADVICE_BYTES = ADVICE_MARK.encode()


def is_advice(text: str) -> bool:
    """Whether a text is a sentence of ours."""
    return text.startswith(ADVICE_MARK)


def split_advice(text: str) -> tuple[str, str]:
    """A tool's output without the sentence of ours at its end, and that sentence or a blank."""
    output, mark, said = text.rpartition(f"\n\n{ADVICE_MARK}")
    if not mark or "\n" in said.strip():
        return text, ""
    return output, ADVICE_MARK + said


def said_event(sentence: str, at: float, agent: str = MAIN, where: Where | None = None) -> Advice:
    """The event of a sentence that reached an agent."""
    sentence = sentence.strip()
    return Advice(at=at, agent=agent, where=where, characters=len(sentence), call=fingerprint(sentence))

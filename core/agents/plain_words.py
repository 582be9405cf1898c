"""Takes the words out of a log that is Markdown, where marks before a line say who speaks."""

from __future__ import annotations

import re

from core.agents.loose import unthought

_TYPED = re.compile(r"^####[ \t]?", re.MULTILINE)
_PROGRAM = re.compile(r"\A> ?")


def typed_words(plain: str) -> str:
    """What the person typed."""
    return "\n".join(line.rstrip() for line in _TYPED.sub("", plain).splitlines()).strip()


def answer_words(plain: str) -> str:
    """What the model said, or the program in a line of its own; thoughts left out."""
    return unthought(_PROGRAM.sub("", plain))

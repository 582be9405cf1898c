"""The many ways to write a model's name, as the one under which its row stands in the table."""

from __future__ import annotations

import re
from collections.abc import Iterator

_ENDING = re.compile(
    r"(\[[^\]]*\]|-\d{8}|-\d{4}-\d{2}-\d{2}|-\d{2}-\d{2}|-\d{4}|-latest|@[\w.-]+|-v\d+(:\d+)?|:[\w.-]+"
    r"|-(low|medium|high|xhigh|minimal|none|thinking|preview|maas|instruct))$"
)
_LEADING = re.compile(
    r"^(?:[@~]?[\w.-]+[/:])*(?:(?:us|us-gov|eu|apac|global|au|ca|jp|in)\.)?"
    r"(?:(?:anthropic|openai|google|amazon|mistral|minimax|qwen|deepseek|moonshotai|moonshot|zai|xai)\.)?"
)
_FREE = (":free", "-free")
"""How routers name what they give away."""
_VERSION_FIRST = re.compile(r"^claude-(\d+(?:-\d{1,2})?)-(opus|sonnet|haiku)(?=$|-)")


def paid_name(name: str) -> str:
    """Of a model that its name says is free, the name without that; blank of any other."""
    low = name.strip().lower()
    return next((low.removesuffix(end) for end in _FREE if low.endswith(end)), "")


def plain_name(name: str) -> str:
    """A name in small letters, with dashes for dots and, of a Claude model, the family before the version."""
    return _VERSION_FIRST.sub(r"claude-\2-\1", name.strip().lower().replace(".", "-"))


def spellings(name: str) -> Iterator[str]:
    """The names a model may stand under: as written, without its vendor, then ever shorter at the end."""
    name = name.strip().lower()
    while name:
        bare = _LEADING.sub("", name)
        for one in (name, bare):
            if one:
                yield plain_name(one)
        if bare:
            yield f"{plain_name(bare)}-preview"
        shorter = _ENDING.sub("", name)
        if shorter == name:
            return
        name = shorter

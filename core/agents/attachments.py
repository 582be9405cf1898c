"""What a prompt without words holds: images and documents, in the forms of all agents."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from core.agents.loose import items, text

_DEEPEST = 8
_IMAGES = frozenset(("image", "input_image", "image_url", "local_image", "localImage"))
_LISTED = ("images", "local_images", "image_urls")
_MIMES = ("mime", "mimeType", "media_type", "mime_type", "MIMEType")
_RESULTS = frozenset(("tool_result", "toolResponse", "functionResponse"))


def attached(values: Iterable[Any]) -> str:
    """The images and documents in some records, counted in words; blank where there are none."""
    kinds = [kind for value in values for kind in _found(value, 0)]
    told = (
        (kinds.count("image"), "an image", "images"),
        (kinds.count("document"), "a document", "documents"),
    )
    return " and ".join(one if number == 1 else f"{number} {many}" for number, one, many in told if number)


def attached_to(parts: Iterable[Any]) -> str:
    """The same of the parts of a prompt, among which may be what calls came back with."""
    return attached(
        part
        for part in parts
        if isinstance(part, dict) and text(part.get("type")) not in _RESULTS and _RESULTS.isdisjoint(part)
    )


def _found(value: Any, depth: int) -> list[str]:
    if depth > _DEEPEST:
        return []
    if isinstance(value, list):
        return [one for item in value for one in _found(item, depth + 1)]
    if not isinstance(value, dict):
        return []
    kind, mime = (
        text(value.get("type")),
        next((told for name in _MIMES if (told := text(value.get(name)))), ""),
    )
    if kind in _IMAGES or mime.startswith("image/"):
        return ["image"] * max(1, len(items(value.get("image_urls"))))
    if kind == "document" or mime == "application/pdf":
        return ["document"]
    listed = sum(len(items(value.get(name))) for name in _LISTED)
    inner = [one for item in value.values() for one in _found(item, depth + 1)]
    return [*(["image"] * listed), *inner]

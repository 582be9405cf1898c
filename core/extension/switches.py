"""Which extensions are on: what the person switched off, and the objects of those that are left."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, TypedDict

from core.errors import BrokenOffer, StoreError
from core.extension.offers import Kind, Offer, Offers, extension_folder, find_offers
from core.safe_text import safe

_FILE = "extensions.json"


class _Kept(TypedDict, total=False):
    off: list[str]


class Switches:
    """What the person switched off, kept beside their settings."""

    def __init__(self, path: Path | None = None) -> None:
        self.path = path or extension_folder().parent / _FILE
        self.problem = ""
        """Why the file could not be used, where it could not."""

    def off(self) -> frozenset[str]:
        """The keys, such as `panel:tests`, of what is off."""
        try:
            content = self.path.read_bytes()
        except FileNotFoundError:
            return frozenset()
        except OSError as error:
            return self._unusable(error.strerror or error)
        import msgspec

        try:
            return frozenset(msgspec.json.decode(content, type=_Kept).get("off", ()))
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            return self._unusable(error)

    def _unusable(self, said: object) -> frozenset[str]:
        self.problem = f"{self.path}: cannot be read ({said}); no extension is used until it can"
        return frozenset(("*",))

    def changed(self, key: str, on: bool) -> bytes:
        """What the file holds once one is switched; raises `StoreError` where it cannot be read."""
        import msgspec

        standing = self.off()
        if self.problem:
            raise StoreError(self.problem)
        return msgspec.json.encode({"off": sorted(standing - {key} if on else standing | {key})}) + b"\n"


class Used(NamedTuple):
    """One thing that is offered, switched on and loaded."""

    offer: Offer
    value: Any


class InUse(NamedTuple):
    """All of one kind that can be used, and what cannot."""

    used: tuple[Used, ...] = ()
    complaints: tuple[str, ...] = ()


def in_use(kind: Kind, fits: Callable[[Any], str], found: Offers | None = None) -> InUse:
    """Load all of one kind that are on; `fits` says what is wrong with one that is not what it should be."""
    offered = find_offers() if found is None else found
    if not offered.of(kind):
        return _NONE
    switches = Switches()
    off = switches.off()
    complaints = [switches.problem] if switches.problem else []
    used = []
    for offer in () if "*" in off else offered.of(kind):
        if offer.key in off:
            continue
        try:
            value = _loaded(offer)
            wrong = fits(value)
        except BrokenOffer as fault:
            complaints.append(str(fault))
        else:
            if wrong:
                complaints.append(f"{kind} {safe(offer.name)} ({offer.origin}): {wrong}")
            else:
                used.append(Used(offer, value))
    return InUse(tuple(used), tuple(complaints))


_NONE = InUse()


@cache
def _loaded(offer: Offer) -> Any:
    return offer.load()

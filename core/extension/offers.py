"""Find what packages and the person's own folder offer, without importing any of it."""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import os
import site
import stat
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypedDict, get_args

from core.errors import BrokenOffer, StoreError
from core.folders import own_folder
from core.safe_text import safe

_FILE = "extensions.json"


class _Kept(TypedDict, total=False):
    off: list[str]


class Switches:
    """The extensions the person has switched off, kept beside the settings."""

    def __init__(self, path: Path | None = None) -> None:
        self.path = path or extension_folder().parent / _FILE
        self.problem = ""  # Why the file could not be used, where it could not.

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

    def _unusable(self, reason: object) -> frozenset[str]:
        self.problem = f"{self.path}: cannot be read ({reason}); no extension is used until it can be read"
        return frozenset(("*",))

    def changed(self, key: str, on: bool) -> bytes:
        """Return the file's content with one switch changed; raise `StoreError` if it cannot be read."""
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


def in_use(kind: Kind, fits: Callable[[Any], str], offers: Offers | None = None) -> InUse:
    """Load every extension of a kind that is switched on; `fits` returns what is wrong with one."""
    offered = find_offers() if offers is None else offers
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
            value = _load_offer(offer)
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
def _load_offer(offer: Offer) -> Any:
    return offer.load()


Kind = Literal["extension", "agent", "panel", "notice", "exporter"]
KINDS: tuple[Kind, ...] = get_args(Kind)
GROUPS: dict[str, Kind] = {f"nooscope.{kind}s": kind for kind in KINDS}  # The group of entry points for each kind.
_FOLDERS: dict[str, Kind] = {"": "extension", "agents": "agent", "panels": "panel"}
# Where the person's files of each kind lie, below their folder.
_FOLDERS |= {"notices": "notice", "exporters": "exporter"}
_ENDING = ".dist-info"
_LONGEST = 256_000  # Bytes of a list of entry points; a longer one is none.


class Offer(NamedTuple):
    """One available extension, and where it comes from."""

    kind: Kind
    name: str
    target: str  # `module:attribute` of a package; blank for a file.
    package: str = ""
    version: str = ""
    file: Path | None = None

    @property
    def origin(self) -> str:
        """Where it comes from, in words."""
        if self.file is not None:
            return f"file {self.file}"
        return f"package {self.package} {self.version}".strip()

    @property
    def key(self) -> str:
        """By which it is switched."""
        return f"{self.kind}:{self.name}"

    def load(self) -> Any:
        """Import it; raises `BrokenOffer` with what went wrong."""
        try:
            return _load(self)
        except (Exception, SystemExit) as fault:
            reason = safe(f"{type(fault).__name__}: {fault}").replace("\n", " ")[:200]
            raise BrokenOffer(f"{self.kind} {self.name} ({self.origin}) cannot be loaded: {reason}") from fault


class Offers(NamedTuple):
    """All that is offered, and what was left out."""

    offers: tuple[Offer, ...] = ()
    complaints: tuple[str, ...] = ()

    def of(self, kind: Kind) -> tuple[Offer, ...]:
        """Return the extensions of one kind."""
        return tuple(offer for offer in self.offers if offer.kind == kind)


def extension_folder() -> Path:
    """Where a person puts extensions of their own; NOOSCOPE_EXTENSIONS names another place."""
    folder = os.environ.get("NOOSCOPE_EXTENSIONS", "").strip()
    if folder:
        return Path(folder).expanduser()
    return own_folder("config") / "extensions"


def site_folders() -> tuple[Path, ...]:
    """Where pip installs packages for this Python; what else is on the path is not looked at."""
    folders = [*site.getsitepackages(), *([site.getusersitepackages()] if site.ENABLE_USER_SITE else [])]
    return tuple(dict.fromkeys(Path(name) for name in folders))


def find_offers() -> Offers:
    """Find the available extensions.

    Two places are looked at and no other: the folders into which pip installs, and `extensions/` in the
    person's config folder. A watched project is neither, whatever it holds and wherever nooscope is started.
    """
    offered, folder = _packages(site_folders()), extension_folder()
    if not os.path.isdir(folder):  # noqa: PTH112 the method of a path raises where a folder above is closed
        return offered
    complaints: list[str] = []
    by_name: dict[tuple[Kind, str], Offer] = {}
    for offer in (*offered.offers, *in_folder(folder, complaints)):
        first = by_name.setdefault((offer.kind, offer.name), offer)
        if first is not offer:
            complaints.append(f"{offer.origin}: {first.origin} already offers {offer.kind} {offer.name}")
    return Offers(tuple(by_name.values()), tuple(complaints))


@cache
def _packages(folders: tuple[Path, ...]) -> Offers:
    return Offers(tuple(installed(folders)))


def installed(folders: Iterable[Path]) -> Iterator[Offer]:
    """Return the extensions of installed packages, in order of name."""
    for folder in folders:
        try:
            names = sorted(entry.name for entry in os.scandir(folder) if entry.name.endswith(_ENDING))
        except OSError:
            continue
        for name in names:
            text = _entry_points(f"{folder}{os.sep}{name}{os.sep}entry_points.txt")
            if "[nooscope." in text:
                package, _, version = name.removesuffix(_ENDING).rpartition("-")
                yield from _listed(text, package, version)


def _entry_points(path: str) -> str:
    try:
        with open(path, encoding="utf-8") as stream:  # noqa: PTH123 most have none: this is the cheapest way
            return stream.read(_LONGEST)
    except (OSError, UnicodeDecodeError):
        return ""


def _listed(text: str, package: str, version: str) -> Iterator[Offer]:
    kind: Kind | None = None
    for raw in text.splitlines():
        line = raw.strip()
        if line.startswith("["):
            kind = GROUPS.get(line.strip("[]").strip())
        elif kind is not None and "=" in line and not line.startswith(("#", ";")):
            name, _, target = (part.strip() for part in line.partition("="))
            yield Offer(kind, name, target, package, version)


def in_folder(folder: Path, complaints: list[str]) -> Iterator[Offer]:
    """Return the extensions in the person's own folder; a file that others may write to is left out."""
    for below, kind in _FOLDERS.items():
        try:
            entries = sorted((folder / below).iterdir())
        except OSError:
            continue
        for entry in entries:
            file = entry if entry.suffix == ".py" else entry / "__init__.py"
            if entry.name.startswith((".", "_")) or entry.name in _FOLDERS or not os.path.isfile(file):  # noqa: PTH113
                continue
            if trouble := _unsafe(file):
                complaints.append(f"{file}: {trouble}; it is ignored")
            else:
                yield Offer(kind, entry.stem.replace("_", "-"), "", file=file)


def _unsafe(file: Path) -> str:
    with contextlib.suppress(OSError):
        for place in (file, file.parent):
            status = place.stat()
            if status.st_mode & stat.S_IWOTH and not status.st_mode & stat.S_ISVTX:
                return f"everyone can write to {place.name} (chmod o-w it)"
            if hasattr(os, "getuid") and status.st_uid not in (os.getuid(), 0):
                return f"{place.name} belongs to someone else"
    return ""


def _load(offer: Offer) -> Any:
    if offer.file is None:
        module, _, attribute = offer.target.partition(":")
        value: Any = importlib.import_module(module)
        for part in attribute.split(".") if attribute else ():
            value = getattr(value, part)
        return value
    name = f"nooscope_own_{offer.kind}_{offer.name.replace('-', '_')}"
    spec = importlib.util.spec_from_file_location(name, offer.file)
    if spec is None or spec.loader is None:
        raise ImportError(f"{offer.file} is not a Python file")
    module_object = importlib.util.module_from_spec(spec)
    sys.modules[name] = module_object
    spec.loader.exec_module(module_object)
    constant = offer.kind.upper()
    if not hasattr(module_object, constant):
        raise ImportError(f"the file names no {constant}; write `{constant} = ...` in it")
    return getattr(module_object, constant)

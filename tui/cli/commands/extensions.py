"""`nooscope tune extensions`: installed extensions, what each does, and whether it is on."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, NamedTuple

from core.errors import NooscopeError, UsageError
from tui.cli.streams import print_lines, print_table, say

if TYPE_CHECKING:
    from collections.abc import Iterator

    from core.extension.hooks import Extension
    from core.extension.in_step import StepExtension
    from core.extension.offers import Offer

_HEADS = ("kind", "name", "layer", "state", "from", "what it does")


class Row(NamedTuple):
    """One line of the list."""

    kind: str
    name: str
    layer: str
    state: str
    origin: str
    about: str


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="as JSON")
    parts = parser.add_subparsers(dest="part", metavar="")
    for name, sentence in (
        ("show", "explain one: where it comes from, what it depends on, which hooks it has"),
        ("on", "switch one on"),
        ("off", "switch one off"),
        ("check", "try one on a sample: does it load, and does its replay give the same result"),
    ):
        part = parts.add_parser(name, help=sentence, description=f"{sentence[:1].upper()}{sentence[1:]}.")
        part.add_argument("name", metavar="NAME", help="its name, or KIND:NAME if two share it")


def run(args: argparse.Namespace) -> int:
    if args.part is None:
        return _list(args.json)
    if args.part == "show":
        return _show(args.name)
    offer = _offer(args.name)
    if args.part == "check":
        return _check(offer)
    from core.extension.offers import Switches
    from core.store import atomic

    switches = Switches()
    content = switches.changed(offer.key, args.part == "on")
    try:
        atomic.replace(switches.path, content)
    except OSError as error:
        raise NooscopeError(f"{switches.path}: cannot be written ({error.strerror})") from None
    print(f"{offer.kind} {offer.name} is {args.part}; restart nooscope to apply it.")
    return 0


def _offer(name: str) -> Offer:
    from core.extension.offers import find_offers
    from core.report.formatting import plain

    offers = find_offers().offers
    fitting = [offer for offer in offers if name in (offer.name, offer.key)]
    if len(fitting) == 1:
        return fitting[0]
    if fitting:
        raise UsageError(f"several have this name: {', '.join(offer.key for offer in fitting)}")
    if name in {row.name for row in _ours()}:
        raise UsageError(f"{name} is built in; change it in the settings")
    names = ", ".join(plain(offer.name, 40) for offer in offers) or "none"
    raise UsageError(f"no extension is named {plain(name, 60)!r}; available: {names}")


def _ours() -> Iterator[Row]:
    """Return the built-in parts, which use the same registry."""
    from core.agents.registry import AGENTS
    from core.export.exporters import BUILT_IN
    from core.extras.telemetry.station import LiveTrace, MetricsServer
    from core.live.carry_over import CarryOver
    from core.live.notices import Notifier

    listeners: tuple[type[Extension], ...] = (Notifier, CarryOver, MetricsServer, LiveTrace)
    for kind in sorted(listeners, key=lambda one: one.layer):
        yield Row("extension", kind.name, str(kind.layer), "on", "nooscope", kind.about)
    for exporter in BUILT_IN:
        yield Row("exporter", exporter.name, "", "on", "nooscope", exporter.about)
    for agent in AGENTS:
        yield Row("agent", agent.name, "", "on", "nooscope", f"reads the logs of {agent.title}")


def _other_rows() -> tuple[list[Row], list[str]]:
    from core.errors import BrokenOffer
    from core.extension.offers import Switches, find_offers
    from core.report.formatting import plain

    offers, switches = find_offers(), Switches()
    off = switches.off()
    rows: list[Row] = []
    complaints = [*offers.complaints, *([switches.problem] if switches.problem else [])]
    for offer in offers.offers:
        state, layer, about = "off" if offer.key in off or "*" in off else "on", "", ""
        if state == "on":
            try:
                value = offer.load()
                layer = str(getattr(value, "layer", "")) if offer.kind == "extension" else ""
                about = str(getattr(value, "about", "") or _first_line(value))
                state = "on, in the step" if _takes_part(value) else "on"
            except BrokenOffer as fault:
                state = "broken"
                complaints.append(str(fault))
        rows.append(Row(offer.kind, plain(offer.name, 40), layer, state, plain(offer.origin, 80), plain(about, 80)))
    return rows, complaints


def _first_line(value: object) -> str:
    return (getattr(value, "__doc__", "") or "").strip().partition("\n")[0] if callable(value) else ""


def _takes_part(value: object) -> bool:
    from core.extension.in_step import StepExtension

    return isinstance(value, type) and issubclass(value, StepExtension)


def _list(as_json: bool) -> int:
    from core.extension.offers import extension_folder

    others, complaints = _other_rows()
    rows = [*_ours(), *others]
    if as_json:
        from core.report.formatting import readable_json

        print(readable_json({"extensions": [row._asdict() for row in rows], "complaints": complaints}))
        return 0
    visible = [row for row in rows if row.kind != "agent" or row.origin != "nooscope"]
    agents = len(rows) - len(visible)
    print_table([Row(*_HEADS), *visible])
    print(f"\nand the readers of {agents} agents.")
    say(*complaints)
    if not others:
        print(f"No extensions are installed: install a package, or put a file in {extension_folder()}.")
    return 0


def _show(name: str) -> int:
    for row in _ours():
        if row.name == name and row.kind != "agent":
            print(f"{row.kind} {row.name}, part of nooscope\n{row.about}")
            return 0
    from core.extension.hooks import HOOKS, Extension
    from core.extension.in_step import StepExtension
    from core.extension.offers import Switches
    from core.report.formatting import plain

    offer = _offer(name)
    state = "off" if offer.key in Switches().off() else "on"
    print(f"{offer.kind} {offer.name}, {offer.origin}, {state}")
    if state == "off":
        return 0
    value = offer.load()
    about = str(getattr(value, "about", "") or _first_line(value))
    if about:
        print(plain(about, 200))
    if isinstance(value, type) and issubclass(value, Extension):
        base = StepExtension if issubclass(value, StepExtension) else Extension
        names = [*HOOKS, *(one for one in vars(StepExtension) if one.startswith(("before_", "after_", "find")))]
        hooks = [one for one in names if getattr(value, one, None) is not getattr(base, one, None)]
        print(f"version {value.version}, layer {value.layer}")
        print(f"depends on {', '.join(value.depends_on) or 'nothing'}")
        print(f"hooks: {', '.join(hooks) or 'none'}")
        if _takes_part(value):
            print("runs in every step, so it is part of each recording and its replay")
    return 0


def _check(offer: Offer) -> int:
    value = offer.load()
    if not _takes_part(value):
        print(f"{offer.kind} {offer.name} loads; it only observes, so replays do not depend on it.")
        return 0
    from core.logs.session import read_session
    from core.settings import Settings
    from core.timeline.rerun import prove
    from sample_sessions import FIRST, find_sample
    from tui.cli.recordings import one_session

    kind: type[StepExtension] = value
    session, kit = one_session(str(find_sample(FIRST).path), Settings())
    proof = prove(kind, list(read_session(session, kit, Settings().ingest.lines)))
    print_lines(proof.sentences)
    return 0 if proof.sound else 1

"""`nooscope settings`: every setting, as a table, as a file, as JSON."""

from __future__ import annotations

import argparse
import shutil
import textwrap
from typing import TYPE_CHECKING, Any

from tui.cli import options, streams

if TYPE_CHECKING:
    from core.settings.group import Tunable
    from core.settings.layers import Resolved


_WIDEST = 28  # Characters of a value in the table.


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("words", nargs="*", metavar="WORD", help="only settings whose name or sentence has all words")
    parser.add_argument("--changed", action="store_true", help="only settings that differ from the built-in value")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--toml", action="store_true", help="as a settings file to save and edit")
    form.add_argument("--json", action="store_true", help="as JSON")
    options.add_settings_options(parser)


def run(args: argparse.Namespace) -> int:
    from core.settings.layers import tunables, value_of

    resolved = options.settings_from(args)
    if "screen.theme" in resolved.origins:
        _check_theme(resolved.settings.screen.theme)
    chosen = [each for each in tunables().values() if _matches(each, args.words)]
    if args.changed:
        chosen = [each for each in chosen if value_of(resolved.settings, each.name) != each.default]
    if args.json:
        _print_json(chosen, resolved)
    elif args.toml:
        from core.settings.draft import settings_toml

        print(settings_toml(chosen, {each.name: value_of(resolved.settings, each.name) for each in chosen}), end="")
    elif chosen:
        _print_table(chosen, resolved)
    else:
        print("No setting differs from its built-in value." if args.changed else "No setting matches.")
    return 0


def _check_theme(name: str) -> None:
    """Print the available themes if the chosen one does not exist."""
    import themes

    loaded = themes.load(themes.user_theme_folder())
    missing = themes.missing_theme(name, loaded)
    if missing:
        streams.say(*loaded.complaints)
        streams.say(f"screen.theme: {missing}")


def _matches(tunable: Tunable, words: list[str]) -> bool:
    text = f"{tunable.name} {tunable.sentence}".lower()
    return all(word.lower() in text for word in words)


def _print_json(chosen: list[Tunable], resolved: Resolved) -> None:
    from core.report.formatting import readable_json
    from core.settings.layers import BUILT_IN, value_of

    rows = [
        {
            "name": each.name,
            "value": _plain(value_of(resolved.settings, each.name)),
            "default": _plain(each.default),
            "origin": resolved.origins.get(each.name, BUILT_IN),
            "kind": each.kind,
            "low": each.low,
            "high": each.high,
            "step": each.step,
            "unit": each.unit,
            "choices": list(each.choices),
            "class": each.trust.name,
            "project": f"a project {each.trust.sentence_end()}",
            "sentence": each.sentence,
        }
        for each in chosen
    ]
    complaints = [complaint._asdict() for complaint in resolved.complaints]
    print(readable_json({"settings": rows, "complaints": complaints}))


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value


def _print_table(chosen: list[Tunable], resolved: Resolved) -> None:
    """Print one line per setting; on a narrow terminal its sentence is below."""
    from core.report.formatting import plain
    from core.settings.draft import toml_value
    from core.settings.layers import BUILT_IN, value_of

    rows = []
    for each in chosen:
        value = _value_cell(toml_value(_plain(value_of(resolved.settings, each.name))), each.unit)
        origin = plain(resolved.origins.get(each.name, BUILT_IN))
        rows.append((each.name, value, origin, _bounds_words(each), _project(each), each.sentence))
    heads = ("name", "value", "from", "bounds", "a project", "what it does")
    widths = [max(len(row[column]) for row in [heads, *rows]) for column in range(5)]
    room = shutil.get_terminal_size((120, 24)).columns - sum(widths) - 10
    beside = room >= 24
    for row in [heads, *rows]:
        line = "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=False))
        if not beside:
            print(line.rstrip())
            if row is not heads:
                print(textwrap.indent(textwrap.fill(row[5], 76), "    "))
            continue
        first, *rest = textwrap.wrap(row[5], room) or [""]
        print(f"{line}  {first}".rstrip())
        for more in rest:
            print(" " * (sum(widths) + 10) + more)


def _value_cell(text: str, unit: str) -> str:
    text = f"{text} {unit}".rstrip()
    return text if len(text) <= _WIDEST else text[: _WIDEST - 1] + "…"


def _project(tunable: Tunable) -> str:
    """Return what a watched project may do with it, in a few words."""
    if tunable.trust.way == "never":
        return "person only"
    return tunable.trust.sentence_end().removesuffix(" it").replace(" it,", ",")


def _bounds_words(tunable: Tunable) -> str:
    if tunable.low is not None or tunable.high is not None:
        low = "" if tunable.low is None else f"{tunable.low:g}"
        high = "" if tunable.high is None else f"{tunable.high:g}"
        return f"{low} .. {high}".strip()
    return {"switch": "true|false", "choice": "|".join(tunable.choices)}.get(tunable.kind, "")

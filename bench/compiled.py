"""Compile the engine with mypyc from its own source: `python -m bench.compiled FOLDER`.

This file is also the build hook of a wheel: if there is a C compiler, the wheel contains the compiled modules
beside their source; if there is none or compiling fails, it is plain Python. Both give the same bytes.
"""

from __future__ import annotations

import argparse
import ast
import importlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

ROOT = Path(__file__).resolve().parent.parent
ROOMS = ("engine/receptor", "engine/mind", "engine/governor", "engine/affect", "engine/response")
# Of other rooms, what runs for every event.
FILES = {
    "engine": ("state",),
    "engine/society": ("engine", "society"),
    "timeline": ("columns", "keyframes", "marks", "run"),
}
# What stays as it is; readers of logs gained 6 %, and would no longer be as lenient.
AS_WRITTEN = frozenset(
    {
        # values that are read from files: their annotations must stand as they are written
        "engine/affect/policy.py",
        "engine/affect/reading.py",
        "engine/governor/profile.py",
        "engine/mind/episode.py",
        "engine/mind/readings.py",
        "engine/receptor/persona.py",
        "engine/receptor/readings.py",
        "engine/response/outlook.py",
        "engine/response/permits.py",
        "engine/response/reaction.py",
        "engine/response/rules.py",
    }
)

_SLOW_FLOATS = "-ffp-contract=off"  # Round after every operation, as Python does.


def modules(core: Path) -> list[str]:
    """The files that are compiled, below core's folder."""
    found = [path for room in ROOMS for path in sorted((core / room).rglob("*.py"))]
    names = [f"{room}/{name}.py".lstrip("/") for room, files in FILES.items() for name in files]
    names += (path.relative_to(core).as_posix() for path in found if path.name != "__init__.py")
    return [name for name in names if name not in AS_WRITTEN]


def compile_into(folder: Path) -> None:
    """Copy core into a folder and put its compiled modules beside their source there."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(ROOT / "core", folder / "core", ignore=shutil.ignore_patterns("__pycache__"))
    os.chdir(folder)
    paths = [f"core/{name}" for name in modules(Path("core"))]
    for path in paths:
        write_methods(Path(path), paths)
    from mypyc.build import mypycify
    from setuptools import Distribution  # type: ignore[import-untyped]
    from setuptools.command.build_ext import build_ext  # type: ignore[import-untyped]

    class InParallel(build_ext):  # type: ignore[misc]
        """Compiles as many files at once as there are cores."""

        def build_extensions(self) -> None:
            compiler: Any = self.compiler
            compiler.compile = lambda sources, **given: _compile(compiler, sources, **given)
            super().build_extensions()

    checked = ["--config-file=", f"--cache-dir={ROOT / '.mypy_cache' / 'compiled'}"]
    checked += [f"--disable-error-code={code}" for code in ("assignment", "func-returns-value")]
    options: Any = {"opt_level": "2", "debug_level": "0", "multi_file": True, "group_name": "nooscope"}
    extensions = mypycify([*checked, *paths], **options)
    for extension in extensions:
        extension.extra_compile_args += [_SLOW_FLOATS, "-g0"]
    command = InParallel(Distribution({"name": "nooscope-compiled", "ext_modules": extensions}))
    command.inplace = True
    command.ensure_finalized()
    command.run()
    shutil.rmtree("build", ignore_errors=True)


_STATE_FUNCTIONS = {
    "def dump(self):": ("def dump(self) -> Any:", "return super().dump()"),
    "def load(self, state):": ("def load(self, state: Any) -> None:", "return super().load(state)"),
}
_OTHER_KIND = "    if type(self) is not {}:\n        {}"  # A class below it, of an extension say, may keep more.


_CONSTANT = "_?[A-Z][A-Z0-9_]*"


def make_final(module: Any, lines: list[str], paths: Sequence[str]) -> list[str]:
    """Make constants final, and give classes that are not compiled final names in functions.

    Compiled code looks any other global up by its name, each time. Returns what names the module's own classes.
    """
    for place, line in enumerate(lines):
        if not (match := re.match(rf"((?:{_CONSTANT}, )*)({_CONSTANT})(?:: ([^=]+))? = ", line)):
            lines[place] = re.sub(r"^(_\w+) = tuple\.__new__", r"\1: _Final = tuple.__new__", line)
            continue
        names = [*match[1].split(", ")[:-1], match[2]]
        values = [getattr(module, name) for name in names]
        if len(names) > 1 and all(isinstance(value, int) for value in values):
            pairs = zip(names, values, strict=True)
            lines[place] = "; ".join([f"{name}: _Final = {value}" for name, value in pairs])
        elif len(names) == 1 and not _is_vector(values[0]):
            kind = f"_Final[{match[3]}]" if match[3] else "_Final"
            lines[place] = f"{match[2]}: {kind} = {line[match.end() :]}"
    tree = ast.parse("\n".join(lines))
    classes = {name: value for name, value in vars(module).items() if isinstance(value, type)}
    final = {
        name: f"_final_{name}: _Final = {name}"
        for name, value in classes.items()
        if value.__module__ != "builtins"
        and (issubclass(value, tuple) or f"{value.__module__.replace('.', '/')}.py" not in paths)
    }
    used: set[tuple[int, int, str]] = set()
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef):
            skipped = {id(one) for node in ast.walk(function) for one in _not_values(node)}
            used |= {
                (node.lineno - 1, node.col_offset, node.id)
                for statement in function.body
                for node in ast.walk(statement)
                if isinstance(node, ast.Name) and node.id in final and id(node) not in skipped
            }
    for place, column, _ in sorted(used, reverse=True):
        data = lines[place].encode()
        lines[place] = (data[:column] + b"_final_" + data[column:]).decode()
    names = sorted({name for _, _, name in used})
    own = [name for name in names if classes[name].__module__ == module.__name__]
    imports = max(node.end_lineno or 0 for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom))
    lines.insert(imports, "; ".join([final[name] for name in names if name not in own]))
    return [final[name] for name in own]


def _is_vector(value: object) -> bool:
    """Whether a constant is a tuple of floats, which compiled code never sees as set."""
    return type(value) is tuple and {*map(type, value)} == {float}


def _not_values(node: ast.AST) -> Iterator[ast.AST]:
    """The parts of annotations and patterns."""
    for name in ("annotation", "returns", "cls"):
        part = getattr(node, name, None)
        if isinstance(part, ast.AST):
            yield from ast.walk(part)


def write_methods(path: Path, paths: Sequence[str] = ()) -> None:
    """Write each mechanism's dump and load into its class, which else makes them as it runs."""
    from core.engine.state import Stateful, needed_names, state_functions

    module = importlib.import_module(".".join(path.with_suffix("").parts))
    before = path.read_text().split("\n")
    lines = [*before]
    last = make_final(module, lines, paths)
    for node in reversed(ast.parse("\n".join(lines)).body):
        kind = getattr(module, node.name) if isinstance(node, ast.ClassDef) else None
        if kind is None or kind is Stateful:
            continue
        added = ""
        if issubclass(kind, Stateful) and "STATE" in vars(kind):
            own = [text for text in state_functions(kind) if text.split("(")[0].split()[1] not in vars(kind)]
            names = f"_names_{kind.__name__}"
            added = "\n\n".join(own)
            for signature, (typed, call) in _STATE_FUNCTIONS.items():
                other = _OTHER_KIND.format(kind.__name__, call)
                added = added.replace(signature, f"{typed}\n{other}")
            for name in needed_names(kind):
                added = re.sub(rf"\b{name}\b", f'{names}["{name}"]', added)
            last.append(f"{names} = _needed_names({kind.__name__})")
        lines[node.end_lineno : node.end_lineno] = ["", *(f"    {line}" for line in added.split("\n"))]
    if lines != before:
        start = lines.index("from __future__ import annotations") + 1
        if any("_needed_names" in line for line in last):
            lines.insert(start, "from core.engine.state import needed_names as _needed_names")
        lines.insert(start, "from typing import Any, Final as _Final")
        path.write_text("\n".join([*lines, *last, ""]))


def _compile(compiler: Any, sources: list[str], **given: Any) -> list[str]:
    ordered = ("output_dir", "macros", "include_dirs")
    output, macros, include = (given.get(name) for name in ordered)
    setup = compiler._setup_compile(output, macros, include, sources, given.get("depends"), given.get("extra_postargs"))
    _, objects, last, options, build = setup
    first = compiler._get_cc_args(options, given.get("debug"), given.get("extra_preargs"))

    def one(target: str) -> None:
        source, ending = build[target]
        compiler._compile(target, source, ending, first, last, options)

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(one, [target for target in objects if target in build]))
    return list(objects)


class CompiledHook(BuildHookInterface[Any]):
    """Adds the compiled modules to a wheel."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile in a temporary folder; if that fails the wheel is plain Python."""
        self._folder = tempfile.mkdtemp()
        if version == "editable":
            return
        if shutil.which("cc") is None:
            self.app.display_warning("There is no C compiler (cc); the engine will run as plain Python.")
            return
        words = [sys.executable, "-m", "bench.compiled", self._folder]
        places = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
        done = subprocess.run(words, cwd=ROOT, env=os.environ | {"PYTHONPATH": places}, check=False)
        if done.returncode:
            self.app.display_warning("The engine could not be compiled; it will run as plain Python.")
            return
        build_data.update(pure_python=False, infer_tag=True)
        for path in Path(self._folder).rglob("*.so"):
            build_data["force_include"][str(path)] = path.relative_to(self._folder).as_posix()

    def finalize(self, *_: object) -> None:
        """Delete the temporary folder."""
        shutil.rmtree(self._folder, ignore_errors=True)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.compiled", description=__doc__)
    parser.add_argument("folder", type=Path, help="where core is copied to and compiled")
    folder = parser.parse_args().folder.resolve()
    began = time.monotonic()
    compile_into(folder)
    print(f"Compiled {len(modules(ROOT / 'core'))} modules in {time.monotonic() - began:.0f} s.")


if __name__ == "__main__":
    main()

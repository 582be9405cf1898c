"""What test runners print."""

from __future__ import annotations

from collections.abc import Callable

from sample_sessions.stage.dice import Dice

Failures = tuple[str, ...]  # For each failing test its name and, after a bar, what went wrong: `name | why`.


def report(command: str, passed: int, failures: Failures, seconds: float, dice: Dice) -> str:
    """The output of a test command."""
    for word, make in _RUNNERS.items():
        if word in command:
            return make(passed, [_split(failure) for failure in failures], seconds, dice)
    return _plain(passed, [_split(failure) for failure in failures], seconds, dice)


def _split(failure: str) -> tuple[str, str]:
    name, _, why = failure.partition("|")
    return name.strip(), why.strip()


def _pytest(passed: int, failures: list[tuple[str, str]], seconds: float, dice: Dice) -> str:
    dots = "." * passed + "F" * len(failures)
    lines = ["=" * 30 + " test session starts " + "=" * 29, f"collected {len(dots)} items", ""]
    lines += [
        f"{dots[at : at + 60]:<60} [{min(100, (at + 60) * 100 // len(dots)):>3}%]" for at in range(0, len(dots), 60)
    ]
    for name, why in failures:
        lines += [
            "",
            f"____ {name} ____",
            "",
            "    def " + name.rpartition("::")[2] + "():",
            f">       {why}",
            f"E       {why}",
            "",
            f"{name.partition('::')[0]}:{20 + dice.below(200)}: AssertionError",
        ]
    lines += ["=" * 27 + " short test summary info " + "=" * 28] if failures else []
    lines += [f"FAILED {name} - {why}" for name, why in failures]
    count = f"{len(failures)} failed, {passed} passed" if failures else f"{passed} passed"
    return "\n".join([*lines, f"==== {count} in {seconds:.2f}s ===="])


def _vitest(passed: int, failures: list[tuple[str, str]], seconds: float, dice: Dice) -> str:
    lines = ["", " RUN  v3.0.7", ""]
    for name, why in failures:
        lines += [
            f" FAIL  {name}",
            f"AssertionError: {why}",
            f" ❯ {name.partition(' >')[0]}:{10 + dice.below(160)}:{5 + dice.below(30)}",
            "",
        ]
    lines.append(
        f" Test Files  {1 if failures else 0} failed | {3 + dice.below(9)} passed"
        if failures
        else f" Test Files  {4 + dice.below(9)} passed"
    )
    lines.append(
        f"      Tests  {len(failures)} failed | {passed} passed" if failures else f"      Tests  {passed} passed"
    )
    return "\n".join([*lines, f"   Duration  {seconds:.2f}s"])


def _go(passed: int, failures: list[tuple[str, str]], seconds: float, dice: Dice) -> str:
    lines = [
        f"ok  \t./pkg/{part}\t{0.1 + dice.below(900) / 1000:.3f}s"
        for part in ("api", "store", "wire")[: 1 + passed % 3]
    ]
    for name, why in failures:
        lines += [f"--- FAIL: {name} (0.0{dice.below(9)}s)", f"    {why}"]
    if failures:
        lines += ["FAIL", f"FAIL\t./pkg\t{seconds:.3f}s", "FAIL"]
    return "\n".join(lines)


def _cargo(passed: int, failures: list[tuple[str, str]], seconds: float, dice: Dice) -> str:
    lines = [
        f"    Finished `test` profile in {seconds / 2:.2f}s",
        f"running {passed + len(failures)} tests",
        "." * min(passed, 80),
    ]
    for name, why in failures:
        lines += [
            f"---- {name} stdout ----",
            f"thread '{name}' panicked at src/lib.rs:{40 + dice.below(400)}:9:",
            why,
            "",
        ]
    verdict = "FAILED" if failures else "ok"
    return "\n".join(
        [*lines, f"test result: {verdict}. {passed} passed; {len(failures)} failed; in {seconds / 2:.2f}s"]
    )


def _plain(passed: int, failures: list[tuple[str, str]], seconds: float, dice: Dice) -> str:
    lines = [f"not ok {10 + dice.below(80)} {name}: {why}" for name, why in failures]
    return "\n".join([*lines, f"{passed} passed, {len(failures)} failed ({seconds:.1f}s)"])


_RUNNERS: dict[str, Callable[[int, list[tuple[str, str]], float, Dice], str]] = {
    "pytest": _pytest,
    "vitest": _vitest,
    "go test": _go,
    "cargo test": _cargo,
}

"""The inputs of a session's run: those of the time it was first watched, or else today's."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import cbor2
from blake3 import blake3
from msgspec import convert, to_builtins

from core.engine.affect.reading import Neighbour
from core.errors import NooscopeError, StoreError
from core.extension.registry import step_makers
from core.settings import Settings
from core.settings.layers import Given, Layer, every_value, own_values, resolve
from core.store.carry_over import CarryOverStore, KeptStart
from core.store.profiles import is_model_setting
from core.timeline.initial_state import PLAIN, InitialState
from core.timeline.opening import seed_of
from core.timeline.rerun import with_edits
from core.timeline.timeline import SettingsChange

VERSION = 1  # The version of a blob; a higher one was made by a newer nooscope.


class RunInputs(NamedTuple):
    """Everything a session's run depends on beside its events."""

    settings: Settings
    initial: InitialState = PLAIN
    later: tuple[SettingsChange, ...] = ()  # Settings that were applied while it was watched, each at its place.

    @property
    def last(self) -> Settings:
        """The settings in force once all of it has been read."""
        return self.later[-1].settings if self.later else self.settings


def modelled(settings: Settings) -> dict[str, Any]:
    """Every setting that a run depends on, as plain values."""
    return {name: to_builtins(value) for name, value in every_value(settings).items() if is_model_setting(name)}


def pack_start(settings: Settings, initial: InitialState) -> bytes:
    """Return the start of a session as canonical bytes."""
    content = {**initial.content(), "version": VERSION, "settings": modelled(settings)}
    return cbor2.dumps(content, canonical=True)


def pack_change(change: SettingsChange) -> bytes:
    """Return a later change as canonical bytes."""
    content = {"version": VERSION, "settings": modelled(change.settings)}
    if change.news:
        content["heard"] = to_builtins(change.reports)
        content["changed"] = to_builtins(change.changed)
    return cbor2.dumps(content, canonical=True)


def unpack_inputs(stored: KeptStart, today: Settings) -> RunInputs:
    """Return the inputs of a session; settings that a run does not depend on are today's."""
    content = _content(stored.start)
    try:
        initial = InitialState.from_content(content)
        changes = [(after, _content(body)) for after, body in stored.later]
        later = tuple(
            SettingsChange(
                after,
                _as_given(today, values["settings"]),
                convert(values.get("heard", ()), tuple[Neighbour, ...]),
                convert(values.get("changed", ()), tuple[tuple[str, float], ...]),
            )
            for after, values in changes
        )
        return RunInputs(_as_given(today, content["settings"]), initial, later)
    except (LookupError, TypeError, ValueError) as error:
        raise StoreError(f"its stored start cannot be read ({error})") from error


def _content(body: bytes) -> dict[str, Any]:
    try:
        content = cbor2.loads(body)
        version = content["version"]
    except (cbor2.CBORDecodeError, LookupError, TypeError, ValueError) as error:
        raise StoreError(f"its stored start cannot be read ({error})") from error
    if version != VERSION:
        raise StoreError(f"its stored start has version {version}, this nooscope knows {VERSION}")
    values: dict[str, Any] = content
    return values


def _as_given(today: Settings, values: Mapping[str, Any]) -> Settings:
    """Return today's settings, with the ones a run depends on as they were then."""
    usual = modelled(Settings())
    changed = {name: value for name, value in values.items() if name in usual and value != usual[name]}
    layers = [
        Layer("today", tuple(given for given in own_values(today) if given.name not in usual)),
        Layer("as first watched", tuple(Given(name, value) for name, value in changed.items())),
    ]
    resolved = resolve(layers)
    if resolved.complaints:
        raise ValueError(str(resolved.complaints[0]))
    return today if resolved.settings == today else resolved.settings


class Fingerprints:
    """Names run inputs by their content; what several share is looked at once."""

    def __init__(self) -> None:
        self._known: dict[tuple[int, ...], tuple[str, RunInputs]] = {}

    def of(self, inputs: RunInputs) -> str:
        """Return a name that is equal for equal settings, initial state and later changes, without the
        seed."""
        settings, initial, later = inputs
        key = tuple(map(id, (settings, *initial[1:], *later)))
        entry = self._known.get(key)
        if entry is None:
            name = blake3(pack_start(settings, initial._replace(seed=0)))
            for each in later:
                name.update(pack_change(each))
            entry = self._known[key] = name.hexdigest(length=16), inputs
        places = "".join(f" {each.after}" for each in later)
        return f"{entry[0]} {initial.seed}{places}"


class InitialStates:
    """Finds what each session starts from; without a store every one starts as things are today."""

    def __init__(
        self,
        settings: Settings,
        initial: InitialState = PLAIN,
        *,
        edits: Mapping[str, Any] | None = None,
        store: CarryOverStore | None = None,
    ) -> None:
        self.settings = settings
        self.initial = initial
        self.edits = dict(edits or {})  # Edits of the person for this run; they apply throughout.
        self.notices: list[str] = []
        self.spoke = False  # Whether there was anything to say of what a session or all of them start from.
        self._store = store

    def of(self, session: str) -> RunInputs:
        """Return the inputs for a replay: those of the first watching, with this run's edits."""
        inputs = self._read(session)
        if inputs is None:
            return RunInputs(self.settings, self.initial._replace(seed=seed_of(session)))
        self._compare(inputs.last)
        inputs = self._with_extensions(inputs)
        if not self.edits:
            return inputs
        later = tuple(each._replace(settings=with_edits(each.settings, self.edits)) for each in inputs.later)
        return RunInputs(with_edits(inputs.settings, self.edits), inputs.initial, later)

    def begin(self, session: str, make: Callable[[], InitialState]) -> RunInputs:
        """Return the inputs for a live run: those of the first watching, or else those of `make`, which are stored."""
        inputs = self._read(session, aside=True)
        if inputs is not None and not self._declined(inputs):
            return self._with_extensions(inputs)
        start = RunInputs(self.settings, make()._replace(seed=seed_of(session)))
        if self._store is None or inputs is not None:
            self._store = None
            return start
        try:
            written = self._store.begin(session, pack_start(*start[:2]))
            return unpack_inputs(written, self.settings)
        except NooscopeError as error:
            self.notices.append(str(error))
            return start

    def _with_extensions(self, inputs: RunInputs) -> RunInputs:
        """Drop extensions that are gone or have changed, with a notice."""
        refs = inputs.initial.extensions
        if not refs:
            return inputs
        _, missing = step_makers(refs)
        if not missing:
            return inputs
        names = ", ".join(f"{ref.name} {ref.version}" for ref in missing)
        self.notices.append(
            f"the session was watched with {names}, which is no longer installed in that form; it runs without them"
        )
        left = tuple(ref for ref in refs if ref not in missing)
        return inputs._replace(initial=inputs.initial._replace(extensions=left))

    def _declined(self, inputs: RunInputs) -> bool:
        """Whether the person wants nothing of earlier sessions now, though it was given something then."""
        prior = self.settings.response.prior.enabled
        return inputs.settings.response.prior.enabled and not prior

    def changed(self, session: str, change: SettingsChange) -> None:
        """Store a change of a session's settings while it is watched."""
        if self._store is None:
            return
        try:
            self._store.change(session, change.after, pack_change(change))
        except NooscopeError as error:
            self.notices.append(str(error))

    def _read(self, session: str, *, aside: bool = False) -> RunInputs | None:
        if self._store is None:
            return None
        try:
            stored = self._store.read(session)
            return None if stored is None else unpack_inputs(stored, self.settings)
        except NooscopeError as error:
            what = "it starts without it" if aside else "it is replayed without"
            self.notices.append(f"the session's stored start is lost: {error}; {what}")
        if aside:
            try:
                self._store.set_aside(session)
            except NooscopeError as error:
                self.notices.append(str(error))
        return None

    def _compare(self, then_settings: Settings) -> None:
        """Add a notice if a replay does not use today's settings."""
        today, then = modelled(self.settings), modelled(then_settings)
        other = [name for name in today if today[name] != then[name] and name not in self.edits]
        if other:
            more = f" and {len(other) - 1} more" if len(other) > 1 else ""
            self.notices.append(
                f"the session runs with the settings it was first watched with; today's {other[0]}{more} "
                "would differ (--plain uses today's settings)"
            )

"""Priors of earlier sessions, and personas: anonymous statistics of how an agent works."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import isfinite, log2, sqrt
from typing import Literal, TypeVar, get_args

import msgspec
from blake3 import blake3
from msgspec import Struct, field

from core.engine.percept import AGENT_STATES, AXES, PATTERNS, AgentState, Axis, Pattern
from core.events import ACTIONS, Action
from core.settings.response import PersonaSettings, PriorSettings

Name = TypeVar("Name", bound=str)

_DAY = 86_400.0


class AmbientPrior(Struct, frozen=True, rename="camel"):
    """Usual baselines and thresholds of the axes."""

    baseline_emotion: dict[Axis, float] = field(default_factory=dict)
    adapted_thresholds: dict[Axis, float] = field(default_factory=dict)


class Prior(Struct, frozen=True, rename="camel"):
    """Body memory across sessions; its names are those of its file."""

    ts: float  # Event time of the newest session's last event.
    session_count: int
    ambient: AmbientPrior
    pattern_distribution: dict[Pattern, float]
    action_signature: dict[Action, float]


def distribution(counts: Mapping[Name, int], names: tuple[Name, ...]) -> dict[Name, float]:
    """Return counts as shares of their sum; empty if the sum is 0."""
    total = sum(counts.get(name, 0) for name in names)
    return {name: counts.get(name, 0) / total for name in names} if total else {}


def session_prior(
    ts: float,
    baseline: Mapping[Axis, float],
    thresholds: Mapping[Axis, float],
    patterns: Mapping[Pattern, int],
    actions: Mapping[Action, int],
) -> Prior:
    """Return the prior of one session alone."""
    return Prior(
        ts=ts,
        session_count=1,
        ambient=AmbientPrior(dict(baseline), dict(thresholds)),
        pattern_distribution=distribution(patterns, PATTERNS),
        action_signature=distribution(actions, ACTIONS),
    )


def blend_prior(old: Prior | None, session: Prior, settings: PriorSettings) -> Prior:
    """Return the prior after one more session; the first session is not blended."""
    if old is None:
        return session
    weight = settings.blend
    return Prior(
        ts=max(old.ts, session.ts),
        session_count=old.session_count + session.session_count,
        ambient=AmbientPrior(
            mix_values(old.ambient.baseline_emotion, session.ambient.baseline_emotion, weight, AXES),
            mix_values(old.ambient.adapted_thresholds, session.ambient.adapted_thresholds, weight, AXES),
        ),
        pattern_distribution=mix_values(old.pattern_distribution, session.pattern_distribution, weight, PATTERNS),
        action_signature=mix_values(old.action_signature, session.action_signature, weight, ACTIONS),
    )


def mix_values(
    old: Mapping[Name, float], new: Mapping[Name, float], weight: float, names: tuple[Name, ...]
) -> dict[Name, float]:
    """Return both by weight; a value that only one has is kept."""
    if not new:
        return dict(old)
    if not old:
        return dict(new)
    return {
        name: (1.0 - weight) * old.get(name, 0.0) + weight * new.get(name, 0.0)
        for name in names
        if name in old or name in new
    }


def usable(prior: Prior, at: float, settings: PriorSettings) -> bool:
    """Whether a prior is from before a session that begins at `at`, and near enough in time.

    A later one may hold the session itself, which would begin otherwise each time it is watched.
    """
    return settings.enabled and 0.0 <= at - prior.ts <= settings.age * _DAY


def seeds(prior: Prior) -> dict[Axis, float]:
    """Return the baselines an ambient estimator starts with."""
    return {
        axis: min(max(prior.ambient.baseline_emotion[axis], 0.0), 1.0)
        for axis in AXES
        if axis in prior.ambient.baseline_emotion
    }


Family = Literal["claude", "gpt", "gemini", "llama", "qwen", "deepseek", "mistral", "grok", "other"]
FAMILIES: tuple[Family, ...] = get_args(Family)

Technology = Literal[
    "python", "javascript", "typescript", "rust", "go", "java", "kotlin", "c", "cpp", "csharp", "ruby", "php",
    "swift", "scala", "elixir", "haskell", "lua", "shell", "sql", "html", "css", "vue", "svelte", "docker",
    "terraform", "yaml", "json", "toml", "markdown", "notebook",
]  # fmt: skip
Domain = Literal["frontend", "backend", "systems", "data", "infrastructure", "documentation", "testing"]

_KINDS: dict[str, tuple[Technology, Domain]] = {
    "py": ("python", "backend"), "js": ("javascript", "frontend"), "mjs": ("javascript", "frontend"),
    "jsx": ("javascript", "frontend"), "ts": ("typescript", "frontend"), "tsx": ("typescript", "frontend"),
    "rs": ("rust", "systems"), "go": ("go", "backend"), "java": ("java", "backend"),
    "kt": ("kotlin", "backend"), "c": ("c", "systems"), "h": ("c", "systems"), "cc": ("cpp", "systems"),
    "cpp": ("cpp", "systems"), "hpp": ("cpp", "systems"), "cs": ("csharp", "backend"),
    "rb": ("ruby", "backend"), "php": ("php", "backend"), "swift": ("swift", "frontend"),
    "scala": ("scala", "data"), "ex": ("elixir", "backend"), "exs": ("elixir", "backend"),
    "hs": ("haskell", "backend"), "lua": ("lua", "systems"), "sh": ("shell", "infrastructure"),
    "bash": ("shell", "infrastructure"), "sql": ("sql", "data"), "html": ("html", "frontend"),
    "css": ("css", "frontend"), "scss": ("css", "frontend"), "vue": ("vue", "frontend"),
    "svelte": ("svelte", "frontend"), "dockerfile": ("docker", "infrastructure"),
    "tf": ("terraform", "infrastructure"), "yml": ("yaml", "infrastructure"),
    "yaml": ("yaml", "infrastructure"), "json": ("json", "data"), "toml": ("toml", "infrastructure"),
    "md": ("markdown", "documentation"), "rst": ("markdown", "documentation"),
    "ipynb": ("notebook", "data"),
}  # fmt: skip
Tag = TypeVar("Tag", bound=str)

_TECHNOLOGIES = 5
_DOMAINS = 3
_PLACES = 3
_MOST = 1_000_000.0


class Origin(Struct, frozen=True, forbid_unknown_fields=True):
    """Where a persona comes from, as far as that may be shown."""

    model: Family
    profile: str  # Hash of the statistics themselves.
    sessions: int


class EmotionProfile(Struct, frozen=True, forbid_unknown_fields=True):
    """How it usually felt."""

    mean: dict[Axis, float]
    dominant: Axis


class WorkContext(Struct, frozen=True, forbid_unknown_fields=True):
    """The kind of work, in words of a closed list."""

    technologies: tuple[Technology, ...]
    domains: tuple[Domain, ...]


class SessionMeta(Struct, frozen=True, forbid_unknown_fields=True):
    """How much data the persona rests on."""

    elapsed: float  # Minutes.
    snapshots: int
    mean_confidence: float
    emotion_variance: float
    entropy: float  # Of the actions, in bits.


class Persona(Struct, frozen=True, forbid_unknown_fields=True):
    """A behavioural fingerprint that identifies no one.

    Every word of a persona comes from a closed list and every number is clamped and rounded, so that it cannot
    contain a path, a name or a text.
    """

    origin: Origin
    emotion: EmotionProfile
    field_adjustment: dict[Axis, float]
    learned_delta: dict[Axis, float]
    patterns: dict[Pattern, float]
    states: dict[AgentState, float]
    actions: dict[Action, float]
    context: WorkContext
    session: SessionMeta


class Encounter(Struct, frozen=True):
    """The persona that was met, and the seed that repeats the meeting."""

    profile: str
    seed: int
    likeness: float
    blend: float
    met: int  # Number of personas to choose from.


def model_family(model: str) -> Family:
    """Return the product line of a model; the name of a private model could identify its owner."""
    lowered = model.lower()
    for word, line in (("o1", "gpt"), ("o3", "gpt"), ("o4", "gpt"), ("codex", "gpt"), ("gemma", "gemini")):
        if lowered.startswith(word):
            return line  # type: ignore[return-value]
    return next((line for line in FAMILIES if line in lowered), "other")


def work_context(visits: Iterable[tuple[str, int]]) -> WorkContext:
    """Return tags from the extensions of visited paths; unlisted extensions are ignored."""
    technologies: dict[Technology, int] = {}
    domains: dict[Domain, int] = {}
    for path, count in visits:
        name = path.rsplit("/", 1)[-1].lower()
        kind = _KINDS.get(name.rsplit(".", 1)[-1])
        if kind is None:
            continue
        technology, domain = kind
        if name.startswith("test_") or "/tests/" in f"/{path}":
            domain = "testing"
        technologies[technology] = technologies.get(technology, 0) + count
        domains[domain] = domains.get(domain, 0) + count
    return WorkContext(_most(technologies, _TECHNOLOGIES), _most(domains, _DOMAINS))


def _most(counts: Mapping[Tag, int], size: int) -> tuple[Tag, ...]:
    return tuple(sorted(counts, key=lambda tag: (-counts[tag], tag))[:size])


def entropy(shares: Iterable[float]) -> float:
    """Return the entropy of a distribution in bits."""
    return -sum(share * log2(share) for share in shares if share > 0.0)


def make_persona(
    *,
    model: str,
    sessions: int,
    mean: Mapping[Axis, float],
    variance: float,
    snapshots: int,
    seconds: float,
    field_adjustment: Mapping[Axis, float],
    learned_delta: Mapping[Axis, float],
    patterns: Mapping[Pattern, float],
    states: Mapping[AgentState, float],
    actions: Mapping[Action, float],
    context: WorkContext,
    settings: PersonaSettings,
) -> Persona | None:
    """Return a persona, or None if the session has too little data."""
    if snapshots < settings.snapshots or mean.get("confidence", 0.0) < settings.confidence or not any(actions.values()):
        return None
    means = {axis: _unit(mean.get(axis, 0.0)) for axis in AXES}
    persona = Persona(
        origin=Origin(model_family(model), "", min(max(0, sessions), int(_MOST))),
        emotion=EmotionProfile(means, max(AXES, key=lambda axis: means[axis])),
        field_adjustment={axis: _signed_share(field_adjustment[axis]) for axis in AXES if axis in field_adjustment},
        learned_delta={axis: _signed_share(learned_delta[axis]) for axis in AXES if axis in learned_delta},
        patterns={name: _unit(patterns[name]) for name in PATTERNS if name in patterns},
        states={name: _unit(states[name]) for name in AGENT_STATES if name in states},
        actions={name: _unit(actions[name]) for name in ACTIONS if name in actions},
        context=context,
        session=SessionMeta(
            elapsed=float(min(_MOST, max(0.0, seconds // 60.0))),
            snapshots=min(snapshots, int(_MOST)),
            mean_confidence=means["confidence"],
            emotion_variance=round(min(max(variance, 0.0), float(len(AXES))), _PLACES),
            entropy=round(entropy(actions.values()), _PLACES),
        ),
    )
    return _with_profile_hash(persona)


def _with_profile_hash(persona: Persona) -> Persona:
    unnamed = msgspec.structs.replace(persona.origin, profile="", sessions=0)
    body = msgspec.json.encode(msgspec.structs.replace(persona, origin=unnamed), order="sorted")
    profile = blake3(body).hexdigest(length=16)
    return msgspec.structs.replace(persona, origin=msgspec.structs.replace(persona.origin, profile=profile))


def genuine(persona: Persona) -> bool:
    """Whether a persona read from a folder is one we could have made: its profile is that of its figures."""
    numbers = [
        *persona.emotion.mean.values(),
        *persona.actions.values(),
        *persona.patterns.values(),
        *persona.states.values(),
    ]
    if not all(isfinite(number) and 0.0 <= number <= 1.0 for number in numbers):
        return False
    tags = persona.context
    few = len(tags.technologies) <= _TECHNOLOGIES and len(tags.domains) <= _DOMAINS
    return few and _with_profile_hash(persona).origin.profile == persona.origin.profile


def likeness(one: Mapping[Action, float], other: Mapping[Action, float]) -> float:
    """Return the cosine of two action signatures; 0 if either is empty."""
    shared = sum(one.get(name, 0.0) * other.get(name, 0.0) for name in ACTIONS)
    lengths = sqrt(sum(value * value for value in one.values()) * sum(value * value for value in other.values()))
    return min(1.0, shared / lengths) if lengths > 0.0 else 0.0


def blend_of(alike: float, settings: PersonaSettings) -> float:
    """Return the share of a persona that is blended in at this likeness."""
    if alike > settings.near:
        return settings.kin
    return settings.cousin if alike >= settings.far else 0.0


def encounter(
    personas: Sequence[Persona], signature: Mapping[Action, float], seed: int, settings: PersonaSettings
) -> tuple[Encounter, Persona] | None:
    """Perhaps meet one of the personas: each by chance, drawn from the seed, and of those the most alike."""
    candidates = [persona for persona in personas if _draw(seed, persona.origin.profile) < settings.chance]
    if not candidates:
        return None
    ranked = sorted(
        ((likeness(signature, persona.actions), persona) for persona in candidates),
        key=lambda pair: (-pair[0], pair[1].origin.profile),
    )
    alike, persona = ranked[0]
    blend = blend_of(alike, settings)
    return Encounter(persona.origin.profile, seed, alike, blend, len(personas)), persona


def take_over(own: Mapping[Axis, float], persona: Persona, blend: float) -> dict[Axis, float]:
    """Return our baselines, blended with a persona's."""
    mean = persona.emotion.mean
    return {
        axis: (1.0 - blend) * own.get(axis, 0.0) + blend * mean.get(axis, 0.0)
        for axis in AXES
        if axis in own or axis in mean
    }


def _draw(seed: int, profile: str) -> float:
    digest = blake3(f"{seed}\n{profile}".encode()).digest(length=7)
    return (int.from_bytes(digest, "big") >> 3) / float(1 << 53)


def _unit(value: float) -> float:
    return round(min(max(value, 0.0), 1.0), _PLACES) if isfinite(value) else 0.0


def _signed_share(value: float) -> float:
    return round(min(max(value, -1.0), 1.0), _PLACES) if isfinite(value) else 0.0

"""Permits: three tiers of calls, and permits that only the safety module here can make."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase
from hmac import compare_digest
from typing import Literal, NamedTuple, NoReturn

import msgspec
from blake3 import blake3

from core.errors import PermitRefused
from core.settings.group import canonical
from core.settings.response import GuardSettings

# Needs nothing, needs a permit, needs a permit that the person approved.
CallTier = Literal["read", "write", "privileged"]


class Asked(NamedTuple):
    """A call an agent is about to make."""

    session: str
    tool: str
    arguments: bytes  # In one canonical form.
    command: str = ""
    targets: tuple[str, ...] = ()
    tier: CallTier = "write"  # By what it does.
    why: str = "it may write"
    # It concerns the guard itself: an approval covers this one call and never the rest of the session.
    own: bool = False
    kind: str = ""  # What an approval for the session covers beside it; blank for this very call alone.

    @property
    def hash(self) -> str:
        """Stands for the arguments."""
        return blake3(self.arguments).hexdigest(16)


class Standing(NamedTuple):
    """The governor's and the budget's view of the session; affect is not included."""

    halt: str = ""  # Why the governor halted; blank where it did not.
    fuse: bool = False  # It did so for the number of steps alone.
    budget: float = 1.0  # Share of the budget left.
    trust: float = 0.0  # Trust a call needs now, as what is left of the means makes it; higher is tighter.


class Decision(NamedTuple):
    """The decision on a call."""

    verdict: Literal["pass", "permit", "person", "deny"]
    tier: CallTier
    reason: str


class PermitPolicy:
    """The decision for each tier of calls, from the person's settings.

    Affect is not an input: nothing in here knows of it.
    """

    def __init__(self, settings: GuardSettings) -> None:
        self._settings = settings
        self.hash = blake3(canonical(settings)).hexdigest(16)

    def tier(self, call: Asked) -> tuple[CallTier, str]:
        """The tier of a call, and why; the person's own lists of tools come first, but open no guard."""
        settings = self._settings
        if call.own:
            return "privileged", call.why
        if _fits(call.tool, settings.privileged):
            return "privileged", f"{call.tool} is listed as privileged"
        if call.tier == "privileged":
            return call.tier, call.why
        if _fits(call.tool, settings.write):
            return "write", f"{call.tool} is listed as writing"
        if _fits(call.tool, settings.read):
            return "read", f"{call.tool} is listed as reading"
        return call.tier, call.why

    def decide(self, call: Asked, standing: Standing) -> Decision:
        """Decide on a call, given the governor and the budget."""
        tier, why = self.tier(call)
        if tier == "read":
            return Decision("pass", tier, why)
        if standing.halt and (self._settings.steps or not standing.fuse):
            return Decision(
                "deny", tier, f"the governor halted ({standing.halt}): only reads are allowed until the next prompt"
            )
        if tier == "privileged":
            return Decision("person", tier, why)
        if standing.budget <= self._settings.budget:
            return Decision("person", tier, f"{100 * standing.budget:.0f}% of the budget is left")
        if standing.trust >= self._settings.tool_trust:
            return Decision("person", tier, f"a call now needs a trust of {standing.trust:.2f}")
        return Decision("permit", tier, why)


def _fits(name: str, patterns: Sequence[str]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)


class Bound(NamedTuple):
    """The call a permit is bound to."""

    session: str
    tool: str
    arguments: str
    policy: str


_MINT = object()


class Permit:
    """One use of one tool with one set of arguments; only `Safety` can make one, and it cannot be copied."""

    def __init__(self, mint: object, number: int, bound: Bound, expires: float, seal: bytes) -> None:
        if mint is not _MINT:
            raise PermitRefused("only the safety module makes permits")
        self._number = number
        self._bound = bound
        self._expires = expires
        self._seal = seal

    @property
    def number(self) -> int:
        """By which the journal names it."""
        return self._number

    @property
    def expires(self) -> float:
        """When it holds no longer."""
        return self._expires

    def __copy__(self) -> NoReturn:
        raise PermitRefused("a permit cannot be copied")

    def __deepcopy__(self, memo: object) -> NoReturn:
        raise PermitRefused("a permit cannot be copied")

    def __reduce__(self) -> NoReturn:
        raise PermitRefused("a permit cannot be saved")


class Safety:
    """Makes permits and accepts each of them once; its key never leaves it."""

    def __init__(self, settings: GuardSettings, key: bytes) -> None:
        self.policy = PermitPolicy(settings)
        self._key = blake3(key).digest()
        self._lifetime = settings.lifetime
        self._number = 0
        self._out: dict[int, bytes] = {}

    def permit(self, call: Asked, decision: Decision, at: float, *, approved: bool = False) -> Permit:
        """A permit for a call that was decided so; what needs the person only with their approval."""
        if decision.verdict not in ("permit", "person"):
            raise PermitRefused(f"no permit for a call decided as {decision.verdict}")
        if decision.verdict == "person" and not approved:
            raise PermitRefused("the person has not approved it")
        self._number += 1
        bound = Bound(call.session, call.tool, call.hash, self.policy.hash)
        expires = at + self._lifetime
        seal = self._sealed(self._number, bound, expires)
        self._out[self._number] = seal
        return Permit(_MINT, self._number, bound, expires, seal)

    def use(self, permit: Permit, call: Asked, at: float) -> None:
        """Use up the permit for a call; raise `PermitRefused` if it is not valid. It is used up either way."""
        number, bound = permit._number, permit._bound
        if not compare_digest(permit._seal, self._sealed(number, bound, permit._expires)):
            raise PermitRefused("the permit is forged")
        issued = self._out.pop(number, None)
        if issued is None or not compare_digest(issued, permit._seal):
            raise PermitRefused("the permit was used already")
        if at >= permit._expires:
            raise PermitRefused("the permit has expired")
        if bound != Bound(call.session, call.tool, call.hash, self.policy.hash):
            raise PermitRefused("the permit is for another call")

    def _sealed(self, number: int, bound: Bound, expires: float) -> bytes:
        return blake3(msgspec.json.encode((number, bound, expires)), key=self._key).digest()

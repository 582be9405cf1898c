"""Every error a person may see, each a NooscopeError."""

from __future__ import annotations


class NooscopeError(Exception):
    """Carries a sentence its reader can act on."""


class UsageError(NooscopeError):
    """Words on the command line that cannot be meant."""


class SettingsError(NooscopeError):
    """A setting, or a file of settings, that cannot be used."""


class UnreadableLog(NooscopeError):
    """A path that holds no log we can read."""


class StateError(NooscopeError):
    """A dump that does not fit the engine it is loaded into."""


class PolicyError(NooscopeError):
    """An affect policy or a rule file that cannot be used."""


class StoreError(NooscopeError):
    """Our own store on disk is damaged or out of reach."""


class PermitRefused(NooscopeError):
    """A permit that is not valid for this call."""


class BrokenOffer(NooscopeError):
    """An installed extension that cannot be used."""


class LinkLost(NooscopeError):
    """The message server cannot be reached or refused the connection."""


class MissingExtra(NooscopeError):
    """A feature whose optional packages are not installed."""


class NotSent(NooscopeError):
    """A telemetry collector that could not be reached or refused the data."""

    def __init__(self, sentence: str, again: bool) -> None:
        super().__init__(sentence)
        self.again = again  # Whether another try may go better.


class Malformed(NooscopeError):
    """Bytes that are not in the declared format."""


class Refused(NooscopeError):
    """An HTTP request that is refused, with its status code."""

    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status


class HooksRefused(NooscopeError):
    """A settings file of an agent that must not be changed."""

"""Every error a person may meet.

NooscopeError
├── SettingsError    a setting, or a file of settings, that cannot be used
├── UnreadableLog    a path that holds no log we can read
├── StateError       a dump that does not fit the engine it is loaded into
├── PolicyError      an affect policy or a rule file that cannot be used
└── StoreError       our own store on disk is damaged or out of reach
"""

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

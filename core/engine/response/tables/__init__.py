"""The built-in methods, the weights of the read-out and what loop alarms are worth, as files anyone can read."""

from __future__ import annotations

from pkgutil import get_data

RECEPTOR_RULES = get_data(__name__, "receptor-rules.json") or b""
OUTLOOK = get_data(__name__, "outlook.toml") or b""
LOOPS = get_data(__name__, "loops.toml") or b""
OUTLOOK_WORDS = get_data(__name__, "outlook-words.toml") or b""

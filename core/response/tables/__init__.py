"""The built-in methods and the weights of the read-out, as files anyone can read."""

from __future__ import annotations

from importlib.resources import files

RECEPTOR_RULES = files(__name__).joinpath("receptor-rules.json").read_bytes()
OUTLOOK = files(__name__).joinpath("outlook.toml").read_bytes()

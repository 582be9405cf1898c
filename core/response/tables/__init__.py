"""The built-in methods, as a file anyone can read and lay their own over."""

from __future__ import annotations

from importlib.resources import files

RECEPTOR_RULES = files(__name__).joinpath("receptor-rules.json").read_bytes()

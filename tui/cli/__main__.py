"""`python -m tui.cli`: the same as the `nooscope` command."""

from __future__ import annotations

from tui.cli import main

if __name__ == "__main__":
    raise SystemExit(main())

"""Hook calls and status lines in, answers out: the way between running agents and a running nooscope."""

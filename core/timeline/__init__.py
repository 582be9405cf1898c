"""Record, scrub, branch."""

"""The real agents, run against a made-up model on this machine."""

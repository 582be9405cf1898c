"""Sessions of other machines: over ssh, or of many hosts through a NATS server."""

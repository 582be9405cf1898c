"""Sessions of many hosts over NATS JetStream: sent where they are written, mirrored elsewhere."""

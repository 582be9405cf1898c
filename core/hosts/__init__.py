"""Sessions of many hosts over NATS JetStream: shipped where they are written, mirrored where they are watched."""

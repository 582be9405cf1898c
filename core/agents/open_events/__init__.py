"""The open event format."""

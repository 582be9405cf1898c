"""Chat-completions conversations."""

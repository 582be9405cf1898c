"""Redaction: secrets are hidden before a person or a file sees them; their shapes are in shapes.json."""

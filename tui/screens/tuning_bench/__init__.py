"""The bench behind the tuning screen."""

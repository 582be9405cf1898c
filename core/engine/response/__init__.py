"""The response: from signals to the right sentence at the right time."""

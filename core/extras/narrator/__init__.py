"""Facts put into prose by templates, or by a model if the person wants it."""

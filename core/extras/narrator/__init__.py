"""Facts put into prose: by templates always, by a model where the person wants it."""

"""A session as something one person sends to another: a page, a film of text, a report."""

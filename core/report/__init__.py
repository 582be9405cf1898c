"""All wording of results: summaries, recaps, differences, compactions, conversations."""

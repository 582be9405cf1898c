"""One folder an agent, and what several of them share."""

"""Our files on disk, in the platform's own folders and never beside an agent's files."""

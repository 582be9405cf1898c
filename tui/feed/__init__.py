"""Between a session and the screen: the thread that owns the recording, the playhead, the view."""

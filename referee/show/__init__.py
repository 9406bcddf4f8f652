"""What people look at: words, the terminal, replays.  Nothing here decides anything."""

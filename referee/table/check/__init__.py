"""`arena check`: one bot in scripted situations, and what its mistakes mean in plain words."""

"""The table: bots as processes, asked and heard in turn, with every match that they play."""

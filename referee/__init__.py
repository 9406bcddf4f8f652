"""Hearts Arena's referee: the game, the log, the table, and the people who look on.

Rooms, lowest first: `game`, `record`, `table`, `tournament`, `show`, and `cli` on top.
A room imports only from the rooms below it and from `protocol`.
"""

__version__ = "0.1.0"

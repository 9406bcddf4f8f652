"""Protocol 1: what crosses the pipe between the referee and a bot.

`cards` names the cards, `rules` the house rules and conditions, `messages` every line, `codec` turns lines
into messages and back, and `bot` is all that a Python bot needs.  The package stands on msgspec alone.
"""

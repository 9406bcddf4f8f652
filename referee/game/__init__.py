"""The game of Hearts, pure: no Trio, clock, files or randomness; inputs go in, effects come out.

`rulebook` holds the rules as card sets, `deal` the deals, `play` what may be played, `score` what it costs,
`hand` one hand, `match` the whole match with its faults, `events` what goes in and out, `views` what each
seat may see.
"""

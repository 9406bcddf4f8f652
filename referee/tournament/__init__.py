"""Tournaments: which matches are to be played, how they are played, and what their results mean.

The pure half, which knows no processes, files or clock: `plan` says what a tournament is, `draw` which bots
meet, `schedule` every match that follows from a plan; `results` is what a match leaves behind, `payoff` and
`ranking` what that says of the bots, `standings` the table, `stopping` when enough has been played.
"""

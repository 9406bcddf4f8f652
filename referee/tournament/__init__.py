"""Tournaments: which matches are to be played, how they are played, and what their results mean.

The pure half knows no processes, files or clock.  `plan` says what a tournament is, `draw` which bots meet
and `schedule` every match that follows; `forecast` says what that can find out.  `results` is what a match
leaves, and `prefix` puts matches back into whole deals.  From these `payoff` and `fit` say what each bot is
paid and how sure that is, `pairs` what passed between each two, `ranking` who finishes before whom;
`standings` is the table, and `stopping` says when enough has been played.
"""

"""The keeper: a small process that starts bots, holds them to their limits, and makes sure that none
survives.
"""

TAMPERED = 3
"""Its exit status if a bot has taken from it what it needs."""

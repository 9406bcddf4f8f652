"""The keeper: a small process that starts bots, holds them to their limits, and makes sure that none
survives.
"""

"""Means and their intervals: the normal distribution, Student's t, and a running spread."""

from functools import lru_cache
from math import exp, lgamma, log, sqrt
from statistics import NormalDist
from typing import Final

NORMAL: Final = NormalDist()


def z_two_sided(alpha: float) -> float:
    """The `z` that a normal variate leaves on either side with chance `alpha`."""
    return -NORMAL.inv_cdf(alpha / 2)


@lru_cache(maxsize=4096)
def t_two_sided(alpha: float, freedom: int) -> float:
    """The `t` that Student's variate of so much freedom leaves on either side with chance `alpha`."""
    low, high = 0.0, 2.0
    while t_chance(high, freedom) > alpha:
        low, high = high, 2 * high
    while high - low > 1e-12 * high:
        middle = (low + high) / 2
        if t_chance(middle, freedom) > alpha:
            low = middle
        else:
            high = middle
    return high


def t_chance(t: float, freedom: float) -> float:
    """The chance that Student's variate is farther from 0 than `t`: the two-sided p-value."""
    whole = freedom + t * t
    return _beta(freedom / whole, t * t / whole, freedom / 2, 0.5)


def z_of_t(t: float, freedom: float) -> float:
    """The normal deviate that is as unlikely as `t`, of the same sign; infinite where none is."""
    chance = t_chance(t, freedom)
    z = z_two_sided(chance) if chance > 0 else float("inf")
    return -z if t < 0 else z


def _beta(x: float, rest: float, a: float, b: float) -> float:
    """The regularized incomplete beta function of `x` = 1 - `rest`: a continued fraction, Lentz's way."""
    if x <= 0 or rest <= 0:
        return float(rest <= 0)
    if x > (a + 1) / (a + b + 2):
        return 1 - _beta(rest, x, b, a)
    front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log(rest)) / a
    c, d = 1.0, 1 / (1 - (a + b) * x / (a + 1))
    fraction = d
    for m in range(1, 1000):
        for numerator in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d = 1 / (1 + numerator * d)
            c = 1 + numerator / c
            fraction *= c * d
        if abs(c * d - 1) < 1e-15:
            break
    return front * fraction


class Spread:
    """The count, mean and spread of numbers that come one by one."""

    __slots__ = ("_squares", "count", "mean")

    def __init__(self) -> None:
        self.count = 0
        self.mean = 0.0
        self._squares = 0.0

    def add(self, value: float) -> None:
        """Take one number in."""
        self.count += 1
        step = value - self.mean
        self.mean += step / self.count
        self._squares += step * (value - self.mean)

    @property
    def deviation(self) -> float:
        """The standard deviation of the numbers."""
        return sqrt(self._squares / (self.count - 1)) if self.count > 1 else float("nan")

    @property
    def error(self) -> float:
        """The standard error of the mean."""
        return self.deviation / sqrt(self.count) if self.count > 1 else float("nan")

    def interval(self, alpha: float = 0.05) -> tuple[float, float] | None:
        """The interval that holds the true mean with chance 1 - alpha; None of fewer than two numbers."""
        if self.count < 2:
            return None
        half = t_two_sided(alpha, self.count - 1) * self.error
        return self.mean - half, self.mean + half

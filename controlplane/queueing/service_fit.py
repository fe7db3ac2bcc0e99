"""What a service time looks like, from its measured moments: how long, and how uneven.

Waiting depends on the mean and on the squared coefficient of variation (scv = variance / mean^2):
0 is a metronome, 1 exponential, above 1 a few long requests hold up many short ones. The families
are those seen in traces: lognormal for token counts, Pareto for the long tail of a mixed load,
clipped where an engine cuts generation off.
"""

from collections.abc import Iterable
from math import exp, inf, log, log1p, sqrt

import msgspec


class Moments(msgspec.Struct, frozen=True):
    """A count of values, their mean and the sum of their squared distances from it (Welford)."""

    count: int = 0
    mean: float = 0.0
    squares: float = 0.0

    def seeing(self, value: float) -> "Moments":
        """Give the moments with one more value."""
        count = self.count + 1
        distance = value - self.mean
        mean = self.mean + distance / count
        return Moments(count, mean, self.squares + distance * (value - mean))

    def joined(self, other: "Moments") -> "Moments":
        """Give the moments of both sets of values together."""
        count = self.count + other.count
        if not count:
            return self
        distance = other.mean - self.mean
        mean = self.mean + distance * other.count / count
        between = distance * distance * self.count * other.count / count
        return Moments(count, mean, self.squares + other.squares + between)

    @property
    def scv(self) -> float:
        """Squared coefficient of variation; 1 (exponential) until two values are known."""
        if self.count < 2 or self.mean <= 0:
            return 1.0
        return self.squares / (self.count - 1) / (self.mean * self.mean)


def moments(values: Iterable[float]) -> Moments:
    """Give the moments of values."""
    seen = Moments()
    for value in values:
        seen = seen.seeing(value)
    return seen


class Lognormal(msgspec.Struct, frozen=True):
    """A service time whose logarithm is normal."""

    mu: float
    sigma: float

    @classmethod
    def fitting(cls, mean: float, scv: float) -> "Lognormal":
        """Give the lognormal of this mean and variation."""
        variance = log1p(scv)
        return cls(log(mean) - variance / 2.0, sqrt(variance))

    @property
    def mean(self) -> float:
        """The mean."""
        return exp(self.mu + self.sigma**2 / 2.0)

    @property
    def scv(self) -> float:
        """The squared coefficient of variation."""
        return exp(self.sigma**2) - 1.0


class Pareto(msgspec.Struct, frozen=True):
    """A service time with a power tail, P(S > x) = (smallest / x)^shape, cut off at `clip`."""

    shape: float
    smallest: float
    clip: float = inf

    @classmethod
    def of_mean(cls, mean: float, shape: float, clip: float = inf) -> "Pareto":
        """Give the Pareto that has this mean before it is clipped; the shape must exceed 1."""
        return cls(shape, mean * (shape - 1.0) / shape, clip)

    @classmethod
    def fitting(cls, mean: float, scv: float) -> "Pareto":
        """Give the (unclipped) Pareto of this mean and variation, from scv = 1 / (a (a - 2))."""
        return cls.of_mean(mean, 1.0 + sqrt(1.0 + 1.0 / scv))

    def moment(self, power: float) -> float:
        """Give the mean of S^power after clipping; infinite where the tail is too heavy."""
        a, x, c = self.shape, self.smallest, self.clip
        whole: float = a * x**power
        if c == inf:
            return whole / (a - power) if a > power else inf
        beyond: float = x**a * c ** (power - a)
        if a == power:
            return beyond + whole * log(c / x)
        return (whole - power * beyond) / (a - power)

    @property
    def mean(self) -> float:
        """The mean, after clipping."""
        return self.moment(1.0)

    @property
    def scv(self) -> float:
        """The squared coefficient of variation, after clipping."""
        return self.moment(2.0) / self.moment(1.0) ** 2 - 1.0


def tail_shape(values: Iterable[float], share: float = 0.1) -> float | None:
    """Estimate a Pareto tail's shape from the largest `share` of the values (Hill); None if few."""
    ordered = sorted((value for value in values if value > 0), reverse=True)
    kept = int(len(ordered) * share)
    if kept < 2 or ordered[0] <= ordered[kept]:
        return None
    threshold = log(ordered[kept])
    return kept / sum(log(value) - threshold for value in ordered[:kept])

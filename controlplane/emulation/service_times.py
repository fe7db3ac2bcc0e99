"""How long a generation takes: drawn from a law, longer while the engine is cold."""

from math import log, sqrt
from random import Random

from controlplane.emulation.spec import EngineSpec


class ServiceTimes:
    """The seeded stream of one engine's service times."""

    def __init__(self, spec: EngineSpec) -> None:
        """Begin cold."""
        self._spec = spec
        self._random = Random(spec.seed)  # noqa: S311 - chance that can be repeated, not a secret
        self._drawn = 0

    def draw(self, tokens: int) -> float:
        """Give the seconds of the next generation, and be a little warmer."""
        factor = self.cold_factor
        self._drawn += 1
        return factor * (self._by_law() + tokens * self._spec.token_s)

    def chance(self) -> float:
        """Give a number from [0, 1), for faults."""
        return self._random.random()

    @property
    def cold_factor(self) -> float:
        """Say how many times slower than warm it is now; it falls evenly to 1."""
        spec = self._spec
        if self._drawn >= spec.cold_requests:
            return 1.0
        return 1.0 + (spec.cold_factor - 1.0) * (1.0 - self._drawn / spec.cold_requests)

    def _by_law(self) -> float:
        spec = self._spec
        if spec.service_s == 0 or spec.service_law == "fixed":
            return spec.service_s
        if spec.service_law == "exponential":
            return self._random.expovariate(1.0 / spec.service_s)
        variance = log(1.0 + spec.spread**2)
        return self._random.lognormvariate(log(spec.service_s) - variance / 2, sqrt(variance))

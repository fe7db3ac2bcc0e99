"""When requests arrive: Poisson, bursts, steps, MMPP, or a trace.

All but the trace are one thing, a Poisson process whose rate changes in steps: unit-rate arrivals
are drawn once and carried through the inverse of the accumulated rate. So the draws do not depend
on how far ahead anybody looks, and a chunk's size cannot change what arrives.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from math import inf
from typing import Annotated, Any, ClassVar, TypeAlias

import numpy as np
from annotated_types import Ge, Gt, Le, Len
from numpy.typing import NDArray

from controlplane.domain.policies import STRICT
from controlplane.domain.quantities import PositiveSeconds, Seconds
from controlplane.simulation.replay import Replay

BLOCK = 8192  # draws at once; large enough for numpy, small beside a chunk of any size

MOST_RATE = 1e6  # requests per second; a scenario of a day would hold 86 thousand million
Rate = Annotated[float, Ge(0), Le(MOST_RATE)]
Segments: TypeAlias = Iterator[tuple[float, float]]  # (until when, rate), endless or not


@dataclass(frozen=True, slots=True, kw_only=True)
class Poisson:
    """Many callers who know nothing of one another."""

    __pydantic_config__: ClassVar[dict[str, Any]] = STRICT

    rate: Annotated[float, Gt(0), Le(MOST_RATE)]

    def segments(self, rng: np.random.Generator) -> Segments:
        """Give the one rate, a virtual eternity at a time."""
        del rng
        for end in count(1):
            yield end * 1e6, self.rate


@dataclass(frozen=True, slots=True, kw_only=True)
class Bursts:
    """A quiet rate, and now and then a mass arriving at once."""

    __pydantic_config__: ClassVar[dict[str, Any]] = STRICT

    rate: Annotated[float, Gt(0), Le(MOST_RATE)]
    """Requests per second while a burst lasts."""
    length_s: PositiveSeconds
    starts_s: Annotated[tuple[Seconds, ...], Len(1)]
    """When bursts begin."""
    every_s: PositiveSeconds | None = None
    """Repeat the whole pattern after so long."""
    quiet_rate: Rate = 0.0
    """Requests per second between bursts."""

    def __post_init__(self) -> None:
        ends = [*self.starts_s[1:], self.starts_s[0] + self.every_s] if self.every_s else []
        following = ends or [*self.starts_s[1:], float("inf")]
        for start, after in zip(self.starts_s, following, strict=True):
            if start + self.length_s > after:
                raise ValueError(f"the burst at {start:g} s has not ended when the next begins")

    def segments(self, rng: np.random.Generator) -> Segments:
        """Give quiet and burst in turn."""
        del rng
        for turn in count():
            for start in self.starts_s:
                begins = start + turn * (self.every_s or 0.0)
                yield begins, self.quiet_rate
                yield begins + self.length_s, self.rate
            if self.every_s is None:
                break
        yield from _forever(self.quiet_rate, self.starts_s[-1] + self.length_s)


@dataclass(frozen=True, slots=True, kw_only=True)
class Steps:
    """A rate that changes at given times: a day's shape, a ramp."""

    __pydantic_config__: ClassVar[dict[str, Any]] = STRICT

    at_s: Annotated[tuple[Seconds, ...], Len(1)]
    """When each rate begins; the first must be 0."""
    rates: Annotated[tuple[Rate, ...], Len(1)]
    every_s: PositiveSeconds | None = None
    """Repeat after so long."""

    def __post_init__(self) -> None:
        if len(self.at_s) != len(self.rates):
            raise ValueError(f"{len(self.at_s)} times but {len(self.rates)} rates")
        ends = (*self.at_s[1:], self.every_s or float("inf"))
        if self.at_s[0] != 0 or any(a >= b for a, b in zip(self.at_s, ends, strict=True)):
            raise ValueError("at_s must begin at 0 and rise, and every_s lie beyond its last")

    def segments(self, rng: np.random.Generator) -> Segments:
        """Give the steps in turn."""
        del rng
        for turn in count():
            begins = turn * (self.every_s or 0.0)
            for end, rate in zip(self.at_s[1:], self.rates, strict=False):
                yield begins + end, rate
            if self.every_s is None:
                break
            yield begins + self.every_s, self.rates[-1]
        yield from _forever(self.rates[-1], self.at_s[-1])


@dataclass(frozen=True, slots=True, kw_only=True)
class Mmpp:
    """A Markov-modulated Poisson process: states with their rates, each left at random."""

    __pydantic_config__: ClassVar[dict[str, Any]] = STRICT

    rates: Annotated[tuple[Rate, ...], Len(2)]
    """Requests per second in each state."""
    stay_s: Annotated[tuple[PositiveSeconds, ...], Len(2)]
    """Mean time in each state; the next one is any other, with equal chance."""

    def __post_init__(self) -> None:
        if len(self.rates) != len(self.stay_s):
            raise ValueError(f"{len(self.rates)} rates but {len(self.stay_s)} times to stay")
        if not any(self.rates):
            raise ValueError("rates must not all be 0")

    def segments(self, rng: np.random.Generator) -> Segments:
        """Walk through the states, from one drawn by how long each is stayed in."""
        states = len(self.rates)
        share = np.array(self.stay_s) / sum(self.stay_s)
        state = int(rng.choice(states, p=share))
        end = 0.0
        while True:
            end += float(rng.standard_exponential()) * self.stay_s[state]
            yield end, self.rates[state]
            state = (state + 1 + int(rng.integers(states - 1))) % states


def _forever(rate: float, start: float) -> Segments:
    """Keep a rate; one of 0 brings nothing more, so it ends."""
    for end in count(1):
        if not rate:
            return
        yield start + end * 1e6, rate


Process: TypeAlias = Poisson | Bursts | Steps | Mmpp


def times(
    process: Process, rng: np.random.Generator, until: float = inf
) -> Iterator[NDArray[np.float64]]:
    """Give the arrival times of a process in blocks, without end unless its rate ends at 0.

    Those before `until` are all there; where next to nothing comes, it is not waited for longer.
    """
    shape, chance = rng.spawn(2)
    segments = process.segments(shape)
    knots = _Knots()
    reached = 0.0  # accumulated rate at the last arrival drawn
    while True:
        gaps = chance.standard_exponential(BLOCK)
        gaps[0] += reached
        mass = np.cumsum(gaps)
        reached = float(mass[-1])
        if not knots.extend(segments, reached, until):
            yield knots.inverse(mass[mass < knots.mass])
            return
        yield knots.inverse(mass)


class _Knots:
    """The accumulated rate over time, as the corners of a line that never falls."""

    def __init__(self) -> None:
        self._times = [0.0]
        self._masses = [0.0]

    @property
    def mass(self) -> float:
        """How far the line is known."""
        return self._masses[-1]

    def extend(self, segments: Segments, mass: float, until: float) -> bool:
        """Draw the line on until it has passed `mass`; False when it, or the time, ends before."""
        while self._masses[-1] <= mass:
            segment = next(segments, None) if self._times[-1] < until else None
            if segment is None:
                return False
            end, rate = segment
            start = self._times[-1]
            if end > start:
                self._times.append(end)
                self._masses.append(self._masses[-1] + rate * (end - start))
        return True

    def inverse(self, mass: NDArray[np.float64]) -> NDArray[np.float64]:
        """Say when each mass is reached, and forget the corners before."""
        if not len(mass):
            return mass
        at = np.interp(mass, self._masses, self._times)
        passed = max(int(np.searchsorted(self._masses, mass[-1])) - 1, 0)
        del self._times[:passed], self._masses[:passed]
        return at


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrivals:
    """One of poisson, bursts, steps, mmpp, trace."""

    __pydantic_config__: ClassVar[dict[str, Any]] = STRICT

    poisson: Poisson | None = None
    bursts: Bursts | None = None
    steps: Steps | None = None
    mmpp: Mmpp | None = None
    trace: Replay | None = None

    def __post_init__(self) -> None:
        given = (self.poisson, self.bursts, self.steps, self.mmpp, self.trace)
        if sum(one is not None for one in given) != 1:
            raise ValueError("give exactly one of poisson, bursts, steps, mmpp, trace")

    @property
    def process(self) -> Process | None:
        """The process, unless it is a trace."""
        given: tuple[Process | None, ...] = (self.poisson, self.bursts, self.steps, self.mmpp)
        return next((one for one in given if one is not None), None)

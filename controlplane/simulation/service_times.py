"""How long a request holds its slot: laws with their mean in closed form, and tokens to seconds.

Every law is a plain set of figures, so that a scenario file states it whole. The mean is known
without drawing, because the first thing to ask of a load is how much of it there is.
"""

from dataclasses import dataclass
from math import log
from typing import Annotated, Any, ClassVar, TypeAlias

import numpy as np
from annotated_types import Gt, Interval
from numpy.typing import NDArray

from controlplane.domain.policies import STRICT
from controlplane.domain.quantities import PositiveSeconds, Seconds

Floats: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fixed:
    """Always the same."""

    __pydantic_config__: ClassVar[dict[str, Any]] = STRICT

    mean_s: PositiveSeconds

    @property
    def mean(self) -> float:
        """Mean in seconds."""
        return self.mean_s

    def draw(self, rng: np.random.Generator, n: int) -> Floats:
        """Draw `n` times."""
        del rng  # nothing is left to chance
        return np.full(n, self.mean_s)


@dataclass(frozen=True, slots=True, kw_only=True)
class Exponential:
    """Memoryless: the M of M/M/k."""

    __pydantic_config__: ClassVar[dict[str, Any]] = STRICT

    mean_s: PositiveSeconds

    @property
    def mean(self) -> float:
        """Mean in seconds."""
        return self.mean_s

    def draw(self, rng: np.random.Generator, n: int) -> Floats:
        """Draw `n` times."""
        return rng.standard_exponential(n) * self.mean_s


@dataclass(frozen=True, slots=True, kw_only=True)
class Lognormal:
    """A product of many small factors: what measured generation times mostly look like."""

    __pydantic_config__: ClassVar[dict[str, Any]] = STRICT

    mean_s: PositiveSeconds
    cv: Annotated[float, Gt(0)] = 1.0
    """Standard deviation over mean."""

    @property
    def mean(self) -> float:
        """Mean in seconds."""
        return self.mean_s

    def draw(self, rng: np.random.Generator, n: int) -> Floats:
        """Draw `n` times."""
        return _lognormal(rng, n, self.mean_s, self.cv)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pareto:
    """Heavy-tailed: a few requests take most of the time, up to the clip."""

    __pydantic_config__: ClassVar[dict[str, Any]] = STRICT

    shape: Annotated[float, Gt(1)]
    """Tail exponent; above 1, or there is no mean."""
    mean_s: PositiveSeconds
    """Mean before clipping."""
    clip_s: PositiveSeconds | None = None
    """No request takes longer than this (a token limit, a deadline)."""

    def __post_init__(self) -> None:
        if self.clip_s is not None and self.clip_s <= self.least_s:
            raise ValueError(
                f"clip_s {self.clip_s} is not above the shortest time {self.least_s:.4g} s, "
                "which is mean_s x (shape - 1) / shape"
            )

    @property
    def least_s(self) -> float:
        """The shortest time there is: the law's scale."""
        return self.mean_s * (self.shape - 1) / self.shape

    @property
    def mean(self) -> float:
        """Mean in seconds after clipping: E[min(X, c)] = m - x^a c^(1-a) / (a-1)."""
        if self.clip_s is None:
            return self.mean_s
        a = self.shape
        beyond: float = self.least_s**a * self.clip_s ** (1 - a) / (a - 1)
        return self.mean_s - beyond

    def draw(self, rng: np.random.Generator, n: int) -> Floats:
        """Draw `n` times."""
        # log(X / least) of a Pareto is exponential with rate `shape`.
        drawn = self.least_s * np.exp(rng.standard_exponential(n) / self.shape)
        return drawn if self.clip_s is None else np.minimum(drawn, self.clip_s)


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenCount:
    """How many tokens: lognormal, at least 1, at most `most`."""

    __pydantic_config__: ClassVar[dict[str, Any]] = STRICT

    mean: Annotated[float, Gt(1)]
    """Mean before clipping."""
    cv: Annotated[float, Interval(ge=0, le=10)] = 1.0
    """Standard deviation over mean; 0 is always the mean."""
    most: Annotated[int, Gt(0)] = 131_072
    """No request has more (the context length)."""

    def draw(self, rng: np.random.Generator, n: int) -> NDArray[np.int32]:
        """Draw `n` times."""
        whole = np.rint(_lognormal(rng, n, self.mean, self.cv))
        return np.minimum(np.maximum(whole, 1), self.most).astype(np.int32)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tokens:
    """Seconds = base + prompt tokens / prefill rate + output tokens x seconds per token."""

    __pydantic_config__: ClassVar[dict[str, Any]] = STRICT

    prefill_tokens_per_s: Annotated[float, Gt(0)] = 8000.0
    """Prompt tokens an engine reads per second."""
    seconds_per_output_token: PositiveSeconds = 0.025
    """Time between two tokens of the answer."""
    base_s: Seconds = 0.0
    """Time every request takes besides."""
    prompt: TokenCount | None = None
    """Where prompts do not come from a trace: their length."""
    output: TokenCount | None = None
    """Where answers do not come from a trace: their length."""

    def seconds(self, prompt: NDArray[np.int32], output: NDArray[np.int32]) -> Floats:
        """Turn tokens into seconds."""
        spent = prompt / self.prefill_tokens_per_s + output * self.seconds_per_output_token
        return np.asarray(spent + self.base_s, dtype=np.float64)


def _lognormal(rng: np.random.Generator, n: int, mean: float, cv: float) -> Floats:
    variance = log(1 + cv**2)
    logs = rng.standard_normal(n) * variance**0.5 + (log(mean) - variance / 2)
    return np.asarray(np.exp(logs))


Law: TypeAlias = Fixed | Exponential | Lognormal | Pareto


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceTime:
    """One law: fixed, exponential, lognormal, pareto, tokens, or a trace's own seconds."""

    __pydantic_config__: ClassVar[dict[str, Any]] = STRICT

    fixed: Fixed | None = None
    exponential: Exponential | None = None
    lognormal: Lognormal | None = None
    pareto: Pareto | None = None
    tokens: Tokens | None = None
    from_trace: bool = False
    """The trace's column service_s says it."""

    def __post_init__(self) -> None:
        given = [law for law in (*self._laws(), self.tokens) if law is not None]
        if len(given) + self.from_trace != 1:
            raise ValueError(
                "give exactly one of fixed, exponential, lognormal, pareto, tokens, from_trace"
            )

    def _laws(self) -> tuple[Law | None, ...]:
        return (self.fixed, self.exponential, self.lognormal, self.pareto)

    @property
    def law(self) -> Law | None:
        """The law that needs no tokens, if it is one of those."""
        return next((law for law in self._laws() if law is not None), None)

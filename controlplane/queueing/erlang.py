"""Erlang's formulas and the waits of M/M/k: Poisson arrivals, exponential service, k slots, FIFO.

A scaling decision has 30 microseconds and asks for these several times, so nothing here loops over
the slots when there are many. Few slots: 1/B = sum over j of k!/(k-j)! / a^j, added up until the
terms no longer count; exact, without overflow or cancellation. Many slots: the same quantity is
1 + P(Poisson(a) < k) / P(Poisson(a) = k), whose uniform expansion in 1/k (Temme's, for the
incomplete gamma function) is good to 1e-6 from `_MANY` slots on, near saturation and far from it.
"""

from math import erfc, exp, inf, log, pi, sqrt

_MANY = 24
_NEGLIGIBLE = 1e-17
_HOPELESSLY_RARE = 1e300  # 1/B beyond this: nobody ever waits
_LARGEST_EXPONENT = 690.0
_CLOSE = 0.05  # below this the closed form of the correction cancels; its series is used


def erlang_b(slots: int, load: float) -> float:
    """Give the probability that all slots are busy where nobody waits (M/M/k/k).

    `load` is in erlangs: arrivals x mean service time.
    """
    if load <= 0:
        return 0.0 if slots > 0 else 1.0
    if slots >= _MANY and load < slots:
        return _erlang_b_of_many(slots, load)
    return _erlang_b_summed(slots, load)


def _erlang_b_summed(slots: int, load: float) -> float:
    total = term = 1.0
    per_load = 1.0 / load
    for left in range(slots, 0, -1):
        term *= left * per_load
        total += term
        if term < _NEGLIGIBLE * total:
            break
        if total > _HOPELESSLY_RARE:
            return 0.0
    return 1.0 / total


def _erlang_b_of_many(slots: int, load: float) -> float:
    rho = load / slots
    half_eta_squared = rho - 1.0 - log(rho)
    exponent = slots * half_eta_squared
    if exponent > _LARGEST_EXPONENT:
        return 0.0
    eta = -sqrt(2.0 * half_eta_squared)  # negative: the load is below the slots
    if eta > -_CLOSE:
        first = -1.0 / 3.0 + eta * (1.0 / 12.0 - eta * (2.0 / 135.0 - eta / 864.0))
    else:
        first = 1.0 / (rho - 1.0) - 1.0 / eta
    second = (-1.0 / 540.0 - eta / 288.0) / slots
    stirling = 1.0 + (1.0 + 1.0 / (24.0 * slots)) / (12.0 * slots)
    normal = sqrt(pi * slots / 2.0) * exp(exponent) * erfc(-sqrt(exponent))
    return 1.0 / (1.0 + stirling * (normal + first + second))


def erlang_c(slots: int, load: float) -> float:
    """Give the probability that an arrival has to wait (M/M/k); 1 when the load is too much."""
    if load >= slots:
        return 1.0
    blocked = erlang_b(slots, load)
    return slots * blocked / (slots - load * (1.0 - blocked))


def mean_wait(arrivals: float, service_s: float, slots: int) -> float:
    """Give the mean wait of M/M/k in seconds, those who do not wait included."""
    load = arrivals * service_s
    if load >= slots:
        return inf if load > 0 else 0.0
    return erlang_c(slots, load) * service_s / (slots - load)


def wait_beyond(arrivals: float, service_s: float, slots: int, limit_s: float) -> float:
    """Give P(W > limit) of M/M/k: those who wait do so for an exponential time."""
    load = arrivals * service_s
    if load >= slots:
        return 1.0 if load > 0 else 0.0
    if load <= 0:
        return 0.0
    return erlang_c(slots, load) * exp(-(slots - load) / service_s * limit_s)


def wait_quantile(arrivals: float, service_s: float, slots: int, share: float) -> float:
    """Give the wait that `share` (0.99 for the P99) of the arrivals do not exceed, in M/M/k."""
    load = arrivals * service_s
    if load >= slots:
        return inf if load > 0 else 0.0
    return exponential_tail_quantile(erlang_c(slots, load), service_s / (slots - load), share)


def exponential_tail_quantile(waiting: float, mean_of_those_s: float, share: float) -> float:
    """Give a quantile of a wait that is 0 but with probability `waiting`, then exponential."""
    beyond = 1.0 - share
    if beyond <= 0:
        return inf
    return mean_of_those_s * log(waiting / beyond) if waiting > beyond else 0.0

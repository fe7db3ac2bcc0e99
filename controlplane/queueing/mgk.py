"""M/G/k: what waiting will be when service times are anything but exponential.

There is no closed form. The mean is Lee and Longton's: that of M/M/k times (1 + scv) / 2, where
scv is the squared coefficient of variation of the service time; with irregular arrivals Allen and
Cunneen put their scv in the place of the 1. The tail takes the probability to wait from M/M/k (it
hardly depends on the distribution) and lets those who wait do so exponentially, at the mean above.
docs/queueing.md says how far this lies from simulation.

`replicas_for` asks the question scaling has: how few will do?
"""

from math import ceil, inf

from controlplane.queueing.erlang import erlang_c, exponential_tail_quantile

_ROUNDING = 1e-9  # 4.000000000001 replicas are 4


def mean_wait(
    arrivals: float, service_s: float, slots: int, scv: float, arrival_scv: float = 1.0
) -> float:
    """Give the mean wait in seconds, those who do not wait included."""
    load = arrivals * service_s
    if load >= slots:
        return inf if load > 0 else 0.0
    return erlang_c(slots, load) * _mean_of_those(service_s, slots - load, scv, arrival_scv)


def wait_quantile(
    arrivals: float, service_s: float, slots: int, scv: float, share: float = 0.99
) -> float:
    """Give the wait that `share` of the requests do not exceed."""
    load = arrivals * service_s
    if load >= slots:
        return inf if load > 0 else 0.0
    mean = _mean_of_those(service_s, slots - load, scv, 1.0)
    return exponential_tail_quantile(erlang_c(slots, load), mean, share)


def replicas_for(
    arrivals: float,
    service_s: float,
    scv: float,
    slots: int,
    wait_limit: float | None,
    ceiling: float,
) -> int:
    """Give the fewest replicas, of so many slots each, that hold both the ceiling and the limit.

    The ceiling is on the offered load per slot; the limit, where there is one, on the P99 of the
    wait. More slots never make either worse, so the answer is found by halving.
    """
    load = arrivals * service_s
    if load <= 0:
        return 0
    fewest = max(1, ceil(load / (slots * ceiling) - _ROUNDING))
    if wait_limit is None or _holds(fewest, arrivals, service_s, scv, slots, wait_limit):
        return fewest
    too_few, enough = fewest, 2 * fewest
    while not _holds(enough, arrivals, service_s, scv, slots, wait_limit):
        too_few, enough = enough, 2 * enough
    while enough - too_few > 1:
        middle = (too_few + enough) // 2
        if _holds(middle, arrivals, service_s, scv, slots, wait_limit):
            enough = middle
        else:
            too_few = middle
    return enough


def _holds(
    replicas: int, arrivals: float, service_s: float, scv: float, slots: int, wait_limit: float
) -> bool:
    return wait_quantile(arrivals, service_s, replicas * slots, scv) <= wait_limit


def _mean_of_those(service_s: float, spare: float, scv: float, arrival_scv: float) -> float:
    """Give the mean wait of those who wait at all."""
    return service_s / spare * (arrival_scv + scv) / 2.0

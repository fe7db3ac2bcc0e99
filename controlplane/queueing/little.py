"""Little's law and what follows from it without any assumption on how requests arrive.

These hold for every queue in steady state, so they are what triggers are made of: how much of the
slots the arrivals ask for, and how long what waits will take to drain.
"""

from math import inf


def in_system(rate: float, time_s: float) -> float:
    """Give the mean number present, L = lambda W."""
    return rate * time_s


def time_in_system(present: float, rate: float) -> float:
    """Give the mean time each one stays, W = L / lambda; infinite when nothing ever leaves."""
    if rate > 0:
        return present / rate
    return inf if present > 0 else 0.0


def offered_load(arrivals: float, service_s: float) -> float:
    """Give the slots the arrivals would keep busy if there were enough of them (in erlangs)."""
    return in_system(arrivals, service_s)


def occupancy(arrivals: float, service_s: float, slots: float) -> float:
    """Give the offered load as a share of the slots; above 1 the queue grows without end."""
    load = offered_load(arrivals, service_s)
    if slots > 0:
        return load / slots
    return inf if load > 0 else 0.0


def throughput(service_s: float, slots: float) -> float:
    """Give the requests per second that so many slots complete when all are busy."""
    return slots / service_s if service_s > 0 else inf


def drain_time(queue: float, service_s: float, slots: float) -> float:
    """Give the seconds until what waits now has a slot, if nothing else arrived."""
    return time_in_system(queue, throughput(service_s, slots)) if queue > 0 else 0.0

"""What a device costs between two moments, in whole millionths.

The bill of a stretch is the difference of two running totals, each rounded: stretches laid end to
end always add up to the bill of the whole, wherever they are cut. Sixty minutes cost exactly one
hour, and an interval split at a price change loses nothing.
"""

from controlplane.domain.quantities import Instant, Micros

_MS_PER_HOUR = 3_600_000


def bill(price_micros_per_hour: int, start: Instant, end: Instant) -> Micros:
    """Give the price of [start, end) for one device."""
    return Micros(_running(price_micros_per_hour, end) - _running(price_micros_per_hour, start))


def _running(price_micros_per_hour: int, at: Instant) -> int:
    """Give what the device would have cost since 1970, to the nearest millionth."""
    return (price_micros_per_hour * round(at * 1000) + _MS_PER_HOUR // 2) // _MS_PER_HOUR

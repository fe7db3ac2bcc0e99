"""Instants, spans, money and shares as people read them, in the reader's language and zone."""

from collections.abc import Callable
from datetime import UTC, datetime, tzinfo
from typing import Any

from babel.dates import format_date

from controlplane.domain.quantities import MICROS_PER_UNIT, Instant
from controlplane.domain.reasons import Evidence
from controlplane.http.pages.language import LOCALES
from controlplane.http.reads.figures import Figure
from controlplane.render.sentences import figure, pair, quantity, seconds

GAP = "\u00a0"
DASH = "–"
SYMBOLS = {"CNY": "¥", "USD": "$", "EUR": "€", "GBP": "£", "JPY": "¥"}


def clock(at: Instant | None, zone: tzinfo) -> str:
    """Give the time of day."""
    return DASH if at is None else datetime.fromtimestamp(at, zone).strftime("%H:%M:%S")


def day(at: Instant | None, zone: tzinfo, language: str) -> str:
    """Give the day, e.g. 29 Nov."""
    if at is None:
        return DASH
    pattern = "M月d日" if language == "zh" else "d MMM"
    return str(format_date(datetime.fromtimestamp(at, zone), pattern, locale=LOCALES[language]))


def iso(at: Instant | None) -> str:
    """Give the instant for machines: the value of a `datetime` attribute."""
    if at is None:
        return ""
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="milliseconds")


def moment(at: Instant | None, now: Instant, zone: tzinfo, language: str) -> str:
    """Give the time of day, with its day when that is not today."""
    if at is None:
        return DASH
    then, today = datetime.fromtimestamp(at, zone), datetime.fromtimestamp(now, zone)
    time = clock(at, zone)
    return time if then.date() == today.date() else f"{day(at, zone, language)} {time}"


def lasting(since: Instant | None, now: Instant) -> str:
    """Say how long something has lasted, in one unit."""
    if since is None:
        return DASH
    seconds_ago = max(now - since, 0.0)
    for limit, size, unit in ((90, 1, "s"), (5400, 60, "min"), (172_800, 3600, "h")):
        if seconds_ago < limit:
            return f"{seconds_ago / size:.0f}{GAP}{unit}"
    return f"{seconds_ago / 86_400:.0f}{GAP}d"


def money(micros: int | None, currency: str, digits: int | None = None) -> str:
    """Give an amount of the catalogue's currency; few decimals, more where it is small."""
    if micros is None:
        return DASH
    amount = micros / MICROS_PER_UNIT
    if digits is None:
        size = abs(amount)
        digits = 0 if size >= 1000 or amount == 0 else 2 if size < 100 else 1
    number = f"{amount:,.{digits}f}".replace(",", "\u202f").replace("-", "−")
    return f"{SYMBOLS.get(currency, currency)}{GAP}{number}"


def share(x: float | None) -> str:
    """Give a share as a percentage."""
    if x is None:
        return DASH
    return f"{figure(round(x * 100, 1 if x < 0.1 else 0))}{GAP}%"


def span(x: float | None) -> str:
    """Give a time span."""
    return DASH if x is None else seconds(x, 2)


def count(x: float | None) -> str:
    """Give a number, thousands grouped."""
    return DASH if x is None else figure(x)


def amount(value: float | str | None, unit: str = "") -> str:
    """Give a value in its unit with two significant digits, for dense places."""
    return quantity(value, unit, 2)


def both(shown: Figure) -> tuple[str, str]:
    """Give a figure and its limit, in one unit and with digits that tell them apart."""
    return pair(Evidence("", shown.value, shown.limit, shown.unit))


PLAIN: dict[str, Callable[..., Any]] = {
    "iso": iso,
    "share": share,
    "span": span,
    "count": count,
    "amount": amount,
}
"""Filters that need to know nothing about the reader."""

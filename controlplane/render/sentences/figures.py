"""Evidence as people read it: a few significant digits, a unit, no more precision than meant.

Narrow spaces group thousands and tie a figure to its unit in every language, as ISO 80000 asks;
so figures need no tables per language.
"""

from collections.abc import Iterable
from math import floor, isfinite, log10

from controlplane.domain.reasons import Evidence, EvidenceValue

THIN = "\u202f"
GAP = "\u00a0"
IN_SECONDS = 180.0  # longer spans are told in minutes
_SHARE_UNITS = frozenset({"share", "ratio"})
_SHARE_NAMES = frozenset({"memory", "offered_load", "utilisation", "covered"})
_BARE = frozenset({"replicas"})
_NOTES = ("per ", "on ")  # units that say per what or where, e.g. "per 15 s"
_CLASSES = ("high", "medium", "low")


def figure(value: float, digits: int = 3) -> str:
    """Write a number with so many significant digits, whole numbers in full, thousands grouped."""
    if not isfinite(value):
        return "∞" if value > 0 else "−∞" if value < 0 else "?"
    whole = float(value).is_integer()
    decimals = 0 if whole or value == 0 else max(digits - 1 - floor(log10(abs(value))), 0)
    text = f"{value:,.{decimals}f}".replace(",", THIN).replace("-", "−")
    return text.rstrip("0").rstrip(".") if "." in text else text


def seconds(value: float, digits: int = 3) -> str:
    """Write a time span in the unit people would say it in."""
    size = abs(value)
    if not isfinite(value):
        return figure(value)
    for limit, factor, unit in (
        (0.1, 1000.0, "ms"),
        (IN_SECONDS, 1.0, "s"),
        (7200.0, 1 / 60, "min"),
    ):
        if 0 < size < limit or (size == 0 and unit == "s"):
            return f"{figure(value * factor, digits)}{GAP}{unit}"
    return f"{figure(value / 3600, digits)}{GAP}h"


def quantity(value: EvidenceValue, unit: str, digits: int = 3) -> str:
    """Write a recorded value in its unit; text stays as it is, nothing known is a dash."""
    if value is None:
        return "–"
    if isinstance(value, str):
        return value
    if unit == "s":
        return seconds(value, digits)
    if unit in _SHARE_UNITS:
        return f"{figure(value * 100, digits)}{GAP}%"
    written = figure(value, digits)
    if not unit or unit in _BARE or unit.startswith(_NOTES):
        return written
    return f"{written}{'' if unit.startswith('/') else GAP}{unit.strip()}"


def unit_of(evidence: Evidence) -> str:
    """Give the unit; shares are recorded without one and known by their names."""
    if not evidence.unit and evidence.name in _SHARE_NAMES:
        return "share"
    return evidence.unit


def pair(evidence: Evidence) -> tuple[str, str]:
    """Write value and limit, with as many digits as it takes to tell the two apart."""
    unit = unit_of(evidence)
    if unit == "s" and _outgrows(evidence.value, evidence.limit):
        unit = " s"  # 258 s of 20 s: one unit for both, the limit's
    written = ("", "")
    for digits in (2, 3, 4, 5, 6):
        written = (quantity(evidence.value, unit, digits), quantity(evidence.limit, unit, digits))
        if written[0] != written[1] or evidence.value == evidence.limit:
            break
    return written


def _outgrows(value: EvidenceValue, limit: EvidenceValue) -> bool:
    """Say whether a time span would be written in a larger unit than its limit."""
    numbers = isinstance(value, int | float) and isinstance(limit, int | float)
    return numbers and 0.1 <= float(limit or 0) < IN_SECONDS <= float(value or 0)


def held_against_limit(evidence: Iterable[Evidence]) -> Evidence | None:
    """Pick the evidence a rule is about: the first with a limit, else the first number."""
    listed = tuple(evidence)
    with_limit = (one for one in listed if one.limit is not None)
    numbers = (one for one in listed if isinstance(one.value, int | float))
    return next(with_limit, None) or next(numbers, None)


def blanks(evidence: Iterable[Evidence]) -> dict[str, str]:
    """Name everything recorded: `name`, `name.limit`; `seen`, `limit`, `per` of the main one."""
    listed = tuple(evidence)
    filled: dict[str, str] = {}
    counts = [one for one in listed if type(one.value) is int and one.limit is None]
    if counts:
        filled["counts"] = ", ".join(
            f"{quantity(one.value, one.unit)} {one.name}" for one in counts
        )
    for one in listed:
        filled |= _named(one, one.name, f"{one.name}.limit")
    main = held_against_limit(listed)
    return filled if main is None else {**_of_main(main), **filled}


def _named(one: Evidence, name: str, limit_name: str) -> dict[str, str]:
    value, limit = pair(one)
    plural = "" if one.value == 1 else "s"  # "{devices} device{devices.s}"
    named = (
        (name, one.value, value),
        (f"{name}.s", one.value, plural),
        (limit_name, one.limit, limit),
    )
    return {key: written for key, known, written in named if known is not None}


def _of_main(main: Evidence) -> dict[str, str]:
    """Name the main evidence by its role, and what its name and unit say besides."""
    filled = _named(main, "seen", "limit")
    ending = main.name.rsplit("_", 1)[-1]
    if ending in _CLASSES:
        filled["class"] = ending
    if main.unit.startswith(_NOTES):
        filled["per"] = main.unit
    return filled

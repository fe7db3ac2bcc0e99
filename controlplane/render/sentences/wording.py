"""What is said about one reason code in one language, and how its blanks are filled.

A clause is written so that it reads after "because" as well as by itself. Blanks stand in square
brackets and fall away, or give place to the text after `|`, when what they name was not recorded:
`its queue [would take {seen} to drain|drains too slowly][ and {limit} is the limit]`.
Old rows, other versions and partial evidence therefore always give a whole sentence.
"""

import re
from collections.abc import Mapping
from typing import NamedTuple

_BRACKET = re.compile(r"\[([^\[\]|]*)(?:\|([^\[\]]*))?\]")
_BLANK = re.compile(r"\{([a-z0-9_.]+)\}")


class Wording(NamedTuple):
    """A code's short label, its clause, and its explanation for the help page."""

    title: str
    clause: str
    explanation: str


Table = Mapping[str, Wording]


def fill(template: str, blanks: Mapping[str, str]) -> str:
    """Fill a clause's blanks from what is known; what is not known leaves no trace."""

    def bracket(match: re.Match[str]) -> str:
        wanted = _BLANK.findall(match[1])
        known = all(name in blanks for name in wanted)
        return _BLANK.sub(blank, match[1] if known else match[2] or "")

    def blank(match: re.Match[str]) -> str:
        return blanks.get(match[1], "…")

    return _BLANK.sub(blank, _BRACKET.sub(bracket, template))


def blanks_of(template: str) -> frozenset[str]:
    """Name the blanks of a clause."""
    return frozenset(_BLANK.findall(template))

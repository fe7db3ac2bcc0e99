"""Versions of accelerator runtimes (CUDA, CANN), ordered as their vendors order them.

CANN writes `8.3.RC2` for the second release candidate of 8.3 and `8.0.RC1.alpha001` for something
before that; `RCn` precedes the final release of the same major.minor (8.5.RC1 < 8.5.0). Image tags
spell it in lower case (`8.2.rc1`).
"""

import re
from functools import total_ordering

_FORM = re.compile(
    r"(?P<release>\d+(?:\.\d+)*)"
    r"(?:\.?rc(?P<rc>\d+))?"
    r"(?:\.?(?P<stage>alpha|beta)(?P<step>\d+))?",
    re.IGNORECASE,
)
_FINAL = 1_000_000
_STAGES = {"alpha": 0, "beta": 1}


@total_ordering
class RuntimeVersion:
    """A version that compares by meaning and prints as it was written."""

    __slots__ = ("_key", "written")

    def __init__(self, written: str) -> None:
        """Parse, or raise ValueError naming what was written."""
        match = _FORM.fullmatch(written.strip())
        if match is None:
            raise ValueError(f"{written!r} is no version such as 12.8, 8.5.0 or 8.3.RC2")
        release = [int(part) for part in match["release"].split(".")]
        while len(release) > 1 and release[-1] == 0:  # 8.5 and 8.5.0 are the same
            release.pop()
        candidate = int(match["rc"]) if match["rc"] else _FINAL
        stage = (
            (_STAGES[match["stage"].lower()], int(match["step"])) if match["stage"] else (_FINAL, 0)
        )
        # 8.3.RC2 belongs to 8.3(.0): the release compares first, padded to one length.
        padded = (*release, *([0] * (6 - len(release))))
        self._key = (padded, candidate, stage)
        self.written = written

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RuntimeVersion) and self._key == other._key

    def __lt__(self, other: "RuntimeVersion") -> bool:
        return self._key < other._key

    def __hash__(self) -> int:
        return hash(self._key)

    def __str__(self) -> str:
        return self.written

    def __repr__(self) -> str:
        return f"RuntimeVersion({self.written!r})"


def is_version(written: str) -> bool:
    """Say whether the text can be read as a version."""
    return _FORM.fullmatch(written.strip()) is not None

"""What the settings page draws: the catalogue in force, its versions, their difference."""

import msgspec

from controlplane.domain.quantities import Instant


class VersionRow(msgspec.Struct, frozen=True, kw_only=True):
    """A version of the catalogue."""

    version: int
    at: Instant
    source: str
    by: str
    in_force: bool


class CatalogueView(msgspec.Struct, frozen=True, kw_only=True):
    """The catalogue in force, its versions, and the fault of a newer file, if it was refused."""

    version: VersionRow
    text: str
    versions: tuple[VersionRow, ...]
    faults: tuple[str, ...]
    refused_at: Instant | None


class CatalogueDiff(msgspec.Struct, frozen=True, kw_only=True):
    """Two versions side by side as unified lines, each "+", "-", "@" or " " first."""

    older: int
    newer: int
    lines: tuple[str, ...]

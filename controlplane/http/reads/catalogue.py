"""The catalogue in force, its versions and their difference."""

import asyncio
from difflib import unified_diff
from itertools import islice

from controlplane.http.reads.shapes.catalogue import CatalogueDiff, CatalogueView, VersionRow
from controlplane.http.state import State
from controlplane.ports import CatalogueVersion

VERSIONS_SHOWN = 50


async def catalogue_view(state: State) -> CatalogueView:
    """Give the catalogue in force and its versions, newest first."""
    in_force = state.in_force
    versions = await state.catalogues.versions(VERSIONS_SHOWN)
    return CatalogueView(
        version=version_row(state, in_force.version),
        text=in_force.version.text,
        versions=tuple(version_row(state, version) for version in versions),
        faults=in_force.faults,
        refused_at=in_force.refused_at,
    )


def version_row(state: State, version: CatalogueVersion) -> VersionRow:
    """Give a version without its text."""
    return VersionRow(
        version=version.version,
        at=version.at,
        source=version.source,
        by=version.by,
        in_force=version.version == state.in_force.version.version,
    )


async def catalogue_text(state: State, version: int) -> str | None:
    """Give the text of a stored version."""
    for stored in await state.catalogues.versions(VERSIONS_SHOWN):
        if stored.version == version:
            return stored.text
    return None


async def catalogue_diff(state: State, older: int, newer: int) -> CatalogueDiff | None:
    """Compare two versions line by line; None where one of them is not stored."""
    before, after = await catalogue_text(state, older), await catalogue_text(state, newer)
    if before is None or after is None:
        return None
    lines = await asyncio.to_thread(diff_lines, before, after)  # of large files it takes seconds
    return CatalogueDiff(older=older, newer=newer, lines=lines)


def diff_lines(before: str, after: str) -> tuple[str, ...]:
    """Give a unified difference without its two file names."""
    lines = unified_diff(before.splitlines(), after.splitlines(), lineterm="", n=3)
    return tuple(islice(lines, 2, None))

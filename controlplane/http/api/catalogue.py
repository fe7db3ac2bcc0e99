"""Routes: the catalogue in force, its versions and their difference; a new one checked, applied."""

import asyncio
from typing import Annotated

import msgspec
from msgspec import Meta

from controlplane.http.access import Role
from controlplane.http.api.route import Call, Route
from controlplane.http.problems import ProblemError, bad, missing
from controlplane.http.reads.catalogue import (
    catalogue_diff,
    catalogue_text,
    catalogue_view,
    version_row,
)
from controlplane.http.reads.shapes.catalogue import CatalogueDiff, CatalogueView, VersionRow
from controlplane.http.state import State

LARGEST = 1_000_000


class FleetFile(msgspec.Struct, frozen=True, kw_only=True):
    """A fleet file, as text."""

    text: Annotated[
        str, Meta(min_length=1, max_length=LARGEST, description="The YAML of the fleet file.")
    ]
    source: Annotated[
        str, Meta(min_length=1, max_length=253, description="Its name, for messages and history.")
    ] = "api"


class Checked(msgspec.Struct, frozen=True, kw_only=True):
    """Whether a fleet file would be taken."""

    valid: bool
    faults: tuple[str, ...]  # file:line: field: value: rule


class Pair(msgspec.Struct, frozen=True, kw_only=True):
    """Two versions."""

    older: Annotated[int, Meta(ge=1, description="The version to compare from.")]
    newer: Annotated[int, Meta(ge=1, description="The version to compare to.")]


class VersionText(msgspec.Struct, frozen=True, kw_only=True):
    """A stored version, whole."""

    version: int
    text: str


async def _catalogue(call: Call) -> CatalogueView:
    return await catalogue_view(call.state)


async def _versions(call: Call) -> tuple[VersionRow, ...]:
    return (await catalogue_view(call.state)).versions


async def _version(call: Call) -> VersionText:
    written = call.part("version")
    if not written.isdecimal() or len(written) > 9:
        raise bad("version", written, "must be a whole number")
    text = await catalogue_text(call.state, int(written))
    if text is None:
        raise missing("version", written)
    return VersionText(version=int(written), text=text)


async def _diff(call: Call) -> CatalogueDiff:
    wanted: Pair = call.params
    found = await catalogue_diff(call.state, wanted.older, wanted.newer)
    if found is None:
        raise missing("version", f"{wanted.older} or {wanted.newer}")
    return found


async def _validate(call: Call) -> Checked:
    faults = await faults_of(call.state, call.body)
    return Checked(valid=not faults, faults=faults)


async def faults_of(state: State, written: FleetFile) -> tuple[str, ...]:
    """Give one line per fault of a fleet file; reading a large one takes seconds."""
    try:
        await asyncio.to_thread(state.validate, written.text, written.source)
    except ValueError as faults:
        return tuple(str(faults).splitlines())
    return ()


async def _apply(call: Call) -> VersionRow:
    written: FleetFile = call.body
    call.subject = written.source
    faults = await faults_of(call.state, written)
    if faults:
        raise ProblemError(400, f"text: {faults[0]}", lines=faults)
    version = await call.state.apply_catalogue(written.text, written.source, call.caller.name)
    call.detail = f"version {version.version}"
    call.state.wake()
    return version_row(call.state, version)


ROUTES = (
    Route(
        method="GET",
        path="/catalogue",
        summary="The catalogue in force, its versions, and the faults of a newer file if any.",
        run=_catalogue,
        answer=CatalogueView,
        tag="catalogue",
    ),
    Route(
        method="GET",
        path="/catalogue/versions",
        summary="The versions that were ever in force, newest first.",
        run=_versions,
        answer=tuple[VersionRow, ...],
        tag="catalogue",
        table=lambda rows: rows,
    ),
    Route(
        method="GET",
        path="/catalogue/versions/{version}",
        summary="The text of one version.",
        run=_version,
        answer=VersionText,
        tag="catalogue",
    ),
    Route(
        method="GET",
        path="/catalogue/diff",
        summary="What changed between two versions, as unified lines.",
        run=_diff,
        answer=CatalogueDiff,
        tag="catalogue",
        params=Pair,
    ),
    Route(
        method="POST",
        path="/catalogue/validate",
        summary="Check a fleet file without applying it.",
        run=_validate,
        answer=Checked,
        tag="catalogue",
        role=Role.OPERATOR,
        body=FleetFile,
    ),
    Route(
        method="POST",
        path="/catalogue/apply",
        summary="Put a fleet file in force; one with faults changes nothing.",
        run=_apply,
        answer=VersionRow,
        tag="catalogue",
        role=Role.ADMIN,
        body=FleetFile,
        audit="apply catalogue",
    ),
)

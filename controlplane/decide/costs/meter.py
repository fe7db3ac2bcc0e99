"""From who held what, and when, to ledger rows that add up to the bill (law 8).

A device with one holder is that holder's, whole, however little it uses of it: nobody else could
have had it. Holders that share a device pay by the memory reserved for them, and what nobody
reserved is idle; reserved beyond the device's memory, they share it all. Within an interval the
shares are weighted by time.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

import msgspec

from controlplane.decide.costs.bill import bill
from controlplane.decide.costs.holding import DevicesOf, Holder, Holding, hold
from controlplane.domain.catalogue import Catalogue
from controlplane.domain.fleet import FleetView
from controlplane.domain.ledger import LedgerRow, LineKind, split_exactly
from controlplane.domain.quantities import ClassName, Instant, Micros, ModelName, Team, micros
from controlplane.domain.samples import NoData

Payer: TypeAlias = tuple[LineKind, ModelName | None]
IDLE: Payer = (LineKind.IDLE, None)
ROUNDING = 1e-9


class Piece(msgspec.Struct, frozen=True, array_like=True):
    """A stretch of time in which one node's devices were held by the same replicas."""

    start: Instant
    end: Instant
    holding: Holding
    reconstructed: bool = False


class Tariff(msgspec.Struct, frozen=True):
    """What was in force: prices and who owns what."""

    version: int
    prices: Mapping[ClassName, int]  # millionths per device and hour
    teams: Mapping[ModelName, Team]


def tariff(catalogue: Catalogue, version: int) -> Tariff:
    """Read the tariff from a catalogue."""
    return Tariff(
        version,
        {name: micros(held.price_per_hour) for name, held in catalogue.node_classes.items()},
        {name: model.team for name, model in catalogue.models.items()},
    )


def meter(
    view: FleetView,
    catalogue: Catalogue,
    devices_of: DevicesOf,
    span: tuple[Instant, Instant],
    catalogue_version: int = 0,
) -> tuple[LedgerRow, ...]:
    """Give the rows of [start, end) in which the fleet stayed as it was seen."""
    if isinstance(view.nodes, NoData):
        return ()
    start, end = span
    holdings = hold(view.nodes, view.replicas, catalogue, devices_of, {})
    pieces = [Piece(start, end, holding) for holding in holdings]
    return rows_of(pieces, tariff(catalogue, catalogue_version))


def rows_of(pieces: Iterable[Piece], rates: Tariff) -> tuple[LedgerRow, ...]:
    """Give the rows of pieces that all lie within one interval, in order of time per node."""
    runs: list[list[Piece]] = []
    last_of_node: dict[str, list[Piece]] = {}
    for piece in pieces:
        run = last_of_node.get(piece.holding.node)
        if run is not None and _continues(run[-1], piece):
            run.append(piece)
        else:
            last_of_node[piece.holding.node] = run = [piece]
            runs.append(run)
    return tuple(row for run in runs for row in _rows_of_run(run, rates))


def _continues(before: Piece, after: Piece) -> bool:
    """Say whether the same devices were there without a break."""
    old, new = before.holding, after.holding
    same = (old.node_class, old.zone, old.devices) == (new.node_class, new.zone, new.devices)
    return same and before.end == after.start


def _rows_of_run(run: Sequence[Piece], rates: Tariff) -> Iterable[LedgerRow]:
    """Give the rows of one node's devices over a stretch without a break."""
    weights: list[dict[Payer, float]] = [{} for _ in range(run[0].holding.devices)]
    for piece in run:
        seconds = piece.end - piece.start
        for device, shares in enumerate(_shares(piece.holding)):
            for payer, share in shares.items():
                weight = weights[device].get(payer, 0.0)
                weights[device][payer] = weight + share * seconds
    holding, start, end = run[0].holding, run[0].start, run[-1].end
    price = rates.prices.get(holding.node_class, 0)
    total = bill(price, start, end)
    reconstructed = any(piece.reconstructed for piece in run)
    for device, of_device in enumerate(weights):
        for (kind, model), part in _split(total, of_device).items():
            yield LedgerRow(
                start=start,
                end=end,
                node=holding.node,
                device=device,
                node_class=holding.node_class,
                zone=holding.zone,
                kind=kind,
                model=model,
                team=rates.teams.get(model) if model is not None else None,
                micros=part,
                price_micros_per_hour=Micros(price),
                reconstructed=reconstructed,
                catalogue_version=rates.version,
            )


def _shares(holding: Holding) -> list[dict[Payer, float]]:
    """Give who pays which share of each device; the shares of a device add up to 1."""
    on_device: list[list[Holder]] = [[] for _ in range(holding.devices)]
    for holder in holding.holders:
        for device in holder.devices:
            on_device[device].append(holder)
    return [_shares_of_device(holders) for holders in on_device]


def _shares_of_device(holders: list[Holder]) -> dict[Payer, float]:
    if not holders:
        return {IDLE: 1.0}
    if len(holders) == 1:
        return {(holders[0].kind, holders[0].model): 1.0}
    reserved = sum(holder.vram for holder in holders)
    scale = 1.0 / max(1.0, reserved)
    shares: dict[Payer, float] = {}
    for holder in holders:
        payer = (holder.kind, holder.model)
        shares[payer] = shares.get(payer, 0.0) + holder.vram * scale
    if reserved < 1.0 - ROUNDING:
        shares[IDLE] = 1.0 - reserved
    return shares


def _split(total: Micros, weights: Mapping[Payer, float]) -> dict[Payer, Micros]:
    """Share a device's bill out by weight; the parts add up to it exactly."""
    if len(weights) == 1:
        return dict.fromkeys(weights, total)
    by_name = {f"{kind} {model or ''}": (kind, model) for kind, model in weights}
    parts = split_exactly(total, {name: weights[payer] for name, payer in by_name.items()})
    return {by_name[name]: part for name, part in parts.items()}

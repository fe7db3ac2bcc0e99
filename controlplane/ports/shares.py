"""How several gateways share the slots of a model without ever running more than there are."""

from collections.abc import Mapping
from typing import Protocol

import msgspec

from controlplane.domain.quantities import ModelName


class Wish(msgspec.Struct, frozen=True, array_like=True):
    """What one gateway has and wants of a model."""

    slots: int  # of the whole model
    held: int  # of these, what it may fill until the answer is in force
    running: tuple[int, int, int]  # slots each class holds here, by rank
    waiting: tuple[int, int, int]  # slots each class waits for here
    most: int | None = None  # grant no more: whoever shares out may not know of everybody yet


class Grant(msgspec.Struct, frozen=True, array_like=True):
    """What it may use until it asks again; with fewer than run, what ends is not replaced."""

    slots: int
    gateways: int  # that share the model now


class Shares(Protocol):
    """Shares slots out. Raises `UnavailableError` when it cannot be reached."""

    async def ask(self, wishes: Mapping[ModelName, Wish]) -> Mapping[ModelName, Grant]:
        """Say what is wanted, and hear what is given; a grant is a lease that ends by itself."""
        ...

    async def leave(self) -> None:
        """Give everything back."""
        ...

"""The process of an admission worker, wired: its door, and what shares slots with others."""

from controlplane.adapters.redis.shares import RedisShares
from controlplane.gateway.worker import main
from controlplane.ports.shares import Shares


def shares(url: str, gateway: str) -> Shares:
    """Share slots through the server at this address."""
    return RedisShares(url, gateway)


if __name__ == "__main__":
    main(shares)

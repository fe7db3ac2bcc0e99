from pathlib import Path

import pytest

from controlplane.adapters.sql.migrate import upgrade
from controlplane.adapters.sql.opening import open_store
from controlplane.domain.gateway import ApiKey
from controlplane.domain.priorities import Priority
from controlplane.domain.quantities import ModelName


async def test_keys_outlive_the_world_and_are_found_by_their_hash_alone(tmp_path: Path) -> None:
    key = ApiKey(
        secret_hash="ab" * 32, name="web", priority=Priority.HIGH, models=(ModelName("chat"),)
    )
    upgrade(str(tmp_path))
    async with open_store(str(tmp_path), "one") as store:
        await store.gateway_keys.add(key)
        with pytest.raises(ValueError, match="a key named web exists already"):
            await store.gateway_keys.add(key)
    async with open_store(str(tmp_path), "another") as store:
        assert list(await store.gateway_keys.keys()) == [key]
        assert await store.gateway_keys.remove("web")
        assert not await store.gateway_keys.remove("web")
        assert list(await store.gateway_keys.keys()) == []

"""What a newer version wrote is still listed by an older one."""

import sqlite3
from pathlib import Path

from controlplane.adapters.sql.address import FILE_NAME
from controlplane.adapters.sql.opening import open_store
from controlplane.domain.reasons import Evidence, ReasonCode
from controlplane.ports import DecisionQuery
from tests.stored import T0, a_raise


async def test_a_code_that_is_not_known_costs_no_list(tmp_path: Path) -> None:
    async with open_store(tmp_path, "world-1", create=True) as store:
        await store.journal.open("scaling", [a_raise("chat"), a_raise("sdxl")], T0, 1)
    with sqlite3.connect(tmp_path / FILE_NAME) as file:
        renamed = "replace({0}, 'DrainTooSlow', 'SunShines')"
        for column in ("decisive", "trail"):
            value = renamed.format(column)
            file.execute(f"UPDATE decisions SET {column} = {value} WHERE subject = 'chat'")

    async with open_store(tmp_path, "world-1") as store:
        sdxl, chat = await store.decisions.decisions(DecisionQuery())

    assert (sdxl.subject, chat.subject) == ("sdxl", "chat")
    assert chat.decisive is ReasonCode.OF_ANOTHER_VERSION
    told = [reason for reason in chat.trail if reason.code is ReasonCode.OF_ANOTHER_VERSION]
    assert [reason.evidence[-1] for reason in told] == [Evidence("code", "SunShines")]
    assert [r.after for r in chat.trail] == [r.after for r in sdxl.trail]

"""Who may write: the election by a Lease of `coordination.k8s.io/v1`, as Kubernetes' own do it.

The library's election neither counts transitions nor releases, and it remembers that it leads; here
whether this daemon leads is computed from the clock each time it is asked (see `tenure`). A daemon
that stops hands the lease over: who follows is watching it and takes it at once.
"""

import asyncio
from collections.abc import Callable
from typing import Any, NoReturn

import msgspec
import structlog

from controlplane.adapters.kubernetes.client import Api, Manifest
from controlplane.adapters.kubernetes.refusals import (
    Asked,
    ConflictError,
    MissingError,
    RefusedError,
)
from controlplane.adapters.kubernetes.resources import LEASES, Place
from controlplane.adapters.kubernetes.tenure import LeaseRecord, LeaseTimes, Tenure
from controlplane.clock import since_boot, utc_text, wall
from controlplane.domain.marks import LEASE
from controlplane.ports import UnavailableError

RELEASE_WITHIN_S = 3.0

log = structlog.stdlib.get_logger(__name__)


class LeaseElection:
    """The port `Leadership` over a Lease. `run` stands for election for as long as it runs."""

    def __init__(
        self,
        api: Api,
        namespace: str,
        identity: str,
        *,
        times: LeaseTimes | None = None,
        elapsed: Callable[[], float] = since_boot,
    ) -> None:
        """Stand under a name that no other process has."""
        self.changed: Callable[[], None] = lambda: None  # called when this daemon begins or ends
        self.trouble = ""  # why there is no election, in one sentence
        # A renewal must not queue behind a burst of other writes, nor wait for one lost answer
        # until the deadline has passed.
        self._api = api.apart((times or LeaseTimes()).renew_deadline_s / 2)
        self._place = Place(LEASES, namespace, LEASE)
        self._elapsed = elapsed
        self._tenure = Tenure(identity, times or LeaseTimes())
        self._times = self._tenure.times
        self._lease: Manifest | None = None  # as it was last read or written, for its version
        self._told = (False, "")

    @property
    def leading(self) -> bool:
        """Say whether this daemon may write right now."""
        return self._tenure.leading(self._elapsed())

    @property
    def leader(self) -> str:
        """Name the daemon that leads, as far as is known."""
        return self._tenure.holder(self._elapsed())

    @property
    def term(self) -> int:
        """Number the reign; it changes whenever somebody else may have led in between."""
        return self._tenure.term

    async def run(self) -> NoReturn:
        """Take the lease when it is free, and renew it while it is held."""
        while True:
            due = asyncio.get_running_loop().time() + self._times.retry_s
            try:
                await self._stand()
                said = ""
            except (UnavailableError, RefusedError) as cause:
                said = str(cause)
            self._tell(said)
            if said or self.leading:
                await asyncio.sleep(due - asyncio.get_running_loop().time())
            else:
                await self._until_free(due)

    async def release(self) -> None:
        """Stop leading at once, and let whoever follows take over without waiting."""
        record = self._tenure.given_up()
        if record is not None and self._lease is not None:
            try:
                async with asyncio.timeout(RELEASE_WITHIN_S):
                    await self._api.replace(self._place, self._with(self._lease, record))
            except (UnavailableError, RefusedError, TimeoutError) as cause:
                why = str(cause) or "no answer in time"
                log.warning("the lease was not released and runs out by itself", cause=why)
        self._tell(self.trouble)

    async def _stand(self) -> None:
        """Do one round: renew what is held, else look, and take what is free."""
        if self.leading and self._lease is not None:
            try:
                await self._write(self._lease)
            except (ConflictError, MissingError):
                self._lease = None  # somebody wrote it; the next lines find out who
            else:
                return
        self._lease = await self._read()
        if self._tenure.free(self._elapsed()):
            try:
                await self._write(self._lease)
            except ConflictError:
                self._lease = None  # another was faster

    async def _read(self) -> Manifest | None:
        try:
            lease = await self._api.get(self._place, Manifest)
        except MissingError:
            self._tenure.gone()
            return None
        record = msgspec.convert(lease.get("spec") or {}, LeaseRecord, strict=False)
        self._tenure.saw(record, self._elapsed())
        return lease

    async def _write(self, lease: Manifest | None) -> None:
        record = self._tenure.wanted(utc_text(wall()))
        asked = self._elapsed()  # before it is sent: others count from later
        if lease is None:
            everywhere = msgspec.structs.replace(self._place, name=None)
            written = await self._api.create(everywhere, self._with(self._new(), record))
        else:
            written = await self._api.replace(self._place, self._with(lease, record))
        self._lease = written
        self._tenure.won(record, asked, self._elapsed())

    def _new(self) -> Manifest:
        named = {"name": self._place.name, "namespace": self._place.namespace}
        return {"apiVersion": LEASES.api_version, "kind": "Lease", "metadata": named}

    def _with(self, lease: Manifest, record: LeaseRecord) -> Manifest:
        """Give the lease with this record; what others wrote on it stays."""
        spec: dict[str, Any] = {**(lease.get("spec") or {}), **msgspec.to_builtins(record)}
        return {**lease, "spec": {name: told for name, told in spec.items() if told is not None}}

    async def _until_free(self, due: float) -> None:
        """Wait for the next round, or until the holder lets go."""
        place = msgspec.structs.replace(self._place, name=None)
        query = {
            "watch": "true",
            "fieldSelector": f"metadata.name={self._place.name}",
            "resourceVersion": str(
                (self._lease or {}).get("metadata", {}).get("resourceVersion", "")
            ),
        }
        try:
            async with asyncio.timeout_at(due):
                asked = Asked("watch", place)
                async with self._api.stream(asked, query, self._times.duration_s) as events:
                    while line := await events.readline():
                        if _let_go(line):
                            return
                await asyncio.sleep(due - asyncio.get_running_loop().time())
        except TimeoutError:
            pass
        except (UnavailableError, RefusedError):  # the next round says why
            await asyncio.sleep(due - asyncio.get_running_loop().time())

    def _tell(self, trouble: str) -> None:
        """Log what changed, and let the loops look."""
        leading, leader = now = self.leading, self.leader
        if trouble and not self.trouble:
            log.warning("no election", cause=trouble)
        elif self.trouble and not trouble:
            log.info("election goes on")
        self.trouble = trouble
        if now == self._told:
            return
        told, self._told = self._told, now
        if leading != told[0]:
            log.info(
                "this daemon leads" if leading else "this daemon leads no longer", leader=leader
            )
            self.changed()
        elif leader:
            log.info("this daemon follows", leader=leader)


class _Event(msgspec.Struct):
    type: str
    object: dict[str, Any] = {}


def _let_go(line: bytes) -> bool:
    """Say whether a watch's event means that nobody holds the lease."""
    event = msgspec.json.decode(line, type=_Event)
    if event.type in ("ADDED", "MODIFIED"):
        return not (event.object.get("spec") or {}).get("holderIdentity")
    return event.type == "DELETED"

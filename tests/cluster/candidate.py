"""A process that stands for election and writes as fast as it can while it leads; for freezing.

`python -m tests.cluster.candidate KUBECONFIG NAMESPACE NAME`: it says `leads` on every new reign,
and patches the ConfigMap `written` through the product's fence for as long as it may.
"""

import asyncio
import signal
import sys
from pathlib import Path

from controlplane.adapters.kubernetes.client import open_api
from controlplane.adapters.kubernetes.fencing import Fenced, NotLeadingError
from controlplane.adapters.kubernetes.lease import LeaseElection
from controlplane.adapters.kubernetes.refusals import RefusedError
from controlplane.adapters.kubernetes.resources import CONFIG_MAPS, Place
from controlplane.adapters.kubernetes.tenure import LeaseTimes
from controlplane.ports import UnavailableError

QUICK = LeaseTimes(duration_s=4.0, renew_deadline_s=3.0, retry_s=1.0)
EVERY_S = 0.1


def say(election: LeaseElection) -> None:
    sys.stdout.write("leads\n" if election.leading else "follows\n")
    sys.stdout.flush()


async def stand(kubeconfig: Path, namespace: str, name: str) -> None:
    api = await open_api(kubeconfig)
    election = LeaseElection(api, namespace, name, times=QUICK)
    election.changed = lambda: say(election)
    written, fenced = Place(CONFIG_MAPS, namespace, "written"), Fenced(api, election)
    running = asyncio.create_task(election.run())
    told = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, told.set)
    number = 0
    while not told.is_set():
        try:
            await fenced.patch(written, {"data": {name: str(number)}})
            number += 1
        except (NotLeadingError, RefusedError, UnavailableError):
            pass
        await asyncio.sleep(EVERY_S)
    running.cancel()
    await asyncio.wait([running])
    await election.release()
    await api.close()


if __name__ == "__main__":
    asyncio.run(stand(Path(sys.argv[1]), sys.argv[2], sys.argv[3]))

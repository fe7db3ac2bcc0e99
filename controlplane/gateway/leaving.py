"""How a gateway in a pod leaves: first out of the Service, then out of work, and only then it ends.

Envoy closes streams when it is told to end, so it must not be told before they are over. Both
containers of the pod wait for this; whoever begins, the other one may do it again.
"""

import asyncio

from controlplane.clock import stopwatch
from controlplane.gateway.admin import Admin

LOOK_EVERY_S = 0.5
CALM = 2  # looks in a row at which nothing was under way


async def leave(admin: Admin, *, leave_s: float, within_s: float) -> int | None:
    """Leave; gives how many requests were under way when time was up, None if Envoy was gone.

    For `leave_s` seconds requests are still taken, for nobody knows yet; each connection is closed
    after its answer. `within_s` bounds all of it.
    """
    ends = stopwatch() + within_s
    await admin.take_leave()
    await asyncio.sleep(min(leave_s, within_s))
    await admin.drain()
    calm = 0
    while True:
        left = await admin.under_way()
        calm = 0 if left else calm + 1
        if left is None or calm >= CALM or stopwatch() >= ends:
            return left
        await asyncio.sleep(LOOK_EVERY_S)

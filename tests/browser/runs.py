"""What-if runs that finish when they are asked to: the port's third implementation, for pages."""

from collections.abc import Mapping, Sequence
from math import sin

import msgspec

from controlplane.domain.quantities import ModelName
from controlplane.ports import RunCourse, RunProgress


class PaintedRuns:
    """Runs kept in a list; `advance` moves them as processes would."""

    def __init__(self) -> None:
        """Start with none."""
        self._runs: dict[str, RunProgress] = {}

    async def start(self, scenario: str, policy: str, seed: int) -> RunProgress:
        """Queue a run."""
        name = f"run-{len(self._runs) + 1}"
        run = RunProgress(id=name, scenario=scenario, policy=policy, seed=seed, state="running")
        self._runs[name] = run
        return run

    async def runs(self) -> Sequence[RunProgress]:
        """Give all runs, newest first."""
        return list(self._runs.values())[::-1]

    async def courses(self, run: str) -> Mapping[ModelName, RunCourse]:
        """Give a course with one burst to whatever is done."""
        return {ModelName("chat-70b"): a_course()} if self._runs[run].state == "done" else {}

    async def cancel(self, run: str) -> None:
        """Stop a run that is under way."""
        if self._runs[run].state in ("queued", "running"):
            self.advance(run, "cancelled", self._runs[run].done)

    def advance(
        self, run: str, state: str, done: float, report: dict[str, object] | None = None
    ) -> None:
        """Move a run."""
        self._runs[run] = msgspec.structs.replace(
            self._runs[run], state=state, done=done, report=report
        )


def a_course() -> RunCourse:
    """Two hours with a burst of low in the middle, answered by two more replicas."""
    at = tuple(18.0 * n for n in range(400))
    burst = [180 <= n < 200 for n in range(400)]
    serving = tuple(4 + 2 * (184 <= n < 230) for n in range(400))
    return RunCourse(
        at=at,
        arrivals={
            "high": tuple(200 + 8 * sin(n) for n in range(400)),
            "medium": tuple(150 + 6 * sin(n * 1.3) for n in range(400)),
            "low": tuple(800.0 if now else 0.0 for now in burst),
        },
        queue={
            "high": (0.0,) * 400,
            "medium": tuple(12.0 if now else 0.0 for now in burst),
            "low": tuple(200.0 if now else 0.0 for now in burst),
        },
        wait_p99={
            "high": tuple(0.03 if now else 0.004 for now in burst),
            "medium": tuple(0.6 if now else 0.006 for now in burst),
            "low": tuple(14.0 if now else None for now in burst),
        },
        drain_s=tuple(0.4 if now else 0.0 for now in burst),
        lanes={
            "serving": serving,
            "warm": tuple(max(0, 5 - n) for n in serving),
            "loading": (0,) * 400,
            "draining": (0,) * 400,
        },
        target=serving,
        wait_limits={"high": 0.1, "medium": 0.8, "low": 10.0},
    )

"""What-if runs that finish when they are asked to: the port's third implementation, for pages."""

from collections.abc import Sequence

import msgspec

from controlplane.ports import RunProgress


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

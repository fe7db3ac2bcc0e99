"""Walks one model's scaling along a time-line: five seconds a cycle, memory handed on."""

import msgspec

from controlplane.decide.scaling.decision import settle, wish
from controlplane.decide.scaling.inputs import Held, ModelMemory, Room, ScaleInput
from controlplane.domain.decisions import Choice
from controlplane.domain.load import ModelLoad
from controlplane.domain.policies import ModelPolicy
from tests.builders import A100, NOW, a_policy, an_input


class Timeline:
    """One model; whatever it asks for is in service `ready_after` cycles later."""

    def __init__(
        self, target: int, policy: ModelPolicy | None = None, ready_after: int = 1
    ) -> None:
        self.policy = policy or a_policy()
        self.now = NOW
        self.memory: ModelMemory = an_input(target=target, policy=self.policy).memory
        self.serving = target
        self.asked: list[int] = [target] * ready_after
        self.choices: list[Choice] = []

    @property
    def target(self) -> int:
        return self.memory.target or 0

    def look(self, load: ModelLoad) -> ScaleInput:
        loading = max(0, self.target - self.serving)
        return msgspec.structs.replace(
            an_input(load, policy=self.policy),
            at=self.now,
            memory=self.memory,
            held={A100: Held(serving=self.serving, loading=loading)},
            room=Room(grants={A100: 100}),
        )

    def cycle(self, load: ModelLoad, times: int = 1, every_s: float = 5.0) -> int:
        """Decide `times` cycles on the same load; give the target then in force."""
        for _ in range(times):
            self.now += every_s
            seen = self.look(load)
            choice, self.memory = settle(seen, wish(seen))
            self.choices.append(choice)
            self.asked.append(choice.target)
            self.serving = self.asked.pop(0)
        return self.target

    def restart(self) -> None:
        """What a restart does to the memory: through JSON and back."""
        stored = msgspec.json.encode(self.memory)
        self.memory = msgspec.json.decode(stored, type=ModelMemory)

    @property
    def codes(self) -> list[str]:
        return [reason.code for reason in self.choices[-1].trail]

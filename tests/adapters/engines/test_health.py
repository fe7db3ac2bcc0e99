"""Health in every mode, and what it says when it is not good."""

import pytest

from controlplane.domain.quantities import ReplicaName
from controlplane.domain.serving import Health
from controlplane.emulation.faults import Faults
from tests.adapters.engines.watching import an_engine, serving_as, state_when, watched
from tests.emulation.stand import emulated

STATUS, JSON = Health(), Health(how="json")
MODELS, KSERVE = Health(how="models"), Health(how="kserve-v2")


@pytest.mark.parametrize(
    ("engine", "health"),
    [
        ("vllm", STATUS),
        ("vllm-old", STATUS),
        ("sglang", STATUS),
        ("tgi", STATUS),
        ("other", JSON),
        ("vllm", MODELS),
        ("triton", KSERVE),
        ("mindie", KSERVE),
        ("mindie", STATUS),
        ("tensorrt-llm", STATUS),
    ],
)
async def test_an_engine_that_is_well_is_healthy(engine: str, health: Health) -> None:
    async with emulated(engine) as stand, watched([an_engine(stand, health=health)]) as fleet:
        state = await state_when(fleet, lambda state: state.healthy)

    assert state.why == ""
    assert not state.warmed_up  # health is no generation


@pytest.mark.parametrize(
    ("engine", "health", "why"),
    [
        ("vllm", STATUS, "/health answers 503"),
        ("sglang", STATUS, "/health answers 503"),
        (
            "tgi",
            STATUS,
            '/health answers 503: {"error":"unhealthy","error_type":"healthcheck"}',
        ),
        ("other", JSON, "/health says model_loaded is false, not true"),
        ("triton", KSERVE, "/v2/models/chat/ready answers 400"),
        ("mindie", KSERVE, "/v2/models/chat/ready answers 503"),
    ],
)
async def test_one_that_is_not_says_why(engine: str, health: Health, why: str) -> None:
    async with (
        emulated(engine, faults=Faults(unhealthy=True)) as stand,
        watched([an_engine(stand, health=health)]) as fleet,
    ):
        state = await state_when(fleet, lambda state: not state.healthy)

    assert state.why == why


@pytest.mark.parametrize("engine", ["sglang", "triton", "other"])
async def test_a_port_that_is_open_while_the_model_loads_is_not_healthy_until_it_is(
    engine: str,
) -> None:
    how = {"triton": KSERVE, "other": JSON}.get(engine, STATUS)
    async with (
        emulated(engine, loaded=False) as stand,
        watched([an_engine(stand, health=how)]) as fleet,
    ):
        await state_when(fleet, lambda state: bool(state.why))

        stand.engine.loaded = True

        await state_when(fleet, lambda state: state.healthy)


async def test_before_the_port_is_open_the_state_says_that_nobody_can_be_asked() -> None:
    async with emulated() as stand:
        engine = an_engine(stand)
    async with watched([engine]) as fleet:
        state = await state_when(fleet, lambda state: not state.healthy)

    assert f"http://127.0.0.1:{engine.serving.port}/health cannot be asked" in state.why


async def test_an_answer_that_takes_too_long_is_none() -> None:
    slow = Health(timeout_s=0.2)
    async with (
        emulated(faults=Faults(mute=True)) as stand,
        watched([an_engine(stand, health=slow)]) as fleet,
    ):
        state = await state_when(fleet, lambda state: not state.healthy)

    assert state.why.endswith("/health did not answer within 0.2 s")


async def test_the_field_and_its_value_are_as_set_and_compared_as_json() -> None:
    named = Health(how="json", field="status", equals='"ok"')
    wrong = Health(how="json", field="ready")
    text = Health(how="json", equals='"true"')
    async with emulated("other") as stand:
        good = an_engine(stand, 1, health=named)
        missing = an_engine(stand, 2, health=wrong)
        quoted = an_engine(stand, 3, health=text)
        async with watched([good, missing, quoted]) as fleet:
            await state_when(fleet, lambda state: state.healthy, "chat-1")
            absent = await state_when(fleet, lambda _: True, "chat-2")
            other = await state_when(fleet, lambda _: True, "chat-3")

    assert absent.why == "/health names no ready, which was to be true"
    assert other.why == '/health says model_loaded is true, not "true"'


@pytest.mark.parametrize(
    ("fault", "why"),
    [
        (Faults(wrong_json=True), "/health answers no JSON, and model_loaded was to be true"),
        (Faults(html=True), "/health answers no JSON, and model_loaded was to be true"),
    ],
)
async def test_a_proxys_page_is_not_the_field(fault: Faults, why: str) -> None:
    async with (
        emulated("other", faults=fault) as stand,
        watched([an_engine(stand, health=JSON)]) as fleet,
    ):
        state = await state_when(fleet, lambda _: True)

    assert state.why == why


async def test_a_model_that_is_not_listed_is_named_with_those_that_are() -> None:
    async with emulated() as stand:
        engine = serving_as(an_engine(stand, health=MODELS), served_name="llama")
        async with watched([engine]) as fleet:
            state = await state_when(fleet, lambda _: True)

    assert state.why == "/v1/models does not list llama, only chat"


async def test_an_engine_that_is_followed_no_more_has_no_state() -> None:
    async with emulated() as stand, watched([an_engine(stand)]) as fleet:
        await state_when(fleet, lambda state: state.healthy)

        fleet.follow(())

        assert fleet.state(ReplicaName("chat-1")) is None


async def test_health_is_asked_on_a_port_of_its_own_where_there_is_one() -> None:
    async with emulated("mindie") as management, emulated("mindie") as requests:
        management.engine.faults.change({"unhealthy": True})
        engine = an_engine(requests, health=Health(port=management.port))
        async with watched([engine]) as fleet:
            state = await state_when(fleet, lambda _: True)

    assert state.why == "/health answers 503"


@pytest.mark.parametrize("serves", [True, False])
async def test_an_engine_that_falls_ill_is_seen_and_so_is_that_it_is_well_again(
    serves: bool,
) -> None:
    async with emulated() as stand, watched([an_engine(stand, serves=serves)]) as fleet:
        await state_when(fleet, lambda state: state.healthy)

        stand.engine.faults.change({"unhealthy": True})
        await state_when(fleet, lambda state: not state.healthy)

        stand.engine.faults.change({"unhealthy": False})
        await state_when(fleet, lambda state: state.healthy)


async def test_other_settings_for_the_same_engine_are_no_reason_to_forget_it() -> None:
    async with emulated() as stand:
        engine = an_engine(stand, serves=False)
        async with watched([engine]) as fleet:
            await state_when(fleet, lambda state: state.healthy)
            await fleet.warm_up(engine.replica, 3)
            await state_when(fleet, lambda state: state.warmed_up)

            fleet.follow([serving_as(engine, pre_stop_s=9.0, health=JSON)])
            kept = fleet.state(engine.replica)
            assert kept is not None
            assert kept.warmed_up

            asked_otherwise = await state_when(fleet, lambda state: not state.healthy)
            assert "answers no JSON" in asked_otherwise.why

"""Laws of scaling, for any load and memory hypothesis can think of."""

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from controlplane.decide.replay import decide_again
from controlplane.decide.scaling.decision import decide_scale, settle, wish
from controlplane.decide.scaling.inputs import Held, ModelMemory, Room, ScaleInput, Span
from controlplane.domain.load import ModelLoad
from controlplane.domain.priorities import PRIORITIES
from controlplane.domain.reasons import ReasonCode
from controlplane.domain.samples import Absence, Bad, NoData, Sample, Stale, Value, Zero, known
from tests.builders import A100, CHAT, NOW, T4, a_class_load, a_policy, an_input, facts

numbers = st.floats(0.001, 1e6, allow_nan=False)
unknowns = st.one_of(
    st.just(NoData(Absence.UNREACHABLE)),
    st.builds(Stale, st.floats(1, 1e4)),
    st.just(Bad("nan")),
)
samples: st.SearchStrategy[Sample] = st.one_of(
    st.builds(Value, numbers, st.just(NOW)), st.just(Zero(NOW)), unknowns
)
class_loads = st.builds(
    a_class_load, samples, samples, steady=samples, turned_away=samples, wait=samples,
    latency=samples,
)  # fmt: skip
loads = st.builds(
    lambda classes, service, kv, util: ModelLoad(
        model=CHAT, at=NOW, classes=dict(zip(PRIORITIES, classes, strict=True)),
        service_s=service, kv_usage=kv, utilisation=util,
    ),
    st.tuples(class_loads, class_loads, class_loads), samples, samples, samples,
)  # fmt: skip
policies = st.builds(
    a_policy,
    min=st.integers(0, 4), max=st.integers(5, 40), cooldown_s=st.sampled_from([0.0, 300.0]),
    cold_step_share=st.sampled_from([None, 0.5]), step_up=st.sampled_from([None, 1]),
    step_down=st.sampled_from([None, 1]), utilisation_alone=st.booleans(),
    depth_target=st.sampled_from([None, 5.0]), depth_alone_falls=st.booleans(),
    utilisation_floor=st.sampled_from([None, 0.4]),
)  # fmt: skip
splits = st.dictionaries(st.sampled_from([A100, T4]), st.integers(0, 20))


def spans_of(ends: list[tuple[float, int | None]]) -> tuple[Span, ...]:
    oldest_first = sorted(ends, key=lambda end: -end[0])
    return tuple(Span(NOW - ago - 100.0, NOW - ago, wish) for ago, wish in oldest_first)


spans = st.lists(
    st.tuples(st.floats(0, 400), st.one_of(st.none(), st.integers(0, 30))), max_size=4
).map(
    lambda ends: tuple(
        Span(NOW - a - 100.0, NOW - a, w) for a, w in sorted(ends, key=lambda end: -end[0])
    )
)
memories = st.builds(
    lambda split, wishes, changed: ModelMemory(
        target=sum(split.values()), split=split, wishes=wishes, changed_at=changed
    ),
    splits, spans, st.sampled_from([None, NOW - 10.0, NOW - 1000.0]),
)  # fmt: skip
counts = st.integers(0, 20)
helds = st.builds(lambda a, b, c: {A100: Held(serving=a, promotable=b, loading=c)}, *[counts] * 3)
rooms = st.one_of(
    st.just(Room(grants=None)),
    st.builds(lambda a, b: Room(grants={A100: a, T4: b}), counts, counts),
)
inputs: st.SearchStrategy[ScaleInput] = st.builds(
    lambda load, policy, memory, held, room: an_input(
        load, policy=policy, memory=memory, held=held, room=room,
        variants=(facts(T4, slots=4, hourly=0.5), facts()),
    ),
    loads, policies, memories, helds, rooms,
)  # fmt: skip


@given(inputs)
@settings(max_examples=50, deadline=None)
def test_law_2_the_trail_adds_up_from_the_current_to_the_target(seen: ScaleInput) -> None:
    choice = decide_scale(seen)

    figure = choice.current
    for reason in choice.trail:
        assert reason.before == figure
        figure = reason.after
    assert figure == choice.target


@given(inputs)
@settings(max_examples=50, deadline=None)
def test_law_12_guards_only_pull_towards_what_is_and_bounds_clamp_last(seen: ScaleInput) -> None:
    choice, wished = decide_scale(seen), wish(seen)
    bounds = seen.policy.scaling
    current, asked = choice.current, wished.target.replicas

    assert bounds.min <= choice.target <= bounds.max
    low, high = sorted((current, asked))
    clamped = (min(max(low, bounds.min), bounds.max), min(max(high, bounds.min), bounds.max))
    assert clamped[0] <= choice.target <= clamped[1]


@given(inputs)
@settings(max_examples=50, deadline=None)
def test_law_1_it_never_falls_while_a_class_is_not_known(seen: ScaleInput) -> None:
    choice = decide_scale(seen)
    covered = all(
        known(c.queue) and known(c.arrivals) and known(c.arrivals_steady)
        for c in seen.load.classes.values()
    )

    if not covered:
        assert choice.target >= min(choice.current, seen.policy.scaling.max)


@given(inputs)
@settings(max_examples=40, deadline=None)
def test_the_split_adds_up_to_the_target(seen: ScaleInput) -> None:
    choice, memory = settle(seen, wish(seen))

    assert sum(memory.split.values()) == choice.target
    assert all(count > 0 for count in memory.split.values())


@given(inputs)
@settings(max_examples=40, deadline=None)
def test_a_decision_replays_identically_from_its_json(seen: ScaleInput) -> None:
    choice = decide_scale(seen)
    again = decide_again("scaling", msgspec.json.encode(seen))

    assert again.trail == choice.trail
    assert again.target == choice.target
    assert ReasonCode.PINNED not in [reason.code for reason in again.trail]


@given(inputs)
@settings(max_examples=40, deadline=None)
def test_law_5_deciding_again_on_the_same_load_while_replicas_load_wishes_no_more(
    seen: ScaleInput,
) -> None:
    alike = (facts(T4, slots=14, hourly=0.5), facts())  # a smaller class would need more of them
    seen = msgspec.structs.replace(seen, variants=alike)
    first, memory = settle(seen, wish(seen))
    held = {A100: Held(serving=0, loading=first.target)}
    again = msgspec.structs.replace(seen, memory=memory, held=held, at=seen.at + 5.0)

    # What asks for "one more" (a broken P99, busy devices) must wait for what is loading.
    assert wish(again).target.replicas <= max(first.target, wish(seen).target.replicas)

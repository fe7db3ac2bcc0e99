"""Every class gets a verdict, and every verdict its reasons."""

from decimal import Decimal

from controlplane.decide.placement.matching import Match, match, preferred
from controlplane.domain.catalogue import KvCache, Model, Need, Pair, Pool, Runtime
from controlplane.domain.quantities import ModelName, Team, Zone
from controlplane.domain.reasons import Evidence, EvidenceValue, ReasonCode
from tests.decide.placement.fleets import A100, B3, B4, CANN, CUDA, T4, catalogue, model

NAME = ModelName("m")


def verdicts(
    m: Model, *, pools: tuple[Pool, ...] = (), pairs: tuple[Pair, ...] = ()
) -> tuple[Match, ...]:
    return match(NAME, m, catalogue({NAME: m}, pools=pools, pairs=pairs))


def on(node_class: str, matches: tuple[Match, ...]) -> Match:
    return next(m for m in matches if m.node_class == node_class)


def codes(found: Match) -> list[ReasonCode]:
    return [remark.code for remark in found.reasons]


def said(found: Match, code: ReasonCode) -> dict[str, EvidenceValue]:
    remark = next(r for r in found.reasons if r.code is code)
    return {e.name: e.value for e in remark.evidence} | {
        f"{e.name}.limit": e.limit for e in remark.evidence if e.limit is not None
    }


def test_p2_a_40_gib_model_on_one_device_fits_64_gib_and_not_32() -> None:
    found = verdicts(model(40))
    assert on(B3, found).fits
    assert on(B3, found).devices == 1
    too_small = on(B4, found)
    assert (too_small.fits, too_small.devices, too_small.hourly_cost) == (False, None, None)
    assert codes(too_small) == [ReasonCode.TOO_SMALL]
    assert said(too_small, ReasonCode.TOO_SMALL)["need"] == 40
    assert said(too_small, ReasonCode.TOO_SMALL)["device"] == 32


def test_p2_with_two_devices_allowed_two_of_32_gib_fit() -> None:
    found = on(B4, verdicts(model(40, tensor_parallel=(1, 2))))
    assert (found.fits, found.devices, found.hourly_cost) == (True, 2, Decimal("1.60"))


def test_the_smallest_allowed_degree_is_taken_and_those_between_are_not_invented() -> None:
    found = on(T4, verdicts(model(30, tensor_parallel=(8, 4, 1))))  # 3 would do, 4 is allowed
    assert (found.devices, found.hourly_cost) == (4, Decimal("1.40"))


def test_only_the_usable_share_counts() -> None:
    assert not on(A100, verdicts(model(72.1))).fits  # 0.9 x 80 = 72
    assert on(A100, verdicts(model(72))).fits


def test_the_need_is_weights_and_kv_cache_and_overhead() -> None:
    kv = KvCache(layers=80, kv_heads=8, head_dim=128, context_tokens=4096, sequences=16)
    assert kv.gib == 20.0  # 2 x 80 x 8 x 128 x 2 B x 65,536 tokens
    need = Need(weights_gib=131.0, kv=kv, overhead_gib=4.0)
    big = model(1, tensor_parallel=(1, 2, 4))
    big = Model(team=Team("a"), need=need, variants=big.variants, tensor_parallel=(1, 2, 4))
    assert on(A100, verdicts(big)).devices == 4  # 155 GiB: 2 x 72 are too few
    assert said(on(T4, verdicts(big)), ReasonCode.TOO_SMALL) == {
        "need": 155.0,
        "need.limit": 57.6,
        "devices": 4,
        "device": 16,
    }


def test_p3_an_image_built_for_a_newer_runtime_is_refused_with_both_versions() -> None:
    newer = Runtime(kind="cann", version="8.5.0")
    found = on(B3, verdicts(model(10, {B3: newer})))
    assert codes(found) == [ReasonCode.RUNTIME_TOO_NEW]
    assert said(found, ReasonCode.RUNTIME_TOO_NEW) == {
        "built": "CANN 8.5.0",
        "supported": "CANN 8.3.RC2",
    }


def test_p3_a_release_candidate_comes_before_its_release() -> None:
    candidate = Runtime(kind="cann", version="8.3.rc1")
    assert on(B3, verdicts(model(10, {B3: candidate}))).fits
    final = Runtime(kind="cann", version="8.3.0")
    assert codes(on(B3, verdicts(model(10, {B3: final})))) == [ReasonCode.RUNTIME_TOO_NEW]


def test_p3_a_denied_pair_is_refused_with_its_reason() -> None:
    pair = Pair(model=NAME, runtime=CANN, verdict="denied", reason="operator missing")
    found = on(B3, verdicts(model(10), pairs=(pair,)))
    assert codes(found) == [ReasonCode.PAIR_DENIED]
    assert said(found, ReasonCode.PAIR_DENIED) == {
        "runtime": "CANN 8.3.RC2",
        "reason": "operator missing",
    }
    assert on(A100, verdicts(model(10), pairs=(pair,))).fits


def test_a_pair_speaks_of_one_model_and_one_version_only() -> None:
    other = Pair(model=ModelName("other"), runtime=CANN, verdict="denied")
    older = Pair(model=NAME, runtime=Runtime(kind="cann", version="7.0.RC1"), verdict="denied")
    assert on(B3, verdicts(model(10), pairs=(other, older))).fits


def test_a_tested_pair_is_said_beside_the_fit() -> None:
    pair = Pair(model=NAME, runtime=CANN, verdict="tested")
    assert ReasonCode.PAIR_TESTED in codes(on(B3, verdicts(model(10), pairs=(pair,))))


def test_an_image_for_another_kind_of_runtime_is_refused() -> None:
    assert codes(on(B3, verdicts(model(10, {B3: CUDA})))) == [ReasonCode.RUNTIME_DIFFERS]


def test_every_reason_against_is_given_at_once() -> None:
    pair = Pair(model=NAME, runtime=Runtime(kind="cann", version="9.0.0"), verdict="denied")
    found = on(B4, verdicts(model(500, {B4: pair.runtime}), pairs=(pair,)))
    assert codes(found) == [
        ReasonCode.RUNTIME_TOO_NEW,
        ReasonCode.PAIR_DENIED,
        ReasonCode.TOO_SMALL,
    ]


def test_every_class_has_a_verdict_and_those_not_named_say_so() -> None:
    found = verdicts(model(10, {T4: CUDA}))
    assert [m.node_class for m in found] == [T4, B3, B4, A100]  # fits first, the others by name
    assert codes(found[1]) == [ReasonCode.NO_VARIANT]


def test_those_that_fit_stand_cheapest_first_and_the_first_is_preferred() -> None:
    found = verdicts(model(10))
    assert [m.node_class for m in found] == [T4, B4, B3, A100]
    assert preferred(found) is found[0]
    assert preferred(verdicts(model(500))) is None


def test_a_t4_sized_model_on_an_a100_is_waste_and_shows_as_such() -> None:
    found = verdicts(model(8))
    assert codes(on(T4, found)) == [ReasonCode.FITS]
    waste = said(on(A100, found), ReasonCode.BIGGER_THAN_NEEDED)
    assert (waste["sufficient"], waste["need"], waste["stranded"]) == (T4, 8, 64.0)


def test_it_is_waste_even_while_nobody_has_built_the_image_for_the_small_card() -> None:
    found = on(A100, verdicts(model(8, {A100: CUDA})))
    assert ReasonCode.BIGGER_THAN_NEEDED in codes(found)


def test_it_is_no_waste_when_the_small_card_is_denied_to_the_model() -> None:
    old = Runtime(kind="cuda", version="11.8")
    pair = Pair(model=NAME, runtime=old, verdict="denied")
    found = verdicts(model(8, {A100: CUDA, T4: old, B3: CUDA, B4: CUDA}), pairs=(pair,))
    assert ReasonCode.BIGGER_THAN_NEEDED not in codes(on(A100, found))


def pool(node_class: str, nodes: int, devices: int) -> Pool:
    return Pool(node_class=node_class, zone=Zone("a"), nodes=nodes, devices_per_node=devices)  # type: ignore[arg-type]  # literals


def test_a_pool_whose_nodes_have_too_few_devices_does_not_do() -> None:
    four = model(100, tensor_parallel=(2, 8))
    assert on(T4, verdicts(four)).devices == 8  # pools unknown: believed
    found = on(T4, verdicts(four, pools=(pool(T4, 3, 4),)))
    assert codes(found) == [ReasonCode.TOO_SMALL]
    assert said(found, ReasonCode.TOO_SMALL)["devices"] == 2
    assert on(T4, verdicts(four, pools=(pool(T4, 3, 4), pool(T4, 1, 8)))).fits


def test_where_no_allowed_number_is_on_one_node_that_is_the_reason() -> None:
    found = on(T4, verdicts(model(10, tensor_parallel=(8,)), pools=(pool(T4, 3, 4),)))
    assert codes(found) == [ReasonCode.NO_DEVICES]
    assert found.reasons[0].evidence[1] == Evidence("devices", 8, 4, "on one node")
    empty = on(T4, verdicts(model(10), pools=(pool(T4, 0, 4),)))
    assert codes(empty) == [ReasonCode.NO_DEVICES]

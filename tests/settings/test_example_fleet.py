"""The fleet that ships with the product is good, and contended without being hopeless."""

from controlplane.decide.placement.matching import match, preferred
from controlplane.domain.catalogue import Catalogue
from controlplane.domain.quantities import ModelName
from controlplane.settings import checked
from controlplane.settings.texts import written_text
from controlplane.shipped import shipped


def example() -> Catalogue:
    path = shipped("examples") / "fleet.yaml"
    found = checked(written_text(path), path.name)

    assert found.warnings == ()
    return found.catalogue


def devices(catalogue: Catalogue, node_class: str) -> int:
    pools = [pool for pool in catalogue.pools if pool.node_class == node_class]
    return sum(pool.nodes * pool.devices_per_node for pool in pools)


def test_it_has_seven_models_on_three_kinds_of_card_in_two_zones() -> None:
    fleet = example()

    assert len(fleet.models) == 7
    assert {name: devices(fleet, name) for name in fleet.node_classes} == {
        "A100-80G": 16,
        "T4": 20,
        "Ascend-910B3": 8,
    }
    assert len({pool.zone for pool in fleet.pools}) == 2


def test_the_big_one_takes_four_a100_and_spills_to_ascend() -> None:
    fleet = example()
    name = ModelName("llama-70b")
    verdicts = match(name, fleet.models[name], fleet)

    assert [(v.node_class, v.devices) for v in verdicts if v.fits] == [
        ("A100-80G", 4),
        ("Ascend-910B3", 4),
    ]


def test_every_model_fits_somewhere_and_the_minimum_fleet_fits_at_once() -> None:
    fleet = example()
    held = dict.fromkeys(fleet.node_classes, 0)
    for name, model in fleet.models.items():
        best = preferred(match(name, model, fleet))
        assert best is not None
        assert best.devices is not None
        held[best.node_class] += best.devices * (
            model.policy.scaling.min + model.policy.spare.count
        )

    assert all(held[name] <= devices(fleet, name) for name in held)


def test_not_everybody_can_have_everything_at_once() -> None:
    fleet = example()
    wanted = {"A100-80G": 0, "T4": 0, "Ascend-910B3": 0}
    for name, model in fleet.models.items():
        best = preferred(match(name, model, fleet))
        assert best is not None
        wanted[best.node_class] += (best.devices or 0) * model.policy.scaling.max

    assert any(wanted[name] > devices(fleet, name) for name in wanted)


def test_all_three_kinds_of_spare_and_both_verdicts_on_pairs_are_shown() -> None:
    fleet = example()

    kinds = {model.policy.spare.kind for model in fleet.models.values() if model.policy.spare.count}
    assert kinds == {"warm", "lending", "sleeping"}
    assert {pair.verdict for pair in fleet.pairs} == {"tested", "denied"}
    times = [v.service_s for model in fleet.models.values() for v in model.variants.values()]
    assert (min(times) <= 0.03, max(times)) == (True, 15.0)

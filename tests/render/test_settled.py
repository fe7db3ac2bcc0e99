"""Settings are compared in one form: what is as if unsaid is gone, durations are written alike."""

from controlplane.render.envoy.settled import settled


def test_what_is_as_if_unsaid_is_left_out_at_every_depth() -> None:
    said = {
        "name": "chat",
        "healthy_panic_threshold": {"value": 0},
        "always_eject_one_host": False,
        "thresholds": [{"priority": "DEFAULT", "max_requests": 7}],
        "empty": {"deep": {"er": ""}},
    }

    assert settled(said) == {"name": "chat", "thresholds": [{"max_requests": 7}]}


def test_a_duration_is_the_same_however_it_is_written() -> None:
    assert settled("30.000s") == settled("30s") == "30s"
    assert settled("0.250s") == settled("0.25s") == "0.25s"
    assert settled("5[0-9][0-9]s") == "5[0-9][0-9]s"


def test_what_differs_goes_on_to_differ() -> None:
    assert settled({"max": 1}) != settled({"max": 2})
    assert settled({"max": 2, "of": [1]}) != settled({"max": 2})
    assert settled({"max": 2.0}) == settled({"max": 2})

"""What a fleet file says of signals that could never be known is refused."""

import pytest

from tests.settings.fleet_text import SMALL, faults_of

QUERY = "    team: support\n"


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("signals: {order: []}\n", "signals.order: […]: must have at least 1 element"),
        (
            "signals: {orders: {queue: []}}\n",
            "signals.orders.queue: […]: must have at least 1 element",
        ),
        (
            "signals: {orders: {queue: [engine]}}\n",
            "signals.orders.queue[0]: engine: must be one of gateway, engines, prometheus",
        ),
    ],
)
def test_an_order_names_a_source(text: str, fault: str) -> None:
    assert any(one.endswith(fault) or fault in one for one in faults_of(SMALL + text))


@pytest.mark.parametrize("query", ['""', "[]", "7"])
def test_a_query_is_text(query: str) -> None:
    (fault,) = faults_of(SMALL.replace(QUERY, f"{QUERY}    queries: {{queue: {query}}}\n"))

    assert fault.startswith("fleet.yaml:13: models.classifier.queries.queue: ")

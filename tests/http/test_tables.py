"""CSV that a spreadsheet does not execute, and the ledger as FOCUS."""

import csv
from io import StringIO
from typing import Any

import pytest

from controlplane.domain.ledger import LineKind
from controlplane.domain.quantities import ModelName
from controlplane.http.api.csv import as_csv, safe
from controlplane.http.api.focus import COLUMNS, billing_period
from controlplane.http.reads.figures import Figure
from controlplane.http.state import State
from tests.http.conftest import T0, Client, a_minute

FROM = {"start": str(T0 - 3600), "end": str(T0)}
MANDATORY = {  # of FOCUS 1.2
    *("BilledCost", "BillingAccountId", "BillingAccountName", "BillingCurrency"),
    *("BillingPeriodEnd", "BillingPeriodStart", "ChargeCategory", "ChargeClass"),
    *("ChargeDescription", "ChargePeriodEnd", "ChargePeriodStart", "ContractedCost"),
    *("EffectiveCost", "InvoiceIssuerName", "ListCost", "PricingQuantity", "PricingUnit"),
    *("ProviderName", "PublisherName", "ServiceCategory", "ServiceName"),
}


def read(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(StringIO(text)))


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r", "|"])
def test_text_that_looks_like_a_formula_is_defused(start: str) -> None:
    assert safe(f"{start}cmd") == f"'{start}cmd"


def test_numbers_stay_numbers() -> None:
    assert safe(-5) == -5
    assert as_csv([{"a": -1.5, "b": None, "c": True}]) == "a,b,c\r\n-1.5,,true\r\n"


def test_an_unknown_figure_is_an_empty_cell_with_its_reason_beside_it() -> None:
    rows = [{"drain": Figure(value=None, limit=30.0, why="Stale")}]

    assert as_csv(rows) == "drain,drain_limit,drain_unknown\r\n,30.0,Stale\r\n"


def test_rows_with_different_columns_share_one_heading() -> None:
    assert as_csv([{"a": 1}, {"b": 2}]) == "a,b\r\n1,\r\n,2\r\n"


async def test_a_team_named_like_a_formula_is_harmless_in_every_export(client: Client) -> None:
    for address in ("/costs.csv", "/ledger.csv", "/ledger/focus.csv"):
        text = await (await client.get("/api/v1" + address, params=FROM)).text()

        cells = [cell for row in csv.reader(StringIO(text)) for cell in row]
        assert "'=text" in cells
        assert not [cell for cell in cells if cell.startswith(("=", "+", "@"))]


async def test_the_ledger_comes_whole(client: Client) -> None:
    page = await (await client.get("/api/v1/ledger", params=FROM)).json()

    assert sum(row["micros"] for row in page["rows"]) == 150_000
    assert page["next_start"] is None


async def test_a_long_ledger_comes_in_pages_that_leave_nothing_out(
    client: Client, state: State
) -> None:
    await state.ledger.write([a_minute(T0 - 86_400, 0, LineKind.IDLE, 50_000)])
    await state.ledger.write([a_minute(T0 - 40_000, 0, LineKind.IDLE, 50_000)])
    start: float | None = T0 - 90_000
    rows: list[dict[str, float]] = []

    while start is not None:
        query = {"start": repr(start), "end": repr(T0), "limit": "1"}
        page = await (await client.get("/api/v1/ledger", params=query)).json()
        rows += page["rows"]
        start = page["next_start"]

    assert len(rows) == len(await state.ledger.rows(0, T0)) == 6
    assert [row["start"] for row in rows] == sorted(row["start"] for row in rows)


async def test_focus_has_every_mandatory_column_and_the_same_money(client: Client) -> None:
    response = await client.get("/api/v1/ledger/focus.csv", params=FROM)
    rows = read(await response.text())

    assert MANDATORY <= set(COLUMNS) == set(rows[0])
    assert all(column[0].isupper() or column.startswith("x_") for column in COLUMNS)
    assert sum(round(float(row["BilledCost"]) * 1_000_000) for row in rows) == 150_000
    first = rows[0]
    assert first["ChargePeriodStart"] == "2027-01-15T07:58:00.000Z"
    assert first["BillingPeriodStart"] == "2027-01-01T00:00:00.000Z"
    assert first["BillingPeriodEnd"] == "2027-02-01T00:00:00.000Z"
    assert (first["ConsumedUnit"], first["ListUnitPrice"]) == ("GPU-Hours", "3.000000")
    assert sum(float(row["ConsumedQuantity"]) for row in rows) == pytest.approx(3 / 60)


def test_december_ends_in_january() -> None:
    december = 1_798_700_000.0  # 2026-12-31

    assert billing_period(december) == (1_796_083_200.0, 1_798_761_600.0)


async def test_lines_without_a_device_have_no_hours(client: Client, state: State) -> None:
    everywhere: dict[str, Any] = dict.fromkeys(("node", "node_class", "zone"), "*")
    crossing = a_minute(T0 - 60, -1, LineKind.CROSS_ZONE, 7, model=ModelName("chat"), **everywhere)
    await state.ledger.write([crossing])

    rows = read(await (await client.get("/api/v1/ledger/focus.csv", params=FROM)).text())

    line = next(row for row in rows if row["x_LineKind"] == "cross-zone")
    assert (line["ConsumedQuantity"], line["BilledCost"]) == ("", "0.000007")
    assert (line["AvailabilityZone"], line["ResourceId"]) == ("", "")
    assert line["ChargeDescription"] == "cross-zone for chat"

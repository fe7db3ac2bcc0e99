"""The settings reference and the JSON Schema are made from the types, and say everything."""

from typing import Any

import jsonschema
import pytest

from controlplane.domain.catalogue import Catalogue
from controlplane.settings.document import parse
from controlplane.settings.options import ServeOptions
from controlplane.settings.reference import settings_reference
from controlplane.settings.schema import json_schema
from controlplane.shipped import shipped
from controlplane.simulation.scenario import Scenario
from tests.settings.fleet_text import SMALL


def test_docs_settings_is_up_to_date() -> None:
    """Write it anew: controlplane schema --markdown > docs/settings.md."""
    page = shipped("docs") / "settings.md"

    assert page.read_text("utf-8") == settings_reference()


@pytest.mark.parametrize("type_", [Catalogue, ServeOptions])
def test_every_setting_is_documented(type_: type) -> None:
    schema = json_schema(type_, "as it is")
    described = {type_.__name__: schema, **schema.get("$defs", {})}

    silent = [
        f"{name}.{field}"
        for name, of in described.items()
        for field, shown in of.get("properties", {}).items()
        if not shown.get("description")
    ]

    assert silent == []


def test_the_schema_is_one_and_accepts_what_check_accepts() -> None:
    schema = json_schema(Catalogue, "fleet")
    jsonschema.Draft202012Validator.check_schema(schema)

    jsonschema.validate(_plain(parse(SMALL, "fleet.yaml").tree), schema)


def test_the_schema_of_a_scenario_is_one() -> None:
    jsonschema.Draft202012Validator.check_schema(json_schema(Scenario, "scenario"))


def test_the_schema_refuses_what_check_refuses() -> None:
    tree: Any = _plain(parse(SMALL, "fleet.yaml").tree)
    tree["models"]["classifier"]["colour"] = "red"

    with pytest.raises(jsonschema.ValidationError, match="colour"):
        jsonschema.validate(tree, json_schema(Catalogue, "fleet"))


def _plain(tree: Any) -> Any:
    """Turn decimals into floats, which is what an editor's YAML reader gives the validator."""
    if isinstance(tree, dict):
        return {key: _plain(value) for key, value in tree.items()}
    if isinstance(tree, list):
        return [_plain(value) for value in tree]
    return tree if isinstance(tree, str | int | bool) or tree is None else float(tree)

"""Reads and validates what people set: fleet files, scenarios, options. Only here is pydantic."""

from controlplane.domain.faults import Fault, FaultsError
from controlplane.settings.fleet import Checked, checked, load_catalogue, parse_catalogue, warnings
from controlplane.settings.options import (
    ServeOptions,
    data_place,
    folder_beside,
    refuse_password,
    serve_options,
)
from controlplane.settings.profiles import NAMES as PROFILES
from controlplane.settings.profiles import Profile, merge, profile
from controlplane.settings.reading import read
from controlplane.settings.texts import written_text
from controlplane.settings.watch import FileWatch
from controlplane.settings.whereabouts import announced, whereabouts

__all__ = [
    "PROFILES",
    "Checked",
    "Fault",
    "FaultsError",
    "FileWatch",
    "Profile",
    "ServeOptions",
    "announced",
    "checked",
    "data_place",
    "folder_beside",
    "load_catalogue",
    "merge",
    "parse_catalogue",
    "profile",
    "read",
    "refuse_password",
    "serve_options",
    "warnings",
    "whereabouts",
    "written_text",
]

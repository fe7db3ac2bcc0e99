"""The daemon's options: from the command line, else from the environment, else the default.

`--port 9000` and CONTROLPLANE_PORT=9000 are the same; the command line wins.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from annotated_types import Interval, Len, Predicate
from pydantic import ValidationError

from controlplane.domain.faults import Fault, FaultsError
from controlplane.domain.handover import is_host_port
from controlplane.domain.policies import STRICT
from controlplane.domain.sources import PASSWORD, Address, shown
from controlplane.settings.reading import adapter
from controlplane.settings.rules import rule_of

PREFIX = "CONTROLPLANE_"
_DATA_FILE = f"{PREFIX}DATA_FILE"
_NEEDS = (
    ("scaler_certificate", "scaler"),
    ("scaler_certificate", "scaler_key"),
    ("scaler_key", "scaler_certificate"),
    ("scaler_authority", "scaler_certificate"),
)
_SECRETS = {  # what may hold one, and where it belongs
    "prometheus": "set {variable}, or signals.prometheus.token_file in the fleet file",
    "alerts": "set {variable}, or alerts.token_file in the fleet file",
}
_OTHERS = (
    "DEBUG",
    "URL",
    "TOKEN",
    "DATA_FILE",
)  # variables the commands read that are no option of the daemon


@dataclass(frozen=True, slots=True, kw_only=True)
class ServeOptions:
    """How the daemon runs. What it decides stands in the fleet file, not here."""

    __pydantic_config__: ClassVar[dict[str, Any]] = STRICT

    config: Path | None = None
    """The fleet file; without one, the example fleet that ships with the product."""
    host: Annotated[str, Len(1)] = "127.0.0.1"
    """Address to listen on; any but loopback requires tokens."""
    port: Annotated[int, Interval(ge=0, le=65535)] = 8080
    """Port to listen on; 0 takes any free one."""
    hosts: str = ""
    """Names by which people reach it, by commas, besides loopback's: other Host headers are refused
    for whatever changes something."""
    speed: Annotated[float, Interval(gt=0, le=3600)] = 1.0
    """How fast the embedded world's time runs: 60 lets a minute pass in a second."""
    data: str = field(repr=False)  # it may hold a password
    """Where the store is, with decisions, costs, what people set: a folder (SQLite, one daemon), or
    an address `postgresql://USER@HOST/NAME` that several daemons share. One with a password belongs
    in the variable, or in the file that `CONTROLPLANE_DATA_FILE` names."""
    kubeconfig: Annotated[str, Len(1)] | None = None
    """Run on a real cluster: the kubeconfig that leads to it, or `in-cluster` for the service
    account of the pod this runs in. Without it the fleet is embedded, that is simulated."""
    namespace: Annotated[str, Len(1, 63)] | None = None
    """Namespace of the models on a real cluster; default: the service account's, else
    controlplane."""
    pods: Literal["own", "all"] = "own"
    """Whose pods are watched on a real cluster. all: those of every namespace, so that devices held
    by others are known to be held; the account must be allowed to list and watch them."""
    mode: Literal["act", "advise"] | None = None
    """advise: decide and show, write nothing. Default: act on the embedded cluster, advise on a
    real one."""
    prometheus: Address | None = field(default=None, repr=False)  # it may hold a password
    """Prometheus that is asked for signals; wins over `signals.prometheus.address` of the fleet
    file, which has the rest: labels, windows, token."""
    gateway: Annotated[str, Predicate(is_host_port)] | None = None
    """Admit requests by priority at this HOST:PORT, in front of the engines of a real cluster, with
    an Envoy of its own. Beyond loopback the fleet file must ask for keys, or trust headers."""
    scaler: Annotated[str, Predicate(is_host_port)] | None = None
    """Answer KEDA's external scaler calls at this HOST:PORT, and on a real cluster keep the
    ScaledObjects of the models whose `writer` is keda."""
    scaler_certificate: Path | None = None
    """Answer KEDA over TLS: file with our certificate, PEM."""
    scaler_key: Path | None = None
    """File with the key of that certificate, PEM."""
    scaler_authority: Path | None = None
    """File with the authority, PEM, that must have signed the certificate KEDA shows; without it
    nobody has to show one."""
    alerts: Address | None = field(default=None, repr=False)  # its path may be a secret
    """Receiver of alerts in the format of Alertmanager's webhook; wins over `alerts.webhook` of the
    fleet file, which has the rest: limits, token."""
    seed: int = 1
    """Seed of the embedded world: the same seed brings the same requests."""
    log: Literal["debug", "info", "warning", "error"] = "info"
    """The least urgent events that are logged."""


def serve_options(given: Mapping[str, object], environment: Mapping[str, str]) -> ServeOptions:
    """Put the options together; raise `FaultsError` naming the option or variable at fault.

    `given` is what the command line said, None or absent where it said nothing.
    """
    names = [option.name for option in fields(ServeOptions)]
    told = given.get("data")
    refuse_password("--data", str(told or ""))
    said: dict[str, str] = {"data": str(told or data_place(environment))}
    sources: dict[str, str] = {}
    for name in names:
        variable = PREFIX + name.upper()
        if given.get(name) is not None:
            said[name], sources[name] = str(given[name]), _option(name)
            if name in _SECRETS:
                _refuse_secret(name, said[name])
        elif environment.get(variable):
            said[name], sources[name] = environment[variable], variable
    try:
        options: ServeOptions = adapter(ServeOptions).validate_strings(said)
    except ValidationError as error:
        raise FaultsError(_fault(found, said, sources) for found in error.errors()) from error
    faults = list(_incoherent(options, said))
    if faults:
        raise FaultsError(faults)
    return options


def _option(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _incoherent(options: ServeOptions, said: Mapping[str, str]) -> Iterator[Fault]:
    """An option that means nothing without another."""
    for name, needs in _NEEDS:
        if getattr(options, name) is not None and getattr(options, needs) is None:
            yield Fault(_option(name), None, "", said[name], f"needs {_option(needs)} beside it")


def data_place(environment: Mapping[str, str]) -> str:
    """Say where the store is: as told, else systemd's folder, else the user's state folder.

    An address with a password is best told in a file, which a Secret or a credential is.
    """
    told = environment.get(f"{PREFIX}DATA")
    if not told and environment.get(_DATA_FILE):
        return _address_in(environment[_DATA_FILE])
    if not told:
        return str(_state_folder(environment))
    return told if "://" in told else str(Path(told).expanduser())


def folder_beside(store: str, environment: Mapping[str, str]) -> Path:
    """Give the folder for files that lie beside the store; a database elsewhere has none."""
    return _state_folder(environment) if "://" in store else Path(store).expanduser()


def _state_folder(environment: Mapping[str, str]) -> Path:
    told = environment.get("STATE_DIRECTORY", "").split(":")[0]
    state = environment.get("XDG_STATE_HOME") or "~/.local/state"
    return Path(told or f"{state}/controlplane").expanduser()


def refuse_password(option: str, told: str) -> None:
    """Refuse a password on a command line, where every user of the machine can read it."""
    if PASSWORD.search(told):
        rule = (
            "must hold no password, for the list of processes shows it to everybody: "
            f"set {PREFIX}DATA, or {_DATA_FILE} to a file with the address"
        )
        raise FaultsError([Fault(option, None, "", PASSWORD.sub(r"\1:***@", told), rule)])


def _refuse_secret(name: str, told: str) -> None:
    """Refuse a password, or a key in the query, where every user of the machine can read it."""
    safe = shown(told)
    if safe != told:
        where = _SECRETS[name].format(variable=PREFIX + name.upper())
        rule = f"must hold no secret, for the list of processes shows it to everybody: {where}"
        raise FaultsError([Fault(_option(name), None, "", safe, rule)])


def _address_in(name: str) -> str:
    try:
        told = Path(name).expanduser().read_text("utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or "it is no text"
        raise FaultsError([Fault(_DATA_FILE, None, "", name, f"cannot be read: {why}")]) from error
    if not told:
        raise FaultsError([Fault(_DATA_FILE, None, "", name, "is empty; it must hold the address")])
    return told


def unknown_variables(environment: Mapping[str, str]) -> tuple[str, ...]:
    """Say which CONTROLPLANE_ variables nobody reads, and what may have been meant."""
    known = [PREFIX + option.name.upper() for option in fields(ServeOptions)]
    known += [PREFIX + other for other in _OTHERS]
    return tuple(
        f"{name}: is not known; {_hint(name, known)}"
        for name in sorted(environment)
        if name.startswith(PREFIX) and name not in known
    )


def _hint(name: str, known: list[str]) -> str:
    close = get_close_matches(name, known, n=1, cutoff=0.6)
    return f"did you mean {close[0]}?" if close else f"there are {', '.join(known)}"


def _fault(error: Any, said: Mapping[str, str], sources: Mapping[str, str]) -> Fault:
    name = str(error["loc"][0])
    written = shown(said[name])
    return Fault(sources[name], None, "", written, rule_of(error, written))

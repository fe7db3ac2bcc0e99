"""The scenarios that ship with the product, and people's own files, read alike."""

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from controlplane.domain.faults import Fault, FaultsError
from controlplane.domain.quantities import ModelName
from controlplane.settings import read, written_text
from controlplane.simulation.scenario import Scenario, ScenarioModel
from controlplane.simulation.streams import Stream, StreamTraffic
from controlplane.simulation.traces import RequestTrace, read_trace

_PACKAGE = Path(str(files("controlplane.simulation")))
SCENARIOS = _PACKAGE / "scenarios"
TRACES = _PACKAGE / "traces"


@dataclass(frozen=True, slots=True, kw_only=True)
class Loaded:
    """A scenario with the traces its streams replay."""

    name: str
    scenario: Scenario
    traces: Mapping[str, RequestTrace]

    def traffic(self, seed: int) -> dict[ModelName, StreamTraffic]:
        """Give every model's requests up to the scenario's end."""
        until = self.scenario.duration_s
        return {
            name: StreamTraffic(name, model.streams, self.traces, seed, until=until)
            for name, model in self.scenario.models.items()
        }


def shipped_scenarios() -> list[str]:
    """Name the shipped scenarios, without reading them."""
    return sorted(path.stem for path in SCENARIOS.glob("*.yaml"))


def scenario_names() -> dict[str, str]:
    """Give the shipped scenarios, each with its one line."""
    return {
        name: read((SCENARIOS / f"{name}.yaml").read_text("utf-8"), name, Scenario).about
        for name in shipped_scenarios()
    }


def load_scenario(name_or_path: str) -> Loaded:
    """Read a shipped scenario by name, or a file; FaultsError has one line per fault."""
    path = scenario_path(name_or_path)
    scenario = read(written_text(path), path.name, Scenario)
    name = path.stem if path.parent == SCENARIOS else str(name_or_path)
    return Loaded(name=name, scenario=scenario, traces=_traces(scenario, path))


def scenario_path(name_or_path: str) -> Path:
    """Find a scenario's file; FaultsError names what there is when there is none."""
    shipped = SCENARIOS / f"{name_or_path}.yaml"
    if "/" not in name_or_path and shipped.is_file():
        return shipped
    own = Path(name_or_path)
    if own.is_file():
        return own
    rule = f"must be a file, or one of {', '.join(shipped_scenarios())}"
    raise FaultsError([Fault("scenario", None, "", name_or_path, rule)])


def trace_path(file: str, beside: Path) -> Path:
    """Find a trace: beside the scenario's file, or among those that ship."""
    own = beside / file
    return own if own.is_file() or not (TRACES / file).is_file() else TRACES / file


def _traces(scenario: Scenario, path: Path) -> dict[str, RequestTrace]:
    """Read each trace once; all traces' faults come together."""
    traces: dict[str, RequestTrace] = {}
    faults: list[Fault] = []
    for where, stream in _streams(scenario.models):
        replay = stream.arrivals.trace
        if replay is None:
            continue
        file = trace_path(replay.file, path.parent)
        if not file.is_file():
            known = ", ".join(sorted(known.name for known in TRACES.glob("*.csv.gz")))
            rule = f"must be a file beside the scenario, or one of {known}"
            faults.append(Fault(path.name, None, f"{where}.arrivals.trace.file", replay.file, rule))
            continue
        try:
            if replay.file not in traces:
                traces[replay.file] = read_trace(file)
            faults += _lacking(traces[replay.file], stream, f"{where}.service", path.name)
        except FaultsError as error:
            faults += error.faults
    if faults:
        raise FaultsError(faults)
    return traces


def _streams(models: Mapping[ModelName, ScenarioModel]) -> list[tuple[str, Stream]]:
    return [
        (f"models.{name}.streams.{key}", stream)
        for name, model in models.items()
        for key, stream in model.streams.items()
    ]


def _lacking(trace: RequestTrace, stream: Stream, field: str, source: str) -> list[Fault]:
    """Name the columns that a stream's law of service needs and its trace has not."""
    columns: list[str] = []
    if stream.service.from_trace and trace.service_s is None:
        columns = ["service_s"]
    elif stream.service.tokens is not None and trace.prompt_tokens is None:
        columns = ["prompt_tokens"]
    elif stream.service.tokens is not None and trace.output_tokens is None:
        columns = ["output_tokens"]
    file = stream.arrivals.trace.file if stream.arrivals.trace else ""
    return [
        Fault(source, None, field, file, f"the trace must have a column {column}")
        for column in columns
    ]

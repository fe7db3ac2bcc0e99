"""Why a decision came out as it did: codes and evidence, never prose.

A code is never renamed: it stands in the journal, in metrics, in Kubernetes Events and in people's
alerts. `render.sentences` turns a reason into a sentence in the reader's language.
"""

from enum import StrEnum, unique
from typing import TypeAlias

import msgspec


@unique
class ReasonCode(StrEnum):
    """Everything a rule can say, in the manner of Kubernetes condition reasons."""

    # triggers of scaling: what was seen against its limit
    DRAIN_TOO_SLOW = "DrainTooSlow"
    DRAIN_WITHIN = "DrainWithin"
    WAIT_P99_BROKEN = "WaitP99Broken"
    LATENCY_P99_BROKEN = "LatencyP99Broken"
    P99_WITHIN = "P99Within"
    MEMORY_ABOVE_WATERMARK = "MemoryAboveWatermark"
    MEMORY_WITHIN = "MemoryWithin"
    OFFERED_LOAD_HIGH = "OfferedLoadHigh"
    OFFERED_LOAD_WITHIN = "OfferedLoadWithin"
    TURNED_AWAY = "TurnedAway"
    BUSY_AND_QUEUED = "BusyAndQueued"
    UTILISATION_HIGH = "UtilisationHigh"
    UTILISATION_LOW = "UtilisationLow"
    DEPTH_ABOVE_TARGET = "DepthAboveTarget"
    DEPTH_WITHIN = "DepthWithin"
    FEWER_SUFFICE = "FewerSuffice"
    # guards: what pulled the wish back towards what is
    SIGNALS_UNKNOWN = "SignalsUnknown"
    WINDOW_NOT_COVERED = "WindowNotCovered"
    SURVIVORS_WOULD_BREAK = "SurvivorsWouldBreak"
    STABILISING = "Stabilising"
    COOLING_DOWN = "CoolingDown"
    STEP_ONLY = "StepOnly"
    COLD_STEP_ONLY = "ColdStepOnly"
    INVENTORY_UNKNOWN = "InventoryUnknown"
    NO_DEVICES = "NoDevices"
    NO_NODES = "NoNodes"
    NO_CLASS_FITS = "NoClassFits"
    CLASS_SHORT = "ClassShort"
    NO_DEVICE_FREE = "NoDeviceFree"
    LOST_TO = "LostTo"
    # zones
    SURVIVES_ZONE = "SurvivesZone"
    ZONE_LOST = "ZoneLost"
    # bounds and people
    BELOW_MINIMUM = "BelowMinimum"
    ABOVE_MAXIMUM = "AboveMaximum"
    PINNED = "Pinned"
    PAUSED = "Paused"
    # allocation over variants
    SPILLED = "Spilled"
    CAME_BACK = "CameBack"
    GIVEN_UP = "GivenUp"
    CLASS_LEFT = "ClassLeft"
    # spare lanes
    REFILLED = "Refilled"
    SPARE_SURPLUS = "SpareSurplus"
    WARM_UP_STARTED = "WarmUpStarted"
    BECAME_WARM = "BecameWarm"
    PROMOTED = "Promoted"
    NONE_WARM = "NoneWarm"
    NONE_SERVES = "NoneServes"
    DRAIN_STARTED = "DrainStarted"
    DRAINED = "Drained"
    DRAIN_DEADLINE = "DrainDeadline"
    ROTATED = "Rotated"
    LOAD_TOO_SLOW = "LoadTooSlow"
    NODE_SILENT = "NodeSilent"
    MOST_NODES_SILENT = "MostNodesSilent"
    ENGINE_RESTARTED = "EngineRestarted"
    REPLICA_FAILED = "ReplicaFailed"
    UNSCHEDULABLE = "Unschedulable"
    PUT_TO_SLEEP = "PutToSleep"
    WOKEN = "Woken"
    LENT = "Lent"
    # workloads: what stands in the cluster against what the catalogue says
    WORKLOAD_CREATED = "WorkloadCreated"
    WORKLOAD_CHANGED = "WorkloadChanged"
    WORKLOAD_DRIFTED = "WorkloadDrifted"
    WORKLOAD_REFUSED = "WorkloadRefused"
    ROLLOUT_STUCK = "RolloutStuck"
    WORKLOAD_LEFT = "WorkloadLeft"
    OWNED_BY_ANOTHER = "OwnedByAnother"
    DISOWNED = "Disowned"
    # matching and placement
    FITS = "Fits"
    TOO_SMALL = "TooSmall"
    NO_VARIANT = "NoVariant"
    RUNTIME_DIFFERS = "RuntimeDiffers"
    RUNTIME_TOO_NEW = "RuntimeTooNew"
    PAIR_DENIED = "PairDenied"
    PAIR_TESTED = "PairTested"
    BIGGER_THAN_NEEDED = "BiggerThanNeeded"
    SQUATTING = "Squatting"
    # admission
    ADMITTED = "Admitted"
    QUEUED = "Queued"
    QUEUE_FULL = "QueueFull"
    QUEUE_BYTES_FULL = "QueueBytesFull"
    NO_ENDPOINTS = "NoEndpoints"
    WAITED_TOO_LONG = "WaitedTooLong"
    PROMPT_TOO_LONG = "PromptTooLong"
    TOO_HEAVY = "TooHeavy"
    AGED = "Aged"
    MINIMUM_SERVICE = "MinimumService"
    GUARANTEED = "Guaranteed"
    # gateway: who may not pass, and breakers
    UNKNOWN_MODEL = "UnknownModel"
    KEY_UNKNOWN = "KeyUnknown"
    BODY_TOO_LARGE = "BodyTooLarge"
    DEADLINE_PASSED = "DeadlinePassed"
    EVICTED = "Evicted"
    BREAKER_OPEN = "BreakerOpen"
    BREAKER_OPENED = "BreakerOpened"
    BREAKER_PROBING = "BreakerProbing"
    BREAKER_REOPENED = "BreakerReopened"
    BREAKER_CLOSED = "BreakerClosed"
    ISOLATED = "Isolated"
    REJOINED = "Rejoined"
    # the store: what another version of the product wrote
    OF_ANOTHER_VERSION = "OfAnotherVersion"
    # catalogue, costs, forecast
    CATALOGUE_APPLIED = "CatalogueApplied"
    CATALOGUE_REFUSED = "CatalogueRefused"
    METERED = "Metered"
    RECONSTRUCTED = "Reconstructed"
    FORECAST_ABSTAINS = "ForecastAbstains"
    FORECAST_TRUSTED = "ForecastTrusted"
    # the daemon itself
    LOOP_SILENT = "LoopSilent"
    CYCLE_FAILED = "CycleFailed"
    ACTION_REFUSED = "ActionRefused"
    NOBODY_LEADS = "NobodyLeads"


EvidenceValue: TypeAlias = float | int | str | None


class Evidence(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One thing that was seen, the limit it was held against, and the unit of both."""

    name: str
    value: EvidenceValue
    limit: EvidenceValue = None
    unit: str = ""


class Reason(msgspec.Struct, frozen=True, gc=False):
    """A rule that spoke: its code, the figure before and after it, and what it saw."""

    code: ReasonCode
    before: int
    after: int
    evidence: tuple[Evidence, ...] = ()

    @property
    def moved(self) -> bool:
        """Say whether the rule changed the figure."""
        return self.before != self.after


class Refusal(msgspec.Struct, frozen=True):
    """An option that was not taken, and why."""

    option: str  # e.g. a node class, "promote", a replica
    code: ReasonCode
    evidence: tuple[Evidence, ...] = ()

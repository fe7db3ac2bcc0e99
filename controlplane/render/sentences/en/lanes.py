"""Spare capacity and the life of a replica."""

from controlplane.domain.reasons import ReasonCode as C
from controlplane.render.sentences.wording import Table, Wording

LANES: Table = {
    C.REFILLED: Wording(
        "Refilled",
        "more replicas are started[: {counts}]",
        "Fewer replicas are there than target and spares need, so more are created.",
    ),
    C.ENGINE_RESTARTED: Wording(
        "Engine restarted",
        "the engine of [{replica}|a replica] began anew, so it leaves service",
        "Its container was started again, after running out of memory perhaps. It is warmed up "
        "like a new replica before it may serve.",
    ),
    C.ZONE_LOST: Wording(
        "Zone lost",
        "a zone takes no more pods[, so {replica} leaves it][, so others take over: {counts}]",
        "All nodes of the zone are silent or cordoned. Its replicas grow anew in the other zones "
        "at once; those that still answer leave when they are replaced.",
    ),
    C.SPARE_SURPLUS: Wording(
        "Surplus",
        "[{replica}|a replica] is one more than needed",
        "More replicas are there than target and spares need; the least useful leave first.",
    ),
    C.WARM_UP_STARTED: Wording(
        "Warm-up started",
        "[{replica}|a replica] answers and gets its warm-up requests[: {requests}]",
        "An engine's first requests are two to three times slower. They are spent on "
        "warm-up requests, before any user's.",
    ),
    C.BECAME_WARM: Wording(
        "Became warm",
        "[{replica}|a replica] is loaded and warmed up[ after {seen}]",
        "Ready and warmed up: it can be put in service within seconds.",
    ),
    C.PROMOTED: Wording(
        "Promoted",
        "[{replica}|a warm replica] is put in service",
        "A warm replica joins the service; this takes seconds instead of minutes.",
    ),
    C.NONE_WARM: Wording(
        "None warm",
        "no warm replica is there to be promoted",
        "Every spare is in use or still loading, so capacity must be started cold.",
    ),
    C.DRAIN_STARTED: Wording(
        "Drain started",
        "[{replica}|a replica] takes no new requests and finishes its running ones",
        "It has left the service; what runs on it may end in peace.",
    ),
    C.DRAINED: Wording(
        "Drained",
        "[{replica}|a replica] has finished all its requests",
        "Nothing runs on it any more, so it can be deleted without harm.",
    ),
    C.DRAIN_DEADLINE: Wording(
        "Drain deadline",
        "[{replica}|a replica] was still busy after [{limit}|its deadline]",
        "A replica that does not finish in time is deleted all the same.",
    ),
    C.ROTATED: Wording(
        "Rotated",
        "[{replica}|a spare] is [{seen} old|old] and gets replaced",
        "Spares are replaced from time to time: a new one is warm before the old one leaves.",
    ),
    C.LOAD_TOO_SLOW: Wording(
        "Load too slow",
        "[{replica}|a replica] is not ready after [{seen}|its time limit][ of {limit}]",
        "A replica that never becomes ready is replaced, and its stage is kept as the cause.",
    ),
    C.NODE_SILENT: Wording(
        "Node silent",
        "[node {node}|its node] does not answer",
        "Pods on a silent node still say Running; they are not counted as serving.",
    ),
    C.MOST_NODES_SILENT: Wording(
        "Most nodes silent",
        "most nodes of every zone went silent at once[, and {replicas} replicas]: left as it is",
        "That many nodes do not die at once: more likely nobody heard them. Nothing is created or "
        "deleted for a minute; after it the silence is believed.",
    ),
    C.NONE_SERVES: Wording(
        "None serves",
        "no replica serves and none is on its way[, though {target} should]",
        "A target stands and nothing brings it about: the other rows and decisions say what is in "
        "the way.",
    ),
    C.REPLICA_FAILED: Wording(
        "Replica failed",
        "[{replica}|a replica] failed[: {note}]",
        "The pod ended or crashed; it is replaced, and its cause is kept.",
    ),
    C.UNSCHEDULABLE: Wording(
        "Unschedulable",
        "[{replica}|a replica] finds no node[ for {seen}][: {note}]",
        "The scheduler found no node with room. Such replicas are cancelled first.",
    ),
    C.LENT: Wording(
        "Lent",
        "its spares lend [{slots} slots|some slots] each to low requests",
        "A lending spare serves low on part of its slots; when promoted the rest is free at once.",
    ),
    C.PUT_TO_SLEEP: Wording(
        "Put to sleep",
        "[{replica}|a spare] sleeps and frees its device's memory",
        "A sleeping spare holds no weights on the device; several can share one.",
    ),
    C.WOKEN: Wording(
        "Woken",
        "[{replica}|a sleeping spare] is woken",
        "The weights return to the device, which is much faster than a cold start.",
    ),
}

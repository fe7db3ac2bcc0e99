"""Catalogue, costs and forecasts."""

from controlplane.domain.reasons import ReasonCode as C
from controlplane.render.sentences.wording import Table, Wording

RECORDS: Table = {
    C.CATALOGUE_APPLIED: Wording(
        "Catalogue applied",
        "[{source}|a new fleet file] is in force[ instead of version {replaces}]",
        "A valid fleet file was read and decides from now on.",
    ),
    C.CATALOGUE_REFUSED: Wording(
        "Catalogue refused",
        "the new fleet file has [{faults} faults|faults], so the old one stays in force[: {first}]",
        "A file with faults is never applied, not even in part.",
    ),
    C.OF_ANOTHER_VERSION: Wording(
        "Of another version",
        "a rule spoke that this version does not know[: {code}]",
        "A newer version of the product wrote it, and an older one reads it.",
    ),
    C.METERED: Wording(
        "Metered",
        "device time was billed[ up to {until}]",
        "Every device and interval has its rows, and rows plus idle are the bill.",
    ),
    C.RECONSTRUCTED: Wording(
        "Reconstructed",
        "[{seen} were billed|a gap was billed] afterwards from what was last known",
        "The daemon was away; the gap is billed from the last known state and marked.",
    ),
    C.FORECAST_ABSTAINS: Wording(
        "Forecast abstains",
        "the forecast has not earned trust[: its error is {seen} against {limit}]",
        "A forecast acts only while its backtest beats the plain ones on this very series.",
    ),
    C.FORECAST_TRUSTED: Wording(
        "Forecast trusted",
        "the forecast expects [{seen}|more load][ within {horizon}]",
        "Its backtest beats the plain forecasts on this series, so it may raise a floor early.",
    ),
    C.LOOP_SILENT: Wording(
        "Loop silent",
        "loop[ {loop}] has not been heard for three of its periods",
        "A loop that stops beating decides nothing; the health check fails until it is back.",
    ),
    C.CYCLE_FAILED: Wording(
        "Cycle failed",
        "the last cycle of[ {loop}] failed[: {failure}]",
        "One cycle was lost; the next one looks again. Nothing is retried inside a cycle.",
    ),
    C.ACTION_REFUSED: Wording(
        "Refused",
        "what was decided could not be done[: {note}]",
        "The cluster said no, again and again. Where a right is missing, the command grants it.",
    ),
    C.NOBODY_LEADS: Wording(
        "Nobody leads",
        "no daemon can be elected[: {trouble}]",
        "Until one leads nothing is written, neither to the cluster nor to the journal.",
    ),
}

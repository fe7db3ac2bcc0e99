"""English: what every reason code says."""

from controlplane.render.sentences.en.admission import ADMISSION
from controlplane.render.sentences.en.bounds import BOUNDS
from controlplane.render.sentences.en.gateway import GATEWAY
from controlplane.render.sentences.en.guards import GUARDS
from controlplane.render.sentences.en.lanes import LANES
from controlplane.render.sentences.en.matching import MATCHING
from controlplane.render.sentences.en.records import RECORDS
from controlplane.render.sentences.en.triggers import TRIGGERS
from controlplane.render.sentences.en.workloads import WORKLOADS
from controlplane.render.sentences.wording import Table

ENGLISH: Table = {
    **TRIGGERS,
    **GUARDS,
    **BOUNDS,
    **LANES,
    **MATCHING,
    **ADMISSION,
    **GATEWAY,
    **RECORDS,
    **WORKLOADS,
}

"""Chinese: what every reason code says."""

from controlplane.render.sentences.wording import Table
from controlplane.render.sentences.zh.admission import ADMISSION
from controlplane.render.sentences.zh.bounds import BOUNDS
from controlplane.render.sentences.zh.gateway import GATEWAY
from controlplane.render.sentences.zh.guards import GUARDS
from controlplane.render.sentences.zh.lanes import LANES
from controlplane.render.sentences.zh.matching import MATCHING
from controlplane.render.sentences.zh.records import RECORDS
from controlplane.render.sentences.zh.triggers import TRIGGERS
from controlplane.render.sentences.zh.workloads import WORKLOADS

CHINESE: Table = {
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

"""Matching models with node classes, and placement."""

from controlplane.domain.reasons import ReasonCode as C
from controlplane.render.sentences.wording import Table, Wording

MATCHING: Table = {
    C.FITS: Wording(
        "合适",
        "放得下[，用 {devices} 台设备][，需要 {seen}][，可用 {limit}]",
        "权重、KV 缓存和开销放得进设备的可用显存。",
    ),
    C.TOO_SMALL: Wording(
        "太小",
        "需要[ {seen}|更多显存][，只有 {limit}]",
        "即使用上允许的最多设备，显存仍小于模型所需。",
    ),
    C.NO_VARIANT: Wording(
        "未考虑",
        "目录中没有它在该节点类上的变体",
        "模型只在目录条目中列出的节点类上运行。",
    ),
    C.RUNTIME_DIFFERS: Wording(
        "运行时不同",
        "镜像为[ {built} |另一种运行时]构建[，该节点类运行 {supported}]",
        "为 CUDA 构建的镜像不能在 CANN 上运行，反之亦然。",
    ),
    C.RUNTIME_TOO_NEW: Wording(
        "运行时过新",
        "镜像为[ {built} |更新的运行时]构建[，该节点类最高支持 {supported}]",
        "镜像需要的运行时版本高于该节点类驱动所支持的版本。",
    ),
    C.PAIR_DENIED: Wording(
        "组合被禁止",
        "该模型不得在[ {runtime} |该运行时]上运行[：{reason}]",
        "该模型与运行时版本的组合被列为禁止。",
    ),
    C.PAIR_TESTED: Wording(
        "组合已测试",
        "该模型已在[ {runtime} |该运行时]上测试过",
        "该模型与运行时版本的组合被列为已测试。",
    ),
    C.BIGGER_THAN_NEEDED: Wording(
        "大于所需",
        "设备大于所需[：用 {seen}，共 {limit}][，{sufficient} 就够了]",
        "能运行，但更便宜的节点类就够了；差额显示为闲置显存。",
    ),
    C.SQUATTING: Wording(
        "占位",
        "它占着[ {waiting} |更大的模型]正在等待的[ {node_class} |]设备",
        "小模型占着别的模型正在等待的大设备。它会在别处扩出、排空并让出设备。",
    ),
}

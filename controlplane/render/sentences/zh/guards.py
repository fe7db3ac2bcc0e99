"""Guards: what pulled the wish back towards what is."""

from controlplane.domain.reasons import ReasonCode as C
from controlplane.render.sentences.wording import Table, Wording

GUARDS: Table = {
    C.SIGNALS_UNKNOWN: Wording(
        "信号未知",
        "并非所有信号都已知[（{missing}）]",
        "没有数据不等于零。缩容所需的信号缺失、过期或无效时，不降低目标。",
    ),
    C.WINDOW_NOT_COVERED: Wording(
        "窗口未覆盖",
        "窗口中只有[ {seen} |一部分]时间信号已知[，需要 {limit}]",
        "缩容需要整个窗口的信号都已知；缺口里可能藏着负载。",
    ),
    C.SURVIVORS_WOULD_BREAK: Wording(
        "留下的会超限",
        "若再减少，留下的副本将[承担 {seen}|过载][，允许 {limit}]",
        "再少一个副本就会使到达负载或承诺的等待超限，因此保持目标。",
    ),
    C.STABILISING: Wording(
        "稳定窗口",
        "最近[ {window} 内|几分钟内]曾需要[ {highest_wish} 个|更多副本]",
        "目标只降到稳定窗口内的最高需求，避免新副本还没收回启动成本就被放弃。",
    ),
    C.COOLING_DOWN: Wording(
        "冷却中",
        "上次变更[仅在 {seen} 前|不久][，冷却期为 {limit}]",
        "变更之后，目标保持不变直到冷却期结束。重启不会让冷却期失效。",
    ),
    C.STEP_ONLY: Wording(
        "步长限制",
        "每步最多变动[ {step} 个|几个]",
        "仅在策略指定时：目标按有限步长移动，热备副本也计入。",
    ),
    C.COLD_STEP_ONLY: Wording(
        "冷启动步长",
        "最多冷启动[ {cold.limit}|几个]",
        "同时冷启动太多副本会让每个都更慢。提升热备副本很便宜，不受此限制。",
    ),
    C.INVENTORY_UNKNOWN: Wording(
        "库存未知",
        "无法取得节点列表[（{why}）][（{nodes}）]",
        "不了解设备情况时，既不创建也不放弃任何副本。",
    ),
    C.NO_DEVICES: Wording(
        "没有设备",
        "[单节点需要 {devices} 台而只有 {devices.limit} 台|没有设备][（{node_class}）]",
        "已看到集群，但其中没有该模型可用的设备。",
    ),
    C.NO_NODES: Wording(
        "没有节点",
        "没有节点带有目录中任何类别的卡[；另有 {unknown} 个节点带有其他卡]："
        "用 kubectl get nodes --show-labels 查看其标签",
        "节点列表已读到，但没有一个属于任何类别。卡由设备插件或特性发现写的标签体现，类别写明自己的标签。",
    ),
    C.NO_CLASS_FITS: Wording(
        "没有合适的节点类",
        "没有任何节点类能运行它",
        "每个节点类都检查过并被排除；原因列在各类旁边。",
    ),
    C.CLASS_SHORT: Wording(
        "节点类紧缺",
        "[{node_class}|该节点类] 设备紧缺[，{backoff} 内不再尝试]",
        "该类的副本长时间无法调度。先放下，稍后再试；下一个副本去下一个合适的节点类。",
    ),
    C.NO_DEVICE_FREE: Wording(
        "没有空闲设备",
        "没有空闲的[ {node_class} |]设备[，最多只能有 {wanted.limit} 个]",
        "能再运行一个副本的设备都被占用了。",
    ),
    C.LOST_TO: Wording(
        "最后的设备让给他人",
        "最后的设备给了[ {winner}|另一个模型][，因为{why}]",
        "多个模型争最后的设备时：正在违反承诺的优先，其次看重要性，再看每设备等待时间。",
    ),
}

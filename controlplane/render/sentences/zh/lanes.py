"""Spare capacity and the life of a replica."""

from controlplane.domain.reasons import ReasonCode as C
from controlplane.render.sentences.wording import Table, Wording

LANES: Table = {
    C.REFILLED: Wording(
        "补充",
        "启动更多副本[：{counts}]",
        "现有副本少于目标加备用之和，因此再创建。",
    ),
    C.ENGINE_RESTARTED: Wording(
        "引擎重启",
        "[{replica}|一个副本] 的引擎已重新启动，先退出服务",
        "其容器被再次启动，可能因内存耗尽。它须像新副本一样预热后才能服务。",
    ),
    C.ZONE_LOST: Wording(
        "可用区失联",
        "一个可用区不再接受副本[，{replica} 离开该区][，由其他区接替：{counts}]",
        "该区所有节点均失联或被隔离。其副本立即在其他可用区重建；仍在应答的，被接替后离开。",
    ),
    C.SPARE_SURPLUS: Wording(
        "多余",
        "[{replica}|一个副本] 已多余",
        "现有副本多于目标加备用之和；最没用的先离开。",
    ),
    C.WARM_UP_STARTED: Wording(
        "开始预热",
        "[{replica}|一个副本] 已能应答，开始发送预热请求[：{requests}]",
        "引擎最初的请求要慢两到三倍。让预热请求去承担，而不是用户的请求。",
    ),
    C.BECAME_WARM: Wording(
        "已热备",
        "[{replica}|一个副本] 已加载并预热完毕[，用时 {seen}]",
        "就绪且预热完毕：几秒内即可投入服务。",
    ),
    C.PROMOTED: Wording(
        "已提升",
        "[{replica}|一个热备副本] 投入服务",
        "热备副本加入服务；只需几秒而不是几分钟。",
    ),
    C.NONE_WARM: Wording(
        "没有热备",
        "没有可提升的热备副本",
        "备用副本都在使用或仍在加载，因此只能冷启动。",
    ),
    C.DRAIN_STARTED: Wording(
        "开始排空",
        "[{replica}|一个副本] 不再接收新请求，正在完成手头的请求",
        "它已退出服务；其上运行的请求可以从容结束。",
    ),
    C.DRAINED: Wording(
        "已排空",
        "[{replica}|一个副本] 已完成所有请求",
        "其上不再运行任何请求，可以安全删除。",
    ),
    C.DRAIN_DEADLINE: Wording(
        "排空到期",
        "[{replica}|一个副本] 在[ {limit} |期限]之后仍然繁忙",
        "未能按时结束的副本仍会被删除。",
    ),
    C.ROTATED: Wording(
        "轮换",
        "[{replica}|一个备用副本] [已运行 {seen}|已较旧]，将被替换",
        "备用副本会定期替换：新的热备之后，旧的才离开。",
    ),
    C.LOAD_TOO_SLOW: Wording(
        "加载过慢",
        "[{replica}|一个副本] 在[ {seen} |时限]之后仍未就绪[（时限 {limit}）]",
        "一直无法就绪的副本会被替换，其停留的阶段作为原因保留。",
    ),
    C.NODE_SILENT: Wording(
        "节点无响应",
        "[节点 {node}|其节点] 没有响应",
        "无响应节点上的 Pod 仍显示 Running；它们不计入在役副本。",
    ),
    C.MOST_NODES_SILENT: Wording(
        "多数节点无响应",
        "各可用区的多数节点同时失去响应[，涉及 {replicas} 个副本]：保持不变",
        "这么多节点不会同时损坏，更可能是没有收到它们的心跳。一分钟内不新建也不删除副本；之后才当真。",
    ),
    C.NONE_SERVES: Wording(
        "无副本在役",
        "没有副本在役，也没有正在启动的[，而目标是 {target}]",
        "目标已定却没有进展：原因见其他条目与决策。",
    ),
    C.REPLICA_FAILED: Wording(
        "副本失败",
        "[{replica}|一个副本] 失败[：{note}]",
        "Pod 已结束或崩溃；它会被替换，原因会保留。",
    ),
    C.UNSCHEDULABLE: Wording(
        "无法调度",
        "[{replica}|一个副本] 找不到节点[，已 {seen}][：{note}]",
        "调度器找不到有空位的节点。此类副本最先被取消。",
    ),
    C.LENT: Wording(
        "已出借",
        "备用副本各出借[ {slots} 个|部分]槽位给低优先级请求",
        "出借的备用副本用部分槽位服务低优先级；一旦提升，其余槽位立即可用。",
    ),
    C.PUT_TO_SLEEP: Wording(
        "进入休眠",
        "[{replica}|一个备用副本] 进入休眠，释放设备显存",
        "休眠的备用副本不在设备上保留权重；多个可共用一台设备。",
    ),
    C.WOKEN: Wording(
        "已唤醒",
        "[{replica}|一个休眠的备用副本] 被唤醒",
        "权重回到设备上，比冷启动快得多。",
    ),
}

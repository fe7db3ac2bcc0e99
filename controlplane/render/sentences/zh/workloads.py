"""What stands in a real cluster, and who else lays hands on it."""

from controlplane.domain.reasons import ReasonCode as C
from controlplane.render.sentences.wording import Table, Wording

WORKLOADS: Table = {
    C.WORKLOAD_CREATED: Wording(
        "已创建",
        "[{object}|某个对象] 不存在，现予创建",
        "目录所需的 Deployment、Service、中断预算或镜像预拉对象不存在。",
    ),
    C.WORKLOAD_CHANGED: Wording(
        "已更新",
        "[{object}|某个对象] 与目录不符，现予修改[（{field}）]",
        "对象写入之后目录已变更。Pod 模板变更时逐个替换 Pod。",
    ),
    C.WORKLOAD_DRIFTED: Wording(
        "被改动",
        "[{by}|他人] 改动了 [{object}|我方对象][ 的 {field}]",
        "另一个字段管理者写入了属于我方的内容。每个间隔只改回一次：意见不同的双方不得整天互相覆盖。",
    ),
    C.WORKLOAD_REFUSED: Wording(
        "无法写入",
        "[{object}|某个对象] 无法写入[：{note}]",
        "目录的内容无法变成对象；说明中写明缺少什么。",
    ),
    C.ROLLOUT_STUCK: Wording(
        "更新停滞",
        "[{object}|某个对象] 已修改，但新 Pod 未能启动[：{note}]",
        "模板变更时逐个替换 Pod，且不会少于原有数量；没有空闲设备或引擎无法启动时，"
        "旧 Pod 继续服务。",
    ),
    C.WORKLOAD_LEFT: Wording(
        "遗留对象",
        "目录已不再需要 [{object}|某个对象][；可用 {show} 删除]",
        "为已离开目录的模型、变体或类别所建的对象及其 Pod 会保留：可能仍在服务的，只由人来删除。",
    ),
    C.OWNED_BY_ANOTHER: Wording(
        "归他人所有",
        "[{object}|某个对象] [由 {by} 掌管|归他人所有][；可用 {show} 查看]",
        "每个目标只有一个写入者：他人所写或所建的一律不碰。请移除对方，或接管该对象。",
    ),
    C.DISOWNED: Wording(
        "无主 Pod",
        "[{replica}|一个 Pod] 不属于任何 Deployment[（{note}）]，现予删除",
        "被释放、孤立或已失败的 Pod 占着设备却不在任何计划之内；没有别人会删除它。",
    ),
}

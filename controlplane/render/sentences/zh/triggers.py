"""Triggers of scaling: what was seen against its limit."""

from controlplane.domain.reasons import ReasonCode as C
from controlplane.render.sentences.wording import Table, Wording

TRIGGERS: Table = {
    C.DRAIN_TOO_SLOW: Wording(
        "排空时间过长",
        "队列[需要 {seen} 才能排空|排空太慢][，上限为 {limit}]",
        "排空时间 = 排队请求数 ÷ 在役副本每秒能完成的请求数。"
        "超过上限时，目标升到能按时排空的数量。",
    ),
    C.DRAIN_WITHIN: Wording(
        "排空时间",
        "队列[可在 {seen} 内排空|可按时排空][，未超过上限 {limit}]",
        "队列能在上限内排空，此信号不要求变动。",
    ),
    C.WAIT_P99_BROKEN: Wording(
        "P99 等待超限",
        "[{class}级 |]P99 等待时间[达到 {seen}|超出承诺][，承诺为 {limit}]",
        "从到达到获得槽位的等待时间超出了对该优先级的承诺。",
    ),
    C.LATENCY_P99_BROKEN: Wording(
        "P99 延迟超限",
        "[{class}级 |]P99 延迟[达到 {seen}|超出承诺][，承诺为 {limit}]",
        "从到达到最后一个字节（含服务时间）超出了对该优先级的承诺。",
    ),
    C.P99_WITHIN: Wording(
        "P99",
        "P99 [为 {seen}|已知][，未超过上限 {limit}]",
        "每个优先级都得到了承诺的服务，此信号不要求变动。",
    ),
    C.MEMORY_ABOVE_WATERMARK: Wording(
        "显存超过水位",
        "KV 缓存[已用 {seen}|过满][，水位线为 {limit}]",
        "KV 缓存接近写满时，引擎会驱逐并重算，所有请求都会变慢。"
        "目标会上升，直到负载摊薄到水位线以下。",
    ),
    C.MEMORY_WITHIN: Wording(
        "显存",
        "KV 缓存[已用 {seen}|有余量][，低于水位线 {limit}]",
        "显存低于水位线，此信号不要求变动。",
    ),
    C.OFFERED_LOAD_HIGH: Wording(
        "到达负载过高",
        "到达的请求需要[ {seen} 的槽位|超出现有槽位][，上限为 {limit}]",
        "到达负载 = 到达率（含被拒绝的）× 平均服务时间 ÷ 在役槽位数。有界队列掩盖的过载由它显现。",
    ),
    C.OFFERED_LOAD_WITHIN: Wording(
        "到达负载",
        "到达的请求需要[ {seen} 的槽位|少于现有槽位][，低于上限 {limit}]",
        "在役槽位足以应付到达的请求，此信号不要求变动。",
    ),
    C.TURNED_AWAY: Wording(
        "有请求被拒",
        "有请求因容量不足被拒绝[（{seen}）]",
        "因容量不足而拒绝的请求视为违反承诺。此时只补足所需容量，不按平时的余量扩。",
    ),
    C.BUSY_AND_QUEUED: Wording(
        "繁忙且排队",
        "设备[忙碌 {seen}|繁忙][（超过 {limit}）]，同时有请求在排队",
        "设备繁忙本身不算过载；与排队同时出现才算。",
    ),
    C.UTILISATION_HIGH: Wording(
        "利用率高",
        "设备[忙碌 {seen}|繁忙][，上限为 {limit}]",
        "仅在策略指定时：只凭设备利用率就提高目标。利用率不等于负载，其他信号更可靠。",
    ),
    C.UTILISATION_LOW: Wording(
        "利用率低",
        "设备仅[忙碌 {seen}|略有负载][，下限为 {limit}]",
        "仅在策略指定时：低于此利用率则提议减少一个副本。",
    ),
    C.DEPTH_ABOVE_TARGET: Wording(
        "队列深度超过目标",
        "每副本队列深度[为 {seen}|过大][，目标为 {limit}]",
        "仅在策略指定时：把每副本的加权队列深度保持在目标值。",
    ),
    C.DEPTH_WITHIN: Wording(
        "队列深度",
        "每副本队列深度[为 {seen}|不大][，未超过 {limit}]",
        "每副本的加权队列深度在目标之内。",
    ),
    C.FEWER_SUFFICE: Wording(
        "更少即可",
        "更少的副本就够了[，其负载将为 {seen}][，低于上限 {limit}]",
        "是算出来的，不是试出来的：按排队论公式，留下的副本仍能让到达负载低于上限、各级等待不超限。",
    ),
}

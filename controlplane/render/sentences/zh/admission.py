"""Admission: who gets the next slot, who waits, who is refused."""

from controlplane.domain.reasons import ReasonCode as C
from controlplane.render.sentences.wording import Table, Wording

ADMISSION: Table = {
    C.ADMITTED: Wording(
        "已接纳",
        "有空闲槽位",
        "请求立即或轮到时获得了槽位。",
    ),
    C.QUEUED: Wording(
        "排队中",
        "所有槽位都被占用[，有 {seen} 个请求在等]",
        "请求在其优先级的队列中等待。",
    ),
    C.QUEUE_FULL: Wording(
        "队列已满",
        "[{class}级|]队列已满[（{limit} 个请求）]",
        "每个级别只能有这么多请求等待；再来的以 429 拒绝。",
    ),
    C.QUEUE_BYTES_FULL: Wording(
        "队列已满（字节）",
        "[{class}级|]队列字节数过多[，允许 {limit}]",
        "等待的请求体也按字节限量；超出者以 429 拒绝。",
    ),
    C.NO_ENDPOINTS: Wording(
        "没有端点",
        "没有在役副本",
        "没有任何可服务的容量：返回 503 而不是 429。",
    ),
    C.WAITED_TOO_LONG: Wording(
        "等待过久",
        "请求等待了[ {seen}|太久][，允许 {limit}]",
        "等待超过其级别上限的请求以 429 拒绝。",
    ),
    C.PROMPT_TOO_LONG: Wording(
        "提示过长",
        "提示有[ {seen} 个词元|过多词元][，允许 {limit}]",
        "很长的输入会使引擎显存翻倍；超过模型上限的会被拒绝。",
    ),
    C.TOO_HEAVY: Wording(
        "过重",
        "请求需要[ {seen} 个槽位|过多槽位][，一个副本只有 {limit}]",
        "比整个副本还重的请求永远无法服务。",
    ),
    C.AGED: Wording(
        "已提级",
        "请求等待了[ {seen}|很久]，提升一级",
        "等待很久的请求提升一级，仅一次；到达时间不变。",
    ),
    C.MINIMUM_SERVICE: Wording(
        "最低服务",
        "槽位给等待最久的请求，不论级别",
        "每隔一段时间先服务等待最久的请求，避免任何人被饿死。",
    ),
    C.GUARANTEED: Wording(
        "保底",
        "[{class}|该]级得到其保底槽位",
        "低于保底份额的级别先于更高级别得到服务。",
    ),
}

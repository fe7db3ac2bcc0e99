"""Bounds, people's orders, and the spread over node classes."""

from controlplane.domain.reasons import ReasonCode as C
from controlplane.render.sentences.wording import Table, Wording

BOUNDS: Table = {
    C.BELOW_MINIMUM: Wording(
        "低于下限",
        "[下限为 {limit}|低于下限]",
        "边界在每条路径上都最后生效：目标绝不低于模型的下限。",
    ),
    C.ABOVE_MAXIMUM: Wording(
        "高于上限",
        "[上限为 {limit}|高于上限]",
        "边界在每条路径上都最后生效：目标绝不高于模型的上限。",
    ),
    C.PINNED: Wording(
        "已固定",
        "[{by} 将其固定|目标已被固定][为 {limit}]",
        "有人手动固定了目标；规则仍会发言，但不再移动它。",
    ),
    C.PAUSED: Wording(
        "已暂停",
        "[{by} 将其暂停|已被暂停]",
        "有人暂停了执行：仍会决策并展示，但什么都不做。",
    ),
    C.SURVIVES_ZONE: Wording(
        "可失一区",
        "多留[ {margin}|一些]，使[ {zones} 个可用区中]最满的一个失去后其余仍能胜任[，代价 {price}]",
        "由策略设定：最满的可用区失去后，余下的副本仍能兑现全部承诺；价格只计为此多留的副本。",
    ),
    C.SPILLED: Wording(
        "溢出",
        "[{instead_of} 紧缺|更便宜的节点类紧缺]，改用下一个节点类[：{counts}]",
        "更便宜的节点类已无空闲设备，由下一个合适的节点类承接。",
    ),
    C.CAME_BACK: Wording(
        "回归",
        "[{to}|更便宜的节点类] 又有设备了",
        "之前溢出的副本回到更便宜的节点类。",
    ),
    C.GIVEN_UP: Wording(
        "放弃",
        "让出[ {from}|一个节点类]，改用[ {to}|另一个]",
        "副本离开别的模型需要的节点类，并先在别处扩出。",
    ),
    C.CLASS_LEFT: Wording(
        "节点类已撤",
        "[{replicas} 个副本|已有副本]暂留[ {node_class}|原节点类]，模型已不可再用该类",
        "目录不再向该模型提供这一节点类：已有副本继续服务，直到其他节点类有空位。",
    ),
}

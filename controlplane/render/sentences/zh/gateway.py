"""The gateway: who may not pass, and what breakers do."""

from controlplane.domain.reasons import ReasonCode as C
from controlplane.render.sentences.wording import Table, Wording

GATEWAY: Table = {
    C.UNKNOWN_MODEL: Wording(
        "未知模型",
        "没有名为[ {model} |该名称]的模型",
        "请求所指的模型不在目录中，或其密钥无权看到：404。",
    ),
    C.KEY_UNKNOWN: Wording(
        "未知密钥",
        "密钥不被识别",
        "请求携带了未发放的密钥，或在必须携带时没有携带：401。",
    ),
    C.BODY_TOO_LARGE: Wording(
        "请求体过大",
        "请求体有[ {seen} 字节|过多字节][，允许 {limit}]",
        "超过网关所能容纳的请求体在读取之前即被拒绝：413。",
    ),
    C.DEADLINE_PASSED: Wording(
        "期限已过",
        "等待期间调用方的期限已过",
        "设了期限的请求在排队中过期即被告知：不做无用之功。",
    ),
    C.EVICTED: Wording(
        "已让位",
        "为高级请求让出了槽位",
        "允许让位时，运行中的低级请求把槽位让给高级请求：429。",
    ),
    C.BREAKER_OPEN: Wording(
        "断路器断开",
        "其断路器处于断开状态",
        "模型出现故障；请求立即被拒绝，无人白等。",
    ),
    C.BREAKER_OPENED: Wording(
        "断路器已断开",
        "连续[ {seen} 个|过多]响应损坏[，上限为 {limit}]",
        "连续的损坏响应、超时与重置会断开模型的断路器；429 与繁忙的 503 不计。",
    ),
    C.BREAKER_PROBING: Wording(
        "断路器试探中",
        "已搁置[ {seen}|一段时间]，由一个请求试探",
        "到时后断开的断路器放行一个请求，并等待其结果。",
    ),
    C.BREAKER_REOPENED: Wording(
        "断路器再次断开",
        "试探也失败了[，再搁置 {limit}]",
        "试探失败会再次断开断路器，时间加倍。",
    ),
    C.BREAKER_CLOSED: Wording(
        "断路器已闭合",
        "试探得到了响应",
        "一个良好的响应即闭合断路器：模型照常接收请求。",
    ),
    C.ISOLATED: Wording(
        "已隔离",
        "[{by}|有人]将其隔离[：{why}]",
        "有人将该模型移出流量；直到重新放行为止。",
    ),
    C.REJOINED: Wording(
        "已恢复",
        "[{by}|有人]将其重新放行",
        "有人结束了对该模型的隔离。",
    ),
}

"""Catalogue, costs and forecasts."""

from controlplane.domain.reasons import ReasonCode as C
from controlplane.render.sentences.wording import Table, Wording

RECORDS: Table = {
    C.CATALOGUE_APPLIED: Wording(
        "目录已生效",
        "[{source}|新的机群文件] 已生效[，取代版本 {replaces}]",
        "有效的机群文件已读入，从现在起据此决策。",
    ),
    C.CATALOGUE_REFUSED: Wording(
        "目录被拒绝",
        "新的机群文件有[ {faults} 处|]错误，旧文件继续生效[：{first}]",
        "有错误的文件绝不生效，部分也不行。",
    ),
    C.OF_ANOTHER_VERSION: Wording(
        "来自其他版本",
        "有一条本版本不认识的规则[：{code}]",
        "由较新的版本写入，现由较旧的版本读取。",
    ),
    C.METERED: Wording(
        "已计费",
        "设备时间已计费[至 {until}]",
        "每台设备、每个区间都有记录；记录加空闲等于账单。",
    ),
    C.RECONSTRUCTED: Wording(
        "已补记",
        "[{seen} |一段空缺]按最后已知状态补记",
        "守护进程曾停止；空缺按最后已知状态计费并注明。",
    ),
    C.FORECAST_ABSTAINS: Wording(
        "预测弃权",
        "预测尚未赢得信任[：误差 {seen}，对照 {limit}]",
        "只有当回测在此序列上优于朴素方法时，预测才参与决策。",
    ),
    C.FORECAST_TRUSTED: Wording(
        "预测可信",
        "预测预计[ {horizon} 内|][达到 {seen}|负载上升]",
        "其回测在此序列上优于朴素预测，可以提前抬高下限。",
    ),
    C.LOOP_SILENT: Wording(
        "循环沉默",
        "循环[ {loop} ]已有三个周期没有动静",
        "停止跳动的循环不做任何决定；在它恢复之前健康检查不通过。",
    ),
    C.CYCLE_FAILED: Wording(
        "周期失败",
        "[{loop} 的]上一个周期失败[：{failure}]",
        "失去了一个周期；下一个周期会重新观察，周期内从不重试。",
    ),
    C.ACTION_REFUSED: Wording(
        "被拒绝",
        "已决定的操作无法执行[：{note}]",
        "集群一再拒绝。若缺少权限，句中的命令即可授予。",
    ),
    C.NOBODY_LEADS: Wording(
        "无人领导",
        "没有守护进程能够当选[：{trouble}]",
        "在选出领导者之前，既不写集群，也不写日志。",
    ),
}

"""Renders docs/reasons.md from what the help page says of every reason code.

Write it anew: make docs
"""

from controlplane.render.sentences.en.admission import ADMISSION
from controlplane.render.sentences.en.bounds import BOUNDS
from controlplane.render.sentences.en.gateway import GATEWAY
from controlplane.render.sentences.en.guards import GUARDS
from controlplane.render.sentences.en.lanes import LANES
from controlplane.render.sentences.en.matching import MATCHING
from controlplane.render.sentences.en.records import RECORDS
from controlplane.render.sentences.en.triggers import TRIGGERS
from controlplane.render.sentences.en.workloads import WORKLOADS
from controlplane.render.sentences.wording import Table

HEAD = """\
# Reason codes

Every rule that speaks leaves a code and its evidence, in the trail of a decision, in the counter
`controlplane_decisions_total` and in the JSON of API and commands. A code is never renamed. The
sentence is made when it is shown, in the reader's language.
"""

SECTIONS: dict[str, Table] = {
    "Triggers of scaling": TRIGGERS,
    "Guards of scaling": GUARDS,
    "Bounds, people, spread over classes": BOUNDS,
    "Spare lanes": LANES,
    "Matching and placement": MATCHING,
    "Admission": ADMISSION,
    "Gateway": GATEWAY,
    "What stands in a cluster": WORKLOADS,
    "Records and the daemon itself": RECORDS,
}


def page() -> str:
    """Give the whole page."""
    lines = [HEAD]
    for heading, table in SECTIONS.items():
        lines += [f"## {heading}\n", "| code | in short | meaning |", "|---|---|---|"]
        lines += [f"| `{code}` | {of.title} | {of.explanation} |" for code, of in table.items()]
        lines.append("")
    return "\n".join(lines)


if __name__ == "__main__":
    print(page(), end="")  # noqa: T201 - this is its output

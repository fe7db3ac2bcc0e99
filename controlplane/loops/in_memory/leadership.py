"""Leadership where nobody else could lead: one daemon a folder, an embedded world."""


class SoleLeader:
    """Leads always: the port `Leadership` without an election."""

    leading = True
    term = 1
    trouble = ""

    def __init__(self, leader: str = "this daemon") -> None:
        """Lead under this name."""
        self.leader = leader

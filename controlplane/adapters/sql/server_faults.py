"""What a PostgreSQL server's no means: a few words, and where there is one, the cure.

The driver gives a state only for what happened after the connection stood; until then there is
the server's text, which is the same in every version.
"""

import re

_AROUND = re.compile(
    r"^connection (?:failed|is bad): (?:connection to server .*? failed: )?(FATAL: )?"
)
_ADVICE = re.compile(r"\s*Is the server running.*$")
_LET_IN = (
    "does not let this user in: {said}; set user and password in CONTROLPLANE_DATA, or in the file "
    "that CONTROLPLANE_DATA_FILE names"
)
_BY_TEXT = (
    (re.compile(r'database "(.+)" does not exist'), "does not exist; make it: createdb {name}"),
    (re.compile(r'role "(.+)" does not exist'), _LET_IN),
    (re.compile("password|authentication|pg_hba"), _LET_IN),
    (
        re.compile("too many (connections|clients)|connection slots"),
        "has no connection left: {said}; each daemon takes up to four",
    ),
    (re.compile("starting up|shutting down|recovery mode"), "is not ready: {said}"),
    (
        re.compile("refused|timeout|timed out|resolve|No such file|unreachable|No route"),
        "cannot be reached: {said}; is the address right, and the server up?",
    ),
)
_BY_STATE = {
    "42501": "may not be used by this user: {said}; let it: GRANT ALL ON SCHEMA public TO USER",
    "25006": "takes no writes: it is a standby, or read-only; give the address of the primary",
    "53100": "cannot grow: the server's disk is full",
    "57014": "did not answer in time",
}


def server_says(cause: BaseException) -> str:
    """Say what is wrong, to be read after `the store ADDRESS`."""
    said = " ".join(str(cause).split())
    said = _ADVICE.sub("", _AROUND.sub("", said))
    by_state = _BY_STATE.get(getattr(cause, "sqlstate", None) or "")
    if by_state is not None:
        return by_state.format(said=said)
    for pattern, form in _BY_TEXT:
        found = pattern.search(said)
        if found is not None:
            return form.format(said=said, name=found[1] if pattern.groups else "")
    return f"cannot be used: {said}"

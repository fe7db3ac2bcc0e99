"""How the daemon logs: JSON lines for machines, readable lines on a terminal, never a secret.

Every record carries time, level, the module that spoke and what was bound for the loop or request
at hand. Values under a name that sounds like a secret, and anything that looks like one of our
tokens or a password inside a URL, are replaced before a renderer sees them.
"""

import logging
import re
import sys
from collections.abc import MutableMapping
from typing import Any, TextIO

import structlog

REDACTED = "[redacted]"
TALKATIVE = (
    "aiohttp.access",  # one line a request would drown everything; requests are counted instead
    "alembic",  # names each of its plugins at every start
)
_SECRET_NAME = re.compile(
    r"secret|password|passwd|authorization|cookie|token$|api_?key", re.IGNORECASE
)
_SECRET_VALUES = (
    (re.compile(r"\bcp_[A-Za-z0-9_-]{20,}"), REDACTED),  # our own tokens
    (re.compile(r"(?i)\b(bearer|basic)\s+[A-Za-z0-9._~+/=-]+"), rf"\1 {REDACTED}"),
    (re.compile(r"(?<=://)([^/\s:@]*):([^/\s@]+)@"), rf"\1:{REDACTED}@"),  # user:password@host
)


def redact(
    _logger: object, _method: str, event: MutableMapping[str, Any]
) -> MutableMapping[str, Any]:
    """Replace secrets in a record, at any depth."""
    for name, value in event.items():
        event[name] = REDACTED if _SECRET_NAME.search(name) else _cleaned(value)
    return event


def _cleaned(value: Any) -> Any:
    if isinstance(value, str):
        for pattern, replacement in _SECRET_VALUES:
            value = pattern.sub(replacement, value)
        return value
    if isinstance(value, dict):
        return {
            key: REDACTED if _SECRET_NAME.search(str(key)) else _cleaned(item)
            for key, item in value.items()
        }
    if isinstance(value, list | tuple):
        return [_cleaned(item) for item in value]
    return value


def configure(
    *, level: str = "info", as_json: bool | None = None, stream: TextIO = sys.stderr
) -> None:
    """Set logging up for the process. `as_json` None: JSON unless the stream is a terminal."""
    severity = logging.getLevelNamesMapping()[level.upper()]
    shared = (
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.StackInfoRenderer(),
    )
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.make_filtering_bound_logger(severity),
        cache_logger_on_first_use=False,  # a test may configure again
    )
    formatter = structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=[*shared, structlog.stdlib.ExtraAdder()],
        processors=[
            structlog.stdlib.ProcessorFormatter.remove_processors_meta,
            *_rendering(as_json=not stream.isatty() if as_json is None else as_json),
        ],
    )
    out = logging.StreamHandler(stream)
    out.setFormatter(formatter)
    root = logging.getLogger()
    root.handlers[:] = [out]
    root.setLevel(severity)
    for talkative in TALKATIVE:
        logging.getLogger(talkative).setLevel(logging.WARNING)


def _rendering(*, as_json: bool) -> tuple[structlog.types.Processor, ...]:
    """Turn the traceback into text first, so that it is cleaned of secrets like all the rest."""
    # Plain tracebacks: a pretty one takes seconds to draw, and nothing is decided meanwhile.
    people = structlog.dev.ConsoleRenderer(exception_formatter=structlog.dev.plain_traceback)
    machines = structlog.processors.JSONRenderer(sort_keys=True)
    return (structlog.processors.format_exc_info, redact, machines if as_json else people)

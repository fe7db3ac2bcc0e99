"""Column types: an instant that keeps its zone, and JSON that stays readable.

SQLite forgets the time zone of a timestamp, so that subtracting it from an aware one fails long
after it was written. `UtcDateTime` takes and gives seconds since 1970 (the domain's `Instant`) and
stores a UTC timestamp, to the microsecond. JSON is text and not a blob, so that `json_each(trail)`
answers questions and a person can read the input of a decision with any SQL client.
"""

from datetime import UTC, datetime

from sqlalchemy import DateTime, Text
from sqlalchemy.engine import Dialect
from sqlalchemy.types import TypeDecorator

from controlplane.domain.quantities import Instant

# What a datetime can hold; "until the end of time" is a fair question to ask a ledger.
_LAST = datetime(9999, 12, 31, tzinfo=UTC).timestamp()


class UtcDateTime(TypeDecorator[Instant]):
    """Seconds since 1970-01-01 UTC in Python, a UTC timestamp in the database."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: Instant | None, dialect: Dialect) -> datetime | None:
        """Turn seconds into a timestamp."""
        del dialect
        return None if value is None else datetime.fromtimestamp(min(value, _LAST), UTC)

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> Instant | None:
        """Turn a timestamp into seconds; one without a zone is UTC, for we wrote it."""
        del dialect
        if value is None:
            return None
        return (value if value.tzinfo else value.replace(tzinfo=UTC)).timestamp()


class JsonText(TypeDecorator[bytes]):
    """JSON as bytes in Python (what msgspec reads and writes), as text in the database."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: bytes | None, dialect: Dialect) -> str | None:
        """Turn bytes into text."""
        del dialect
        return None if value is None else value.decode()

    def process_result_value(self, value: str | None, dialect: Dialect) -> bytes | None:
        """Turn text into bytes."""
        del dialect
        return None if value is None else value.encode()

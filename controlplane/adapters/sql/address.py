"""Where the store lies: a folder with an SQLite file, or the URL of a PostgreSQL database."""

from pathlib import Path

from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError

from controlplane.adapters.sql.faults import StoreError

FILE_NAME = "controlplane.sqlite3"
_ASYNCHRONOUS = {"sqlite": "sqlite+aiosqlite", "postgresql": "postgresql+psycopg"}
_SYNCHRONOUS = {"sqlite": "sqlite", "postgresql": "postgresql+psycopg"}
_LIMITS = {
    "application_name": "controlplane",
    "connect_timeout": "5",
    "keepalives_idle": "10",
    "keepalives_interval": "5",
    "keepalives_count": "2",
    "tcp_user_timeout": "15000",  # milliseconds
}


class Address:
    """A store's address, in the forms its readers want."""

    def __init__(self, where: str | Path) -> None:
        """Take a folder, or a URL as text."""
        self._url = _from_url(str(where)) if "://" in str(where) else _in_folder(Path(where))

    @property
    def kind(self) -> str:
        """`sqlite` or `postgresql`."""
        return self._url.get_backend_name()

    @property
    def url(self) -> URL:
        """The address for asyncio."""
        return self._with_limits().set(drivername=_ASYNCHRONOUS[self.kind])

    @property
    def blocking_url(self) -> URL:
        """The address for migrations, which run in a thread."""
        return self._with_limits().set(drivername=_SYNCHRONOUS[self.kind])

    def _with_limits(self) -> URL:
        """Let a server that is gone be noticed in seconds; what the address says itself stands."""
        if self.kind != "postgresql":
            return self._url
        return self._url.update_query_dict({**_LIMITS, **self._url.query})

    @property
    def file(self) -> Path | None:
        """The SQLite file, if it is one; it may be named as SQLite's own `file:` address."""
        if self.kind != "sqlite":
            return None
        return Path((self._url.database or "").removeprefix("file:"))

    @property
    def missing(self) -> bool:
        """Say whether nothing was ever stored here; a server cannot be asked without connecting."""
        return self.file is not None and not self.file.exists()

    def __str__(self) -> str:
        """The address for people, without its password, wherever that stands."""
        secret = {name: "***" for name in self._url.query if "password" in name.lower()}
        shown = self._url.update_query_dict(secret) if secret else self._url
        return str(self.file or shown.render_as_string(hide_password=True))


def _in_folder(folder: Path) -> URL:
    return URL.create("sqlite", database=str(folder.expanduser() / FILE_NAME))


def _from_url(text: str) -> URL:
    try:
        url = make_url(text)
    except (ArgumentError, ValueError):  # ValueError: the port is no number
        raise StoreError("the store's address is no URL such as postgresql://host/name") from None
    if url.get_backend_name() not in _ASYNCHRONOUS:
        raise StoreError(
            f"the store's address begins with {url.drivername}: only sqlite and "
            "postgresql are known"
        )
    if url.get_backend_name() == "sqlite" and not url.database:
        raise StoreError("the store's address names no file; a store in memory would be forgotten")
    return url

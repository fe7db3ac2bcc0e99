"""Which version of the tables a database has, told without loading Alembic.

`serve` looks at every start and a command at every call; Alembic is imported only to migrate.
"""

from enum import StrEnum

from sqlalchemy import Connection, inspect, text

REVISIONS = ("0001", "0002", "0003", "0004")  # in order, as the scripts in migrations/versions
HEAD = REVISIONS[-1]


class Schema(StrEnum):
    """How a database's tables relate to this program's."""

    EMPTY = "empty"
    FOREIGN = "foreign"  # tables, but none of ours
    OLDER = "older"
    CURRENT = "current"
    NEWER = "newer"


def schema(connection: Connection) -> tuple[Schema, str]:
    """Say how the tables stand, and which revision they are."""
    names = set(inspect(connection).get_table_names())
    if "alembic_version" not in names:
        return (Schema.FOREIGN if names else Schema.EMPTY), ""
    revision = connection.execute(text("SELECT version_num FROM alembic_version")).scalar()
    if revision is None:
        return Schema.EMPTY, ""
    if revision == HEAD:
        return Schema.CURRENT, revision
    return (Schema.OLDER if revision in REVISIONS else Schema.NEWER), revision


def objection(state: Schema, revision: str, shown: str) -> str | None:
    """Say in one sentence why this program cannot use such tables, if it cannot."""
    match state:
        case Schema.CURRENT:
            return None
        case Schema.NEWER:
            return (
                f"the store {shown} was written by a newer version (its tables are {revision}, "
                f"this program knows up to {HEAD}); install that version or use another store"
            )
        case Schema.FOREIGN:
            return f"the store {shown} holds other tables; give it a database of its own"
        case Schema.OLDER:
            return (
                f"the store {shown} has tables of version {revision}, this program needs {HEAD}: "
                "run controlplane migrate"
            )
        case Schema.EMPTY:
            return f"the store {shown} has no tables yet: run controlplane migrate"

"""The tables. What a world brought forth carries its number; what people set does not (law 11).

Money is whole millionths in BIGINT. Numbers of decisions are never given twice, also after the
newest was deleted: they stand in links, logs and alerts. The ledger's key begins with the
interval, so reports read one stretch of the table; without a rowid SQLite stores a row once.
"""

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    Table,
    Text,
    text,
)

from controlplane.adapters.sql.columns import JsonText, UtcDateTime

metadata = MetaData(
    naming_convention={
        "pk": "pk_%(table_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s",
        "uq": "uq_%(table_name)s_%(column_0_name)s",
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    }
)

# SQLite numbers rows by itself only where the key is an INTEGER, elsewhere 2**31 rows are too few.
_NUMBER = BigInteger().with_variant(Integer(), "sqlite")

worlds = Table(
    "worlds",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("name", Text, nullable=False, unique=True),
    Column("seen_at", UtcDateTime, nullable=False),  # when it was last opened or tidied
)

decisions = Table(
    "decisions",
    metadata,
    Column("id", _NUMBER, primary_key=True),
    Column("world_id", ForeignKey("worlds.id"), nullable=False),
    Column("loop", Text, nullable=False),
    Column("subject", Text, nullable=False),
    Column("at", UtcDateTime, nullable=False),
    Column("current", Integer, nullable=False),
    Column("target", Integer, nullable=False),
    Column("decisive", Text, nullable=False),
    Column("trail", JsonText, nullable=False),
    Column("refused", JsonText, nullable=False),
    Column("actions", JsonText, nullable=False),
    Column("ending", Text, nullable=False),
    Column("note", Text, nullable=False),
    Column("settled_at", UtcDateTime),
    Column("repeats", Integer, nullable=False),
    Column("last_at", UtcDateTime, nullable=False),
    Column("catalogue_version", Integer, nullable=False),
    Column("seen", JsonText, nullable=False),
    Column("digest", Text, nullable=False, server_default=text("''")),  # of `seen`
    sqlite_autoincrement=True,
)
# The newest of each (loop, subject) · a model's history · how often a rule decided · retention.
Index("ix_decisions_place", *(decisions.c[name] for name in ("world_id", "loop", "subject", "id")))
Index("ix_decisions_subject", *(decisions.c[name] for name in ("world_id", "subject", "id")))
Index("ix_decisions_decisive", *(decisions.c[name] for name in ("world_id", "decisive", "id")))
Index("ix_decisions_at", decisions.c.at)
# Text, for a bound parameter would keep SQLite from using the index.
NOTHING_DONE = text("target = current AND actions = '[]'")
Index(
    "ix_decisions_holds",
    decisions.c.at,
    sqlite_where=NOTHING_DONE,
    postgresql_where=NOTHING_DONE,
)
Index(
    "ix_decisions_open",
    decisions.c.world_id,
    decisions.c.loop,
    sqlite_where=decisions.c.ending == "open",
    postgresql_where=decisions.c.ending == "open",
)

loop_memory = Table(
    "loop_memory",
    metadata,
    Column("world_id", ForeignKey("worlds.id"), primary_key=True),
    Column("loop", Text, primary_key=True),
    Column("memory", JsonText, nullable=False),
)

ledger = Table(
    "ledger",
    metadata,
    Column("world_id", ForeignKey("worlds.id"), primary_key=True),
    Column("start", UtcDateTime, primary_key=True),
    Column("node", Text, primary_key=True),
    Column("device", Integer, primary_key=True),
    Column("kind", Text, primary_key=True),
    Column("model", Text, primary_key=True),  # "" where nobody pays: NULL is never equal to NULL
    Column("end", UtcDateTime, nullable=False),
    Column("node_class", Text, nullable=False),
    Column("zone", Text, nullable=False),
    Column("team", Text),
    Column("micros", BigInteger, nullable=False),
    Column("price_micros_per_hour", BigInteger, nullable=False),
    Column("reconstructed", Boolean, nullable=False),
    Column("catalogue_version", Integer, nullable=False),
    sqlite_with_rowid=False,
)

billed = Table(
    "billed",
    metadata,
    Column("world_id", ForeignKey("worlds.id"), primary_key=True),
    Column("until", UtcDateTime, nullable=False),
)

overrides = Table(
    "overrides",
    metadata,
    Column("subject", Text, primary_key=True),
    Column("paused", Boolean, nullable=False),
    Column("pinned", Integer),
    Column("isolated_by", Text),
    Column("isolated_at", UtcDateTime),
    Column("isolated_why", Text),
    Column("by", Text, nullable=False),
    Column("at", UtcDateTime, nullable=False),
)

catalogues = Table(
    "catalogues",
    metadata,
    Column("version", Integer, primary_key=True),
    Column("at", UtcDateTime, nullable=False),
    Column("source", Text, nullable=False),
    Column("text", Text, nullable=False),
    Column("by", Text, nullable=False),
    sqlite_autoincrement=True,
)

gateway_keys = Table(
    "gateway_keys",
    metadata,
    Column("name", Text, primary_key=True),
    Column("priority", Text, nullable=False),
    Column("tenant", Text, nullable=False),
    Column("models", JsonText, nullable=False),
    Column("secret_hash", Text, nullable=False, unique=True),
)

tokens = Table(
    "tokens",
    metadata,
    Column("name", Text, primary_key=True),
    Column("role", Text, nullable=False),
    Column("created_at", UtcDateTime, nullable=False),
    Column("expires_at", UtcDateTime),
    Column("secret_hash", Text, nullable=False, unique=True),
)

audit = Table(
    "audit",
    metadata,
    Column("id", _NUMBER, primary_key=True),
    Column("at", UtcDateTime, nullable=False),
    Column("who", Text, nullable=False),
    Column("what", Text, nullable=False),
    Column("subject", Text, nullable=False),
    Column("detail", Text, nullable=False),
    Column("ending", Text, nullable=False),
    sqlite_autoincrement=True,
)
Index("ix_audit_at", audit.c.at)

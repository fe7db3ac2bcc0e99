"""The first tables: worlds, decisions, memory, ledger, and what people set.

Revision ID: 0001
Revises: nothing
"""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

# A migration says what the tables were then; it must not change when the product's types do.
INSTANT = sa.DateTime(timezone=True)
NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Apply."""
    op.create_table(
        "worlds",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("seen_at", INSTANT, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_worlds"),
        sa.UniqueConstraint("name", name="uq_worlds_name"),
    )
    _decisions()
    _what_loops_keep()
    _what_people_set()


def _of_world(table: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint(["world_id"], ["worlds.id"], name=f"fk_{table}_world_id")


def _decisions() -> None:
    op.create_table(
        "decisions",
        sa.Column("id", NUMBER, nullable=False),
        sa.Column("world_id", sa.Integer(), nullable=False),
        sa.Column("loop", sa.Text(), nullable=False),
        sa.Column("subject", sa.Text(), nullable=False),
        sa.Column("at", INSTANT, nullable=False),
        sa.Column("current", sa.Integer(), nullable=False),
        sa.Column("target", sa.Integer(), nullable=False),
        sa.Column("decisive", sa.Text(), nullable=False),
        sa.Column("trail", sa.Text(), nullable=False),
        sa.Column("refused", sa.Text(), nullable=False),
        sa.Column("actions", sa.Text(), nullable=False),
        sa.Column("ending", sa.Text(), nullable=False),
        sa.Column("note", sa.Text(), nullable=False),
        sa.Column("settled_at", INSTANT, nullable=True),
        sa.Column("repeats", sa.Integer(), nullable=False),
        sa.Column("last_at", INSTANT, nullable=False),
        sa.Column("catalogue_version", sa.Integer(), nullable=False),
        sa.Column("seen", sa.Text(), nullable=False),
        _of_world("decisions"),
        sa.PrimaryKeyConstraint("id", name="pk_decisions"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_decisions_place", "decisions", ["world_id", "loop", "subject", "id"])
    op.create_index("ix_decisions_subject", "decisions", ["world_id", "subject", "id"])
    op.create_index("ix_decisions_decisive", "decisions", ["world_id", "decisive", "id"])
    op.create_index("ix_decisions_at", "decisions", ["at"])
    nothing_done = sa.text("target = current AND actions = '[]'")
    op.create_index(
        "ix_decisions_holds",
        "decisions",
        ["at"],
        sqlite_where=nothing_done,
        postgresql_where=nothing_done,
    )
    still_open = sa.text("ending = 'open'")
    op.create_index(
        "ix_decisions_open",
        "decisions",
        ["world_id", "loop"],
        sqlite_where=still_open,
        postgresql_where=still_open,
    )


def _what_loops_keep() -> None:
    op.create_table(
        "loop_memory",
        sa.Column("world_id", sa.Integer(), nullable=False),
        sa.Column("loop", sa.Text(), nullable=False),
        sa.Column("memory", sa.Text(), nullable=False),
        _of_world("loop_memory"),
        sa.PrimaryKeyConstraint("world_id", "loop", name="pk_loop_memory"),
    )
    op.create_table(
        "ledger",
        sa.Column("world_id", sa.Integer(), nullable=False),
        sa.Column("start", INSTANT, nullable=False),
        sa.Column("node", sa.Text(), nullable=False),
        sa.Column("device", sa.Integer(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("model", sa.Text(), nullable=False),
        sa.Column("end", INSTANT, nullable=False),
        sa.Column("node_class", sa.Text(), nullable=False),
        sa.Column("zone", sa.Text(), nullable=False),
        sa.Column("team", sa.Text(), nullable=True),
        sa.Column("micros", sa.BigInteger(), nullable=False),
        sa.Column("price_micros_per_hour", sa.BigInteger(), nullable=False),
        sa.Column("reconstructed", sa.Boolean(), nullable=False),
        sa.Column("catalogue_version", sa.Integer(), nullable=False),
        _of_world("ledger"),
        sa.PrimaryKeyConstraint(
            "world_id", "start", "node", "device", "kind", "model", name="pk_ledger"
        ),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "billed",
        sa.Column("world_id", sa.Integer(), nullable=False),
        sa.Column("until", INSTANT, nullable=False),
        _of_world("billed"),
        sa.PrimaryKeyConstraint("world_id", name="pk_billed"),
    )


def _what_people_set() -> None:
    op.create_table(
        "overrides",
        sa.Column("subject", sa.Text(), nullable=False),
        sa.Column("paused", sa.Boolean(), nullable=False),
        sa.Column("pinned", sa.Integer(), nullable=True),
        sa.Column("by", sa.Text(), nullable=False),
        sa.Column("at", INSTANT, nullable=False),
        sa.PrimaryKeyConstraint("subject", name="pk_overrides"),
    )
    op.create_table(
        "catalogues",
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("at", INSTANT, nullable=False),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("by", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("version", name="pk_catalogues"),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "tokens",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("role", sa.Text(), nullable=False),
        sa.Column("created_at", INSTANT, nullable=False),
        sa.Column("expires_at", INSTANT, nullable=True),
        sa.Column("secret_hash", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("name", name="pk_tokens"),
        sa.UniqueConstraint("secret_hash", name="uq_tokens_secret_hash"),
    )
    op.create_table(
        "audit",
        sa.Column("id", NUMBER, nullable=False),
        sa.Column("at", INSTANT, nullable=False),
        sa.Column("who", sa.Text(), nullable=False),
        sa.Column("what", sa.Text(), nullable=False),
        sa.Column("subject", sa.Text(), nullable=False),
        sa.Column("detail", sa.Text(), nullable=False),
        sa.Column("ending", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_audit"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_audit_at", "audit", ["at"])


def downgrade() -> None:
    """Take back."""
    for table in (
        "audit",
        "tokens",
        "catalogues",
        "overrides",
        "billed",
        "ledger",
        "loop_memory",
        "decisions",
        "worlds",
    ):
        op.drop_table(table)

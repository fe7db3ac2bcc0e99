"""Keys of the gateway's callers, by the hash of their secrets.

Revision ID: 0003
Revises: 0002
"""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply."""
    op.create_table(
        "gateway_keys",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("priority", sa.Text(), nullable=False),
        sa.Column("tenant", sa.Text(), nullable=False),
        sa.Column("models", sa.Text(), nullable=False),
        sa.Column("secret_hash", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("name", name="pk_gateway_keys"),
        sa.UniqueConstraint("secret_hash", name="uq_gateway_keys_secret_hash"),
    )


def downgrade() -> None:
    """Take back."""
    op.drop_table("gateway_keys")

"""Models that people took out of traffic.

Revision ID: 0004
Revises: 0003
"""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply."""
    op.add_column("overrides", sa.Column("isolated_by", sa.Text(), nullable=True))
    op.add_column("overrides", sa.Column("isolated_at", sa.DateTime(timezone=True), nullable=True))
    op.add_column("overrides", sa.Column("isolated_why", sa.Text(), nullable=True))


def downgrade() -> None:
    """Take back."""
    for name in ("isolated_why", "isolated_at", "isolated_by"):
        op.drop_column("overrides", name)

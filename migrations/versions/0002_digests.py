"""A fingerprint beside the input of every decision: an altered one shows.

Revision ID: 0002
Revises: 0001
"""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply."""
    op.add_column(
        "decisions", sa.Column("digest", sa.Text(), nullable=False, server_default=sa.text("''"))
    )


def downgrade() -> None:
    """Take back."""
    op.drop_column("decisions", "digest")

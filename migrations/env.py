"""Alembic's entry: migrates over the connection, and in the transaction, that it is handed.

There is no alembic.ini: `controlplane migrate` and `serve` take the store's address from where the
product takes it, and begin the one transaction that all missing revisions share.
"""

from alembic import context

from controlplane.adapters.sql.tables import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    render_as_batch=True,  # SQLite alters a table by copying it
    transactional_ddl=True,  # true of both databases as we open them
)
context.run_migrations()

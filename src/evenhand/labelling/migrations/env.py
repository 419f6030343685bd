"""Alembic runs this to migrate over the connection it was handed."""

from alembic import context

from evenhand.labelling._tables import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    transactional_ddl=True,
)
context.run_migrations()

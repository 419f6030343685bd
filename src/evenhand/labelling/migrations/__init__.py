"""Changes to the database, one file each, run by Alembic in order."""

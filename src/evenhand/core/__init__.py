"""What every other room stands on: records, tables, errors, registry, random streams, provenance.

Import the parts by module (``evenhand.core.records``, ``evenhand.core.tables`` …): the records and
errors are light, the tables need Polars.
"""

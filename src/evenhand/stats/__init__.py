"""Statistics: votes, intervals and classification measures. Pure functions of tables and arrays.

Nothing here reads a file, a clock or global random state; generators are arguments.
"""

"""Scores over HTTP and for files: the dialects, batch scoring, and the recorder of ``migrate``."""

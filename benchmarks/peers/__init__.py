"""Detectors that ours are measured beside, and what is measured of all of them alike."""

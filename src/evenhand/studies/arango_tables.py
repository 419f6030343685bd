"""The figures printed in tables 1 to 6 of Arango, Pérez and Poblete 2019, as facts to compare with.

Precision, recall and F1 in per cent, by method and row. The rows the paper calls "micro" are
support-weighted averages (their precision, recall and F1 differ, which those of a micro average
cannot), so they stand under ``weighted`` here. The weighted F1 of Agrawal and Awekar in table 3
(59.7) fits neither kind of average.
"""

from __future__ import annotations

Row = tuple[float, float, float]

BADJATIYA, AGRAWAL = "badjatiya", "agrawal"
METHODS = (BADJATIYA, AGRAWAL)
WEIGHTED, MACRO = "weighted", "macro"

PRINTED: dict[str, dict[str, dict[str, Row]]] = {
    "1": {
        BADJATIYA: {
            "none": (95.5, 96.8, 96.1),
            "racism": (94.5, 93.5, 94.0),
            "sexism": (91.2, 87.5, 89.3),
            WEIGHTED: (94.6, 94.6, 94.6),
            MACRO: (93.7, 92.6, 93.1),
        },
        AGRAWAL: {
            "none": (95.1, 91.7, 93.4),
            "racism": (94.9, 96.0, 95.4),
            "sexism": (92.5, 97.0, 94.6),
            WEIGHTED: (94.4, 94.4, 94.4),
            MACRO: (94.2, 94.9, 94.5),
        },
    },
    "2": {
        BADJATIYA: {
            "none": (82.3, 94.7, 88.1),
            "racism": (78.0, 64.0, 70.2),
            "sexism": (84.5, 47.8, 60.9),
            WEIGHTED: (82.3, 82.1, 80.7),
            MACRO: (81.6, 68.9, 73.1),
        },
        AGRAWAL: {
            "none": (90.3, 86.5, 88.3),
            "racism": (69.6, 81.3, 75.0),
            "sexism": (74.0, 77.4, 75.5),
            WEIGHTED: (84.7, 84.1, 84.3),
            MACRO: (78.0, 81.7, 79.6),
        },
    },
    "3": {
        BADJATIYA: {
            "not hateful": (60.1, 95.9, 73.9),
            "hateful": (69.1, 12.5, 21.1),
            WEIGHTED: (63.8, 60.8, 51.6),
            MACRO: (64.6, 54.2, 47.5),
        },
        AGRAWAL: {
            "not hateful": (59.7, 93.5, 72.9),
            "hateful": (59.5, 13.2, 21.6),
            WEIGHTED: (59.6, 59.7, 59.7),
            MACRO: (59.6, 53.3, 47.2),
        },
    },
    "4": {
        BADJATIYA: {
            "not hateful": (49.6, 93.4, 64.3),
            "hateful": (68.8, 15.4, 23.5),
            WEIGHTED: (63.8, 54.1, 46.1),
            MACRO: (59.2, 54.4, 43.9),
        },
        AGRAWAL: {
            "not hateful": (47.5, 98.0, 63.0),
            "hateful": (75.3, 3.5, 6.7),
            WEIGHTED: (62.3, 48.4, 35.1),
            MACRO: (61.4, 50.8, 34.9),
        },
    },
    "5": {
        BADJATIYA: {
            "not hateful": (83.3, 92.4, 87.6),
            "hateful": (79.5, 61.4, 69.3),
            WEIGHTED: (82.1, 82.3, 81.7),
            MACRO: (81.4, 76.9, 78.4),
        },
        AGRAWAL: {
            "not hateful": (85.8, 73.2, 77.4),
            "hateful": (70.2, 80.3, 74.2),
            WEIGHTED: (80.0, 78.1, 77.7),
            MACRO: (78.0, 76.7, 75.8),
        },
    },
    "6": {
        BADJATIYA: {
            "not hateful": (62.2, 42.4, 50.4),
            "hateful": (44.8, 64.4, 52.8),
            WEIGHTED: (54.9, 51.7, 51.4),
            MACRO: (53.5, 53.4, 51.6),
        },
        AGRAWAL: {
            "not hateful": (78.0, 32.5, 45.9),
            "hateful": (48.4, 87.3, 62.3),
            WEIGHTED: (65.5, 55.5, 52.8),
            MACRO: (63.2, 59.9, 54.1),
        },
    },
}

TITLES = {
    "1": "Table 1: 10-fold, with the leak of each method",
    "2": "Table 2: 10-fold, without the leaks",
    "3": "Table 3: trained on Waseem–Hovy, tested on HatEval",
    "4": "Table 4: no author on two sides, three partitions",
    "5": "Table 5: at most 250 posts per author and class, Davidson's hate added, author-disjoint",
    "6": "Table 6: trained on the set of table 5, tested on HatEval",
}

ROWS = {"1": 14_949, "2": 14_949, "3": 9_000, "5": 7_006, "6": 9_000}
"""Test rows as far as the paper states them; those of table 4 are in its table 7."""

PARTITION_COUNTS = {
    "partition 1": (4_099, 8_636),
    "partition 2": (3_441, 9_122),
    "partition 3": (3_504, 9_408),
}
"""Hateful and other training posts of table 7."""

CAPPED = (5_576, 1_490)
"""Posts and hateful posts after the cap of 250."""
EXTENDED = (7_006, 2_920)
"""After adding Davidson's."""

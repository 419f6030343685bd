"""The figures printed in tables 3, 4, 8 and 9 of Kirk et al. 2022, and what follows from them.

P-IA and P-TX are Perspective's identity attack and toxicity, cut at one half; B-D and B-F are BERT
trained on Davidson's and Founta's tweets; R5-T to R8-T are the target models of the rounds.

Three things follow from the printed figures without any data. Two thirds of the suite are hateful,
so a constant answer has figures of its own. The overall emoji difference of table 3 includes
*append*, whose no-emoji cases have the other label and for which the paper itself calls the
difference undefined; table 4 has what is needed to take it out. And most of the accuracies printed
for all rounds in table 8 are not the means of their two parts.
"""

from __future__ import annotations

from evenhand.audits.suite_figures import NO_EMOJI, ORIGINAL
from evenhand.data.labels import HATEFUL, OTHER

IDENTITY, POLARITY = "identity_perturb", "polarity_perturb"
APPEND = "append"

MODELS = ("P-IA", "R5-T", "R6-T", "R7-T", "R8-T")
"""The columns of tables 3 and 4."""

Row = tuple[int, tuple[float, ...]]
"""How many cases, and a figure for each of the models."""
Part = tuple[tuple[str, str], ...]
"""Which cases: a finding's group as pairs."""

TABLE_3: dict[Part, Row] = {
    (): (3930, (0.689, 0.779, 0.879, 0.867, 0.871)),
    (("label", HATEFUL),): (2654, (0.706, 0.770, 0.905, 0.876, 0.896)),
    (("label", OTHER),): (1276, (0.653, 0.799, 0.825, 0.849, 0.820)),
    (("set", ORIGINAL),): (2126, (0.664, 0.717, 0.887, 0.850, 0.877)),
    (("set", IDENTITY),): (314, (0.908, 0.917, 0.917, 0.917, 0.876)),
    (("set", POLARITY),): (902, (0.584, 0.778, 0.818, 0.853, 0.830)),
    (("set", NO_EMOJI),): (588, (0.823, 0.934, 0.925, 0.925, 0.910)),
}
EMOJI_3 = (-0.159, -0.217, -0.038, -0.075, -0.033)

TABLE_4: dict[str, dict[str, Row]] = {
    "verb_swap": {
        ORIGINAL: (300, (0.94, 0.85, 0.84, 0.79, 0.84)),
        IDENTITY: (50, (0.94, 1.00, 1.00, 0.98, 0.86)),
        POLARITY: (60, (0.20, 0.42, 0.75, 0.77, 0.73)),
        NO_EMOJI: (60, (1.00, 0.95, 0.97, 0.97, 0.98)),
    },
    "identity_swap": {
        ORIGINAL: (120, (0.14, 0.33, 0.83, 0.83, 0.83)),
        IDENTITY: (20, (0.90, 0.70, 1.00, 0.85, 1.00)),
        POLARITY: (120, (1.00, 0.98, 0.78, 0.88, 0.93)),
        NO_EMOJI: (120, (0.98, 0.98, 0.97, 1.00, 0.95)),
    },
    "descriptor_swap": {
        ORIGINAL: (260, (0.92, 0.83, 0.99, 0.99, 1.00)),
        IDENTITY: (40, (1.00, 1.00, 1.00, 1.00, 1.00)),
        POLARITY: (60, (0.25, 0.48, 0.78, 0.82, 0.93)),
        NO_EMOJI: (60, (0.98, 1.00, 1.00, 1.00, 1.00)),
    },
    "double_swap": {
        ORIGINAL: (288, (0.00, 0.03, 0.79, 0.70, 0.77)),
        IDENTITY: (46, (1.00, 1.00, 0.91, 0.98, 0.91)),
        POLARITY: (60, (1.00, 0.98, 0.92, 0.85, 0.92)),
        NO_EMOJI: (60, (0.97, 1.00, 1.00, 1.00, 1.00)),
    },
    APPEND: {
        ORIGINAL: (288, (0.73, 0.69, 0.99, 0.89, 0.87)),
        IDENTITY: (48, (1.00, 1.00, 1.00, 1.00, 1.00)),
        POLARITY: (60, (0.47, 0.55, 0.85, 0.78, 0.75)),
        NO_EMOJI: (60, (0.35, 0.48, 0.45, 0.43, 0.37)),
    },
    "positive_confounder": {
        ORIGINAL: (440, (0.93, 1.00, 0.85, 0.90, 0.89)),
        IDENTITY: (65, (0.75, 0.92, 0.92, 0.92, 0.92)),
        POLARITY: (112, (0.44, 0.88, 0.96, 0.91, 0.93)),
        NO_EMOJI: (88, (0.93, 0.99, 0.95, 1.00, 0.93)),
    },
    "emoji_leetspeak": {
        ORIGINAL: (430, (0.59, 0.85, 0.91, 0.83, 0.91)),
        IDENTITY: (45, (0.82, 0.67, 0.62, 0.64, 0.49)),
        POLARITY: (430, (0.57, 0.79, 0.79, 0.86, 0.77)),
        NO_EMOJI: (140, (0.61, 0.99, 0.99, 0.94, 0.99)),
    },
}
EMOJI_4 = {
    "verb_swap": (-0.06, -0.10, -0.12, -0.18, -0.15),
    "identity_swap": (-0.84, -0.66, -0.13, -0.17, -0.12),
    "descriptor_swap": (-0.06, -0.17, -0.01, -0.01, 0.00),
    "double_swap": (-0.96, -0.97, -0.21, -0.30, -0.23),
    "positive_confounder": (0.00, 0.01, -0.10, -0.10, -0.04),
    "emoji_leetspeak": (-0.03, -0.14, -0.09, -0.11, -0.07),
}
"""Not defined for *append*."""

EMOJI_ROUNDS, CHECK, TEXT_ROUNDS, HATECHECK, ALL_ROUNDS = (
    "R5–R7 test", "hatemojicheck", "R1–R4 test", "hatecheck", "R1–R7 test",
)  # fmt: skip
SETS = {EMOJI_ROUNDS: 593, CHECK: 3930, TEXT_ROUNDS: 4119, HATECHECK: 3728, ALL_ROUNDS: 4712}
"""The columns of table 8, and how many posts or cases each has."""
NAMES = {CHECK: "HatemojiCheck", HATECHECK: "HateCheck"}
"""How people call the suites."""

TABLE_8: dict[str, tuple[tuple[float, float], ...]] = {
    "P-IA": ((0.508, 0.394), (0.689, 0.754), (0.679, 0.720), (0.765, 0.839), (0.658, 0.689)),
    "P-TX": ((0.523, 0.448), (0.650, 0.711), (0.602, 0.659), (0.720, 0.813), (0.592, 0.639)),
    "B-D": ((0.489, 0.270), (0.578, 0.636), (0.589, 0.607), (0.632, 0.738), (0.591, 0.586)),
    "B-F": ((0.496, 0.322), (0.552, 0.605), (0.562, 0.562), (0.602, 0.694), (0.557, 0.532)),
    "R5-T": ((0.585, 0.490), (0.779, 0.825), (0.828, 0.847), (0.956, 0.968), (0.786, 0.801)),
    "R6-T": ((0.757, 0.769), (0.879, 0.910), (0.823, 0.837), (0.961, 0.971), (0.813, 0.825)),
    "R7-T": ((0.759, 0.762), (0.867, 0.899), (0.824, 0.842), (0.955, 0.967), (0.813, 0.829)),
    "R8-T": ((0.744, 0.755), (0.871, 0.904), (0.827, 0.844), (0.966, 0.975), (0.814, 0.829)),
}
"""Accuracy and F1, in the order of ``SETS``."""

RATIOS = ("demographic_parity_ratio", "equalized_odds_ratio")
TABLE_9 = {
    "P-IA": (0.668, 0.430),
    "P-TX": (0.611, 0.405),
    "B-D": (0.174, 0.138),
    "B-F": (0.276, 0.257),
    "R5-T": (0.898, 0.767),
    "R6-T": (0.818, 0.711),
    "R7-T": (0.848, 0.667),
    "R8-T": (0.832, 0.600),
}
"""The two ratios."""

_THREE, _TWO = 0.0005, 0.005
"""How far a figure printed with so many decimals may be from what it was."""


def label_of(functionality: str, set_: str) -> str:
    """The right answer to the cases of a set: originals are hateful, perturbations mostly not."""
    kept = set_ == NO_EMOJI and functionality != APPEND
    return HATEFUL if set_ == ORIGINAL or kept else OTHER


def hateful_cases(part: Part) -> int:
    """How many cases of a part of the suite are hateful, by the counts of table 4."""
    wanted = dict(part)
    return sum(
        n
        for functionality, sets in TABLE_4.items()
        for set_, (n, _) in sets.items()
        if label_of(functionality, set_) == HATEFUL
        and wanted.get("set", set_) == set_
        and wanted.get("label", HATEFUL) == HATEFUL
    )


def without_append(model: str) -> tuple[float, float, float]:
    """The overall emoji difference less *append*: its value, and between what rounding leaves it.

    The sets of table 3 less the rows of *append* in table 4; table 4's other rows give the same,
    less exactly.
    """
    at = MODELS.index(model)
    shares, slack = [], 0.0
    for set_ in (ORIGINAL, NO_EMOJI):
        (n, figures), (out, own) = TABLE_3[(("set", set_),)], TABLE_4[APPEND][set_]
        shares.append((n * figures[at] - out * own[at]) / (n - out))
        slack += (n * _THREE + out * _TWO) / (n - out)
    value = shares[0] - shares[1]
    return value, value - slack, value + slack


def mean_of_rounds(row: str) -> float:
    """What the accuracy on all rounds would be as the mean over the posts of its two parts."""
    names = list(SETS)
    parts = [(SETS[n], TABLE_8[row][names.index(n)][0]) for n in (EMOJI_ROUNDS, TEXT_ROUNDS)]
    return sum(n * accuracy for n, accuracy in parts) / sum(n for n, _ in parts)


def rounds_disagree() -> list[str]:
    """The rows of table 8 whose accuracy on all rounds is not that mean, whatever the rounding."""
    last = list(SETS).index(ALL_ROUNDS)
    return [row for row in TABLE_8 if abs(TABLE_8[row][last][0] - mean_of_rounds(row)) > 2 * _THREE]

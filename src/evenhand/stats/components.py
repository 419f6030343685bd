"""Where vote shares vary: between posts, and between the votes on one post."""

from __future__ import annotations

from evenhand.stats.resampling import Floats


def variance_components(votes: Floats, shares: Floats) -> tuple[float, float] | None:
    """(variance between posts, variance of one vote within a post), by analysis of variance.

    ``votes`` is the number of votes on each post, ``shares`` the share of them that say yes. Posts
    with one vote say nothing and are left out; None with fewer than two others.

    >>> import numpy as np
    >>> variance_components(np.array([2.0, 2.0]), np.array([1.0, 0.0]))
    (0.5, 0.0)
    """
    several = votes >= 2
    n, p = votes[several], shares[several]
    if len(n) < 2:
        return None
    within = float((n * p * (1 - p)).sum() / (n - 1).sum())
    mean = float((n * p).sum() / n.sum())
    size = float((n.sum() - (n**2).sum() / n.sum()) / (len(n) - 1))
    between = (float((n * (p - mean) ** 2).sum()) / (len(n) - 1) - within) / size
    return max(0.0, between), within

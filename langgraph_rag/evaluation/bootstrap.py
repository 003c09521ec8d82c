"""Bootstrap intervals: how much a mean varies with the sample of questions."""

from collections.abc import Sequence

import numpy as np

_RESAMPLES, _SEED = 1_000, 0
_AT_ONCE = 2_000_000  # values per batch; this limits memory and does not change the draws


def interval(values: Sequence[float], scale: float, digits: int) -> list[float] | None:
    """Return the 95 % interval `[low, high]` of the mean, scaled and rounded; None if there are no values.

    The seed is fixed: the same values always have the same interval, in any order.
    """
    if not values:
        return None
    given, random = np.sort(np.asarray(values)), np.random.default_rng(_SEED)
    rows = max(1, _AT_ONCE // given.size)
    sizes = [min(rows, _RESAMPLES - begun) for begun in range(0, _RESAMPLES, rows)]
    means = [given[random.integers(given.size, size=(size, given.size))].mean(axis=1) for size in sizes]
    return [round(scale * float(edge), digits) for edge in np.percentile(np.concatenate(means), [2.5, 97.5])]

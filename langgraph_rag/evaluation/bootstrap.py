"""Bootstrap intervals: between which bounds a mean lies if the questions had been others of the kind."""

from collections.abc import Sequence

import numpy as np

_RESAMPLES, _SEED = 1_000, 0
_AT_ONCE = 2_000_000  # values drawn, which bounds the memory and changes no draw


def interval(values: Sequence[float], scale: float, digits: int) -> list[float] | None:
    """Return the 95 % interval `[low, high]` of the mean, scaled and rounded; None where there are no values.

    It resamples with one seed, so that the same values have the same interval each time, and methods asked the same
    questions are seen on the same resamples.
    """
    if not values:
        return None
    given, random = np.asarray(values), np.random.default_rng(_SEED)
    rows = max(1, _AT_ONCE // given.size)
    sizes = [min(rows, _RESAMPLES - begun) for begun in range(0, _RESAMPLES, rows)]
    means = [given[random.integers(given.size, size=(size, given.size))].mean(axis=1) for size in sizes]
    return [round(scale * float(edge), digits) for edge in np.percentile(np.concatenate(means), [2.5, 97.5])]

"""Vectors of texts: one a row, of unit length, so that a product of two is their cosine."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

Matrix = npt.NDArray[np.float32]


def unit(vectors: Sequence[Sequence[float]] | Matrix) -> Matrix:
    """Return vectors with unit length; one of zeros stays as it is."""
    matrix = np.asarray(vectors, dtype=np.float32)
    scaled: Matrix = matrix / np.maximum(np.linalg.norm(matrix, axis=1, keepdims=True), 1e-12)
    return scaled

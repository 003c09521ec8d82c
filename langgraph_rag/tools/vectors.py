"""Vectors of texts: one a row, of unit length, so that a product of two is their cosine."""

import numpy as np
import numpy.typing as npt

Matrix = npt.NDArray[np.float32]


def unit(vectors: Matrix) -> Matrix:
    """Return vectors with unit length, the same on every processor; one of zeros stays as it is."""
    lengths = np.sqrt(np.vecdot(vectors, vectors, dtype=np.float64))[:, np.newaxis]
    scaled: Matrix = (vectors / np.maximum(lengths, 1e-12)).astype(np.float32)
    return scaled

"""Vectors of texts: one per row, of unit length, so that their dot product is the cosine."""

import numpy as np
import numpy.typing as npt

Matrix = npt.NDArray[np.float32]


def unit(vectors: Matrix) -> Matrix:
    """Return vectors with unit length, equal on every processor; a zero vector stays unchanged."""
    lengths = np.sqrt(np.vecdot(vectors, vectors, dtype=np.float64))[:, np.newaxis]
    scaled: Matrix = (vectors / np.maximum(lengths, 1e-12)).astype(np.float32)
    return scaled

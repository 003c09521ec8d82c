"""Vectors of texts: one a row, of unit length, so that a product of two is their cosine."""

import numpy as np
import numpy.typing as npt

Matrix = npt.NDArray[np.float32]


def unit(vectors: Matrix) -> Matrix:
    """Return vectors with unit length; one of zeros stays as it is."""
    scaled: Matrix = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
    return scaled

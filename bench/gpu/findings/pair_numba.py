"""Numba for the pairs. Older versions of Numba use names that newer versions of NumPy do not have."""
import numpy as np

for name, value in {'row_stack': 'vstack', 'in1d': 'isin', 'trapz': 'trapezoid'}.items():
    if not hasattr(np, name):
        setattr(np, name, getattr(np, value))
from numba import cuda, float32, guvectorize, vectorize  # noqa: F401

"""Array programs in index notation, on the CPU and on CUDA GPUs, for the arrays you have.

    y = leat.eval("y[i] = a[i] / sum(k: a[k])", a=a)

`leat.program` checks a text once and returns a callable. docs/PYTHON.md is the tutorial and the reference.
"""

from ._leat import *  # noqa: F401,F403
from ._leat import __version__  # noqa: F401

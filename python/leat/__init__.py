"""Array programs in index notation, on the CPU and on CUDA GPUs, for the arrays you have.

    y = leat.eval("y[i] = a[i] / sum(k: a[k])", a=a)

`leat.program` checks a text once and returns a callable. docs/PYTHON.md is the tutorial and the reference.
"""

from ._leat import *  # noqa: F401,F403
from ._leat import __version__  # noqa: F401

# `from leat import *` leaves Python's eval alone.
__all__ = [
    "Array",
    "DataError",
    "DeviceError",
    "DeviceInfo",
    "Error",
    "Event",
    "Kernel",
    "Launcher",
    "LeatWarning",
    "Module",
    "Parameter",
    "Program",
    "ProgramError",
    "ShapeError",
    "Stream",
    "asarray",
    "device",
    "devices",
    "dtype",
    "load",
    "pinned",
    "pinned_empty",
    "program",
    "save",
    "show_progress",
    "synchronize",
]

_LATER = {"Account": "_account", "Text": "_account"}  # imported at the first use


def __getattr__(name):
    if name not in _LATER:
        raise AttributeError(f"module 'leat' has no attribute '{name}'")
    import importlib

    return getattr(importlib.import_module(f".{_LATER[name]}", __name__), name)


def __dir__():
    return sorted([*globals(), *_LATER])


def load_ipython_extension(shell):
    """%load_ext leat: gives the cell magic %%leat."""
    from . import _magic

    _magic.register(shell)

"""The C library by ctypes: where it is, and what lanewise.h says of it (_generated)."""

import ctypes as c
import os
import pathlib

from ._generated import *  # noqa: F403
from ._generated import FUNCTIONS

ABI = "0.1"


def _load():
    name = "liblanewise.so." + ABI
    chosen = os.environ.get("LANEWISE_LIBRARY")
    if chosen:
        return c.CDLL(chosen)
    # Installed together: PREFIX/lib/python3/dist-packages/lanewise and PREFIX/lib/liblanewise.so; in a
    # wheel the library lies beside this file.
    here = pathlib.Path(__file__).resolve()
    for folder in (here.parent, *here.parents[2:5]):
        if (folder / name).exists():
            return c.CDLL(str(folder / name))
    try:
        return c.CDLL(name)
    except OSError as error:
        raise ImportError(
            f"{name} is not installed where the system looks; the environment variable "
            f"LANEWISE_LIBRARY may name it ({error})"
        ) from error


library = _load()
for _name, (_returns, _takes) in FUNCTIONS.items():
    _function = getattr(library, _name)
    _function.restype = _returns
    _function.argtypes = _takes

"""Where NVIDIA's programs are: in their wheels, or on the path, as a CUDA toolkit leaves them."""

from __future__ import annotations

import functools
import importlib.util
import os
import shutil


@functools.cache
def tool(package: str, name: str) -> str | None:
    """The path of a program that the wheel of `package` (``nvidia.cuda_nvcc``) brings, or None."""
    try:
        found = importlib.util.find_spec(package)
    except ModuleNotFoundError:  # no package of NVIDIA's at all
        found = None
    for folder in (found.submodule_search_locations or ()) if found is not None else ():
        path = os.path.join(folder, "bin", name)
        if os.access(path, os.X_OK):
            return path
    return shutil.which(name)

"""The names of the kernel language, as Python functions.

In a compiled kernel a call of one of them is an op. On the ``python`` device, and outside of kernels
where that makes sense, these very functions run: they are the reference.
`from_callable` tells which name a Python object stands for, however it was reached.
Names for whole arrays are in `array_functions` and `numpy_functions`, random numbers in `random_numbers`.
"""

from __future__ import annotations

import math

from pykern.language.atomics import *  # noqa: F403
from pykern.language.groups import *  # noqa: F403
from pykern.language.numbers import *  # noqa: F403
from pykern.language.other_names import from_callable as from_callable
from pykern.language.statements import *  # noqa: F403
from pykern.language.tile_indices import *  # noqa: F403
from pykern.language.work_items import *  # noqa: F403

e, pi, tau, inf, nan = math.e, math.pi, math.tau, math.inf, math.nan

__all__ = ["e", "inf", "nan", "pi", "tau"]


def _list_names() -> None:
    """The functions that are marked are the names of the language."""
    __all__.extend(name for name, value in globals().items() if hasattr(value, "__pykern_builtin__"))


_list_names()

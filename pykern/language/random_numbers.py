"""The names of the language that give random numbers, as Python functions: in kernels, tile kernels and array programs.

`pykern.frontend.philox` makes ops of them; these functions run where a kernel or program is run as plain Python.
"""

from __future__ import annotations

from typing import Any

from pykern.language.builtin import builtin
from pykern.types import DType, f32

__all__ = ["random", "random_bits", "random_normal"]


@builtin
def random(seed: Any, *counters: Any, dtype: DType = f32) -> Any:
    """A random number in [0, 1) that follows from `seed` and one to four `counters`: integers, or arrays of them.

    The same seed and counters give the same number on every device, in every order. So count what is drawn:
    ``pk.random(seed, i, k)`` is draw `k` of work-item `i`, and ``pk.random(seed, pk.arange(n))`` an array. One or two
    counters take 64 bits each, three or four 32. `dtype` is a float, of whose 24 (f32), 53 (f64), 11 (f16) or 8 (bf16)
    bits each is random. Source: Philox4x32-10, J. Salmon et al., Parallel Random Numbers: As Easy as 1, 2, 3, SC 2011.
    """
    return _philox().uniform(seed, counters, dtype)


@builtin
def random_normal(seed: Any, *counters: Any, dtype: DType = f32) -> Any:
    """A normal number, of mean 0 and deviation 1, that follows from `seed` and `counters` as those of `random` do.

    Source: G. Box and M. Muller, A Note on the Generation of Random Normal Deviates, Ann. Math. Stat. 29 (1958).
    """
    return _philox().normal(seed, counters, dtype)


@builtin
def random_bits(seed: Any, *counters: Any) -> Any:
    """32 random bits, as u32, that follow from `seed` and `counters` as those of `random` do."""
    return _philox().bits(seed, counters)


def _philox() -> Any:
    from pykern.runtime import philox  # here: NumPy comes with it

    return philox

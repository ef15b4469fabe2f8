"""Rules on the arguments of an operator: how its results are made, and how many work-items there are.

Comes in: a function of the operator's arguments, which may be real tensors, fake ones or symbols of lengths. Goes out:
a fresh tensor, or an index space as a list of integers, three for each dimension: start, stop, step.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from pykern.errors import NDRANGE, KernelTypeError, LaunchError
from pykern.torch.framework import Tensor, torch

MakeResult = Callable[..., Tensor]
"""Takes the arguments of the operator, gives a fresh tensor."""


@dataclass(frozen=True)
class Like:
    """A tensor of zeros with the shape, dtype, device and order of axes of an argument: see `like`."""

    name: str
    dtype: Any = None

    def none(self, names: Sequence[str]) -> Tensor:
        """Raises `KernelTypeError`: among the arguments `names` is no tensor of this name."""
        raise KernelTypeError(
            f"pkt.like({self.name!r}): the operator has no tensor of this name",
            hint=f"its arguments are {', '.join(names)}",
        )


def like(name: str, dtype: Any = None) -> Like:
    """A result like the argument `name`: its shape, device, order of axes, and its dtype unless `dtype` is given.

    Cells that the kernel does not write are zero.
    """
    return Like(name, dtype)


def checked(found: Any) -> Tensor:
    """What the rule of a result gives. Raises `KernelTypeError` unless it is a tensor."""
    if not isinstance(found, torch.Tensor):
        raise KernelTypeError(
            f"the rule of a result gives {type(found).__name__}",
            hint="let it give a tensor, as in out={'o': lambda x, y: x.new_zeros(x.shape[0])}",
        )
    return found


def one_launch() -> NoReturn:
    """Raises `LaunchError`: a list of index spaces is given."""
    raise LaunchError(
        "an operator is one launch, and a list of index spaces is several",
        hint="call the operator once for each",
        code=NDRANGE,
    )


def flat_space(ndrange: Any) -> list[Any]:
    """An index space as integers: start, stop and step of each dimension. Raises `LaunchError`."""
    if isinstance(ndrange, list):
        one_launch()
    dims = ndrange if isinstance(ndrange, tuple) else (ndrange,)
    return [n for d in dims for n in ((d.start, d.stop, d.step) if isinstance(d, range) else (0, d, 1))]


def space_of(flat: Sequence[Any]) -> tuple[Any, ...]:
    """What `flat_space` was made of; lengths as integers, which a kernel's entry takes without Python."""
    steps = [operator.index(n) for n in flat]
    triples = zip(steps[::3], steps[1::3], steps[2::3], strict=True)
    return tuple(n if (a, s) == (0, 1) and n >= 0 else range(a, n, s) for a, n, s in triples)

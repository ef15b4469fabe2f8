"""What the parameters of a launched kernel are given, in terms of an operator's arguments.

Comes in: the arguments, real or fake tensors. Goes out: a value for each parameter. Read first: `kernel_operation`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pykern.arrays.torch_tensors import view_of
from pykern.errors import KernelTypeError
from pykern.torch.framework import Tensor, torch
from pykern.torch.rules import Like, MakeResult


@dataclass(frozen=True)
class Slot:
    """What a parameter is given; `kind` says what is done to the `argument` of that number:

    - "read": itself;
    - "copy": a copy, which the kernel may write;
    - "zeros": zeros like it;
    - "number": the only value of a tensor, as a number;
    - "rule": no argument, but what `rule` makes; "rule zeros" are zeros like that.
    """

    kind: str
    argument: int = -1
    rule: Like | MakeResult | None = None
    is_float: bool = True
    """False where it is known to hold integers."""
    filled: int = 0
    """Of a result: the number of its dimensions where a launch over its shape writes every element, else 0."""

    @property
    def is_written(self) -> bool:
        """Whether the launch may write there."""
        return self.kind not in ("read", "number")

    @property
    def takes_argument(self) -> bool:
        """Whether it holds the values of an argument."""
        return self.kind in ("read", "copy", "number")

    def holds_float(self, arguments: Sequence[Any]) -> bool:
        """Whether the argument is a tensor of floats; true where there is none."""
        if self.argument < 0:
            return True
        given = arguments[self.argument]
        return isinstance(given, torch.Tensor) and given.is_floating_point()


def shadow(slot: Slot) -> Slot:
    """Zeros for the shadow of what a slot holds."""
    if slot.rule is not None:
        return Slot("rule zeros", rule=slot.rule)
    return Slot("zeros", slot.argument)


def number_of(tensor: Tensor) -> Any:
    """The value of a tensor of no dimension, a number of NumPy's of its type. Raises `KernelTypeError`."""
    if tensor.ndim:
        raise KernelTypeError(
            f"a tensor of shape {tuple(tensor.shape)} is given where the kernel wants a number",
            hint="pass a number, or a tensor of no dimension: x.sum()",
        )
    return view_of(tensor.cpu())[()]

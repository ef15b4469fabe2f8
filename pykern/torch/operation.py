"""What an operator of PyTorch computes: the base of kernels' and programs' operations.

Comes in: arguments in order, tensors and numbers. Goes out: fresh tensors, and gradients and tangents by further
operations. `registration` makes an operator of it, `differentiable` calls `pull` and `push`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

MISSED = object()
"""What `Operation.direct` gives for a call that PyTorch's dispatcher has to see."""
Rule = Callable[..., Any]
"""Takes a namespace of arguments and results, and cotangents; gives gradients."""


class Operation:
    """A function of tensors and numbers. Subclasses say what it computes."""

    TYPES: ClassVar[dict[str, str]] = {
        "T": "Tensor",
        "S": "Tensor",
        "C": "Tensor",
        "N": "Scalar",
        "D": "SymInt[]",
    }
    """Kinds of arguments: a tensor, a tensor that stands for a number, the parts of a complex tensor, a number, an
    index space."""

    name: str
    names: tuple[str, ...]
    """Of the arguments."""
    kinds: str
    """Of the arguments, a letter each."""
    count: int | None
    """How many results; None where it gives a list of them."""
    overload: Any
    """The operator, once it is registered."""
    rule: Rule | None = None
    """An own derivative."""
    result_names: tuple[str, ...] = ()
    """Of the results, where there is an own derivative."""

    def run(self, arguments: Sequence[Any]) -> Any:
        """The results, of tensors that autograd does not follow."""
        raise NotImplementedError

    def direct(self, *arguments: Any) -> Any:
        """The results, or `MISSED` where PyTorch's dispatcher has to see the call: see `pykern.torch.direct`."""
        return MISSED

    def result_kinds(self, call: Call) -> str:
        """Kinds of the results, a letter each."""
        return "T" * len(call.floats)

    def fake(self, arguments: Sequence[Any]) -> Any:
        """The results without their values."""
        raise NotImplementedError

    def keeping(self, arguments: Sequence[Any]) -> Any:
        """An autograd function that keeps residuals, for a call that nothing but autograd follows; None where there is
        none."""
        return None

    def pull(self, active: tuple[int, ...], call: Call, cotangents: Sequence[Any]) -> Sequence[Any]:
        """The gradients by the arguments `active`; cotangents are those of the results that are floats."""
        raise NotImplementedError

    def push(self, active: tuple[int, ...], call: Call, tangents: Sequence[Any]) -> Sequence[Any]:
        """The tangents of the results that are floats; `tangents` are those of the arguments `active`."""
        raise NotImplementedError

    def derived(self, kind: str, active: tuple[int, ...], more: str) -> Operation:
        """The operation that `pull` ("vjp") or `push` ("jvp") calls, made once; `more` says what it depends on besides,
        and is a part of its name."""
        raise NotImplementedError

    def derived_name(self, kind: str, active: tuple[int, ...], more: str) -> str:
        """What it is called. Compiled graphs that PyTorch keeps on disk call it by this name."""
        return f"{self.name}_{kind}_{'_'.join(map(str, active))}_{more}"


class Call:
    """What a derivative is taken of: the arguments, and for each result whether it holds floats. The results are
    there where there is an own derivative."""

    def __init__(
        self, arguments: Sequence[Any], floats: tuple[bool, ...], results: Sequence[Any] = ()
    ) -> None:
        self.arguments, self.floats, self.results = arguments, floats, results


def as_tuple(value: Any) -> tuple[Any, ...]:
    """Results of an operator."""
    return tuple(value) if isinstance(value, tuple | list) else (value,)

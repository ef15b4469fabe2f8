"""`pkt.op`: a kernel or an array program as a function of tensors.

Comes in: a kernel, with how its results are made, or without, then it works in place. Goes out: an object that is
called like the kernel, with tensors. Read next: `kernel_operation`, `registration`.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Callable
from typing import Any

from pykern.api.jit import ProgramBase
from pykern.api.kernel import KernelBase
from pykern.capture.uses import uses_of
from pykern.errors import NDRANGE, KernelTypeError, LaunchError
from pykern.torch.framework import torch
from pykern.torch.in_place import InPlaceOperation
from pykern.torch.kernel_operation import KernelOperation
from pykern.torch.program_op import ProgramOp
from pykern.torch.rules import Like, MakeResult, flat_space
from pykern.torch.slots import Slot

NUMBERS = (bool, int, float, torch.SymInt, torch.SymFloat, torch.SymBool)


class KernelOp:
    """A kernel as an operator of PyTorch. `out` has a rule for each parameter that is a result; without any, the
    operator writes its arguments in place."""

    def __init__(self, kernel: KernelBase, out: dict[str, Any] | None, ndrange: Any, workgroup: Any) -> None:
        self.kernel = kernel
        self.out = dict(out or {})
        self.ndrange = ndrange
        self.options = () if workgroup is None else (("workgroup", workgroup),)
        self.__name__ = kernel.__name__
        self.__doc__ = kernel.__doc__
        parameters = list(kernel.signature.parameters)
        for name in self.out:
            if name not in parameters:
                raise KernelTypeError(
                    f"`{self.__name__}` has no parameter `{name}`, which `out` names",
                    hint=f"its parameters are {', '.join(parameters)}",
                )
        self.parameters = tuple(n for n in parameters if n not in self.out)
        self._uses = uses_of(kernel)
        self._written = tuple(n for n, name in enumerate(self.parameters) if name in self._uses.written)
        self._check()
        self._variants: dict[str, Any] = {}
        self.variant("".join("T" if n in self._uses.arrays else "N" for n in self.parameters))

    def _check(self) -> None:
        if self.out and self._written:
            name = self.parameters[self._written[0]]
            raise KernelTypeError(
                f"`{self.__name__}` writes `{name}`, which is no result of the operator",
                hint=f"add it to the results: out={{..., {name!r}: pkt.like(...)}}",
            )
        if not self.out and not self._written:
            raise KernelTypeError(
                f"`{self.__name__}` writes none of its parameters, as far as its text says",
                hint="annotate what it writes: `o: pk.InOut[pk.f32[:]]`",
            )
        if self.out and self.ndrange is None and self.kernel.ndrange is None:
            raise LaunchError(
                f"pkt.op({self.__name__}, out=...) is told no ndrange",
                hint="say how many work-items: ndrange=lambda x, y, a: x.shape",
                code=NDRANGE,
            )

    def variant(self, kinds: str) -> Any:
        """The operation for arguments of these kinds: T for a tensor, N for a number."""
        if kinds not in self._variants:
            self._variants[kinds] = self._functional(kinds) if self.out else self._in_place(kinds)
        return self._variants[kinds]

    def _functional(self, kinds: str) -> KernelOperation:
        slots, at = [], 0
        for name in self.kernel.signature.parameters:
            if name in self.out:
                slots.append(Slot("rule", rule=self.out[name]))
            else:
                slots.append(self._slot(name, at, kinds[at]))
                at += 1
        places = {name: n for n, name in enumerate(self.kernel.signature.parameters)}
        results = tuple(places[name] for name in self.out)
        return KernelOperation(
            self._label(kinds), self.kernel, self.parameters, kinds, tuple(slots), results, self._space, at,
            self.options,
        )  # fmt: skip

    def _in_place(self, kinds: str) -> InPlaceOperation:
        slots = tuple(
            Slot("copy", n) if n in self._written else self._slot(name, n, kinds[n])
            for n, name in enumerate(self.parameters)
        )
        names = (*self.parameters, "ndrange")
        functional = KernelOperation(
            f"{self._label(kinds)}_functional", self.kernel, names, kinds + "D", slots, self._written, _last,
            len(names), self.options,
        )  # fmt: skip
        return InPlaceOperation(f"{self._label(kinds)}", functional, self._written)

    def _slot(self, name: str, argument: int, kind: str) -> Slot:
        return Slot("number" if kind == "T" and name not in self._uses.arrays else "read", argument)

    def _space(self, *arguments: Any) -> list[Any]:
        rule = self.kernel.ndrange if self.ndrange is None else self.ndrange
        return flat_space(rule(*arguments) if callable(rule) else rule)

    def _label(self, kinds: str) -> str:
        """A name that is the same in every process: exported programs hold it."""
        told = (
            self.kernel.text.text,
            kinds,
            tuple(self.out),
            *map(_told, (*self.out.values(), self.ndrange)),
            self.options,
        )
        return f"{self.__name__}_{hashlib.sha256(repr(told).encode()).hexdigest()[:8]}"

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        """The results, fresh tensors; nothing where the operator works in place."""
        given = list(args)
        if keywords or len(given) != len(self.parameters):
            given = self._bound(given, keywords)
        kinds = "".join(["T" if isinstance(a, torch.Tensor) else "N" for a in given[: len(self.parameters)]])
        return self.variant(kinds).overload(*given)

    def _bound(self, given: list[Any], keywords: dict[str, Any]) -> list[Any]:
        ndrange = keywords.pop("ndrange", None)
        for name in self.parameters[len(given) :]:
            default = self.kernel.signature.parameters[name].default
            if name not in keywords and default is self.kernel.signature.empty:
                raise KernelTypeError(f"`{self.__name__}` is called without `{name}`")
            given.append(keywords.pop(name, default))
        if keywords or len(given) > len(self.parameters):
            raise KernelTypeError(
                f"`{self.__name__}` takes {', '.join(self.parameters)}; too much is given: {', '.join(keywords)}"
            )
        if not self.out:
            given.append(flat_space(self.kernel.ndrange if ndrange is None else ndrange))
        return given

    def __repr__(self) -> str:
        return f"<pykern.torch.op {self.__name__}({', '.join(self.parameters)})>"


def _last(*arguments: Any) -> Any:
    return arguments[-1]


def _told(rule: Any) -> Any:
    """What a rule is, in words that are the same in every process."""
    code = getattr(rule, "__code__", None)
    return repr(rule) if code is None else (code.co_code.hex(), code.co_names, repr(code.co_consts))


def op(
    kernel: Any = None,
    *,
    out: dict[str, Like | MakeResult] | None = None,
    ndrange: Callable[..., Any] | int | tuple | None = None,
    workgroup: int | tuple[int, ...] | None = None,
) -> Any:
    """Make an operator of PyTorch of a kernel or of an array program, whose arrays and numbers become tensors.

    With `out`, the parameters that it names are results: ``out={"o": pkt.like("x")}``; what is left are the arguments,
    and `ndrange` is a function of them, ``lambda x, y, a: x.shape``. Without, the operator takes all parameters and the
    `ndrange` of the call, and writes its arguments. Raises `KernelTypeError` for a kernel whose results are others.
    """
    if kernel is None:
        return functools.partial(op, out=out, ndrange=ndrange, workgroup=workgroup)
    if isinstance(kernel, ProgramBase) and out is None and ndrange is None and workgroup is None:
        return ProgramOp(kernel)
    if not isinstance(kernel, KernelBase):
        raise KernelTypeError(
            f"pkt.op takes a kernel, or a program alone, not {type(kernel).__name__}",
            hint="decorate the function: @pk.kernel or @pk.jit",
        )
    return KernelOp(kernel, out, ndrange, workgroup)

"""A kernel as a function of tensors: `pkt.op(kernel)`.

Comes in: a kernel, with how its results are made, or without, then it works in place. Goes out: an object that is
called like the kernel, with tensors. Read next: `kernel_operation`, `registration`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pykern.api.kernel import KernelBase
from pykern.api.pickling import ByName
from pykern.capture.uses import uses_of
from pykern.capture.whole_writes import filled
from pykern.errors import NDRANGE, KernelTypeError, LaunchError
from pykern.torch.framework import torch
from pykern.torch.in_place import InPlaceOperation
from pykern.torch.kernel_operation import KernelOperation
from pykern.torch.naming import name_of
from pykern.torch.operand_checks import check_arguments
from pykern.torch.operation import MISSED, Rule
from pykern.torch.rules import flat_space, space_of
from pykern.torch.slots import Slot

is_tracing = torch.compiler.is_dynamo_compiling
_made: list[KernelOp] = []


class KernelOp(ByName):
    """A kernel as an operator of PyTorch. `out` has a rule for each parameter that is a result; without any, the
    operator writes its arguments in place."""

    def __init__(self, kernel: KernelBase, out: dict[str, Any] | None, ndrange: Any, workgroup: Any) -> None:
        self.kernel = kernel
        self.out = dict(out or {})
        self.ndrange = ndrange
        self.options = () if workgroup is None else (("workgroup", workgroup),)
        self.__name__ = kernel.__name__
        self.__wrapped__ = kernel.__wrapped__
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
        self.written = tuple(n for n, name in enumerate(self.parameters) if name in self._uses.written)
        self._check()
        self._variants: dict[str, Any] = {}
        self._while_tracing: dict[str, Any] = {}
        """Those made while Dynamo traced, which has looked at the others."""
        self._direct: Callable[..., Any] | None = None
        """Of the operation that was called last: see `Operation.direct`."""
        self._rule: Rule | None = None
        self._count = len(self.parameters)
        self._number = str(len(_made))  # a number that changes is no constant to Dynamo
        _made.append(self)
        self.variant("".join("T" if n in self._uses.arrays else "N" for n in self.parameters))

    def _check(self) -> None:
        if self.out and self.written:
            name = self.parameters[self.written[0]]
            raise KernelTypeError(
                f"`{self.__name__}` writes `{name}`, which is no result of the operator",
                hint=f"add it to the results: out={{..., {name!r}: pkt.like(...)}}",
            )
        if not self.out and not self.written:
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
        return self._variants.get(kinds) or self._new_variant(kinds, self._variants)

    def _new_variant(self, kinds: str, where: dict[str, Any]) -> Any:
        if kinds not in self._while_tracing:
            where[kinds] = self._functional(kinds) if self.out else self._in_place(kinds)
        return where.get(kinds) or self._while_tracing[kinds]

    def variant_while_tracing(self, kinds: str) -> Any:
        """The same, for Dynamo."""
        return self._new_variant(kinds, self._while_tracing)

    def _functional(self, kinds: str) -> KernelOperation:
        slots, at, whole = [], 0, filled(self.kernel.captured()[0])
        for name in self.kernel.signature.parameters:
            if name in self.out:
                slots.append(Slot("rule", rule=self.out[name], filled=whole.get(name, 0)))
            else:
                slots.append(self._slot(name, at, kinds[at]))
                at += 1
        places = {name: n for n, name in enumerate(self.kernel.signature.parameters)}
        results = tuple(places[name] for name in self.out)
        return KernelOperation(
            self._label(kinds), self.kernel, self.parameters, kinds, tuple(slots), results, self._space(), at,
            self.options, rule=self._rule, result_names=tuple(self.out),
        )  # fmt: skip

    def _in_place(self, kinds: str) -> InPlaceOperation:
        slots = tuple(
            Slot("copy", n) if n in self.written else self._slot(name, n, kinds[n])
            for n, name in enumerate(self.parameters)
        )
        names = (*self.parameters, "ndrange")
        functional = KernelOperation(
            f"{self._label(kinds)}_functional", self.kernel, names, kinds + "D", slots, self.written, _last,
            len(names), self.options,
        )  # fmt: skip
        return InPlaceOperation(f"{self._label(kinds)}", functional, self.written)

    def _slot(self, name: str, argument: int, kind: str) -> Slot:
        return Slot("number" if kind == "T" and name not in self._uses.arrays else "read", argument)

    def _space(self) -> Callable[..., Any]:
        """What gives the index space of the arguments."""
        rule = self.kernel.ndrange if self.ndrange is None else self.ndrange
        return rule if callable(rule) else lambda *_: rule

    def _label(self, kinds: str) -> str:
        return name_of(self.kernel, kinds, self.out, self.ndrange, self.options, self._rule)

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        """The results, fresh tensors; nothing where the operator works in place."""
        if is_tracing():
            return self._traced(args, keywords)
        direct = self._direct
        if direct is not None and len(args) == self._count:
            found = self._directly(direct, args, keywords) if keywords or self.written else direct(*args)
            if found is not MISSED:
                return found
        given = self._bound(args, keywords)
        check_arguments(self.parameters, given)
        if self.written and torch._C._is_tracing():
            raise KernelTypeError(
                f"`{self.__name__}` works in place, which torch.jit.trace cannot record",
                hint="use torch.export or torch.compile, or make an operator with out=",
            )
        operation = self.variant(self._kinds(given))
        found = operation.overload(*given)
        self._direct = operation.direct_call
        return found

    def _directly(self, direct: Callable[..., Any], args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        """In place, the call as the one before, with other values; `MISSED` where it is another."""
        if not self.written or [*keywords] != ["ndrange"]:
            return MISSED
        return direct(*args, keywords["ndrange"])

    def _traced(self, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        given = self._bound(args, keywords)
        kinds = self._kinds(given)
        known = self._variants.get(kinds)
        name = _operator(f"{self._number} {kinds}") if known is None else known.name
        return getattr(torch.ops.pykern, name).default(*given)

    def _kinds(self, given: list[Any]) -> str:
        return "".join(["T" if isinstance(a, torch.Tensor) else "N" for a in given[: len(self.parameters)]])

    def backward(self, rule: Rule) -> Rule:
        """Give the operator a derivative of its own: ``@f.backward``, ``def _(saved, dy): ...``.

        `saved` has the arguments and results by name and in order, `dy` is the cotangent of a result: one for each
        that holds floats. The rule gives the gradients of the arguments that are tensors, one or a tuple, with what
        PyTorch and operators compute. Raises `KernelTypeError` for an operator in place.
        """
        if not self.out:
            raise KernelTypeError(
                f"`{self.__name__}` works in place, and an own derivative is for results",
                hint="make an operator with out=",
            )
        self._rule = rule
        kinds = (*self._variants, *self._while_tracing)
        self._variants, self._while_tracing, self._direct = {}, {}, None
        for one in kinds:
            self.variant(one)  # under a name of its own: PyTorch keeps compiled graphs by names
        return rule

    def _bound(self, args: tuple[Any, ...], keywords: dict[str, Any]) -> list[Any]:
        """The arguments in order; behind them the index space where the operator works in place."""
        given = list(args)
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
            space = self.kernel.ndrange if ndrange is None else ndrange
            if space is None:
                raise LaunchError(
                    f"`{self.__name__}` is called without an ndrange",
                    hint="say how many work-items: ndrange=x.shape",
                    code=NDRANGE,
                )
            given.append(flat_space(space))
        return given

    def __repr__(self) -> str:
        return f"<pykern.torch.op {self.__name__}({', '.join(self.parameters)})>"


def _last(*arguments: Any) -> Any:
    return space_of(arguments[-1])


@torch.compiler.assume_constant_result
def _operator(key: str) -> str:
    """The name of the operator for the object and the kinds of the key, while Dynamo traces."""
    number, kinds = key.split(" ", 1)
    return _made[int(number)].variant_while_tracing(kinds).name

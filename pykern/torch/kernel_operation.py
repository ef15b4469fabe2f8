"""A launch of a kernel as a function of tensors, and its derivatives, which are such launches again.

Comes in: a kernel, and a `Slot` for each of its parameters (`slots`). Goes out: fresh tensors, for the slots that are
results. The derivative of a launch is a launch of the kernel's derivative (`pykern.derivatives.autodiff`), whose
shadows are slots: cotangents and tangents come in as arguments, gradients start as zeros and are results.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from pykern.api.lowered import compiled_by
from pykern.arrays.torch_tensors import view_of
from pykern.data.index_space import index_space
from pykern.data.source import Derivative
from pykern.derivatives.autodiff import differentiated
from pykern.derivatives.raised_gradient import RaisedGradients
from pykern.errors import KernelTypeError, NotDifferentiable
from pykern.obtain.code import compiled
from pykern.torch.direct import Written
from pykern.torch.framework import torch
from pykern.torch.operation import Call, Operation, Rule, as_tuple
from pykern.torch.registration import register_functional, unique
from pykern.torch.slots import Slot, shadow

Space = Callable[..., Any]


@dataclass
class KernelOperation(Operation):
    """A launch. `results` are numbers of slots; `space` gives the index space of the first `primal`
    arguments. `names` and `kinds` are the arguments', as `registration` wants them."""

    label: str
    kernel: Any
    names: tuple[str, ...]
    kinds: str
    slots: tuple[Slot, ...]
    results: tuple[int, ...]
    space: Space
    primal: int
    options: tuple[tuple[str, Any], ...] = ()
    rule: Rule | None = None
    result_names: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        self.name = unique(self.label)
        self.count = len(self.results)
        self._derived: dict[Any, KernelOperation] = {}
        self._checked = bool(self.kernel.derivatives)
        by_launch = self.written(self.launch, self.space)
        self._values, self._fakes = by_launch.values(), by_launch.fakes()
        if self._checked:
            self.direct = by_launch.direct()
        register_functional(self)

    # -- a call ----------------------------------------------------------------------------------

    def run(self, arguments: Sequence[Any]) -> Any:
        """Launch."""
        return self._values(*map(detached, arguments))

    def fake(self, arguments: Sequence[Any]) -> Any:
        """The results without their values."""
        return self._fakes(*arguments)

    def written(self, launch: Callable[..., Any], space: Space | None) -> Written:
        """The functions of a call: see `pykern.torch.direct`."""
        return Written(
            self.names, self.kinds, self.slots, self.results, self.primal, space, dict(self.options), launch
        )

    def launch(self, *values: Any, ndrange: Any, **options: Any) -> None:
        """Launch on a value for each parameter; the first time, look whether the operator says what is written."""
        if not self._checked:
            self._check_uses(values, ndrange)
            self._checked = True
            self.direct = self.written(self.kernel, self.space).direct()
        if self._raised is None:
            self.kernel(*values, ndrange=ndrange, **options)
        elif all(extent.count for extent in index_space(ndrange)):
            keywords = {"ndrange": ndrange, **options}
            if self._raised.run(list(map(seen, values)), dict(keywords)) is None:
                self.kernel(*values, **keywords)

    @cached_property
    def _raised(self) -> RaisedGradients | None:
        derivatives = self.kernel.derivatives
        is_reverse = bool(derivatives) and derivatives[-1].mode == "reverse"
        return RaisedGradients(self.kernel, "auto") if is_reverse else None

    def _check_uses(self, values: Sequence[Any], space: Any) -> None:
        """Refuse a kernel that writes what the operator says it only reads. Raises `KernelTypeError`."""
        bound = list(zip(self.kernel.signature.parameters, values, strict=True))
        uses = iter(compiled_by(compiled, self.kernel, tuple(values), {"ndrange": space})[1].uses)
        for (name, value), slot in zip(bound, self.slots, strict=True):
            if isinstance(value, torch.Tensor) and next(uses).writes and not slot.is_written:
                raise KernelTypeError(
                    f"`{self.kernel.__name__}` writes `{name}`, which is no result of the operator",
                    hint=f"say so: out={{{name!r}: pkt.like(...)}}, or annotate it `{name}: pk.InOut[...]` for an "
                    "operator in place",
                )

    @property
    def direct_call(self) -> Callable[..., Any]:
        """`direct` as it is now."""
        return self.direct

    # -- derivatives -----------------------------------------------------------------------------

    def pull(self, active: tuple[int, ...], call: Call, cotangents: Sequence[Any]) -> Sequence[Any]:
        """The gradients, by a launch of the kernel's reverse derivative."""
        pulled = self.derived("vjp", active, self._floats(call))
        return as_tuple(pulled.overload(*call.arguments, *cotangents))

    def push(self, active: tuple[int, ...], call: Call, tangents: Sequence[Any]) -> Sequence[Any]:
        """The tangents, by a launch of the kernel's forward derivative."""
        pushed = self.derived("jvp", active, self._floats(call))
        return as_tuple(pushed.overload(*call.arguments, *tangents))

    def derived(self, kind: str, active: tuple[int, ...], more: str) -> KernelOperation:
        """The launch of a derivative; `more` has a digit for each slot: 1 where it holds floats."""
        key = kind, active, more
        if key not in self._derived:
            typed = tuple(
                replace(s, is_float=one == "1", filled=0) for s, one in zip(self.slots, more, strict=True)
            )
            make = self._reverse if kind == "vjp" else self._forward
            self._derived[key] = make(self.derived_name(*key), active, typed)
        return self._derived[key]

    def _floats(self, call: Call) -> str:
        known = dict(zip(self.results, call.floats, strict=True))
        return "".join(
            str(int(known[n] if n in known else s.is_float and s.holds_float(call.arguments)))
            for n, s in enumerate(self.slots)
        )

    def _reverse(self, label: str, active: tuple[int, ...], typed: tuple[Slot, ...]) -> KernelOperation:
        """Shadows of results are cotangents, those of arguments start as zeros and become gradients."""
        floats = [slot for slot in self.results if typed[slot].is_float]
        cotangents = {slot: len(self.kinds) + n for n, slot in enumerate(floats)}
        slots: list[Slot] = []
        gradients: dict[int, int] = {}
        dup = []
        for n, slot in enumerate(typed):
            slots.append(slot)
            if slot.is_float and (slot.is_written or slot.argument in active):
                dup.append(n)
                if slot.argument in active and slot.takes_argument:
                    gradients[slot.argument] = len(slots)
                slots.append(Slot("copy", cotangents[n]) if n in cotangents else shadow(slot))
        return self._made("reverse", label, dup, slots, [gradients[n] for n in active], len(floats))

    def _forward(self, label: str, active: tuple[int, ...], typed: tuple[Slot, ...]) -> KernelOperation:
        """Shadows of arguments are tangents, and so are those of results then."""
        tangents = {argument: len(self.kinds) + n for n, argument in enumerate(active)}
        slots: list[Slot] = []
        pushed: dict[int, int] = {}
        dup = []
        for n, slot in enumerate(typed):
            slots.append(slot)
            if slot.is_float and (slot.is_written or slot.argument in active):
                dup.append(n)
                pushed[n] = len(slots)
                if slot.argument in tangents and slot.takes_argument:
                    kind = "copy" if slot.kind == "copy" else "read"
                    slots.append(Slot(kind, tangents[slot.argument]))
                else:
                    slots.append(shadow(slot))
        results = [pushed[n] for n in self.results if typed[n].is_float]
        return self._made("forward", label, dup, slots, results, len(active))

    def _made(
        self,
        mode: str,
        label: str,
        dup: list[int],
        slots: list[Slot],
        results: list[int],
        more: int,
    ) -> KernelOperation:
        if not results:
            raise NotDifferentiable(f"`{self.name}` has no result that is a float")
        level = "auto" if mode == "reverse" else "direct"
        kernel = differentiated(self.kernel, Derivative(mode, level, tuple(dup)))
        short = {"reverse": "vjp", "forward": "jvp"}[mode]
        names = tuple(f"{short}{len(self.kernel.derivatives)}_{n}" for n in range(more))
        return KernelOperation(
            label, kernel, (*self.names, *names),
            self.kinds + "T" * more, tuple(slots), tuple(results), self.space, self.primal, self.options,
        )  # fmt: skip


def seen(value: Any) -> Any:
    """A tensor of the CPU as an array of NumPy's, of which launches see the kind sooner."""
    if isinstance(value, torch.Tensor) and value.is_cpu and not (value.is_neg() or value._is_zerotensor()):
        return view_of(value)
    return value


def detached(argument: Any) -> Any:
    """The tensor without what autograd holds of it: a launch takes no others."""
    if isinstance(argument, torch.Tensor) and argument.requires_grad:
        return argument.detach()
    return argument

"""A call of an array program as a function of tensors, and its derivatives, which are programs again.

Comes in: a program, and the form of its arguments: trees of tensors and numbers. Goes out: the leaves of its value, as
tensors. Lengths are known to programs, so the results of fake tensors are those of a program compiled for them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pykern.arrays.torch_tensors import tensor_of
from pykern.data.artifact import ProgramLayout
from pykern.data.program_source import ProgramDerivative
from pykern.errors import KernelTypeError
from pykern.launching.specs import Spec
from pykern.obtain.code import compiled
from pykern.obtain.schedules import tuned
from pykern.program.arguments import describe_specs
from pykern.torch.complex_parts import parts_of, whole
from pykern.torch.dtypes import dtype_of, torch_dtype
from pykern.torch.forms import kinds, restored
from pykern.torch.framework import torch
from pykern.torch.operation import Call, Operation
from pykern.torch.registration import register_functional, unique
from pykern.torch.residuals import Halves, Keeping, has_halves, is_followed_alone
from pykern.torch.values import described, kind_of_result, leaves_of, results_of
from pykern.types import BY_NAME, COMPLEX


@dataclass
class ProgramOperation(Operation):
    """Calls of one form: `form` has one for each argument: see `pykern.torch.forms`."""

    label: str
    program: Any
    form: tuple[Any, ...]

    def __post_init__(self) -> None:
        self.name = unique(self.label)
        self.kinds = "".join(map(kinds, self.form))
        self.names = tuple(_names(self.program.signature.parameters, self.form))
        self.count: int | None = None
        self.traced = ""
        """The form of the value that was looked at last."""
        self._layouts: dict[Any, ProgramLayout] = {}
        self._derived: dict[Any, ProgramOperation] = {}
        self._keeps: dict[Any, bool] = {}
        self._forms: dict[str, str] = {}
        self.forwards: dict[tuple[int, ...], Any] = {}
        """By active arguments: the program that gives residuals, too. Read by `pykern.torch.residuals`."""
        self.halves: dict[tuple[str, tuple[int, ...]], Halves] = {}
        """By the name of the pullback and active arguments."""
        register_functional(self)

    # -- a call ----------------------------------------------------------------------------------

    def run(self, arguments: Sequence[Any]) -> list[Any]:
        """Call the program."""
        tree = json.loads(self.layout(arguments).tree)
        return self.tensors(leaves_of(tree, self.called(self.program, arguments)), arguments)

    def tensors(self, leaves: Iterable[Any], arguments: Sequence[Any]) -> list[Any]:
        """What a program gives, as tensors where the arguments are."""
        device = _device(arguments)
        return [parts_of(_tensor(leaf, device)) for leaf in leaves]

    def called(self, program: Any, arguments: Sequence[Any]) -> Any:
        """The value of the program, or of a derivative that takes the same."""
        given = [_plain(a, kind) for a, kind in zip(arguments, self.kinds, strict=True)]
        parameters = program.signature.parameters.values()
        values = list(zip(parameters, self._restored(given), strict=True))
        keywords = {p.name: value for p, value in values if p.kind is p.KEYWORD_ONLY}
        if program.donate_argnums:
            keywords["donate"] = ()
        return program(*(v for p, v in values if p.kind is not p.KEYWORD_ONLY), **keywords)

    def fake(self, arguments: Sequence[Any]) -> list[Any]:
        """Empty results, with the lengths that the compiler finds."""
        layout, device = self.layout(arguments), _device(arguments)
        self.traced = self.value_form(arguments)
        return [torch.empty(r.shape, dtype=torch_dtype(r.dtype), device=device) for r in layout.results]

    def tree(self, arguments: Sequence[Any]) -> Any:
        """The form of the value: see `pykern.frontend.program.results`."""
        return json.loads(self.layout(arguments).tree)

    def value_form(self, arguments: Sequence[Any]) -> str:
        """The same, as `pykern.torch.values` has it."""
        tree = self.layout(arguments).tree
        if tree not in self._forms:
            self._forms[tree] = described(json.loads(tree))
        return self._forms[tree]

    def layout(self, arguments: Sequence[Any]) -> ProgramLayout:
        """What the compiler says of the results. Raises `KernelTypeError` for a program that writes its arguments."""
        return self.layout_of(self.program, arguments)

    def layout_of(self, program: Any, arguments: Sequence[Any]) -> ProgramLayout:
        """The same of the program, or of a derivative that takes the same."""
        key = program, tuple(map(_kind, arguments))
        if key not in self._layouts:
            specs = [_spec(a, kind) for a, kind in zip(arguments, self.kinds, strict=True)]
            values = list(zip(program.signature.parameters, self._restored(specs), strict=True))
            parameters = describe_specs(values, program.annotations)
            source = program.source_of(program.captured()[0], parameters)
            layout = compiled(tuned(source)).program
            assert layout is not None
            if layout.updated:
                raise KernelTypeError(
                    f"`{self.program.__name__}` writes its arguments, and an operator of a program gives results",
                    hint="let it work on a copy: x = x + 0, or make it a kernel",
                )
            self._layouts[key] = layout
        return self._layouts[key]

    def _restored(self, given: Sequence[Any]) -> list[Any]:
        """The arguments of the program."""
        left = iter(given)
        return [restored(argument, left) for argument in self.form]

    def result_kinds(self, call: Call) -> str:
        return "".join(map(kind_of_result, results_of(self.tree(call.arguments))))

    # -- derivatives -----------------------------------------------------------------------------

    def keeping(self, arguments: Sequence[Any]) -> Any:
        """See `Operation.keeping`: where the residuals of this kind of call are known."""
        if self.rule is not None or not is_followed_alone(arguments):
            return None
        active = tuple(
            n for n, a in enumerate(arguments) if _is_tensor(a) and a.requires_grad and _is_float(a)
        )
        kind = active, tuple(map(_kind, arguments))
        if kind not in self._keeps:
            self._keeps[kind] = has_halves(self, active, arguments)
        return Keeping if self._keeps[kind] else None

    def pull(self, active: tuple[int, ...], call: Call, cotangents: Sequence[Any]) -> Sequence[Any]:
        """The gradients, by the program's vjp."""
        numbers = self.parameters_of(active)
        results = results_of(self.tree(call.arguments))
        more = [node for node, is_float in zip(results, call.floats, strict=True) if is_float]
        pulled = self.derived("vjp", numbers, "".join(map(kind_of_result, more)))
        given = (*call.arguments, *cotangents)
        found = pulled.overload(*given)
        places = self.float_leaves(numbers, call.arguments)
        return [found[places.index(n)] for n in active]

    def push(self, active: tuple[int, ...], call: Call, tangents: Sequence[Any]) -> Sequence[Any]:
        """The tangents, by the program's jvp."""
        numbers = self.parameters_of(active)
        places = self.float_leaves(numbers, call.arguments)
        known = dict(zip(active, tangents, strict=True))
        pushed = self.derived("jvp", numbers, "".join(self.kinds[n] for n in places))
        given = [known[n] if n in known else _zero(call.arguments[n]) for n in places]
        found = pushed.overload(*call.arguments, *given)
        return found[len(call.floats) :]

    def parameters_of(self, active: tuple[int, ...]) -> tuple[int, ...]:
        """The parameters that the leaves `active` belong to."""
        owners = [n for n, argument in enumerate(self.form) for _ in kinds(argument)]
        return tuple(sorted({owners[n] for n in active}))

    def float_leaves(self, parameters: tuple[int, ...], arguments: Sequence[Any]) -> list[int]:
        """The leaves of these parameters that hold floats."""
        owners = [n for n, argument in enumerate(self.form) for _ in kinds(argument)]
        return [n for n, owner in enumerate(owners) if owner in parameters and _is_float(arguments[n])]

    def derived(self, kind: str, active: tuple[int, ...], more: str) -> ProgramOperation:
        """The derivative by the parameters `active`; `more` are the kinds of what it takes besides."""
        key = kind, active, more
        if key not in self._derived:
            names = tuple(f"{kind}{len(self.program.derivatives)}_{n}" for n in range(len(more)))
            derivative = ProgramDerivative(kind, active, self.program.checkpoint)
            program = self.program.derived(derivative, names, f"{kind}({self.program.__name__})")
            self._derived[key] = ProgramOperation(self.derived_name(*key), program, (*self.form, *more))
        return self._derived[key]


def _names(parameters: Iterable[str], form: tuple[Any, ...]) -> Iterator[str]:
    """A name for each leaf: that of its parameter, with a number where that has several."""
    for name, argument in zip(parameters, form, strict=True):
        count = len(kinds(argument))
        yield from (f"{name}_{n}" if count > 1 else name for n in range(count))


def _plain(argument: Any, kind: str) -> Any:
    """What the program is given."""
    if not isinstance(argument, torch.Tensor):
        return argument
    if kind == "S":
        return argument.item()
    plain = argument.detach() if argument.requires_grad else argument
    return whole(plain) if kind == "C" else plain


def _spec(argument: Any, kind: str) -> Any:
    """The argument as the compiler is told of it."""
    if kind == "S":
        return BY_NAME["float" if argument.is_floating_point() else "int"]
    if isinstance(argument, torch.Tensor):
        dtype, shape = dtype_of(argument.dtype), tuple(map(int, argument.shape))
        return Spec(shape[:-1], COMPLEX[f"c{2 * dtype.bits}"]) if kind == "C" else Spec(shape, dtype)
    return BY_NAME[_number_type(argument)]


def _kind(argument: Any) -> Any:
    """What the results' form depends on."""
    if isinstance(argument, torch.Tensor):
        return argument.dtype, tuple(map(int, argument.shape))
    return _number_type(argument)


def _number_type(number: Any) -> str:
    if isinstance(number, bool | torch.SymBool):
        return "bool"
    return "int" if isinstance(number, int | torch.SymInt) else "float"


def _is_tensor(argument: Any) -> bool:
    return isinstance(argument, torch.Tensor)


def _is_float(argument: Any) -> bool:
    if isinstance(argument, torch.Tensor):
        return argument.is_floating_point()
    return _number_type(argument) == "float"


def _zero(argument: Any) -> Any:
    return torch.zeros_like(argument, requires_grad=False) if isinstance(argument, torch.Tensor) else 0.0


def _device(arguments: Sequence[Any]) -> Any:
    found = next((a.device for a in arguments if isinstance(a, torch.Tensor)), None)
    return torch.device("cpu") if found is None else found


def _tensor(leaf: Any, device: Any) -> Any:
    """A result of the program; numbers become tensors of no dimension."""
    if hasattr(leaf, "__array_interface__") and getattr(leaf, "ndim", 0):
        return tensor_of(leaf)
    if isinstance(leaf, torch.Tensor):
        return leaf
    if getattr(leaf, "__pykern_array__", False):
        return torch.from_dlpack(leaf)
    dtype = torch_dtype(str(leaf.dtype)) if hasattr(leaf, "dtype") else None
    return torch.tensor(np.asarray(leaf).item(), dtype=dtype or _of_number(leaf), device=device)


def _of_number(number: Any) -> Any:
    return torch_dtype(
        "float64" if isinstance(number, float) else "bool" if isinstance(number, bool) else "int64"
    )

"""An array program as a function of tensors: `pkt.op(program)`.

Comes in: tensors, numbers, and trees of them. Goes out: the program's value, with tensors for its arrays and numbers.
Read next: `program_operation`.
"""

from __future__ import annotations

from typing import Any

from pykern.api.jit import ProgramBase
from pykern.api.pickling import ByName
from pykern.errors import KernelTypeError
from pykern.torch.forms import read, written
from pykern.torch.framework import torch
from pykern.torch.naming import name_of
from pykern.torch.operation import MISSED, Rule
from pykern.torch.program_operation import ProgramOperation
from pykern.torch.unwatched import called
from pykern.torch.values import is_flat, rebuilt
from pykern.types import ArrayAnnotation, static

_made: list[ProgramOp] = []


class ProgramOp(ByName):
    """A program as an operator of PyTorch, one for each form of its arguments."""

    def __init__(self, program: ProgramBase) -> None:
        self.program = program
        self.__name__ = program.__name__
        self.__wrapped__ = program.__wrapped__
        self.__doc__ = program.__doc__
        self.parameters = tuple(program.signature.parameters)
        self.annotations = tuple(program.annotations.get(n) for n in self.parameters)
        self._variants: dict[str, ProgramOperation] = {}
        self._while_tracing: dict[str, ProgramOperation] = {}
        """Those made while Dynamo traced, which has looked at the others."""
        self._is_direct = False
        """Whether the last value was a tensor, or a tuple of tensors; a program that writes arguments gave none."""
        self._rule: Rule | None = None
        self._number = str(len(_made))  # a number that changes is no constant to Dynamo
        _made.append(self)
        if static not in self.annotations:
            self.variant(f"({''.join(_expected(a) for a in self.annotations)})")

    def variant(self, form: str) -> ProgramOperation:
        """The operation for arguments of this form, a tuple of those of `pykern.torch.forms`."""
        return self._variants.get(form) or self._new_variant(form, self._variants)

    def variant_while_tracing(self, form: str) -> ProgramOperation:
        """The same, for Dynamo."""
        return self._variants.get(form) or self._new_variant(form, self._while_tracing)

    def _new_variant(self, form: str, where: dict[str, ProgramOperation]) -> ProgramOperation:
        if form not in self._while_tracing:
            label = name_of(self.program, form, self._rule)
            where[form] = ProgramOperation(label, self.program, read(form))
            where[form].rule = self._rule
        return where.get(form) or self._while_tracing[form]

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        """The program's value: fresh tensors; numbers are tensors of no dimension."""
        if self._is_direct and not keywords and not torch.compiler.is_compiling():
            found = called(self.program, args)
            if found is not MISSED:
                return found
        values = list(args)
        if keywords or len(args) != len(self.parameters):
            values = [value for _, value in self.program.bound(args, keywords, has_defaults=True)]
        given: list[Any] = []
        forms = [f"{written(v, a, given)}," for v, a in zip(values, self.annotations, strict=True)]
        form = f"({''.join(forms)})"
        if torch.compiler.is_compiling():
            key = f"{self._number} {form}"
            known = self._variants.get(form)
            name = _operator(key) if known is None else known.name
            found = getattr(torch.ops.pykern, name).default(*given)
            return rebuilt(_value(key), found)
        operation = self.variant(form)
        if not any(isinstance(a, torch.Tensor) for a in given):
            raise KernelTypeError(
                f"`{self.__name__}` is called without a tensor, of which an operator of PyTorch takes at least one",
                hint="pass a tensor, torch.tensor(2.0), or call the program itself",
            )
        found = operation.overload(*given)
        form = operation.value_form(given)
        self._is_direct = is_flat(form) and all(result.ndim for result in found)
        return rebuilt(form, found)

    def backward(self, rule: Rule) -> Rule:
        """Give the operator a derivative of its own: see `pykern.torch.kernel_op.KernelOp.backward`. `saved.results`
        are the results, in order."""
        self._rule = rule
        forms = (*self._variants, *self._while_tracing)
        self._variants, self._while_tracing = {}, {}
        for form in forms:
            self.variant(form)  # under a name of its own: PyTorch keeps compiled graphs by names
        return rule

    def __repr__(self) -> str:
        return f"<pykern.torch.op {self.__name__}({', '.join(self.parameters)})>"


def _expected(annotation: Any) -> str:
    return "'T'," if annotation is None or isinstance(annotation, ArrayAnnotation) else "'N',"


@torch.compiler.assume_constant_result
def _operator(key: str) -> str:
    """The name of the operator for the object and the form of the key, while Dynamo traces."""
    return _of(key).name


@torch.compiler.assume_constant_result
def _value(key: str) -> str:
    """The form of its value, as it was traced last."""
    return _of(key).traced


def _of(key: str) -> ProgramOperation:
    number, form = key.split(" ", 1)
    return _made[int(number)].variant_while_tracing(form)

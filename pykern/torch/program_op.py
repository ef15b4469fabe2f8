"""An array program as a function of tensors: `pkt.op(program)`.

Comes in: tensors, numbers, and trees of them. Goes out: the program's value, with tensors for its arrays and numbers.
Read next: `program_operation`.
"""

from __future__ import annotations

import hashlib
from typing import Any

from pykern.api.jit import ProgramBase
from pykern.torch.forms import read, written
from pykern.torch.framework import torch
from pykern.torch.program_operation import ProgramOperation
from pykern.torch.values import rebuilt
from pykern.types import ArrayAnnotation, static

_made: list[ProgramOp] = []


class ProgramOp:
    """A program as an operator of PyTorch, one for each form of its arguments."""

    def __init__(self, program: ProgramBase) -> None:
        self.program = program
        self.__name__ = program.__name__
        self.__doc__ = program.__doc__
        self.parameters = tuple(program.signature.parameters)
        self.annotations = tuple(program.annotations.get(n) for n in self.parameters)
        self._variants: dict[str, ProgramOperation] = {}
        self._number = len(_made)
        _made.append(self)
        if static not in self.annotations:
            self.variant(f"({''.join(_expected(a) for a in self.annotations)})")

    def variant(self, form: str) -> ProgramOperation:
        """The operation for arguments of this form, a tuple of those of `pykern.torch.forms`."""
        if form not in self._variants:
            forms = read(form)
            told = f"{self.program.text.text}\n{form}\n{self.program.options}"
            label = f"{self.__name__}_{hashlib.sha256(told.encode()).hexdigest()[:8]}"
            self._variants[form] = ProgramOperation(label, self.program, forms)
        return self._variants[form]

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        """The program's value: fresh tensors; numbers are tensors of no dimension."""
        values = list(args)
        if keywords or len(args) != len(self.parameters):
            values = [value for _, value in self.program.bound(args, keywords, has_defaults=True)]
        given: list[Any] = []
        forms = [f"{written(v, a, given)}," for v, a in zip(values, self.annotations, strict=True)]
        form = f"({''.join(forms)})"
        if torch.compiler.is_compiling():
            found = getattr(torch.ops.pykern, _operator(self._number, form)).default(*given)
            return rebuilt(_value(self._number, form), found)
        operation = self.variant(form)
        found = operation.overload(*given)
        return rebuilt(operation.value_form(given), found)

    def __repr__(self) -> str:
        return f"<pykern.torch.op {self.__name__}({', '.join(self.parameters)})>"


def _expected(annotation: Any) -> str:
    return "'T'," if annotation is None or isinstance(annotation, ArrayAnnotation) else "'N',"


@torch.compiler.assume_constant_result
def _operator(number: int, form: str) -> str:
    """The name of the operator of this form, while Dynamo traces."""
    return _made[number].variant(form).name


@torch.compiler.assume_constant_result
def _value(number: int, form: str) -> str:
    """The form of the value of the operator that was traced last."""
    return _made[number].variant(form).traced

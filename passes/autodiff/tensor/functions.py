"""Functions with more arguments and results than another, beside it; and which functions are meant."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from mlir import ir
from mlir.dialects import func

from pykern.dialect import attributes as kern
from pykern.errors import PassError
from pykern.passes.autodiff.tensor.refuse import refused
from pykern.passes.autodiff.tensor.values import is_float


def chosen(module: ir.Module, name: str) -> list[func.FuncOp]:
    """The function `name`; without a name every tensor program."""
    functions = [op for op in module.body.operations if isinstance(op, func.FuncOp)]
    if not name:
        return [f for f in functions if kern.PROGRAM in f.operation.attributes]
    found = [f for f in functions if name_of(f) == name]
    if not found:
        raise PassError(f"no function `{name}`", hint=f"there are {', '.join(name_of(f) for f in functions)}")
    return found


def name_of(function: func.FuncOp) -> str:
    return ir.StringAttr(function.operation.attributes["sym_name"]).value


def active_arguments(function: func.FuncOp, text: str) -> tuple[int, ...]:
    """Argument numbers from ``0,2``; from nothing, those of float type."""
    if text:
        return tuple(int(number) for number in text.split(","))
    return tuple(k for k, argument in enumerate(function.arguments) if is_float(argument.type))


def check_program(function: func.FuncOp, active: Sequence[int]) -> None:
    """Raises where `function` is no tensor program, or cannot be differentiated for `active`."""
    name, count = name_of(function), len(function.arguments)
    if len(function.operation.regions[0].blocks) != 1:
        raise refused(function.operation, f"`{name}` is no tensor program: its control flow is in blocks")
    for number in active:
        if not 0 <= number < count:
            raise PassError(f"`{name}` has no argument {number}, it has {count}")
        if not is_float(function.arguments[number].type):
            raise PassError(f"argument {number} is no float: nothing can be differentiated for it")
    if len(set(active)) < len(active):
        raise PassError(f"an argument is asked for twice: {', '.join(map(str, active))}")


@dataclass(frozen=True)
class Signature:
    """A function's name, arguments, results and the attributes of each."""

    function: func.FuncOp

    @classmethod
    def of(cls, function: func.FuncOp) -> Signature:
        return cls(function)

    @property
    def argument_attributes(self) -> list[ir.Attribute]:
        if "arg_attrs" in self.function.operation.attributes:
            return list(self.function.operation.attributes["arg_attrs"])
        return [ir.DictAttr.get({}) for _ in self.function.arguments]

    @property
    def result_attributes(self) -> list[ir.Attribute]:
        if "res_attrs" in self.function.operation.attributes:
            return list(self.function.operation.attributes["res_attrs"])
        return [ir.DictAttr.get({}) for _ in self.function.type.results]

    def argument_name(self, number: int) -> str:
        return _name(self.argument_attributes[number]) or f"arg{number}"

    def result_name(self, number: int) -> str:
        return _name(self.result_attributes[number]) or f"result{number}"

    def extended(
        self, suffix: str, more_arguments: Sequence[tuple[str, ir.Type]], more_results: Sequence[ir.Type]
    ) -> func.FuncOp:
        """`@f.<suffix>` right after `f`, with an empty block, of the same arguments and results and more."""
        old = self.function
        type = ir.FunctionType.get(
            [*old.type.inputs, *(t for _, t in more_arguments)], [*old.type.results, *more_results]
        )
        none = ir.DictAttr.get({})
        named = [ir.DictAttr.get({kern.NAME: ir.StringAttr.get(name)}) for name, _ in more_arguments]
        with ir.InsertionPoint.after(old.operation), old.location:
            made = func.FuncOp(f"{name_of(old)}.{suffix}", type)
        for name in old.operation.attributes:
            if name not in ("sym_name", "function_type", "arg_attrs", "res_attrs"):
                made.operation.attributes[name] = old.operation.attributes[name]
        made.operation.attributes["arg_attrs"] = ir.ArrayAttr.get([*self.argument_attributes, *named])
        results = [*self.result_attributes, *[none] * len(more_results)]
        made.operation.attributes["res_attrs"] = ir.ArrayAttr.get(results)
        made.add_entry_block()
        return made


@contextmanager
def writing(made: func.FuncOp) -> Iterator[None]:
    """Inside, `made` is written from a primal in another module: if that fails, it goes before that module does.

    What it copied last may still read values of the primal, and MLIR ends the process where values go that are read.
    """
    with ExitStack() as undo:
        undo.callback(made.operation.erase)
        yield
        undo.pop_all()


def _name(attributes: ir.Attribute) -> str | None:
    known = ir.DictAttr(attributes)
    return ir.StringAttr(known[kern.NAME]).value if kern.NAME in known else None

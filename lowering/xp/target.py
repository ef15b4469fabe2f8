"""A program on tensors to Python source over a library of arrays.

Comes in: a module with one program, its kernels raised. Goes out: the text. Booleans are bytes and integers have no
sign in the module: the text converts at its beginning and its end. Read next: `printer`.
"""

from __future__ import annotations

from collections.abc import Sequence

from mlir import ir

from pykern.data.source import ArraySpec, Parameter, leaves
from pykern.data.target import Target
from pykern.errors import TargetError
from pykern.lowering.record import Recorder
from pykern.lowering.xp import generics
from pykern.lowering.xp.libraries import HELPERS, LIBRARIES, Library
from pykern.lowering.xp.options import options_of
from pykern.lowering.xp.printer import Printer
from pykern.lowering.xp.scalars import element
from pykern.passes.analysis.sharding import Rule, sharding_rule
from pykern.passes.framework import Pipeline, Upstream
from pykern.passes.kernels import body, kernels, programs

PIPELINE = Pipeline(
    (
        Upstream("func.func(linalg-generalize-named-ops)"),
        Upstream("canonicalize,cse", bodies=True),
        Upstream("func.func(linalg-fuse-elementwise-ops)"),  # an expression for a chain of operations
        Upstream("canonicalize,cse", bodies=True),
    )
)


def lower(
    module: ir.Module,
    name: str,
    target: Target,
    parameters: Sequence[Parameter],
    dtypes: Sequence[str],
    record: Recorder,
) -> tuple[str, Rule | None]:
    """The text, and the rule by which it is cut among devices. Raises `TargetError` where a kernel or a loop has no
    form on whole arrays."""
    if list(kernels(module)):
        raise TargetError(
            f"`{name}` launches a kernel that is no operation on whole arrays",
            hint="`kernel.raised(...)` says why; it runs on the CPU and on GPUs",
        )
    PIPELINE.run(module, record, texts=record.texts)
    program = programs(module)[0]
    rule = sharding_rule(program)
    return _Text(LIBRARIES[options_of(target)[0]]).of(program, name, parameters, dtypes), rule


class _Text:
    """The function in the making."""

    def __init__(self, library: Library) -> None:
        assert generics  # the rules of linalg are there
        self.library = library
        self.p = Printer(library)

    def of(
        self, program: ir.Operation, name: str, parameters: Sequence[Parameter], dtypes: Sequence[str]
    ) -> str:
        """The whole text."""
        flat = [(p.name, leaf) for p in parameters for leaf in leaves(p.spec)]
        names = _distinct([n for n, _ in flat])
        block = body(program)
        for argument, shown, (_, leaf) in zip(block.arguments, names, flat, strict=True):
            self.p.values[argument] = self._converted(shown, leaf.dtype, isinstance(leaf, ArraySpec))
        *inside, end = (each.operation for each in block.operations)
        self.p.block(inside)
        results = [self._given(v, dtype) for v, dtype in zip(end.operands, dtypes, strict=True)]
        self.p.line(f"return ({', '.join(results)},)" if len(results) != 1 else f"return {results[0]}")
        head = f"def {name}({', '.join(names)}):"
        helpers = [HELPERS[each][self.library.name] for each in sorted(self.p.used)]
        parts = ["\n".join(self.library.imports), *helpers, "\n".join([head, *self.p.lines])]
        return "\n\n\n".join(part.rstrip("\n") for part in parts) + "\n"

    def _converted(self, name: str, dtype: str, is_array: bool) -> str:
        if dtype == "bool" and is_array:
            return self.p.name(self.library.cast.format(name, type=self.library.type("i8")))
        if dtype.startswith("u"):
            return self.p.name(self.library.cast.format(name, type=self.library.type(f"i{dtype[1:]}")))
        return name

    def _given(self, value: ir.Value, dtype: str) -> str:
        text = self.p.text(value)
        if isinstance(value.type, ir.ShapedType) and dtype == element(value.type):
            return text
        kind = {"float": "f64", "int": "i64"}.get(dtype, dtype)
        return self.library.cast.format(text, type=self.library.type(kind))


def _distinct(names: list[str]) -> list[str]:
    seen: dict[str, int] = {}
    found = []
    for name in names:
        seen[name] = seen.get(name, -1) + 1
        found.append(name if not seen[name] else f"{name}{seen[name]}")
    return found

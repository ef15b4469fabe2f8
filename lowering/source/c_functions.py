"""Functions of mathematics in C, written out in arithmetic.

Comes in: the name of an op of the math dialect, and f32 or f64. Goes out: the text of a C function without calls and
branches, of which a compiler makes vectors where a loop calls it. The C library's function would be called for each
element. Read next: `pykern.passes.arithmetic.vector_math.expand_math`.
"""

from __future__ import annotations

from mlir import ir

from pykern.lowering.source.expressions import Expression, call
from pykern.lowering.source.language import CALLED, FUNCTIONS, MODERATE, Language, Word
from pykern.lowering.source.names import Names, UserNames
from pykern.lowering.source.printer import INDENT, Printer
from pykern.lowering.spirv.arithmetic import ExpandArithmetic
from pykern.passes.analysis.cost_model.code_size import INNER_TEXT
from pykern.passes.arithmetic.vector_math.expand_math import ExpandMath
from pykern.passes.arithmetic.vector_math.pi_reduction import SHORT
from pykern.passes.framework import Pipeline, Upstream

_EITHER = (
    "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sinh", "cosh", "tanh", "erf", "atan", "atan2", "asin",
    "acos", "asinh", "atanh", "cbrt",
)  # fmt: skip
WRITTEN = {"f32": _EITHER, "f64": (*_EITHER, "acosh")}
"""Functions that are written out, by the type that they are computed in: those that take less time than calls, see the
benchmarks' notes. Angles of any size need branches; powers need twice the digits."""
_ANGLES = ("sin", "cos", "tan")
_ABOVE = "// In arithmetic alone, so that loops of it run in vectors; {library} is as accurate."
_BINARY = ("atan2",)
_MULTIPLY_ADD = """\
static inline {type} {name}({type} a, {type} b, {type} c) {{
#ifdef FP_FAST_FMA{fast}
    return fma{ending}(a, b, c);
#else
    return a * b + c; // `fma` would be a call
#endif
}}
"""


def symbol_of(name: str, kind: str) -> str:
    """The name of the C function for an op of the math dialect."""
    return f"{FUNCTIONS.get(name, name)}_{kind}"


SYMBOLS = (
    frozenset(symbol_of(name, kind) for kind, names in WRITTEN.items() for name in names)
    | frozenset(symbol_of(f"{MODERATE}{name}", "f32") for name in _ANGLES)
    | {"multiply_add_f32", "multiply_add_f64"}
)
"""Names that no variable has."""


def is_written(name: str, kind: ir.Type) -> bool:
    """Whether a function of the math dialect is written out for this type."""
    if name.startswith(MODERATE):
        return str(kind) == "f32"
    return name in WRITTEN.get(str(kind), ())


def function_text(symbol: str, name: str, kind: ir.Type, library: str, language: Language) -> str:
    """The C function `symbol` for the op `name`; `library` is the function of the C library beside it."""
    names = ("x", "y")[: 2 if name in _BINARY else 1]
    given = ", ".join(f"%{each}: {kind}" for each in names)
    operands = ", ".join(f"%{each}" for each in names)
    op = name.removeprefix(MODERATE)
    module = ir.Module.parse(
        f"func.func @f({given}) -> {kind} {{ %result = math.{op} {operands} : {kind} return %result : {kind} }}"
    )
    Pipeline(
        (
            ExpandMath(library=False, fused=False, moderate=op != name),
            Upstream("canonicalize,cse"),
            ExpandArithmetic(printed=True),
            Upstream("canonicalize,cse"),
        )
    ).run(module)
    function = module.body.operations[0].operation
    taken = Names(language.reserved | CALLED | {symbol})
    words = [Word(taken.fresh(each), kind) for each in names]
    printer = _FunctionPrinter(function, language, UserNames(), taken, words)
    printer.run()
    inner = [f"{INDENT * line.depth}{line.text}" for line in printer.lines]
    written = language.type(kind)
    parameters = ", ".join(f"{written} {word.name}" for word in words)
    above = _ABOVE.format(library=library)
    if op != name:
        above = f"// For angles up to {SHORT:.0f}.\n{above}"
    head = f"static inline {written} {symbol}({parameters}) {{"
    return "\n".join((above, head, *inner, "}", ""))


class _FunctionPrinter(Printer):
    """Prints a function of numbers. `fma` is one instruction, or a product and a sum where a processor has none: there
    a call takes long. What a conditional expression chooses from is computed before it: compilers do not compute what
    might not be wanted."""

    def _op(self, op: ir.Operation) -> None:
        if op.name == "func.return":
            self._statement(f"return {self._value(op.operands[0]).text};", op)
        elif op.name == "math.fma":
            kind = op.results[0].type
            name, ending = f"multiply_add_{kind}", "f" if str(kind) == "f32" else ""
            written = self.language.type(kind)
            self.language.helpers[name] = _MULTIPLY_ADD.format(
                name=name, type=written, ending=ending, fast=ending.upper()
            )
            self._bind(op, call(name, *(self._value(operand) for operand in op.operands)))
        else:
            super()._op(op)

    def _may_wait(self, op: ir.Operation, user: ir.Operation, expression: Expression) -> bool:
        is_chosen = user.name == "arith.select" and op.results[0] != user.operands[0]
        is_short = len(expression.text) <= INNER_TEXT
        return is_short and not is_chosen and super()._may_wait(op, user, expression)

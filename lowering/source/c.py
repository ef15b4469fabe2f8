"""C11: a function that does a whole launch, its loop over work-items marked for OpenMP.

Atomics are the builtins that GCC, Clang and what is made of them have; a compiler without OpenMP runs the loops in one
thread. Memory of a group or of a work-item is an array on the stack.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from mlir import ir

from pykern.data.locations import SourceSpan
from pykern.lowering.source.c_functions import SYMBOLS, function_text, is_written, symbol_of
from pykern.lowering.source.expressions import PRODUCT, Expression, binary, call
from pykern.lowering.source.language import (
    CALLED,
    FUNCTIONS,
    MODERATE,
    Head,
    Language,
    Memory,
    Word,
    parameter_lines,
)
from pykern.passes.analysis.cost_model.memory import FEWEST_TAPE_WORDS
from pykern.passes.analysis.integer_ranges import width

_TYPES = {
    "i1": "bool", "i8": "int8_t", "i16": "int16_t", "i32": "int32_t", "i64": "int64_t", "f16": "_Float16",
    "f32": "float", "f64": "double",
}  # fmt: skip
_RESERVED = """
auto bool break case char const continue default do double else enum extern float for goto if inline int long register
restrict return short signed sizeof static struct switch typedef union unsigned void volatile while true false
_Float16 NAN INFINITY int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t memcpy memmove main
j0 j1 jn y0 y1 yn gamma lgamma tgamma remainder drem nextafter hypot logb ilogb scalb ldexp frexp modf fdim
signbit isfinite isnormal significand signgam nan Tape tape tape_push tape_pop realloc free abort NULL size_t
"""
_HEADERS = {
    "math.h": CALLED - {"abs"} | {"INFINITY", "NAN"},
    "stdbool.h": frozenset(("bool", "true", "false")),
    "stdint.h": frozenset(),
    "stdlib.h": frozenset(("abs", "llabs", "realloc")),
    "string.h": frozenset(("memcpy", "memmove")),
}
"""Headers, and names for which they are included."""
_FOR_VECTORS = (
    "#if defined(__GNUC__) && !defined(__clang__)",
    '#pragma GCC optimize("no-trapping-math", "no-thread-jumps") // loops with conditions become vectors',
    "#endif",
)
_SIMPLE = {"add": "+", "sub": "-", "and": "&", "or": "|", "xor": "^"}
_FETCHED = ("add", "sub", "and", "or", "xor")
_ROUNDING = {"absf": "fabs", "roundeven": "rint"}
_CHANGE = """\
static inline {type} atomic_{kind}({type} *cell, {type} value) {{
    {type} old = __atomic_load_n(cell, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(cell, &old, {changed}, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {{
    }}
    return old;
}}
"""
_CHANGE_FLOAT = """\
static inline {type} atomic_{kind}({type} *cell, {type} value) {{
    {type} old, changed;
    __atomic_load(cell, &old, __ATOMIC_RELAXED);
    do {{
        changed = {changed};
    }} while (!__atomic_compare_exchange(cell, &old, &changed, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
    return old;
}}
"""
_EXCHANGE_IF = """\
static inline {type} {name}({type} *cell, {type} expected, {type} desired) {{
    __atomic_compare_exchange(cell, &expected, &desired, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
    return expected;
}}
"""
_TAPE = """\
typedef struct {{
    int64_t *words, used, room;
}} Tape;

static inline void tape_push(Tape *tape, int64_t word) {{
    if (tape->used == tape->room) {{
        tape->room = 2 * tape->room + {fewest};
        tape->words = (int64_t *)realloc(tape->words, (size_t)tape->room * sizeof *tape->words);
        if (tape->words == NULL) {{ abort(); }}
    }}
    tape->words[tape->used++] = word;
}}

static inline int64_t tape_pop(Tape *tape) {{
    return tape->words[--tape->used];
}}
"""
_BITS = """\
static inline {wanted} {name}({given} x) {{
    {wanted} bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}}
"""


@dataclass
class C(Language):
    """C11."""

    name: str = "C"
    types: dict[str, str] = field(default_factory=lambda: dict(_TYPES))
    reserved: frozenset[str] = frozenset(_RESERVED.split()) | SYMBOLS
    parallel: str = "#pragma omp parallel for schedule(static)"

    def unsigned(self, kind: ir.Type) -> str:
        return f"u{_TYPES[str(kind)]}"

    def _integer(self, number: int, kind: ir.Type) -> Expression:
        found = super()._integer(number, kind)
        return replace(found, text=found.text.replace("L", "LL"))

    def _float(self, number: float, kind: ir.Type) -> Expression:
        found = super()._float(number, kind)
        return self.cast(kind, found) if str(kind) == "f16" else found

    def rounded(self, value: Expression, op: ir.Operation) -> Expression:
        """Floats of 16 bits are computed in 32 by most compilers, until a cast."""
        kind = op.results[0].type
        return self.cast(kind, value) if str(kind) == "f16" else value

    def bits(self, operand: Expression, given: ir.Type, wanted: ir.Type) -> Expression:
        name = f"{self._short(wanted)}_of_{self._short(given)}"
        self.helpers[name] = _BITS.format(name=name, given=self.type(given), wanted=self.type(wanted))
        return call(name, operand)

    def function(self, name: str, kind: ir.Type, operands: Sequence[Expression]) -> Expression:
        if str(kind) == "f16":
            return self.cast(kind, self.function(name, ir.F32Type.get(), operands))
        ending = "f" if str(kind) == "f32" else ""
        if name == "rsqrt":
            one = Expression(f"1.0{ending}")
            return binary(one, "/", call(f"sqrt{ending}", *operands), PRODUCT)
        plain = _ROUNDING.get(name) or FUNCTIONS.get(name, name).removeprefix(MODERATE)
        if name == "absi":
            return call("llabs" if width(kind) == 64 else "abs", *operands)
        if is_written(name, kind):
            symbol = symbol_of(name, str(kind))
            if symbol not in self.helpers:
                self.helpers[symbol] = function_text(symbol, name, kind, plain + ending, self)
            return call(symbol, *operands)
        return call(plain + ending, *operands)

    def private(self, name: str, kind: str, count: int) -> str:
        return f"{kind} {name}[{count}];"

    def atomic(self, kind: str, cell: str, value: str, element: ir.Type, memory: Memory | None) -> str:
        if kind in _FETCHED and not isinstance(element, ir.FloatType):
            return f"__atomic_fetch_{kind}(&{cell}, {value}, __ATOMIC_RELAXED)"
        if kind == "exchange" and not isinstance(element, ir.FloatType):
            return f"__atomic_exchange_n(&{cell}, {value}, __ATOMIC_RELAXED)"
        name = f"{kind}_{self._short(element)}"
        form = _CHANGE_FLOAT if isinstance(element, ir.FloatType) else _CHANGE
        changed = self._changed(kind, element)
        self.helpers[name] = form.format(type=self.type(element), kind=name, changed=changed)
        return f"atomic_{name}(&{cell}, {value})"

    def _changed(self, kind: str, element: ir.Type) -> str:
        """What an element becomes, of its old value and the one that is given. A NaN stays one."""
        if kind == "exchange":
            return "value"
        if kind in _SIMPLE:
            return f"old {_SIMPLE[kind]} value"
        operator = "<" if kind.endswith("min") else ">"
        if isinstance(element, ir.FloatType):
            return f"isnan(value) || value {operator} old ? value : old"
        sign = f"({self.unsigned(element)})" if kind.startswith("u") else ""
        return f"{sign}value {operator} {sign}old ? value : old"

    @property
    def begin_tape(self) -> tuple[str, ...]:
        self.helpers["tape"] = _TAPE.format(fewest=FEWEST_TAPE_WORDS)
        return ("Tape tape = {0};",)

    @property
    def end_tape(self) -> tuple[str, ...]:
        return ("free(tape.words);",)

    def push(self, value: str) -> str:
        return f"tape_push(&tape, {value});"

    def pop(self) -> str:
        return "tape_pop(&tape)"

    def exchange_if(
        self, cell: str, expected: str, desired: str, element: ir.Type, memory: Memory | None
    ) -> str:
        name = f"compare_exchange_{self._short(element)}"
        self.helpers[name] = _EXCHANGE_IF.format(type=self.type(element), name=name)
        return f"{name}(&{cell}, {expected}, {desired})"

    def _short(self, element: ir.Type) -> str:
        return self.type(element).removesuffix("_t").lstrip("_").lower()

    def variable(self, kind: str, name: str, value: str | None) -> str:
        return super().variable(kind, name, value).replace("* ", "*", 1 if kind.endswith("*") else 0)

    def constant(self, kind: str, name: str, value: str) -> str:
        return f"{kind}const {name} = {value};" if kind.endswith("*") else super().constant(kind, name, value)

    def type(self, kind: ir.Type, span: SourceSpan | None = None) -> str:
        return "int64_t" if isinstance(kind, ir.IndexType) else super().type(kind, span)

    def kernel(self, head: Head) -> list[str]:
        static = "" if self.alone else "static "
        parameters = [self._parameter(each) for each in head.arguments]
        return [f"{static}void {head.name}(", *parameter_lines(parameters)]

    def top(self, lines: Sequence[str]) -> list[str]:
        text = " ".join((*lines, *self.helpers.values()))
        used = set(re.findall(r"[A-Za-z_]\w*", text))
        head = [
            f"#include <{header}>"
            for header, names in _HEADERS.items()
            if used & names or header == "stdint.h"
        ]
        vectors = _FOR_VECTORS if used & SYMBOLS or " ? " in text else ()
        return [*head, "", "#pragma STDC FP_CONTRACT OFF", *vectors, "", *self.helper_lines()]

    def _parameter(self, told: Memory | Word) -> str:
        if isinstance(told, Word):
            return f"{self.type(told.type)} {told.name}"
        alone = "restrict " if self.noalias else ""
        return f"{'' if told.written else 'const '}{self.element(told)} *{alone}{told.name}"

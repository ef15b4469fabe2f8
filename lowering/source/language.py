"""What languages differ in, and what those that look like C have in common.

A `Language` gives the printer words: types, literals, casts, ids, barriers, atomics, declarations, the head of a
kernel. One file a language overrides what is its own.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from mlir import ir

from pykern.data.locations import SourceSpan
from pykern.errors import TargetError
from pykern.lowering.source.expressions import ATOM, LOOSE, UNARY, Expression, call, prefix
from pykern.lowering.source.msl_fragments import Moved

_COMPUTED_IN_F64 = (
    "use pk.f32: np.zeros and np.eye are f64 without dtype=, as is a product of integers and floats of Python, or "
    "what is computed with a parameter that is a float of Python's (annotate it, `rate: pk.f32`); "
    "pk.gamma, pk.lgamma and pk.isqrt of 64 bits are computed in f64, too"
)


@dataclass(frozen=True)
class Memory:
    """An array argument, or memory of a group: its name, its element, and what the kernel does with it."""

    name: str
    element: ir.Type
    written: bool
    atomic: bool
    shared: bool = False
    unsigned: bool = False
    """Whether the caller's elements have no sign; in the kernel they have the bits of integers with one."""


@dataclass(frozen=True)
class Word:
    """A number argument: its name and type, and whether the kernel reads it."""

    name: str
    type: ir.Type
    used: bool = True


@dataclass(frozen=True)
class Head:
    """What stands in front of a kernel's body: its name, arguments, workgroup, and declarations of shared memory."""

    name: str
    arguments: Sequence[Memory | Word]
    block: tuple[int, ...] = ()
    shared: Sequence[str] = ()

    @property
    def memories(self) -> list[Memory]:
        return [each for each in self.arguments if isinstance(each, Memory)]

    @property
    def words(self) -> list[Word]:
        return [each for each in self.arguments if isinstance(each, Word)]


@dataclass
class Language:
    """A language that looks like C. `helpers` collects what functions of its own the printed kernel calls."""

    name: str = ""
    types: dict[str, str] = field(default_factory=dict)
    reserved: frozenset[str] = frozenset()
    helpers: dict[str, str] = field(default_factory=dict)
    accurate: bool = True
    """Whether its functions of mathematics are as accurate as C's."""
    native: tuple[str, ...] = ()
    """Of functions that are written out in arithmetic, those that stay, by the names of their ops."""
    whole_words: bool = False
    """Whether arrays hold elements of 32 bits alone."""
    unequal_to_nan: bool = True
    """Whether ``!=`` holds where an operand is NaN."""
    narrows: bool = True
    """Whether integers of 64 bits are written in 32 where these are proved to hold them."""
    atomic_bits: int = 64
    """Bits of the widest integer that it changes atomically."""
    sized: bool = False
    """Whether a launch gives arrays of a group's memory their lengths; else they have all that is left."""
    shuffles: bool = False
    """Whether work-items of a subgroup exchange values."""
    parallel: str = ""
    """What stands above the loop over work-items, of a language that has one."""
    weak_exchange: bool = False
    """Whether compare and exchange may fail although the element is the expected one."""
    mixes: bool = True
    """Whether arithmetic takes integers of 32 and of 64 bits at once."""
    pairs: bool = False
    """Whether an integer of 64 bits is a pair of them, see `pairs`."""
    wraps: bool = False
    """Whether signed integers wrap around, as Python's types of fixed width do."""
    noalias: bool = True
    """Whether no two arguments of a kernel share memory."""
    alone: bool = True
    """Whether the text holds one kernel."""
    bounds_items: bool = False
    """Whether a compiler of it makes wrong bounds out of conditions on ids; see `spirv.opaque_ids`."""

    def argument(self, told: Memory | Word) -> str:
        """How an argument is written in the body."""
        return told.name

    # -- types and values ------------------------------------------------------------------------

    def type(self, kind: ir.Type, span: SourceSpan | None = None) -> str:
        """The name of a type. Raises `TargetError` at `span` where the language has none."""
        name = self.types.get(str(kind))
        if name is None:
            hint = _COMPUTED_IN_F64 if str(kind) == "f64" else "use a smaller type on this target"
            raise TargetError(f"{self.name} has no type {kind}", span, hint=hint)
        return name

    def unsigned(self, kind: ir.Type) -> str:
        """The unsigned integer type as wide as `kind`."""
        raise NotImplementedError

    def literal(self, value: ir.Attribute, kind: ir.Type) -> Expression:
        """A constant."""
        if isinstance(kind, ir.FloatType):
            return self._float(ir.FloatAttr(value).value, kind)
        number = ir.IntegerAttr(value).value
        if str(kind) == "i1":
            return Expression("true" if number else "false")
        return self._integer(number, kind)

    def _integer(self, number: int, kind: ir.Type) -> Expression:
        bits = ir.IntegerType(kind).width
        suffix = "L" if bits == 64 and not -(1 << 31) < number < 1 << 31 else ""
        if number == -(1 << (bits - 1)) and bits >= 32:  # the number without its sign does not fit
            return Expression(f"-{-(number + 1)}{suffix} - 1", LOOSE)
        return Expression(f"{number}{suffix}", ATOM if number >= 0 else UNARY)

    def _float(self, number: float, kind: ir.Type) -> Expression:
        if math.isnan(number) or math.isinf(number):
            return self.special(number, kind)
        text = shortest(number, str(kind)) + self.suffix(kind)
        return Expression(text, UNARY if text.startswith("-") else ATOM)

    def suffix(self, kind: ir.Type) -> str:
        """What stands behind the digits of a float."""
        return {"f64": "", "f32": "f"}.get(str(kind), "f")

    def special(self, number: float, kind: ir.Type) -> Expression:
        """An infinity or no number."""
        text = "NAN" if math.isnan(number) else "INFINITY"
        return Expression(f"-{text}", UNARY) if number < 0 else Expression(text)

    def cast(self, kind: ir.Type, operand: Expression) -> Expression:
        """``(kind)operand``."""
        return prefix(f"({self.type(kind)})", operand)

    def resized(self, kind: ir.Type, operand: Expression, given: ir.Type) -> Expression:
        """An integer of the type `given` with more bits, or its last ones."""
        return self.cast(kind, operand)

    def to_unsigned(self, kind: ir.Type, operand: Expression) -> Expression:
        """An integer of this width read without its sign."""
        name = self.unsigned(kind)
        if operand.other_sign is not None and operand.other_sign[1] == name:
            return operand.other_sign[0]
        return Expression(f"{operand.text}u") if operand.text.isdigit() else prefix(f"({name})", operand)

    def signed(self, kind: ir.Type, operand: Expression) -> Expression:
        """What was computed without signs, as a number with one."""
        wide = kind if ir.IntegerType(kind).width >= 32 else ir.IntegerType.get_signless(32)
        return replace(
            self.cast(kind, operand), other_sign=(operand, self.unsigned(wide)) if wide == kind else None
        )

    def from_unsigned(self, kind: ir.Type, operand: Expression) -> Expression:
        """An integer without sign as a wider one, or as a float."""
        return self.cast(kind, operand)

    def unsigned_of_float(self, kind: ir.Type, operand: Expression) -> Expression:
        """A float as an integer without sign."""
        return prefix(f"({self.unsigned(kind)})", operand)

    def shift(self, by: Expression) -> Expression:
        """How far something is shifted."""
        return by

    def unsigned_shift(self, kind: ir.Type, by: Expression) -> Expression:
        """How far an integer of this width is shifted without its sign."""
        return self.to_unsigned(kind, by)

    def rounded(self, value: Expression, op: ir.Operation) -> Expression:
        """The result of an operation on floats, which may be joined with others only where the op says so."""
        return value

    def hidden(self, value: Expression, kind: ir.Type) -> Expression:
        """A float that compilers shall not know to be another operand's: ``x - x`` is no zero where x is infinite."""
        return value

    def bits(self, operand: Expression, given: ir.Type, wanted: ir.Type) -> Expression:
        """The same bits as another type."""
        raise NotImplementedError

    def select(self, condition: Expression, one: Expression, other: Expression) -> Expression:
        """One of two values."""
        text = f"{condition.within(LOOSE + 1)} ? {one.within(LOOSE + 1)} : {other.within(LOOSE + 1)}"
        return Expression(text, LOOSE).over(condition, one, other)

    def function(self, name: str, kind: ir.Type, operands: Sequence[Expression]) -> Expression:
        """A function of mathematics by its name in MLIR's math dialect."""
        return call(FUNCTIONS.get(name, name), *operands)

    def is_nan(self, operand: Expression, kind: ir.Type) -> Expression:
        """Whether a float is no number."""
        return call("isnan", operand)

    # -- statements ------------------------------------------------------------------------------

    def constant(self, kind: str, name: str, value: str) -> str:
        """A name for a value."""
        return f"const {kind} {name} = {value};"

    def variable(self, kind: str, name: str, value: str | None) -> str:
        """A variable, with its first value where there is one."""
        return f"{kind} {name};" if value is None else f"{kind} {name} = {value};"

    def loop(self, kind: str, name: str, first: str, end: str, step: str) -> str:
        """The head of a counted loop; numbers that are pairs are counted by functions."""
        increment = f"{name}++" if step == "1" else f"{name} += {step}"
        return f"for ({kind} {name} = {first}; {name} < {end}; {increment}) {{"

    @property
    def forever(self) -> str:
        """The head of a loop that only `break` leaves."""
        return "for (;;) {"

    # -- the machine -----------------------------------------------------------------------------

    def place(self, what: str, axis: int) -> Expression:
        """The number of the work-item in its group (``thread``), or of the group (``block``)."""
        raise NotImplementedError

    def place_as(self, kind: ir.Type, place: Expression) -> Expression:
        """Such a number as an integer with a sign."""
        return self.cast(kind, place)

    @property
    def barrier(self) -> str:
        """All work-items of a group wait for each other, and see what was written."""
        raise NotImplementedError

    def shared(self, name: str, kind: str, count: int, atomic: bool) -> str:
        """Memory of a group; `atomic` where it is changed atomically."""
        raise NotImplementedError

    def sized_shared(self, name: str, kind: str, number: int, atomic: bool) -> str:
        """The parameter of a kernel that is memory of a group of a launch's length, the one of this `number`."""
        raise NotImplementedError

    def shuffle(self, mode: str, value: Expression, amount: Expression) -> str:
        """An integer of 32 bits of another work-item of the subgroup, by the modes of `gpu.shuffle`."""
        raise NotImplementedError

    def fragment_type(self, kind: ir.Type) -> str:
        """The type of the elements of matrices that a subgroup holds."""
        return self.type(kind)

    def fragments(self, name: str, kind: str, count: int) -> list[str]:
        """An array of matrices that a subgroup holds."""
        raise NotImplementedError

    def clear_fragments(self, name: str, kind: str, count: int) -> list[str]:
        """Zeros in all matrices of an array."""
        raise NotImplementedError

    def move_fragments(self, moved: Moved, is_load: bool) -> list[str]:
        """Load matrices from memory of the group, or store them there."""
        raise NotImplementedError

    def multiply_fragments(self, sums: str, left: tuple[str, int], right: tuple[str, int]) -> list[str]:
        """Add products of matrices to sums; arrays of factors come with their lengths."""
        raise NotImplementedError

    def private(self, name: str, kind: str, count: int) -> str:
        """Memory of a work-item."""
        return f"{kind} {name}[{count}];"

    def subscript(self, place: Expression, bits: int) -> str:
        """The place of an element between its brackets, a number of so many bits."""
        return place.text

    def load(self, cell: str, memory: Memory | None) -> str:
        """An element; `memory` where it is an argument's."""
        return f"({self.type(memory.element)}){cell}" if memory is not None and memory.unsigned else cell

    def element(self, memory: Memory) -> str:
        """The type of an argument's elements, as callers have them."""
        return self.unsigned(memory.element) if memory.unsigned else self.type(memory.element)

    def store(self, cell: str, value: str, memory: Memory | None) -> str:
        """Write an element."""
        return f"{cell} = {value};"

    def atomic(self, kind: str, cell: str, value: str, element: ir.Type, memory: Memory | None) -> str:
        """Change an integer atomically, by one of the kinds of `kern.atomic_rmw`; gives the old value."""
        raise NotImplementedError

    def exchange_if(
        self, cell: str, expected: str, desired: str, element: ir.Type, memory: Memory | None
    ) -> str:
        """Compare and exchange an integer; gives the old value."""
        raise NotImplementedError

    def exchange_weakly(self, name: str, tried: str, cell: str, expected: str, desired: str) -> list[str]:
        """The same where it may fail, as lines that assign the old value to the variable `name`; `tried` is a name for
        one try."""
        raise NotImplementedError

    @property
    def begin_tape(self) -> Sequence[str]:
        """The lines before anything is put on the tape of a derivative."""
        raise NotImplementedError

    @property
    def end_tape(self) -> Sequence[str]:
        """The lines behind all that uses it."""
        raise NotImplementedError

    def push(self, word: str) -> str:
        """Put an integer of 64 bits on the tape: a statement."""
        raise NotImplementedError

    def pop(self) -> str:
        """Take the integer that was put there last off the tape."""
        raise NotImplementedError

    def kernel(self, head: Head) -> list[str]:
        """The lines in front of the body; behind it stands `}`."""
        raise NotImplementedError

    def top(self, lines: Sequence[str]) -> list[str]:
        """What stands once above all kernels of a text, which are `lines`: headers, pragmas, `helpers`."""
        return self.helper_lines()

    def helper_lines(self) -> list[str]:
        """The functions that kernels call, each with an empty line behind it."""
        return [line for text in self.helpers.values() for line in (*text.rstrip("\n").split("\n"), "")]


def parameter_lines(parameters: Sequence[str]) -> list[str]:
    """Parameters of a function, one a line, and the beginning of its body."""
    lines = [f"    {each}," for each in parameters]
    return [*lines[:-1], *(line.removesuffix(",") for line in lines[-1:]), ") {"]


FUNCTIONS = {
    "absf": "fabs", "powf": "pow", "roundeven": "rint", "ctlz": "clz", "ctpop": "popcount", "absi": "abs",
}  # fmt: skip
"""Functions that C calls otherwise than MLIR."""
MODERATE = "moderate_"
"""In front of the name of a function of an angle that is not huge (`kern.moderate`)."""


_CALLED = """
abs acos acosh asin asinh atan atan2 atanh cbrt ceil clamp clz copysign cos cosh erf erfc exp exp2 expm1 fabs floor fma
fmax fmin fmod isinf isnan log log10 log1p log2 max min pow popcount rint round rsqrt select sin sinh sqrt
tan tanh trunc
"""
CALLED = frozenset(name + ending for name in _CALLED.split() for ending in ("", "f"))
"""Functions that printed kernels may call: no variable has such a name."""


def shortest(number: float, kind: str) -> str:
    """The fewest digits that are read as the same number of this type, always with a point."""
    if kind != "f64":
        form = "e" if kind == "f16" else "f"
        wanted = struct.pack(form, number)
        tried = (float(f"{number:.{digits}g}") for digits in range(1, 18))
        number = next(each for each in tried if struct.pack(form, each) == wanted)
    text = repr(number)
    return text if any(mark in text for mark in ".e") else f"{text}.0"

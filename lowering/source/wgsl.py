"""WGSL, the language of WebGPU.

It has no integers but those of 32 bits and no 64-bit floats. Integers of 8 and 16 bits are kept in 32, with their sign;
those of 64 are pairs (`pairs`).
Its compilers may regroup arithmetic on floats and take for granted that nothing is NaN, so what has to be exact goes
through bits that they cannot see through.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from mlir import ir

from pykern.data.locations import SourceSpan
from pykern.lowering.source.expressions import ATOM, UNARY, Expression, binary, call
from pykern.lowering.source.language import Head, Language, Memory, Word
from pykern.lowering.source.options import SourceOptions
from pykern.lowering.source.pairs import PAIR, pair_of
from pykern.lowering.source.wgsl_functions import FUNCTIONS, add_function
from pykern.passes.analysis.integer_ranges import width
from pykern.passes.ir.values import made_by

_TYPES = {
    "i1": "bool", "i8": "i32", "i16": "i32", "i32": "i32", "i64": PAIR, "index": PAIR, "f16": "f16", "f32": "f32",
}  # fmt: skip
_ATOMICS = {
    "add": "Add", "sub": "Sub", "min": "Min", "max": "Max", "and": "And", "or": "Or", "xor": "Xor",
    "exchange": "Exchange",
}  # fmt: skip
_FUNCTIONS = {
    "absf": "abs", "absi": "abs", "powf": "pow", "rsqrt": "inverseSqrt", "roundeven": "round",
    "ctlz": "countLeadingZeros", "ctpop": "countOneBits",
}  # fmt: skip
_RESERVED = """
alias break case const const_assert continue continuing default diagnostic discard else enable false fn for if
let loop override requires return struct switch true var while bool f16 f32 i32 u32 array atomic ptr vec2 vec3
vec4 mat2x2 sampler target filter mask smooth shared get set this self super pub private public protected
static import from as in is of out mod move new null ref resource where with yield async await auto class
delete do enum export extends external final friend goto impl inline interface loop lowp macro match module
mut namespace noexcept operator package precise priv register restrict signed sizeof std template throw trait
try type typedef typeof union unsigned use using varying virtual void volatile active common handle half words
local_id group_id exact from_bits is_nan select step abs min max clamp mix sin cos exp log pow sqrt floor ceil
round sign dot cross length
"""
_SHUFFLES = {
    "idx": "subgroupShuffle",
    "xor": "subgroupShuffleXor",
    "up": "subgroupShuffleUp",
    "down": "subgroupShuffleDown",
}
_FIXED = "// The adapter's `subgroupMinSize` and `subgroupMaxSize` must both be {}."
_OWN = ("sin", "cos", "tan")
"""Functions that are written in WGSL: elsewhere their arithmetic needs floats of 64 bits."""
_SUMS = ("arith.addf", "arith.subf", "math.fma")
_FROM_BITS = """\
// Constants that are infinite or NaN are refused; `words.zero` is 0, which no compiler knows.
fn from_bits(bits: u32) -> f32 { return bitcast<f32>(bits | words.zero); }"""
_IS_NAN = "fn is_nan(x: f32) -> bool { return (bitcast<u32>(x) & 0x7fffffffu) > 0x7f800000u; }"
_COPYSIGN = """\
fn copysign(x: f32, y: f32) -> f32 {
    return bitcast<f32>((bitcast<u32>(x) & 0x7fffffffu) | (bitcast<u32>(y) & 0x80000000u));
}"""
_EXACT = """\
// Compilers regroup sums, but not through this; `words.zero` is 0.
fn exact(x: f32) -> f32 { return bitcast<f32>(bitcast<u32>(x) ^ words.zero); }"""
_HELPERS = {"from_bits": _FROM_BITS, "is_nan": _IS_NAN, "copysign": _COPYSIGN, "exact": _EXACT}


@dataclass
class Wgsl(Language):
    """WGSL."""

    name: str = "WGSL"
    types: dict[str, str] = field(default_factory=lambda: dict(_TYPES))
    reserved: frozenset[str] = frozenset((*_RESERVED.split(), *FUNCTIONS))
    accurate: bool = False
    native: tuple[str, ...] = tuple(f"math.{name}" for name in _OWN)
    whole_words: bool = True
    unequal_to_nan: bool = False  # naga makes the ordered comparison of it
    wraps: bool = True
    weak_exchange: bool = True
    pairs: bool = True
    atomic_bits: int = 32
    words: bool = False
    """Whether pykern launches the text: two arguments may then be parts of one buffer, which WebGPU refuses where only
    one of them is written."""
    halves: bool = False
    """Whether the text has a float of 16 bits: a type, or the digits of one."""
    lanes: int = 0
    """How many work-items of a subgroup exchange values; 0 where none do."""
    exchanges: bool = False
    """Whether work-items of a subgroup exchange values in the text."""

    @classmethod
    def of(cls, options: SourceOptions) -> Wgsl:
        """The language of a device with these numbers, and of these launches."""
        language = cls(words=options.words, lanes=options.lanes, shuffles=options.lanes > 0)
        if not options.f16:
            del language.types["f16"]
        return language

    def argument(self, told: Memory | Word) -> str:
        return told.name if isinstance(told, Memory) or self.words else f"words.{told.name}"

    def type(self, kind: ir.Type, span: SourceSpan | None = None) -> str:
        name = super().type(kind, span)
        self.halves |= name == "f16"
        return name

    def unsigned(self, kind: ir.Type) -> str:
        return "u32"

    def to_unsigned(self, kind: ir.Type, operand: Expression) -> Expression:
        if operand.other_sign is not None:
            return operand.other_sign[0]
        if operand.text.isdigit():
            return Expression(f"{operand.text}u")
        bits = ir.IntegerType(kind).width
        return (
            call("bitcast<u32>", operand)
            if bits >= 32
            else binary(call("bitcast<u32>", operand), "&", Expression(hex((1 << bits) - 1) + "u"), 1)
        )

    def signed(self, kind: ir.Type, operand: Expression) -> Expression:
        signed = call("bitcast<i32>", operand)
        if ir.IntegerType(kind).width == 32:
            return replace(signed, other_sign=(operand, "u32"))
        return self._kept_in(kind, signed)

    def from_unsigned(self, kind: ir.Type, operand: Expression) -> Expression:
        return self.signed(kind, operand) if width(kind) else self.cast(kind, operand)

    def unsigned_of_float(self, kind: ir.Type, operand: Expression) -> Expression:
        return call("u32", operand)

    def cast(self, kind: ir.Type, operand: Expression) -> Expression:
        return self._kept_in(kind, call(self.type(kind), operand))

    def resized(self, kind: ir.Type, operand: Expression, given: ir.Type) -> Expression:
        """Both are `i32`, but for truth values."""
        if width(given) == 1 or width(kind) == 1:
            return self.cast(kind, operand)
        return self._kept_in(kind, operand) if width(kind) < width(given) else operand

    def _kept_in(self, kind: ir.Type, operand: Expression) -> Expression:
        """An integer of 8 or 16 bits with the sign of its own last bit."""
        small = isinstance(kind, ir.IntegerType) and 1 < kind.width < 32
        return (
            Expression(f"extractBits({operand.text}, 0u, {kind.width}u)").over(operand) if small else operand
        )

    def shift(self, by: Expression) -> Expression:
        return Expression(f"{by.text}u") if by.text.isdigit() else call("u32", by)

    def rounded(self, value: Expression, op: ir.Operation) -> Expression:
        """Alone, where an op behind it might be joined with it; one that may be contracted only where that takes back
        what it adds."""
        kind = op.results[0].type
        if op.name == "arith.divf":
            return value
        contracts = (
            "contract" in str(op.attributes["fastmath"]) and str(kind) != "f16"
        )  # which is always rounded
        if not (_may_cancel(op) if contracts else _is_joined(op)):
            return value
        return self.hidden(value, kind)

    def hidden(self, value: Expression, kind: ir.Type) -> Expression:
        if str(kind) == "f16":
            return call("f16", self.hidden(call("f32", value), ir.F32Type.get()))
        return call(self.helper("exact", kind), value)

    def helper(self, name: str, kind: ir.Type) -> str:
        """The name of a function of `_HELPERS` for floats of a type; the text gets it."""
        self.helpers[name] = _HELPERS[name]
        return name

    def suffix(self, kind: ir.Type) -> str:
        return {"f16": "h", "f32": "f"}[self.type(kind)]

    def special(self, number: float, kind: ir.Type) -> Expression:
        name = self.helper("from_bits", kind)
        bits = 0x7FC00000 if math.isnan(number) else struct.unpack("I", struct.pack("f", number))[0]
        found = Expression(f"{name}({bits:#x}u)")
        return call(self.type(kind), found) if str(kind) == "f16" else found

    def _float(self, number: float, kind: ir.Type) -> Expression:
        if self.types.get(str(kind)) == PAIR:
            return pair_of(struct.unpack("<Q", struct.pack("<d", number))[0])
        return super()._float(number, kind)

    def _integer(self, number: int, kind: ir.Type) -> Expression:
        if ir.IntegerType(kind).width == 64:
            return pair_of(number)
        if number == -(1 << 31):
            return Expression("(-2147483647 - 1)")
        return Expression(str(number), ATOM if number >= 0 else UNARY)

    def bits(self, operand: Expression, given: ir.Type, wanted: ir.Type) -> Expression:
        if str(given) == "f16":
            return self._kept_in(
                wanted,
                Expression(f"bitcast<i32>(pack2x16float(vec2<f32>(f32({operand.text}), 0.0f)))").over(
                    operand
                ),
            )
        if str(wanted) == "f16":
            return Expression(f"f16(unpack2x16float(bitcast<u32>({operand.text})).x)").over(operand)
        return call(f"bitcast<{self.type(wanted)}>", operand)

    def select(self, condition: Expression, one: Expression, other: Expression) -> Expression:
        return call("select", other, one, condition)

    def function(self, name: str, kind: ir.Type, operands: Sequence[Expression]) -> Expression:
        if name == "copysign" and str(kind) == "f16":
            wide = ir.F32Type.get()
            return call("f16", self.function(name, wide, [call("f32", each) for each in operands]))
        if name == "copysign":
            return call(self.helper(name, kind), *operands)
        if name in _OWN and str(kind) == "f32":
            add_function(f"{name}_f32", self.helpers)
            return call(f"{name}_f32", *operands)
        return call(_FUNCTIONS.get(name, name), *operands)

    def is_nan(self, operand: Expression, kind: ir.Type) -> Expression:
        return call(self.helper("is_nan", kind), call("f32", operand) if str(kind) == "f16" else operand)

    def constant(self, kind: str, name: str, value: str) -> str:
        return f"let {name} = {value};"

    def variable(self, kind: str, name: str, value: str | None) -> str:
        return f"var {name}: {kind};" if value is None else f"var {name}: {kind} = {value};"

    def loop(self, kind: str, name: str, first: str, end: str, step: str) -> str:
        if kind == PAIR:
            for function in ("less64", "add64"):
                add_function(function, self.helpers)
            condition, increment = f"less64({name}, {end})", f"{name} = add64({name}, {step})"
        else:
            condition, increment = f"{name} < {end}", f"{name}++" if step == "1" else f"{name} += {step}"
        return f"for (var {name}: {kind} = {first}; {condition}; {increment}) {{"

    def subscript(self, place: Expression, bits: int) -> str:
        return f"{place.within(ATOM)}.x" if bits == 64 else place.text

    @property
    def forever(self) -> str:
        return "loop {"

    def place(self, what: str, axis: int) -> Expression:
        return Expression(f"{'local' if what == 'thread' else 'group'}_id.{'xyz'[axis]}")

    def place_as(self, kind: ir.Type, place: Expression) -> Expression:
        return call(PAIR, place, Expression("0u")) if self.type(kind) == PAIR else self.cast(kind, place)

    @property
    def barrier(self) -> str:
        return "storageBarrier(); workgroupBarrier();"

    def shared(self, name: str, kind: str, count: int, atomic: bool) -> str:
        element = f"atomic<{kind}>" if atomic else kind
        return f"var<workgroup> {name}: array<{element}, {count}>;"

    def shuffle(self, mode: str, value: Expression, amount: Expression) -> str:
        self.exchanges = True
        return call(_SHUFFLES[mode], value, self.shift(amount)).text

    def private(self, name: str, kind: str, count: int) -> str:
        return f"var {name}: array<{kind}, {count}>;"

    def load(self, cell: str, memory: Memory | None) -> str:
        return f"atomicLoad(&{cell})" if memory is not None and memory.atomic else cell

    def store(self, cell: str, value: str, memory: Memory | None) -> str:
        return (
            f"atomicStore(&{cell}, {value});"
            if memory is not None and memory.atomic
            else f"{cell} = {value};"
        )

    def atomic(self, kind: str, cell: str, value: str, element: ir.Type, memory: Memory | None) -> str:
        return f"atomic{_ATOMICS[kind]}(&{cell}, {value})"

    def exchange_weakly(self, name: str, tried: str, cell: str, expected: str, desired: str) -> list[str]:
        return [
            "loop {",
            f"    let {tried} = atomicCompareExchangeWeak(&{cell}, {expected}, {desired});",
            f"    {name} = {tried}.old_value;",
            f"    if ({tried}.exchanged || {name} != {expected}) {{ break; }}",
            "}",
        ]

    def access(self, memory: Memory) -> str:
        """What a kernel may do with an array."""
        return "read_write" if memory.written or self.words else "read"

    def kernel(self, head: Head) -> list[str]:
        memories, words = head.memories, head.words
        fields = [f"    {each.name}: {self.type(each.type)}," for each in words]
        fields += ["    zero: u32,"] if "words.zero" in "".join(self.helpers.values()) else []
        lines = ["struct Words {", *fields, "}", ""] if fields else []
        for number, each in enumerate(memories):
            element = f"atomic<{self.type(each.element)}>" if each.atomic else self.type(each.element)
            access = self.access(each)
            lines.append(
                f"@group(0) @binding({number}) var<storage, {access}> {each.name}: array<{element}>;"
            )
        lines += [f"@group(0) @binding({len(memories)}) var<uniform> words: Words;"] if fields else []
        lines += [*head.shared, "", f"@compute @workgroup_size({', '.join(map(str, head.block))})"]
        ids = "@builtin(local_invocation_id) local_id: vec3<u32>, @builtin(workgroup_id) group_id: vec3<u32>"
        lines.append(f"fn {head.name}({ids}) {{")
        if self.words:  # read once: at each use Mesa's compiler for processors would read it again
            lines += [f"    let {each.name} = words.{each.name};" for each in words if each.used]
        return lines

    def top(self, lines: Sequence[str]) -> list[str]:
        enabled = ["enable f16;"] if self.halves else []
        if self.exchanges and not self.words:  # wgpu has subgroups without the line, and refuses it
            enabled += ["enable subgroups;", _FIXED.format(self.lanes)]
        return [*enabled, *([""] if enabled else []), *self.helper_lines()]


def _is_joined(op: ir.Operation) -> bool:
    """Whether the result goes on into an operation that a compiler might join with this one: a sum, or one product of
    another. What is multiplied into a sum, compared, stored or read as bits stays what it is."""
    value = op.results[0]
    for use in value.uses:
        user, at = use.owner.operation, use.operand_number
        if user.name in ("arith.addf", "arith.subf", "scf.yield", "scf.condition"):
            return True
        if (user.name == "math.fma" and at == 2) or (user.name == op.name == "arith.mulf"):
            return True
        if user.name in ("arith.negf", "arith.select") and _is_joined(user):
            return True
    return False


def _may_cancel(op: ir.Operation) -> bool:
    """Whether a sum goes on into one that a compiler might join it with: of constants, or of the same value again."""
    if op.name not in _SUMS:
        return False
    for use in op.results[0].uses:
        user = use.owner.operation
        if user.name in _SUMS:
            others = [value for value in user.operands if value != op.results[0]]
            if (_has_constant(op.operands) and _has_constant(others)) or any(
                value in list(op.operands) for value in others
            ):
                return True
    return False


def _has_constant(values: Sequence[ir.Value]) -> bool:
    return any(made_by(value, "arith.constant") is not None for value in values)

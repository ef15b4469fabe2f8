"""Rules of memory: loads, stores, atomic operations, and addresses of one space as those of another.

Comes in: an `Instruction`. Goes out: LLVM IR that asks `memory_checks` for each access, which gives the host's address.
Threads run one at a time, so an atomic operation is a load, its operation and a store, and fences need nothing.
"""

from __future__ import annotations

from pykern.runtime.emulator.arithmetic import PAIRS, kind_of
from pykern.runtime.emulator.opcodes import opcode
from pykern.runtime.emulator.operands import SHORT, Values, elements, integer, is_float, is_signed
from pykern.runtime.emulator.ptx import BYTES, Instruction, UnknownPtx
from pykern.runtime.emulator.races import ASYNC

SPACES = ("global", "shared", "local", "param", "const")
_ORDERS = "weak relaxed acquire release acq_rel cta gpu sys cluster volatile"
_READ, _VECTOR, _WRITE, _UPDATE = "read", "vector", "write", "update"


def host_address(t: Values, one: Instruction, operand: str, nbytes: int, access: str, space: str = "") -> str:
    """The host's pointer of an access, which is checked; `space` where the instruction names two."""
    base, _, offset = operand.strip("[]").partition("+")
    space = space or next((m for m in one.modifiers if m in SPACES), "generic").replace("const", "global")
    value = t.bits(base, 64)
    if offset:
        value = t.value(f"add i64 {value}, {int(offset)}")
    arguments = ("ptr", "%launch"), ("i64", value), ("i64", str(one.number))
    return t.call("ptr", f"pk_{space}_{access}_{nbytes}", *arguments)


def parameter(t: Values, one: Instruction, operand: str) -> str:
    """The pointer of a parameter: the kernel's own, the function's, or one that is about to be passed."""
    name, _, offset = operand.strip("[]").partition("+")
    if name in t.function.arguments or (not t.function.is_kernel and name in _names(t)):
        return t.offset(f'%"{name}"', int(offset or 0))
    if name not in _names(t):
        raise UnknownPtx(f"the operand {operand} of {one.name}")
    return t.offset(t.pointer(t.slot("parameters")), t.parameter_offset(name) + int(offset or 0))


def _names(t: Values) -> tuple[str, ...]:
    return (*(name for name, _ in t.function.parameters), *([t.function.result] if t.function.result else []))


@opcode("ld ldu", f"{' '.join(SPACES)} nc v2 v4 v8 {_ORDERS}")
def load(t: Values, one: Instruction) -> None:
    kind, registers = kind_of(one), elements(one.operands[0])
    if "param" in one.modifiers:
        address = parameter(t, one, one.operands[1])
    else:
        access = _READ if len(registers) == 1 else _VECTOR
        address = host_address(t, one, one.operands[1], BYTES[kind] * len(registers), access)
    for number, register in enumerate(registers):
        value = t.load(integer(kind), t.offset(address, number * BYTES[kind]))
        t.write(register, value, f"{'s' if is_signed(kind) else 'b'}{8 * BYTES[kind]}")


@opcode("st", f"{' '.join(SPACES)} v2 v4 v8 {_ORDERS}")
def store(t: Values, one: Instruction) -> None:
    kind, operands = kind_of(one), elements(one.operands[1])
    values = [t.bits(operand, 8 * BYTES[kind]) for operand in operands]
    if "param" in one.modifiers:
        address = parameter(t, one, one.operands[0])
    else:
        address = host_address(t, one, one.operands[0], BYTES[kind] * len(operands), _WRITE)
    for number, value in enumerate(values):
        t.store(integer(kind), value, t.offset(address, number * BYTES[kind]))


_OPERATIONS = "add min max and or xor exch cas inc dec"


@opcode("atom red", f"global shared noftz {_OPERATIONS} {_ORDERS}")
def atomic(t: Values, one: Instruction) -> None:
    """`red` gives no result."""
    kind = kind_of(one)
    name = next(m for m in one.modifiers if m in _OPERATIONS.split())
    operands = one.operands if one.stem == "atom" else ("_", *one.operands)
    held = integer(kind)
    given = [t.bits(operand, 8 * BYTES[kind]) for operand in operands[2:]]
    address = host_address(t, one, operands[1], BYTES[kind], _UPDATE)
    old = t.load(held, address)
    if name == "exch":
        new = given[0]
    elif name == "cas":
        new = t.value(
            f"select i1 {t.value(f'icmp eq {held} {old}, {given[0]}')}, {held} {given[1]}, {held} {old}"
        )
    elif is_float(kind):
        new = _float_update(t, one, name, kind, old, given[0])
    elif kind in PAIRS:
        raise UnknownPtx(f"the instruction {one.name}")
    elif name in ("min", "max"):
        new = t.intrinsic(f"{'s' if is_signed(kind) else 'u'}{name}", kind, old, given[0])
    elif name in ("inc", "dec"):
        new = _wrapping(t, name, held, old, given[0])
    else:
        new = t.value(f"{name} {held} {old}, {given[0]}")
    t.store(held, new, address)
    t.write(operands[0], old, f"b{8 * BYTES[kind]}")


def _float_update(t: Values, one: Instruction, name: str, kind: str, old: str, given: str) -> str:
    if name != "add":
        raise UnknownPtx(f"the instruction {one.name}")
    if kind in SHORT:
        return t.narrowed(t.value(f"fadd float {t.widened(old, kind)}, {t.widened(given, kind)}"), kind)
    held, bits = ("float", "i32") if kind == "f32" else ("double", "i64")
    x, y = (t.value(f"bitcast {bits} {value} to {held}") for value in (old, given))
    return t.value(f"bitcast {held} {t.value(f'fadd {held} {x}, {y}')} to {bits}")


def _wrapping(t: Values, name: str, held: str, old: str, limit: str) -> str:
    """`inc` goes from the limit to 0; `dec` from 0, and from what is above the limit, to the limit."""
    if name == "inc":
        at_end = t.value(f"icmp uge {held} {old}, {limit}")
        return t.value(f"select i1 {at_end}, {held} 0, {held} {t.value(f'add {held} {old}, 1')}")
    above = t.value(
        f"or i1 {t.value(f'icmp eq {held} {old}, 0')}, {t.value(f'icmp ugt {held} {old}, {limit}')}"
    )
    return t.value(f"select i1 {above}, {held} {limit}, {held} {t.value(f'sub {held} {old}, 1')}")


@opcode("membar fence", f"gl sc proxy async shared global mbarrier_init {_ORDERS}")
def fence(t: Values, one: Instruction) -> None:
    """Every thread sees what others have done before; asynchronous operations do where a fence is for them."""
    if "async" in one.modifiers and "global" not in one.modifiers:
        counter = t.cell(t.slot("fences"), t.slot("thread"), 4)
        more = t.value(f"add i32 {t.load('i32', counter)}, 1")
        t.store("i32", t.value(f"urem i32 {more}, {ASYNC}"), counter)


@opcode("cvta", "to global shared local const param")
def convert_address(t: Values, one: Instruction) -> None:
    """Addresses are the host's in every space but shared memory, which counts from its begin."""
    value = t.bits(one.operands[1], 64)
    if "shared" in one.modifiers:
        value = t.value(f"{'sub' if 'to' in one.modifiers else 'add'} i64 {value}, {t.slot('shared')}")
    t.write(one.operands[0], value, "b64")

"""Rules of scalar instructions on bits. Most tell in SCC whether the result is not 0."""

from __future__ import annotations

from collections.abc import Callable

from pykern.runtime.emulator.amd.bits import field, first_bit
from pykern.runtime.emulator.amd.opcodes import SCALAR, rule
from pykern.runtime.emulator.amd.scalars import finish, kind_of, set_scc
from pykern.runtime.emulator.amd.values import Values

Compute = Callable[[Values, str, str, str], str]


def _not(compute: Compute) -> Compute:
    return lambda t, kind, x, y: t.op("xor", kind, compute(t, kind, x, y), -1)


def _logic(name: str) -> Compute:
    return lambda t, kind, x, y: t.op(name, kind, x, y)


def _logic_of_not(name: str) -> Compute:
    return lambda t, kind, x, y: t.op(name, kind, x, t.op("xor", kind, y, -1))


LOGIC: dict[str, Compute] = {
    "and": _logic("and"), "or": _logic("or"), "xor": _logic("xor"), "nand": _not(_logic("and")),
    "nor": _not(_logic("or")), "xnor": _not(_logic("xor")), "andn2": _logic_of_not("and"), "orn2": _logic_of_not("or"),
}  # fmt: skip


@rule(" ".join(f"s_{name}_{kind}" for name in LOGIC for kind in ("b32", "b64")), SCALAR)
def logic(t: Values, name: str) -> None:
    kind = kind_of(name)
    finish(t, kind, LOGIC[name.split("_")[1]](t, kind, t.source(1, kind), t.source(2, kind)))


@rule(
    " ".join(
        f"s_{name}_saveexec_{kind}" for name in (*LOGIC, "and_not0", "or_not0") for kind in ("b32", "b64")
    )
    + " "
    + " ".join(
        f"s_{name}_wrexec_{kind}"
        for name in ("andn1", "andn2", "and_not0", "andn2")
        for kind in ("b32", "b64")
    ),
    SCALAR,
)
def change_exec(t: Values, name: str) -> None:
    """EXEC takes part as the second operand, and is the result; its old value is kept ("saveexec") or the new one."""
    kind = kind_of(name)
    how = name.removeprefix("s_").rsplit("_", 2)[0]
    x, old = t.source(1, kind), t.scalar("exec", kind)
    if how in ("and_not0", "or_not0", "andn1"):  # not the operand, and EXEC
        how, x, y = f"{how[:3].rstrip('_')}", old, t.op("xor", kind, x, -1)
        value = LOGIC[how](t, kind, x, y)
    else:
        value = LOGIC[how](t, kind, x, old)
    t.set_scalar("exec", value, kind)
    t.result(old if "saveexec" in name else value, kind)
    set_scc(t, t.compare("ne", kind, value, 0))


@rule("s_not_b32 s_not_b64", SCALAR)
def inverse(t: Values, name: str) -> None:
    finish(t, kind_of(name), t.op("xor", kind_of(name), t.source(1, kind_of(name)), -1))


@rule("s_lshl_b32 s_lshl_b64 s_lshr_b32 s_lshr_b64 s_ashr_i32 s_ashr_i64", SCALAR)
def shift(t: Values, name: str) -> None:
    kind = kind_of(name)
    width = int(kind[1:])
    by = t.op("and", "i32", t.source(2, "i32"), width - 1)
    how = {"lshl": "shl", "lshr": "lshr", "ashr": "ashr"}[name.split("_")[1]]
    finish(t, kind, t.op(how, kind, t.source(1, kind), t.resize(by, 32, width)))


@rule("s_bfe_u32 s_bfe_i32 s_bfe_u64 s_bfe_i64", SCALAR)
def bit_field(t: Values, name: str) -> None:
    """Where the field begins, and from bit 16 on how many bits it has."""
    kind = kind_of(name)
    width = int(kind[1:])
    both = t.source(2, "i32")
    begin = t.op("and", "i32", both, width - 1)
    count = t.op("and", "i32", t.op("lshr", "i32", both, 16), 127)
    x, signed = t.source(1, kind), name.rsplit("_", 1)[1][0] == "i"
    begin, count = (t.resize(value, 32, width) for value in (begin, count))
    whole = t.compare("uge", kind, count, width)
    found = field(t, kind, x, begin, t.select(whole, kind, 0, count), signed)
    shifted = t.op("ashr" if signed else "lshr", kind, x, begin)
    finish(t, kind, t.select(whole, kind, shifted, found))


@rule("s_bfm_b32 s_bfm_b64", SCALAR)
def bit_mask(t: Values, name: str) -> None:
    kind = kind_of(name)
    width = int(kind[1:])
    count, begin = (
        t.resize(t.op("and", "i32", t.source(number, "i32"), width - 1), 32, width) for number in (1, 2)
    )
    ones = t.op("sub", kind, t.op("shl", kind, 1, count), 1)
    t.result(t.op("shl", kind, ones, begin), kind)


@rule("s_brev_b32 s_brev_b64", SCALAR)
def reversal(t: Values, name: str) -> None:
    t.result(t.intrinsic("bitreverse", kind_of(name), t.source(1, kind_of(name))), kind_of(name))


@rule("s_bcnt0_i32_b32 s_bcnt0_i32_b64 s_bcnt1_i32_b32 s_bcnt1_i32_b64", SCALAR)
def count(t: Values, name: str) -> None:
    kind = kind_of(name)
    x = t.source(1, kind)
    if "bcnt0" in name:
        x = t.op("xor", kind, x, -1)
    finish(t, "i32", t.resize(t.intrinsic("ctpop", kind, x), int(kind[1:]), 32))


@rule("s_ff1_i32_b32 s_ff1_i32_b64 s_flbit_i32_b32 s_flbit_i32_b64 s_flbit_i32 s_flbit_i32_i64", SCALAR)
def find(t: Values, name: str) -> None:
    """The number of the first one, from below ("ff1") or above; -1 where there is none."""
    kind = "i32" if name == "s_flbit_i32" else kind_of(name)
    width = int(kind[1:])
    x = t.source(1, kind)
    if name in ("s_flbit_i32", "s_flbit_i32_i64"):
        x = t.op("xor", kind, x, t.op("ashr", kind, x, width - 1))
    t.result(t.resize(first_bit(t, kind, "cttz" if "ff1" in name else "ctlz", x), width, 32), "i32")


@rule("s_bitset0_b32 s_bitset1_b32 s_bitset0_b64 s_bitset1_b64", SCALAR)
def set_bit(t: Values, name: str) -> None:
    kind = kind_of(name)
    width = int(kind[1:])
    by = t.resize(t.op("and", "i32", t.source(1, "i32"), width - 1), 32, width)
    bit = t.op("shl", kind, 1, by)
    old = t.source(0, kind)
    if "bitset1" in name:
        t.result(t.op("or", kind, old, bit), kind)
    else:
        t.result(t.op("and", kind, old, t.op("xor", kind, bit, -1)), kind)


@rule("s_bitcmp0_b32 s_bitcmp1_b32 s_bitcmp0_b64 s_bitcmp1_b64", SCALAR)
def test_bit(t: Values, name: str) -> None:
    kind = kind_of(name)
    width = int(kind[1:])
    by = t.resize(t.op("and", "i32", t.source(1, "i32"), width - 1), 32, width)
    bit = t.op("and", kind, t.op("lshr", kind, t.source(0, kind), by), 1)
    set_scc(t, t.compare("eq", kind, bit, int("bitcmp1" in name)))

"""Rules of sums and products of integers, with carries and without."""

from __future__ import annotations

from pykern.runtime.emulator.amd.integers import is_signed, kind_of
from pykern.runtime.emulator.amd.opcodes import rule
from pykern.runtime.emulator.amd.values import Values

_SUMS = " ".join(
    f"v_{name}_{kind}"
    for name, kinds in (("add", "u32 u16 i32 i16"), ("sub", "u32 u16 i32 i16"), ("subrev", "u32 u16"))
    for kind in kinds.split()
)


@rule(_SUMS)
def sums(t: Values, name: str) -> None:
    kind, how = kind_of(name), name.split("_")[1]
    x, y = t.source(1, kind), t.source(2, kind)
    if how == "subrev":
        x, y, how = y, x, "sub"
    if t.modifier("clamp") is not None:
        t.result(t.intrinsic(f"{'s' if is_signed(name) else 'u'}{how}.sat", kind, x, y), kind)
    else:
        t.result(t.op(how, kind, x, y), kind)


@rule(" ".join(f"v_{name}_co_u32" for name in ("add", "sub", "subrev", "addc", "subb", "subbrev")))
def carried(t: Values, name: str) -> None:
    """``result, carry out, x, y, carry in``."""
    how = name.split("_")[1]
    x, y = (t.resize(t.source(number, "i32", number - 2), 32, 64) for number in (2, 3))
    if how.endswith("rev"):
        x, y = y, x
    whole = t.op("add" if how.startswith("add") else "sub", "i64", x, y)
    if how.startswith(("addc", "subb")):
        carry = t.cast("zext", t.lanes_in(4), "i1", "i64")
        whole = t.op("add" if how == "addc" else "sub", "i64", whole, carry)
    told = t.compare("ne", "i64", t.op("lshr", "i64", whole, 32), 0)
    t.result(t.resize(whole, 64, 32), "i32")
    t.set_lanes(1, told)


# -- products --------------------------------------------------------------------------------------------


@rule("v_mul_lo_u32 v_mul_lo_i32 v_mul_lo_u16")
def low_product(t: Values, name: str) -> None:
    kind = kind_of(name)
    t.result(t.op("mul", kind, t.source(1, kind), t.source(2, kind)), kind)


def _wide_product(t: Values, x: str, y: str, signed: bool) -> str:
    x, y = (t.resize(value, 32, 64, signed) for value in (x, y))
    return t.op("mul", "i64", x, y)


@rule("v_mul_hi_u32 v_mul_hi_i32")
def high_product(t: Values, name: str) -> None:
    whole = _wide_product(t, t.source(1, "i32"), t.source(2, "i32"), is_signed(name))
    t.result(t.resize(t.op("lshr", "i64", whole, 32), 64, 32), "i32")


def _cut(t: Values, value: str, signed: bool) -> str:
    """The lower 24 bits."""
    return t.op("ashr" if signed else "lshr", "i32", t.op("shl", "i32", value, 8), 8)


@rule("v_mul_u32_u24 v_mul_i32_i24 v_mul_hi_u32_u24 v_mul_hi_i32_i24")
def short_product(t: Values, name: str) -> None:
    signed = is_signed(name)
    x, y = (_cut(t, t.source(n, "i32"), signed) for n in (1, 2))
    whole = _wide_product(t, x, y, signed)
    t.result(t.resize(t.op("lshr", "i64", whole, 32) if "_hi_" in name else whole, 64, 32), "i32")


@rule("v_mad_u32_u24 v_mad_i32_i24")
def short_product_and_sum(t: Values, name: str) -> None:
    product = t.op("mul", "i32", *(_cut(t, t.source(n, "i32"), is_signed(name)) for n in (1, 2)))
    t.result(t.op("add", "i32", product, t.source(3, "i32")), "i32")


@rule("v_mad_u16 v_mad_i16")
def product_and_sum(t: Values, name: str) -> None:
    x, y, z = (t.source(n, "i16") for n in (1, 2, 3))
    t.result(t.op("add", "i16", t.op("mul", "i16", x, y), z), "i16")


@rule("v_mad_u32_u16 v_mad_i32_i16")
def widening_product_and_sum(t: Values, name: str) -> None:
    x, y = (t.resize(t.source(n, "i16"), 16, 32, is_signed(name)) for n in (1, 2))
    t.result(t.op("add", "i32", t.op("mul", "i32", x, y), t.source(3, "i32")), "i32")


@rule("v_mad_u64_u32 v_mad_i64_i32")
def wide_product_and_sum(t: Values, name: str) -> None:
    """``result, carry out, x, y, z``."""
    signed = is_signed(name)
    product = _wide_product(t, t.source(2, "i32", 0), t.source(3, "i32", 1), signed)
    addend = t.source(4, "i64", 2)
    found = t.op("add", "i64", product, addend)
    if signed:
        over = t.op("and", "i64", t.op("xor", "i64", product, found), t.op("xor", "i64", addend, found))
        told = t.compare("slt", "i64", over, 0)
    else:
        told = t.compare("ult", "i64", found, addend)
    t.result(found, "i64")
    t.set_lanes(1, told)

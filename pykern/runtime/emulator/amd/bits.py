"""Rules of bits and bytes in each lane, and of what is chosen by a bit for each lane."""

from __future__ import annotations

from pykern.runtime.emulator.amd.integers import is_signed, kind_of
from pykern.runtime.emulator.amd.opcodes import rule
from pykern.runtime.emulator.amd.values import Values


@rule("v_bfe_u32 v_bfe_i32")
def bit_field(t: Values, name: str) -> None:
    x, begin, count = (t.source(n, "i32") for n in (1, 2, 3))
    t.result(field(t, "i32", x, begin, count, is_signed(name)), "i32")


def field(t: Values, kind: str, x: str, begin: str, count: str, signed: bool) -> str:
    """`count` bits of `x`, both numbers by their lower bits."""
    width = int(kind[1:])
    begin, count = (t.op("and", kind, value, width - 1) for value in (begin, count))
    shifted = t.op("lshr", kind, x, begin)
    mask = t.op("sub", kind, t.op("shl", kind, 1, count), 1)
    found = t.op("and", kind, shifted, mask)
    if not signed:
        return found
    sign = t.op("lshr", kind, t.op("shl", kind, 1, count), 1)
    found = t.op("sub", kind, t.op("xor", kind, found, sign), sign)
    # Bits beyond the register are its sign, as an arithmetic shift brings them.
    beyond = t.compare("ugt", kind, t.op("add", kind, begin, count), width)
    return t.select(beyond, kind, t.op("ashr", kind, x, begin), found)


@rule("v_bfm_b32")
def bit_mask(t: Values, name: str) -> None:
    count, begin = (t.op("and", "i32", t.source(n, "i32"), 31) for n in (1, 2))
    t.result(t.op("shl", "i32", t.op("sub", "i32", t.op("shl", "i32", 1, count), 1), begin), "i32")


def first_bit(t: Values, kind: str, how: str, x: str) -> str:
    """The number of zeros before the first one; -1 where there is none."""
    suffix = kind if t.lanes == 1 else f"v{t.lanes}{kind}"
    found = t.call(t.type(kind), f"llvm.{how}.{suffix}", (t.type(kind), x), ("i1", "false"))
    return t.select(t.compare("eq", kind, x, 0), kind, -1, found)


@rule("v_ffbh_u32 v_ffbl_b32 v_ffbh_i32")
def leading_zeros(t: Values, name: str) -> None:
    x = t.source(1, "i32")
    if name == "v_ffbh_i32":
        x = t.op("xor", "i32", x, t.op("ashr", "i32", x, 31))
    t.result(first_bit(t, "i32", "cttz" if name == "v_ffbl_b32" else "ctlz", x), "i32")


@rule("v_bcnt_u32_b32")
def ones(t: Values, name: str) -> None:
    t.result(t.op("add", "i32", t.intrinsic("ctpop", "i32", t.source(1, "i32")), t.source(2, "i32")), "i32")


@rule("v_mbcnt_lo_u32_b32 v_mbcnt_hi_u32_b32")
def ones_before(t: Values, name: str) -> None:
    """The ones of a mask that belong to lanes before this one, and the second operand."""
    first = 32 if "_hi_" in name else 0
    before = [(1 << min(max(lane - first, 0), 32)) - 1 for lane in range(t.lanes)]
    masks = t.vector("i32", [number - (1 << 32) if number >> 31 else number for number in before])
    found = t.intrinsic("ctpop", "i32", t.op("and", "i32", t.source(1, "i32"), masks))
    t.result(t.op("add", "i32", found, t.source(2, "i32")), "i32")


@rule("v_alignbit_b32 v_alignbyte_b32")
def aligned(t: Values, name: str) -> None:
    """32 bits of two registers, the first of which is the upper one."""
    high, low, by = (t.source(n, "i32") for n in (1, 2, 3))
    amount = t.op("and", "i32", by, 31) if "bit" in name else t.op("shl", "i32", t.op("and", "i32", by, 3), 3)
    t.result(t.intrinsic("fshr", "i32", high, low, amount), "i32")


@rule("v_perm_b32")
def permuted(t: Values, name: str) -> None:
    """Bytes of two registers by the numbers in the third: the second one's are 0 … 3."""
    high, low, selector = (t.source(n, "i32") for n in (1, 2, 3))
    whole = t.op("or", "i64", t.resize(low, 32, 64), t.op("shl", "i64", t.resize(high, 32, 64), 32))
    found: str | int = 0
    for byte in range(4):
        chosen = t.op("and", "i32", t.op("lshr", "i32", selector, 8 * byte), 255)
        at = t.op("shl", "i64", t.resize(t.op("and", "i32", chosen, 7), 32, 64), 3)
        value = t.op("and", "i32", t.resize(t.op("lshr", "i64", whole, at), 64, 32), 255)
        for number, bit in ((8, 15), (9, 31), (10, 47), (11, 63)):  # the sign of a half
            sign = t.op("ashr", "i64", t.op("shl", "i64", whole, 63 - bit), 63)
            same = t.compare("eq", "i32", chosen, number)
            value = t.select(same, "i32", t.op("and", "i32", t.resize(sign, 64, 32), 255), value)
        value = t.select(t.compare("eq", "i32", chosen, 12), "i32", 0, value)
        value = t.select(t.compare("uge", "i32", chosen, 13), "i32", 255, value)
        found = t.op("or", "i32", found, t.op("shl", "i32", value, 8 * byte))
    assert isinstance(found, str)
    t.result(found, "i32")


@rule("v_sad_u32")
def difference_and_sum(t: Values, name: str) -> None:
    x, y, z = (t.source(n, "i32") for n in (1, 2, 3))
    apart = t.op("sub", "i32", t.intrinsic("umax", "i32", x, y), t.intrinsic("umin", "i32", x, y))
    t.result(t.op("add", "i32", apart, z), "i32")


@rule("v_bitop3_b32 v_bitop3_b16")
def by_table(t: Values, name: str) -> None:
    """Each bit of the result is the bit of a table, the modifier, whose number the bits of the operands are."""
    kind = kind_of(name)
    table = int(t.modifier("bitop3") or "0", 0)
    values = [t.source(number, kind) for number in (1, 2, 3)]
    inverted = [t.op("xor", kind, value, -1) for value in values]
    found: str | int = 0
    for number in range(8):
        if table >> number & 1:
            x, y, z = (
                value if number >> 2 - at & 1 else other
                for at, (value, other) in enumerate(zip(values, inverted, strict=True))
            )
            found = t.op("or", kind, found, t.op("and", kind, t.op("and", kind, x, y), z))
    t.result(found if isinstance(found, str) else t.op("or", kind, 0, 0), kind)


# -- selections ------------------------------------------------------------------------------------------


@rule("v_cndmask_b32 v_cndmask_b16")
def selection(t: Values, name: str) -> None:
    """The second operand in lanes whose bit is set."""
    kind = kind_of(name)
    no, yes = t.source(1, kind), t.source(2, kind)
    chosen = t.lanes_in(3) if t.given(3) else t.lanes_of_bits(t.scalar("vcc", t.mask_kind))
    t.result(t.select(chosen, kind, yes, no), kind)


@rule("v_swap_b32 v_swap_b16")
def swap(t: Values, name: str) -> None:
    kind = kind_of(name)
    x, y = t.source(0, kind, 1), t.source(1, kind)
    t.result(y, kind, 0)
    t.result(x, kind, 1)

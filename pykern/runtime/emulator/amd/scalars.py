"""Rules of scalar instructions on integers: one value for a wave. Most tell in SCC whether something was carried, or is
not 0."""

from __future__ import annotations

from pykern.runtime.emulator.amd.opcodes import SCALAR, rule
from pykern.runtime.emulator.amd.values import Values


def kind_of(name: str) -> str:
    return f"i{name.rsplit('_', 1)[1].lstrip('biu')}"


def set_scc(t: Values, flag: str) -> None:
    """SCC."""
    t.set_scalar("scc", t.value(f"zext i1 {flag} to i32"))


def _told(t: Values) -> str:
    return t.value(f"icmp ne i32 {t.scalar('scc')}, 0")


def finish(t: Values, kind: str, value: str, tells: bool = True) -> None:
    t.result(value, kind)
    if tells:
        set_scc(t, t.compare("ne", kind, value, 0))


# -- moves -----------------------------------------------------------------------------------------------


@rule("s_mov_b32 s_mov_b64 s_cmov_b32 s_cmov_b64", SCALAR)
def move(t: Values, name: str) -> None:
    kind = kind_of(name)
    value = t.source(1, kind)
    if "cmov" in name:
        value = t.select(_told(t), kind, value, t.source(0, kind))
    t.result(value, kind)


@rule("s_movk_i32 s_cmovk_i32 s_addk_i32 s_mulk_i32", SCALAR)
def with_short_constant(t: Values, name: str) -> None:
    """The constant has 16 bits."""
    value = t.resize(t.source(1, "i16"), 16, 32, signed=True)
    if name == "s_cmovk_i32":
        value = t.select(_told(t), "i32", value, t.source(0, "i32"))
    elif name == "s_mulk_i32":
        value = t.op("mul", "i32", t.source(0, "i32"), value)
    elif name == "s_addk_i32":
        x = t.source(0, "i32")
        value, over = _signed_sum(t, "add", x, value)
        t.result(value, "i32")
        set_scc(t, over)
        return
    t.result(value, "i32")


@rule("s_cselect_b32 s_cselect_b64", SCALAR)
def selection(t: Values, name: str) -> None:
    kind = kind_of(name)
    t.result(t.select(_told(t), kind, t.source(1, kind), t.source(2, kind)), kind)


@rule("s_getpc_b64", SCALAR)
def program_counter(t: Values, name: str) -> None:
    """Code has no addresses here: those of data are given as a whole by what is added to this."""
    t.result("0", "i64")


@rule("s_sext_i32_i8 s_sext_i32_i16", SCALAR)
def extension(t: Values, name: str) -> None:
    width = int(name.rsplit("i", 1)[1])
    t.result(t.resize(t.resize(t.source(1, "i32"), 32, width), width, 32, signed=True), "i32")


@rule("s_pack_ll_b32_b16 s_pack_lh_b32_b16 s_pack_hh_b32_b16 s_pack_hl_b32_b16", SCALAR)
def packed(t: Values, name: str) -> None:
    halves = []
    for number, letter in enumerate(name.split("_")[2], 1):
        word = t.source(number, "i32")
        halves.append(t.op("lshr", "i32", word, 16) if letter == "h" else t.op("and", "i32", word, 65535))
    t.result(t.op("or", "i32", halves[0], t.op("shl", "i32", halves[1], 16)), "i32")


# -- sums and products -----------------------------------------------------------------------------------


def _signed_sum(t: Values, how: str, x: str, y: str) -> tuple[str, str]:
    x, y = (t.resize(value, 32, 64, signed=True) for value in (x, y))
    whole = t.op(how, "i64", x, y)
    value = t.resize(whole, 64, 32)
    return value, t.compare("ne", "i64", t.resize(value, 32, 64, signed=True), whole)


@rule("s_add_i32 s_sub_i32", SCALAR)
def signed_sum(t: Values, name: str) -> None:
    value, over = _signed_sum(t, name.split("_")[1], t.source(1, "i32"), t.source(2, "i32"))
    t.result(value, "i32")
    set_scc(t, over)


@rule("s_add_u32 s_sub_u32 s_addc_u32 s_subb_u32", SCALAR)
def sum_with_carry(t: Values, name: str) -> None:
    x, y = (t.resize(t.source(number, "i32"), 32, 64) for number in (1, 2))
    how = name.split("_")[1][:3]
    whole = t.op(how, "i64", x, y)
    if name.split("_")[1] in ("addc", "subb"):
        whole = t.op(how, "i64", whole, t.resize(t.scalar("scc"), 32, 64))
    t.result(t.resize(whole, 64, 32), "i32")
    set_scc(t, t.compare("ne", "i64", t.op("lshr", "i64", whole, 32), 0))


@rule("s_add_nc_u64 s_sub_nc_u64 s_add_u64 s_sub_u64 s_mul_u64 s_mul_i32", SCALAR)
def plain(t: Values, name: str) -> None:
    kind = kind_of(name)
    t.result(t.op(name.split("_")[1], kind, t.source(1, kind), t.source(2, kind)), kind)


@rule("s_mul_hi_u32 s_mul_hi_i32", SCALAR)
def high_product(t: Values, name: str) -> None:
    x, y = (t.resize(t.source(number, "i32"), 32, 64, name.endswith("i32")) for number in (1, 2))
    t.result(t.resize(t.op("lshr", "i64", t.op("mul", "i64", x, y), 32), 64, 32), "i32")


@rule("s_min_i32 s_min_u32 s_max_i32 s_max_u32", SCALAR)
def extreme(t: Values, name: str) -> None:
    """SCC: the first operand is the result."""
    how, kind = name.split("_")[1:]
    x, y = t.source(1, "i32"), t.source(2, "i32")
    sign = "s" if kind[0] == "i" else "u"
    t.result(t.intrinsic(f"{sign}{how}", "i32", x, y), "i32")
    set_scc(t, t.compare(f"{sign}{'lt' if how == 'min' else 'gt'}", "i32", x, y))


@rule("s_abs_i32 s_absdiff_i32", SCALAR)
def size(t: Values, name: str) -> None:
    x = t.source(1, "i32")
    if name == "s_absdiff_i32":
        x = t.op("sub", "i32", x, t.source(2, "i32"))
    finish(t, "i32", t.select(t.compare("slt", "i32", x, 0), "i32", t.op("sub", "i32", 0, x), x))


@rule("s_lshl1_add_u32 s_lshl2_add_u32 s_lshl3_add_u32 s_lshl4_add_u32", SCALAR)
def shift_and_add(t: Values, name: str) -> None:
    x, y = (t.resize(t.source(number, "i32"), 32, 64) for number in (1, 2))
    whole = t.op("add", "i64", t.op("shl", "i64", x, int(name[6])), y)
    t.result(t.resize(whole, 64, 32), "i32")
    set_scc(t, t.compare("ne", "i64", t.op("lshr", "i64", whole, 32), 0))

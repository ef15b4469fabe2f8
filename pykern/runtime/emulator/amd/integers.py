"""Rules of integers whose operands and result have one type: logic, shifts, the lesser and the greater."""

from __future__ import annotations

from collections.abc import Callable

from pykern.runtime.emulator.amd.opcodes import rule
from pykern.runtime.emulator.amd.values import Values

Compute = Callable[..., str]


def kind_of(name: str) -> str:
    return f"i{name.rsplit('_', 1)[1].lstrip('biu')}"


def is_signed(name: str) -> bool:
    return name.rsplit("_", 1)[1].startswith("i")


def _same(names: str, compute: Compute, sources: int) -> None:
    """Operands and result of one type, that the name ends with."""

    def apply(t: Values, name: str) -> None:
        kind = kind_of(name)
        values = [t.source(number, kind) for number in range(1, sources + 1)]
        t.result(compute(t, kind, *values), kind)

    rule(names)(apply)


def _op(*names: str) -> Compute:
    """Operations one after the other: the result of one and the next operand."""

    def compute(t: Values, kind: str, x: str, *rest: str) -> str:
        for name, y in zip(names, rest, strict=True):
            x = t.op(name, kind, x, y)
        return x

    return compute


def shift(name: str, swapped: bool) -> Compute:
    """By the lower bits of the amount."""

    def compute(t: Values, kind: str, x: str, y: str) -> str:
        value, by = (y, x) if swapped else (x, y)
        return t.op(name, kind, value, t.op("and", kind, by, int(kind[1:]) - 1))

    return compute


for _name in ("and", "or", "xor"):
    _same(f"v_{_name}_b32 v_{_name}_b16", _op(_name), 2)
_same("v_xnor_b32", lambda t, k, x, y: t.op("xor", k, t.op("xor", k, x, y), -1), 2)
_same("v_not_b32 v_not_b16", lambda t, k, x: t.op("xor", k, x, -1), 1)
_same(
    "v_mov_b32 v_mov_b16 v_mov_b64 v_accvgpr_read_b32 v_accvgpr_write_b32 v_accvgpr_mov_b32",
    lambda t, k, x: x,
    1,
)
_same("v_bfrev_b32", lambda t, k, x: t.intrinsic("bitreverse", k, x), 1)
_same("v_or3_b32", _op("or", "or"), 3)
_same("v_xor3_b32", _op("xor", "xor"), 3)
_same("v_and_or_b32", _op("and", "or"), 3)
_same("v_add3_u32", _op("add", "add"), 3)
_same("v_xad_u32", _op("xor", "add"), 3)
_same("v_lshlrev_b32 v_lshlrev_b16", shift("shl", True), 2)
_same("v_lshrrev_b32 v_lshrrev_b16", shift("lshr", True), 2)
_same("v_ashrrev_i32 v_ashrrev_i16", shift("ashr", True), 2)
_same("v_lshl_or_b32", lambda t, k, x, y, z: t.op("or", k, shift("shl", False)(t, k, x, y), z), 3)
_same("v_lshl_add_u32", lambda t, k, x, y, z: t.op("add", k, shift("shl", False)(t, k, x, y), z), 3)
_same("v_add_lshl_u32", lambda t, k, x, y, z: shift("shl", False)(t, k, t.op("add", k, x, y), z), 3)
_same(
    "v_bfi_b32",
    lambda t, k, m, x, y: t.op("or", k, t.op("and", k, m, x), t.op("and", k, t.op("xor", k, m, -1), y)),
    3,
)
for _how, _letter in (("min", "i"), ("max", "i"), ("min", "u"), ("max", "u")):
    _full = f"{'s' if _letter == 'i' else 'u'}{_how}"
    _same(
        f"v_{_how}_{_letter}32 v_{_how}_{_letter}16", lambda t, k, x, y, f=_full: t.intrinsic(f, k, x, y), 2
    )
    _same(
        f"v_{_how}3_{_letter}32 v_{_how}3_{_letter}16",
        lambda t, k, x, y, z, f=_full: t.intrinsic(f, k, t.intrinsic(f, k, x, y), z),
        3,
    )


def _between(letter: str) -> Compute:
    def compute(t: Values, kind: str, x: str, y: str, z: str) -> str:
        low, high = (t.intrinsic(f"{letter}{how}", kind, x, y) for how in ("min", "max"))
        return t.intrinsic(f"{letter}max", kind, low, t.intrinsic(f"{letter}min", kind, high, z))

    return compute


_same("v_med3_i32 v_med3_i16", _between("s"), 3)
_same("v_med3_u32 v_med3_u16", _between("u"), 3)
for _first, _second in (("min", "max"), ("max", "min")):
    for _letter, _sign in (("i", "s"), ("u", "u")):
        _same(
            f"v_{_first}{_second}_{_letter}32",
            lambda t, k, x, y, z, f=_sign + _first, g=_sign + _second: t.intrinsic(
                g, k, t.intrinsic(f, k, x, y), z
            ),
            3,
        )


@rule("v_lshlrev_b64 v_lshrrev_b64 v_ashrrev_i64 v_lshl_b64")
def wideshift(t: Values, name: str) -> None:
    by = t.resize(t.source(1, "i32"), 32, 64)
    how = {"lshl": "shl", "lshr": "lshr", "ashr": "ashr"}[name.split("_")[1][:4]]
    t.result(t.op(how, "i64", t.source(2, "i64"), t.op("and", "i64", by, 63)), "i64")


@rule("v_lshl_add_u64")
def shift_and_add(t: Values, name: str) -> None:
    by = t.op("and", "i64", t.resize(t.source(2, "i32"), 32, 64), 7)
    t.result(t.op("add", "i64", t.op("shl", "i64", t.source(1, "i64"), by), t.source(3, "i64")), "i64")

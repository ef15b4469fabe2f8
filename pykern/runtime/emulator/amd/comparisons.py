"""Rules of comparisons: a bit for each lane, to scalar registers or (``v_cmpx``) to EXEC."""

from __future__ import annotations

import math

from pykern.runtime.emulator.amd.floats import held
from pykern.runtime.emulator.amd.opcodes import SCALAR, rule
from pykern.runtime.emulator.amd.values import Values

_INTEGER = {"eq": "eq", "ne": "ne", "lg": "ne", "lt": "lt", "le": "le", "gt": "gt", "ge": "ge"}
_FLOAT = {
    "eq": "oeq", "lg": "one", "lt": "olt", "le": "ole", "gt": "ogt", "ge": "oge", "o": "ord", "u": "uno",
    "neq": "une", "nlg": "ueq", "nlt": "uge", "nle": "ugt", "ngt": "ule", "nge": "ult",
}  # fmt: skip
_INTEGERS = ("i16", "u16", "i32", "u32", "i64", "u64")
_FLOATS = ("f16", "bf16", "f32", "f64")


def _give(t: Values, name: str, found: str) -> None:
    """Older chips write scalar registers beside EXEC; the newer ones have no operand for them."""
    sdwa = t.one.modifier("src0_sel") is not None
    if not name.startswith("v_cmpx"):
        t.set_lanes(0, found)
        return
    bits = t.value(f"and {t.mask_kind} {t.bits_of_lanes(found)}, {t.exec()}")
    if t.operand(0).kind == "s" and (len(t.one.operands) == 3 or sdwa):
        t.store(t.mask_kind, bits, t.place(0, "result"))
    t.set_scalar("exec", bits, t.mask_kind)


def _first(t: Values, name: str) -> int:
    """The number of the first source."""
    return 1 if len(t.one.operands) == 3 else 0


def _integers(t: Values, name: str) -> None:
    how, kind = name.split("_")[2:]
    first = _first(t, name)
    x, y = (t.source(first + n, f"i{kind[1:]}", n) for n in (0, 1))
    way = _INTEGER[how]
    sign = "" if way in ("eq", "ne") else "s" if kind[0] == "i" else "u"
    _give(t, name, t.compare(f"{sign}{way}", f"i{kind[1:]}", x, y))


def _floats(t: Values, name: str) -> None:
    how, kind = name.split("_")[2:]
    first = _first(t, name)
    x, y = (t.source(first + n, kind, n) for n in (0, 1))
    _give(t, name, t.compare(_FLOAT[how], held(kind), x, y))


for _prefix in ("v_cmp", "v_cmpx"):
    rule(" ".join(f"{_prefix}_{how}_{kind}" for how in _INTEGER for kind in _INTEGERS))(_integers)
    rule(" ".join(f"{_prefix}_{how}_{kind}" for how in _FLOAT for kind in _FLOATS))(_floats)


def _class(t: Values, name: str) -> None:
    """Which of ten kinds of numbers it is; AMD, "RDNA3 ISA", V_CMP_CLASS."""
    kind = name.rsplit("_", 1)[1]
    first, k = _first(t, name), held(kind)
    x = t.source(first, kind, 0)
    mask = t.source(first + 1, "i32", 1)
    width = 32 if k == "f32" else 64
    bits = t.cast("bitcast", x, k, f"i{width}")
    digits, least = {
        "f16": (23, 2.0**-14),
        "bf16": (23, 2.0**-126),
        "f32": (23, 2.0**-126),
        "f64": (52, 2.0**-1022),
    }[kind]
    nan = t.compare("uno", k, x, x)
    quiet = t.compare("ne", f"i{width}", t.op("and", f"i{width}", bits, 1 << digits - 1), 0)
    negative = t.compare("slt", f"i{width}", bits, 0)
    size = t.intrinsic("fabs", k, x)
    zero, infinite = t.compare("oeq", k, x, 0.0), t.compare("oeq", k, size, math.inf)
    small = t.compare("olt", k, size, least)
    number = t.select(small, "i32", t.select(negative, "i32", 4, 7), t.select(negative, "i32", 3, 8))
    number = t.select(zero, "i32", t.select(negative, "i32", 5, 6), number)
    number = t.select(infinite, "i32", t.select(negative, "i32", 2, 9), number)
    number = t.select(nan, "i32", t.select(quiet, "i32", 1, 0), number)
    chosen = t.op("and", "i32", t.op("lshr", "i32", mask, number), 1)
    _give(t, name, t.compare("ne", "i32", chosen, 0))


for _prefix in ("v_cmp", "v_cmpx"):
    rule(" ".join(f"{_prefix}_class_{kind}" for kind in ("f16", "f32", "f64")))(_class)


# -- scalar comparisons, whose result is SCC -------------------------------------------------------------


def _scalar_integers(t: Values, name: str) -> None:
    how, kind = name.split("_")[-2:]
    x, y = (t.source(number, f"i{kind[1:]}", number) for number in (0, 1))
    if name.startswith("s_cmpk"):  # the constant has 16 bits
        y = t.resize(t.resize(y, 32, 16), 16, 32, signed=kind[0] == "i")
    way = _INTEGER[how]
    sign = "" if way in ("eq", "ne") else "s" if kind[0] == "i" else "u"
    found = t.compare(f"{sign}{way}", f"i{kind[1:]}", x, y)
    t.set_scalar("scc", t.value(f"zext i1 {found} to i32"))


def _scalar_floats(t: Values, name: str) -> None:
    how, kind = name.split("_")[-2:]
    x, y = (t.source(number, kind, number) for number in (0, 1))
    t.set_scalar("scc", t.value(f"zext i1 {t.compare(_FLOAT[how], held(kind), x, y)} to i32"))


rule(" ".join(f"s_cmp_{how}_{kind}" for how in _INTEGER for kind in ("i32", "u32", "u64", "i64")), SCALAR)(
    _scalar_integers
)
rule(" ".join(f"s_cmpk_{how}_{kind}" for how in _INTEGER for kind in ("i32", "u32")), SCALAR)(
    _scalar_integers
)
rule(" ".join(f"s_cmp_{how}_{kind}" for how in _FLOAT for kind in ("f16", "f32")), SCALAR)(_scalar_floats)

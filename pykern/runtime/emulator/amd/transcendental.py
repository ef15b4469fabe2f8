"""Rules of the unit for transcendental functions.

Those of f32 take subnormals for 0 and give none, as the chips do, and give the nearest number otherwise. Those of f64
are cut to 24 digits: the chips promise no more, and what needs more has to iterate.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from pykern.runtime.emulator.amd.floats import flushed, kind_of
from pykern.runtime.emulator.amd.opcodes import SCALAR, rule
from pykern.runtime.emulator.amd.values import Values


def _exp2(t: Values, x: str) -> str:
    return t.cast("fptrunc", t.intrinsic("exp2", "f64", t.cast("fpext", x, "f32", "f64")), "f64", "f32")


def _log2(t: Values, x: str) -> str:
    return t.cast("fptrunc", t.intrinsic("log2", "f64", t.cast("fpext", x, "f32", "f64")), "f64", "f32")


def _periodic(function: str) -> Callable[[Values, str], str]:
    """Sine or cosine of turns. Beyond 256 turns the chips give those of 0."""

    def compute(t: Values, x: str) -> str:
        wide = t.cast("fpext", x, "f32", "f64")
        turn = t.op("fsub", "f64", wide, t.intrinsic("floor", "f64", wide))
        found = t.intrinsic(function, "f64", t.op("fmul", "f64", turn, 2 * math.pi))
        near = t.cast("fptrunc", found, "f64", "f32")
        far = t.compare("ogt", "f32", t.intrinsic("fabs", "f32", x), 256.0)
        infinite = t.compare("oeq", "f32", t.intrinsic("fabs", "f32", x), math.inf)
        near = t.select(far, "f32", 0.0 if function == "sin" else 1.0, near)
        return t.select(infinite, "f32", math.nan, near)

    return compute


def _reciprocal(t: Values, x: str) -> str:
    return t.op("fdiv", "f32", 1.0, x)


def _root(t: Values, x: str) -> str:
    return t.intrinsic("sqrt", "f32", x)


def _reciprocal_root(t: Values, x: str) -> str:
    wide = t.intrinsic("sqrt", "f64", t.cast("fpext", x, "f32", "f64"))
    return t.cast("fptrunc", t.op("fdiv", "f64", 1.0, wide), "f64", "f32")


_UNIT = {
    "exp": _exp2, "log": _log2, "sin": _periodic("sin"), "cos": _periodic("cos"), "rcp": _reciprocal,
    "rcp_iflag": _reciprocal, "sqrt": _root, "rsq": _reciprocal_root,
}  # fmt: skip


def _unit(t: Values, name: str) -> None:
    kind = kind_of(name)
    compute = _UNIT[name.rsplit("_", 1)[0].removeprefix("v_").removeprefix("s_")]
    x = t.source(1, kind)
    if kind == "f32":
        t.result(flushed(t, compute(t, flushed(t, x))), kind)
    else:
        t.result(compute(t, x), kind)


rule(" ".join(f"v_{name}_{kind}" for name in _UNIT for kind in ("f16", "bf16", "f32")))(_unit)
rule(" ".join(f"v_s_{name}_{kind}" for name in _UNIT for kind in ("f16", "f32")), SCALAR)(_unit)


@rule("v_rcp_f64 v_rsq_f64 v_sqrt_f64")
def unit_of_doubles(t: Values, name: str) -> None:
    x = t.source(1, "f64")
    found = x if "rcp" in name else t.intrinsic("sqrt", "f64", x)
    if "sqrt" not in name:
        found = t.op("fdiv", "f64", 1.0, found)
    bits = t.op("and", "i64", t.cast("bitcast", found, "f64", "i64"), -1 << 29)
    nan = t.compare("uno", "f64", found, found)
    t.result(t.select(nan, "f64", found, t.cast("bitcast", bits, "i64", "f64")), "f64")

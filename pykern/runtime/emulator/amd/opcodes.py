"""The table of AMD's instructions that are known: for each name, the rule that says what it does.

Comes in: rules, registered beside their definition with `rule`, by the names that instructions have without the ending
that tells their encoding. Goes out: `rule_of`, which raises `UnknownAssembly` for a name that has none.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from pykern.runtime.emulator.amd.assembly import UnknownAssembly
from pykern.runtime.emulator.amd.values import Values

Rule = Callable[[Values, str], None]
"""The second argument is the instruction's name without its encoding."""
VECTOR, SCALAR, CONTROL = "vector", "scalar", "control"
"""What a rule works on: values of each lane, single ones, or operands as they are written."""
_RULES: dict[str, tuple[Rule, str]] = {}
_ENCODING = re.compile(r"(_e32|_e64|_sdwa)?(_dpp8|_dpp)?$")
_MANUALS = {
    "_add_nc_u32": "_add_u32", "_sub_nc_u32": "_sub_u32", "_subrev_nc_u32": "_subrev_u32",
    "_add_nc_u16": "_add_u16", "_sub_nc_u16": "_sub_u16", "_add_nc_i16": "_add_i16", "_sub_nc_i16": "_sub_i16",
    "_add_nc_i32": "_add_i32", "_sub_nc_i32": "_sub_i32",
    "v_add_co_ci_u32": "v_addc_co_u32", "v_sub_co_ci_u32": "v_subb_co_u32",
    "v_subrev_co_ci_u32": "v_subbrev_co_u32",
    "s_add_co_u32": "s_add_u32", "s_add_co_i32": "s_add_i32", "s_sub_co_u32": "s_sub_u32", "s_sub_co_i32": "s_sub_i32",
    "s_add_co_ci_u32": "s_addc_u32", "s_sub_co_ci_u32": "s_subb_u32", "s_addk_co_i32": "s_addk_i32",
    "v_mad_co_u64_u32": "v_mad_u64_u32", "v_mad_co_i64_i32": "v_mad_i64_i32",
    "_min_num_": "_min_", "_max_num_": "_max_", "_min3_num_": "_min3_", "_max3_num_": "_max3_",
    "_med3_num_": "_med3_", "_minmax_num_": "_minmax_", "_maxmin_num_": "_maxmin_",
    "v_mad_legacy_": "v_mad_", "v_clz_i32_u32": "v_ffbh_u32", "v_ctz_i32_b32": "v_ffbl_b32", "v_cls_i32": "v_ffbh_i32",
    "s_clz_i32_u32": "s_flbit_i32_b32", "s_clz_i32_u64": "s_flbit_i32_b64", "s_ctz_i32_b32": "s_ff1_i32_b32",
    "s_ctz_i32_b64": "s_ff1_i32_b64", "s_cls_i32": "s_flbit_i32",
    "s_and_not1_": "s_andn2_", "s_or_not1_": "s_orn2_",
    "v_cvt_pk_i16_f32": "v_cvt_pk_i16_f32",
    "v_cvt_pk_rtz_f16_f32": "v_cvt_pkrtz_f16_f32", "v_cvt_pk_norm_i16_f32": "v_cvt_pknorm_i16_f32",
    "v_cvt_floor_i32_f32": "v_cvt_flr_i32_f32", "v_cvt_nearest_i32_f32": "v_cvt_rpi_i32_f32",
    "v_pk_min_num_": "v_pk_min_", "v_pk_max_num_": "v_pk_max_", "v_pk_add_nc_": "v_pk_add_",
}  # fmt: skip
"""Names of RDNA's manuals, and those of the older chips' for the same instructions."""


def rule(names: str, mode: str = VECTOR) -> Callable[[Rule], Rule]:
    """Register a rule; names are separated by blanks."""

    def register(function: Rule) -> Rule:
        for name in names.split():
            _RULES[name] = function, mode
        return function

    return register


def plain_name(name: str) -> str:
    """Without the encoding, and by one manual's name."""
    name = _ENCODING.sub("", name)
    for newer, older in _MANUALS.items():
        if newer in name:
            return name.replace(newer, older)
    return name


def rule_of(name: str) -> tuple[Rule, str]:
    """By the plain name."""
    found = _RULES.get(name)
    if found is None:
        raise UnknownAssembly(f"the instruction {name}")
    return found

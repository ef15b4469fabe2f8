"""Rules of what a wave does next: branches, barriers, its end; and of instructions that only order or time others."""

from __future__ import annotations

import re

from pykern.runtime.emulator.amd.assembly import UnknownAssembly
from pykern.runtime.emulator.amd.body import RECORD
from pykern.runtime.emulator.amd.opcodes import CONTROL, SCALAR, rule
from pykern.runtime.emulator.amd.parse import WAVE_BARRIER
from pykern.runtime.emulator.amd.state import PC, STOPPED, WORD
from pykern.runtime.emulator.amd.values import Values


def _target(t: Values, number: int) -> str:
    return t.offset("%record", t.word(("label", number, "")))


@rule("s_branch", SCALAR)
def branch(t: Values, name: str) -> None:
    t.do(f"ret ptr {_target(t, 0)}")


@rule("s_cbranch_scc0 s_cbranch_scc1 s_cbranch_vccz s_cbranch_vccnz s_cbranch_execz s_cbranch_execnz", SCALAR)
def conditional(t: Values, name: str) -> None:
    what = name.removeprefix("s_cbranch_")
    kind = "i32" if what.startswith("scc") else t.mask_kind
    held = t.scalar(what.rstrip("nz01"), kind)
    zero = what in ("scc0", "vccz", "execz")
    goes = t.value(f"icmp {'eq' if zero else 'ne'} {kind} {held}, 0")
    chosen = t.value(f"select i1 {goes}, ptr {_target(t, 0)}, ptr {t.offset('%record', RECORD)}")
    t.do(f"ret ptr {chosen}")


@rule("s_endpgm", SCALAR)
def end(t: Values, name: str) -> None:
    t.store("i64", "0", t.offset("%wave", WORD * PC))
    t.store("i32", "0", t.offset("%wave", WORD * STOPPED))
    t.do("ret ptr null")


@rule("s_barrier s_barrier_wait", CONTROL)
def barrier(t: Values, name: str) -> None:
    """The wave stops, and goes on behind this when all waves stand at the same one."""
    _no_split(t, "-1")
    behind = t.value(f"ptrtoint ptr {t.offset('%record', RECORD)} to i64")
    t.store("i64", behind, t.offset("%wave", WORD * PC))
    site = t.load("i32", t.offset("%record", 8))
    t.store("i32", t.value(f"add i32 {site}, 1"), t.offset("%wave", WORD * STOPPED))
    t.do("ret ptr null")


@rule("s_barrier_signal", CONTROL)
def signal(t: Values, name: str) -> None:
    """It is waited for right behind this."""
    _no_split(t, "-1")


def _no_split(t: Values, known: str) -> None:
    if any(operand != known for operand in t.one.operands):
        raise UnknownAssembly(f"{t.one.name} {', '.join(t.one.operands)}")


@rule(WAVE_BARRIER, CONTROL)
def wave_barrier(t: Values, name: str) -> None:
    """Of a group of one wave: what stands before it is done. Groups of several waves have others."""
    single = t.value(f"icmp ule i64 {t.slot('threads')}, {t.wave_lanes}")
    step = t.value(f"zext i1 {single} to i64")
    t.set_slot("epoch", t.value(f"add i64 {t.slot('epoch')}, {step}"))


@rule("s_trap", CONTROL)
def trap(t: Values, name: str) -> None:
    t.call(
        "void",
        "pk_trap",
        ("ptr", "%launch"),
        ("i64", t.resized(t.load("i32", t.offset("%record", 8)), 32, 64)),
    )
    t.do("ret ptr null")


_COUNTERS = r"(?:vmcnt|lgkmcnt|expcnt|vscnt|depctr_\w+)\(\d+\)"
_TEXTS = {
    "s_waitcnt": rf"{_COUNTERS}(?: {_COUNTERS})*",
    "s_waitcnt_depctr": rf"(?:{_COUNTERS}(?: {_COUNTERS})*|0x[0-9a-f]+)",
    "s_waitcnt_vscnt": r"null, 0x[0-9a-f]+",
    "s_delay_alu": r"instid0\(\w+\)(?: \| instskip\(\w+\))?(?: \| instid1\(\w+\))?",
    "s_wait_alu": rf"(?:{_COUNTERS}(?: {_COUNTERS})*|0x[0-9a-f]+)",
    "s_sendmsg": r"sendmsg\(MSG_DEALLOC_VGPRS\)",
    **{
        f"s_wait_{name}": r"(?:0x[0-9a-f]+|\d+)"
        for name in ("loadcnt", "storecnt", "dscnt", "kmcnt", "samplecnt", "bvhcnt", "expcnt", "loadcnt_dscnt",
                     "storecnt_dscnt", "idle", "event")
    },
}  # fmt: skip
"""Instructions that wait, and what their operands look like: all is done at once here."""


@rule(" ".join(_TEXTS), CONTROL)
def wait(t: Values, name: str) -> None:
    text = ", ".join(t.one.operands)
    if re.fullmatch(_TEXTS[name], text) is None:
        raise UnknownAssembly(f"{name} {text}")


@rule(
    "s_nop s_clause s_sleep s_setprio s_inst_prefetch s_set_inst_prefetch_distance s_code_end s_icache_inv "
    "s_dcache_inv s_dcache_wb s_ttracedata_imm buffer_gl0_inv buffer_gl1_inv buffer_inv buffer_wbl2 buffer_wbinvl1 "
    "buffer_wbinvl1_vol global_inv global_wb global_wbinv s_prefetch_inst s_prefetch_data",
    CONTROL,
)
def nothing(t: Values, name: str) -> None:
    """Order, caches and time: everything is seen at once here."""
    for ordering in ("sc0", "sc1", "scope", "nt"):
        t.modifier(ordering)


@rule("s_setreg_imm32_b32 s_setreg_b32 s_round_mode s_denorm_mode", CONTROL)
def set_mode(t: Values, name: str) -> None:
    """Only to what it is: other rounding and flushing are unknown here."""
    text = ", ".join(t.one.operands)
    if (name, text) not in (
        (("s_denorm_mode"), "15"),
        ("s_denorm_mode", "0xf"),
        ("s_round_mode", "0"),
        ("s_round_mode", "0x0"),
    ):
        raise UnknownAssembly(f"{name} {text}")

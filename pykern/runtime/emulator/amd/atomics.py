"""What an atomic operation makes of the old value and the one that is given, in one lane.

Comes in: the operation's name and type: ``u32``, ``i64``, ``f32``, ``b64``, ``f16x2`` ... . Goes out: the new bits.
"""

from __future__ import annotations

from pykern.runtime.emulator.amd.assembly import UnknownAssembly
from pykern.runtime.emulator.emit import Emitter


def updated(t: Emitter, how: str, kind: str, old: str, given: str) -> str:
    width = f"i{kind[1:]}" if not kind.endswith("x2") else "i32"
    if how == "swap":
        return given
    if kind in ("f16x2", "bf16x2"):
        return _pair_sum(t, kind.removesuffix("x2"), old, given)
    if kind[0] == "f":
        return _float(t, how, kind, width, old, given)
    if how in ("min", "max"):
        name = f"llvm.{'s' if kind[0] == 'i' else 'u'}{how}.{width}"
        return t.call(width, name, (width, old), (width, given))
    if how == "inc":  # from the limit on it is 0
        at_end = t.value(f"icmp uge {width} {old}, {given}")
        return t.value(f"select i1 {at_end}, {width} 0, {width} {t.value(f'add {width} {old}, 1')}")
    if how == "dec":  # from 0, and from what is above the limit, it is the limit
        zero, above = t.value(f"icmp eq {width} {old}, 0"), t.value(f"icmp ugt {width} {old}, {given}")
        wraps = t.value(f"or i1 {zero}, {above}")
        return t.value(f"select i1 {wraps}, {width} {given}, {width} {t.value(f'sub {width} {old}, 1')}")
    if how not in ("add", "sub", "and", "or", "xor"):
        raise UnknownAssembly(f"the atomic operation {how} of {kind}")
    return t.value(f"{how} {width} {old}, {given}")


def _float(t: Emitter, how: str, kind: str, width: str, old: str, given: str) -> str:
    held = {"f32": "float", "f64": "double"}[kind]
    x, y = (t.value(f"bitcast {width} {value} to {held}") for value in (old, given))
    if how == "add":
        found = t.value(f"fadd {held} {x}, {y}")
    elif how in ("min", "max"):
        found = t.call(held, f"llvm.{how}num.{kind}", (held, x), (held, y))
    else:
        raise UnknownAssembly(f"the atomic operation {how} of {kind}")
    return t.value(f"bitcast {held} {found} to {width}")


def _pair_sum(t: Emitter, kind: str, old: str, given: str) -> str:
    halves = []
    for shift in (0, 16):
        words = [
            t.value(f"trunc i32 {t.value(f'lshr i32 {value}, {shift}')} to i16") for value in (old, given)
        ]
        x, y = (t.call("float", f"pk_f32_of_{kind}", ("i16", word)) for word in words)
        short = t.call("i16", f"pk_{kind}_of_f32", ("float", t.value(f"fadd float {x}, {y}")))
        halves.append(t.value(f"zext i16 {short} to i32"))
    return t.value(f"or i32 {halves[0]}, {t.value(f'shl i32 {halves[1]}, 16')}")

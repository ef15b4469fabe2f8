"""The functions of all forms of instructions that the process has met: each is compiled once.

Comes in: an `Instruction` of a chip. Goes out: a `Form`: its function, and what the words of its records hold. Forms
that are new are compiled together, by `compiled`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from pykern.runtime.emulator.access_trace import traced
from pykern.runtime.emulator.amd import (  # noqa: F401 - these register their rules
    across,
    bits,
    buffers,
    comparisons,
    control,
    conversions,
    extremes,
    float_parts,
    floats,
    integers,
    matrices,
    memory,
    packed_floats,
    packed_integers,
    part_products,
    quotients,
    scalar_bits,
    scalar_memory,
    scalars,
    shared,
    sums,
    transcendental,
)
from pykern.runtime.emulator.amd.assembly import Instruction, UnknownAssembly
from pykern.runtime.emulator.amd.body import Asked
from pykern.runtime.emulator.amd.opcodes import CONTROL, VECTOR, plain_name, rule_of
from pykern.runtime.emulator.amd.operands import operand
from pykern.runtime.emulator.amd.values import Values
from pykern.runtime.emulator.engine import engine, numbers
from pykern.runtime.emulator.launches import launch_lock

_forms: dict[tuple, Form] = {}


@dataclass
class Form:
    """`text` is the function's IR until it is compiled; `address` is 0 until then."""

    symbol: str
    asked: tuple[Asked, ...]
    text: str
    declared: dict[str, str]
    address: int = 0


def form_of(one: Instruction, lanes: int, old: bool, is_traced: bool = False) -> Form:
    """A traced one writes down the accesses of its lanes, which are one request. Raises `UnknownAssembly` for an
    instruction, an operand or a modifier that has no rule."""
    name = plain_name(one.name)
    rule, mode = rule_of(name)
    is_traced = is_traced and mode == VECTOR
    key = (_key(one, mode), lanes, old, is_traced)
    found = _forms.get(key)
    if found is None:
        body = Values(one, f"amd{next(numbers)}", lanes, lanes if mode == VECTOR else 1, old)
        if is_traced:
            number = body.value(f"add i64 {body.slot('request_number')}, 1")
            body.set_slot("request_number", number)
        rule(body, name)
        found = _forms[key] = _written(body)
        if is_traced:
            found.text = traced(found.text)
            found.declared = {name: traced(line) for name, line in found.declared.items()}
    return found


def compiled(forms: Iterable[Form]) -> None:
    """Give every form its address."""
    with launch_lock:
        new = {form.symbol: form for form in forms if not form.address}
        if not new:
            return
        declared: dict[str, str] = {}
        for form in new.values():
            declared |= {line: line for line in form.declared.values()}
        text = "\n".join((*declared.values(), *(form.text for form in new.values())))
        _, addresses = engine().add(text, list(new))
        for form, address in zip(new.values(), addresses, strict=True):
            form.address = address


def _key(one: Instruction, mode: str) -> tuple:
    """All of an instruction but for numbers of registers, constants and offsets."""
    modifiers = tuple(
        (name, "" if name.startswith("offset") and "swizzle" not in one.name else value)
        for name, value in one.modifiers
    )
    operands = one.operands if mode == CONTROL else tuple(_operand_key(text) for text in one.operands)
    return one.name, operands, modifiers


def _operand_key(text: str) -> object:
    if text.startswith(".L"):
        return "label"
    this = operand(text)
    number = this.kind in "#@"
    return (
        "s" if number else this.kind,
        1 if number else this.count,
        this.negated,
        this.absolute,
        this.half,
        this.extended,
        this.kind == "#",
    )


def _written(body: Values) -> Form:
    """What a rule has written, which must have taken every modifier into account."""
    unused = [known for known, _ in body.one.modifiers if known not in body.used]
    if unused:
        raise UnknownAssembly(f"the modifier {unused[0]} of {body.one.name}")
    if not body.lines[-1].startswith("  ret "):
        body.next()
    body.lines.append("}")
    return Form(body.symbol, tuple(body.asked), "\n".join(body.lines), body.declared)

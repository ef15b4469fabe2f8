"""The table of instructions that are known: for each stem, the rule that translates it and the modifiers it may have.

Comes in: rules, registered beside their definition with `opcode`. Goes out: `rule_of`, which raises `UnknownPtx` for
an instruction, or a modifier of one, that has no rule: nothing is skipped.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from pykern.runtime.emulator.ptx import Instruction, UnknownPtx

if TYPE_CHECKING:
    from pykern.runtime.emulator.operands import Values

Rule = Callable[["Values", Instruction], None]
_RULES: dict[str, tuple[Rule, frozenset[str]]] = {}


def opcode(stems: str, modifiers: str = "") -> Callable[[Rule], Rule]:
    """Register a rule; stems and modifiers are separated by blanks."""

    def register(rule: Rule) -> Rule:
        for stem in stems.split():
            _RULES[stem] = rule, frozenset(modifiers.split())
        return rule

    return register


def rule_of(one: Instruction) -> Rule:
    found = _RULES.get(one.stem)
    if found is None:
        raise UnknownPtx(f"the instruction {one.name}")
    rule, known = found
    unknown = [part for part in one.modifiers if part not in known]
    if unknown:
        raise UnknownPtx(f"the modifier .{unknown[0]} of the instruction {one.name}")
    return rule

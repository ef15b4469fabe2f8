"""Checks that a kernel leaves registers of products in flight alone, and fences those that it has written.

Comes in: a `Function`. Goes out: nothing; raises `UnorderedRegisters` where an instruction reads or writes sums before
their group has been waited for, or multiplies by registers, or adds to some, that were written since the last
``wgmma.fence`` (PTX ISA, "wgmma.fence" and "wgmma.wait_group"). Values are followed through moves, which assemblers
take out. On each path: the facts at the head of a block are those of all blocks before it.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from pykern.runtime.emulator.faults import UnorderedRegisters
from pykern.runtime.emulator.operands import elements
from pykern.runtime.emulator.ptx import Block, Function, Instruction

_OPEN = 0
"""The age of sums whose group is not ended; then, groups that were ended since."""


@dataclass
class _Facts:
    """`ages` of registers that hold sums in flight; `unfenced` ones were written since the last fence."""

    ages: dict[str, int] = field(default_factory=dict)
    unfenced: set[str] = field(default_factory=set)
    fenced: bool = False
    """Whether there has been a fence at all."""

    def copy(self) -> _Facts:
        return _Facts(dict(self.ages), set(self.unfenced), self.fenced)

    def joined(self, other: _Facts) -> _Facts:
        ages = dict(self.ages)
        for register, age in other.ages.items():
            ages[register] = min(age, ages.get(register, age))
        return _Facts(ages, self.unfenced | other.unfenced, self.fenced and other.fenced)


def check_products(function: Function) -> None:
    """Raises `UnorderedRegisters`."""
    if not any(one.stem == "wgmma" for block in function.blocks for one in block.instructions):
        return
    heads: dict[int, _Facts] = {0: _Facts()}
    waiting = [0]
    while waiting:
        number = waiting.pop()
        facts = heads[number].copy()
        _through(function.blocks[number], facts, function)
        for after in function.blocks[number].after:
            joined = facts if after not in heads else heads[after].joined(facts)
            if after not in heads or joined != heads[after]:
                heads[after] = joined.copy()
                waiting.append(after)


def _through(block: Block, facts: _Facts, function: Function) -> None:
    for one in block.instructions:
        if one.stem == "wgmma":
            _product(one, facts, function)
        elif one.stem == "mov" and len(one.reads) == 1 and len(one.writes) == 1 and not one.guard:
            _moved(one, facts)
        else:
            busy = next((r for r in (*one.reads, *one.writes) if r in facts.ages), None)
            if busy is not None:
                raise UnorderedRegisters(one, f"{busy} before wgmma.wait_group has waited for it")
            facts.unfenced.update(one.writes)


def _moved(one: Instruction, facts: _Facts) -> None:
    """The move may be none; what is in flight stays so."""
    (source,), (target,) = one.reads, one.writes
    if source in facts.ages:
        facts.ages[target] = facts.ages[source]
        facts.unfenced.discard(target)
        return
    facts.ages.pop(target, None)
    if source in facts.unfenced:
        facts.unfenced.add(target)
    else:
        facts.unfenced.discard(target)


def _product(one: Instruction, facts: _Facts, function: Function) -> None:
    if "fence" in one.modifiers:
        facts.unfenced.clear()
        facts.fenced = True
    elif "commit_group" in one.modifiers:
        facts.ages = {register: age + 1 for register, age in facts.ages.items()}
    elif "wait_group" in one.modifiers:
        left = int(one.operands[0])
        facts.ages = {register: age for register, age in facts.ages.items() if not age > left}
    else:
        sums = set(function.registers_in(one.operands[0]))
        factor = elements(one.operands[1]) if one.operands[1].startswith("{") else []
        if not facts.fenced or (unfenced := sums.union(factor) & facts.unfenced):
            named = sorted(unfenced)[0] if facts.fenced else "registers"
            raise UnorderedRegisters(one, f"{named} with no wgmma.fence before")
        busy = next((r for r in factor if r in facts.ages), None)
        if busy is not None:
            raise UnorderedRegisters(one, f"{busy} before wgmma.wait_group has waited for it")
        facts.ages |= dict.fromkeys(sums, _OPEN)

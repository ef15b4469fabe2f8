"""Checks that a kernel waits for its loads before it touches their registers, and for its writes to shared memory
before barriers.

Comes in: a `Kernel`. Goes out: nothing; raises `UnorderedRegisters` where an instruction touches a register that a load
may still write, or a barrier comes before writes to shared memory are done. Memory instructions count up when they are
issued and down when they are done (AMD's ISA documents, "Manually inserted wait states", and "User Guide for AMDGPU
Backend", memory model): those of one kind in order, but scalar loads in any order. A wait names how many may be under
way. On each path: the facts at the head of a block are those of all blocks before it. Read next: `wait_counts`.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from pykern.runtime.emulator.amd.assembly import Instruction, Kernel
from pykern.runtime.emulator.amd.opcodes import CONTROL, plain_name, rule_of
from pykern.runtime.emulator.amd.operands import operand
from pykern.runtime.emulator.amd.wait_counts import UNORDERED, Issue, issue_of, waits_of
from pykern.runtime.emulator.faults import UnorderedRegisters

Register = tuple[str, int]
_MOST = 64
"""Instructions issued since, which are not counted further: waits name fewer."""
_BARRIERS = ("s_barrier", "s_barrier_signal")
_SHARED_WRITES: Register = "writes to shared memory", 0
"""Stands for what no register holds."""


@dataclass
class _Facts:
    """`pending` registers, each with its counters, and how many instructions of them were issued since; `unordered` are
    counters that have an instruction under way which others may overtake."""

    pending: dict[Register, dict[str, int]] = field(default_factory=dict)
    unordered: frozenset[str] = frozenset()

    def copy(self) -> _Facts:
        return _Facts({key: dict(ages) for key, ages in self.pending.items()}, self.unordered)

    def joined(self, other: _Facts) -> _Facts:
        """What holds on one of two paths: the younger of two instructions under way."""
        found = self.copy()
        found.unordered |= other.unordered
        for register, ages in other.pending.items():
            mine = found.pending.setdefault(register, dict(ages))
            for counter, age in ages.items():
                mine[counter] = min(age, mine.get(counter, age))
        return found


def check_waits(kernel: Kernel, chip: str) -> None:
    """Raises `UnorderedRegisters`."""
    steps = [_Step(one, chip) for one in kernel.instructions]
    if not any(step.issue for step in steps):
        return
    begins = sorted({0, *kernel.labels.values(), *(n + 1 for n, step in enumerate(steps) if step.leaves)})
    ends = dict(zip(begins, [*begins[1:], len(steps)], strict=True))
    heads: dict[int, _Facts] = {0: _Facts()}
    waiting = [0]
    while waiting:
        begin = waiting.pop()
        facts = heads[begin].copy()
        for step in steps[begin : ends[begin]]:
            step.through(facts)
        for after in _after(steps, begin, ends[begin], kernel):
            joined = facts if after not in heads else heads[after].joined(facts)
            if after < len(steps) and (after not in heads or joined != heads[after]):
                heads[after] = joined.copy()
                waiting.append(after)


def _after(steps: list[_Step], begin: int, end: int, kernel: Kernel) -> list[int]:
    last = steps[end - 1] if end > begin else None
    if last is None or not last.leaves:
        return [end]
    name = last.one.name
    targets = [kernel.labels[text] for text in last.one.operands if text in kernel.labels]
    return targets if name in ("s_branch", "s_endpgm") else [*targets, end]


class _Step:
    """An instruction: what it issues, what it waits for, and the registers that it touches."""

    def __init__(self, one: Instruction, chip: str) -> None:
        self.one = one
        self.issue: Issue | None = issue_of(one, chip)
        self.waits = waits_of(one)
        self.leaves = one.name.startswith(("s_branch", "s_cbranch", "s_endpgm"))
        self.loaded: list[Register] = []
        self.touched: list[Register] = []
        is_text = self.leaves or rule_of(plain_name(one.name))[1] == CONTROL
        operands = [] if is_text else [_registers(text) for text in one.operands]
        if self.issue is not None and self.issue.gives:
            self.loaded = operands[0]
        self.touched = [register for of in operands for register in of]
        if one.name.startswith("s_cbranch_vcc"):
            self.touched += _registers("vcc")
        if one.name in _BARRIERS:
            self.touched = [_SHARED_WRITES]
        if self.issue is not None and self.issue.writes_shared:
            self.loaded = [*self.loaded, _SHARED_WRITES]

    def through(self, facts: _Facts) -> None:
        for counter, count in self.waits.items():
            _wait(facts, counter, count)
        for register in self.touched:
            if register in facts.pending and not self._follows(facts, register):
                raise UnorderedRegisters(self.one, _text(register, facts.pending[register]))
        if self.issue is None:
            return
        for ages in facts.pending.values():
            for counter in ages.keys() & self.issue.counters:
                ages[counter] = min(ages[counter] + 1, _MOST)
        if self.issue.is_unordered:
            facts.unordered |= self.issue.counters
        for register in self.loaded:
            facts.pending[register] = dict.fromkeys(self.issue.counters, 0)

    def _follows(self, facts: _Facts, register: Register) -> bool:
        """Whether it only writes the register, in order after the load before."""
        if self.issue is None or register not in self.loaded or self.issue.is_unordered:
            return False
        same = set(facts.pending[register]) == self.issue.counters
        return same and self.touched.count(register) == 1 and not facts.unordered & self.issue.counters


def _wait(facts: _Facts, counter: str, count: int) -> None:
    if count and (counter in facts.unordered or counter in UNORDERED):
        return
    if count == 0:
        facts.unordered -= {counter}
    for register, ages in list(facts.pending.items()):
        if counter in ages and ages[counter] >= count:
            del ages[counter]
            if not ages:
                del facts.pending[register]


def _registers(text: str) -> list[Register]:
    this = operand(text)
    return [(this.kind, this.at + n) for n in range(this.count)] if this.kind in "vas" else []


def _text(register: Register, counters: dict[str, int]) -> str:
    waits = " and ".join(sorted(counters))
    if register == _SHARED_WRITES:
        return (
            f"a barrier before the work-items' writes to shared memory are done: there is no wait for {waits}"
        )
    bank, number = register
    return f"{bank}{number} before the load of it has been waited for ({waits})"

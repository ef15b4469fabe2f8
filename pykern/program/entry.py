"""The compiled entry of array programs: which calls run without Python.

Comes in: plans of a program on the CPU, and a call each was made for. Goes out: the words of `pykern.data.abi` ("array
programs") in the cells of the program's object, which `pykern.lowering.llvm.program.entry` reads. What has none, and so
goes through Python: programs that report, foreign arrays, dataclasses whose fields are computed, keywords but ``out``.
"""

from __future__ import annotations

import ctypes
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pykern.data.abi import ADAPTED, ENTRIES, KEPT_LEAST, TABLE_INDEX, WRITES_FLAGS
from pykern.data.source import leaves
from pykern.environment.settings import settings
from pykern.launching.scalar_arguments import scalar_bits
from pykern.obtain.adapter_code import adapter_code
from pykern.obtain.entry_code import entry_code
from pykern.obtain.memory_code import memory_code
from pykern.program.plan_words import Call, Words, words_of
from pykern.runtime import launchable
from pykern.runtime.cpu_table import table
from pykern.runtime.devices import OVERRIDE
from pykern.runtime.launchable import NAME, Otherwise
from pykern.types import static

if TYPE_CHECKING:
    from pykern.api.jit import Program
    from pykern.data.program_source import ProgramSource
    from pykern.program.plan import Plan

OFTEN = 32
"""Calls through Python after which a plan that has been pushed out by others comes back."""
NEVER = -(1 << 62)
"""Calls of a form that no entry takes."""


Form = tuple[Any, ...]
"""Of a call: how many arguments have no names, then the names of the others."""


@dataclass(frozen=True, eq=False)
class _Installed:
    """A plan for calls of one form."""

    plan: Plan
    form: Form
    source: ProgramSource
    owner: tuple


class ProgramEntries:
    """Those of one program: its newest plans, as many as there are cells."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._plans: list[_Installed] = []
        self._otherwise = Otherwise(slow := program.__call__, slow)
        self._adapts = False
        self._captured: Any = None
        self._lock = threading.Lock()

    def went_through_python(self, plan: Plan, args: tuple, keywords: dict[str, Any]) -> None:
        """Count a call with these arguments; from the second on the plan gets an entry.

        Not from the first: what is called once would pay for what it never needs.
        """
        if OVERRIDE["device"] is not None:
            return  # a device was chosen, or a graph is captured
        form = (len(args), *keywords)
        calls = plan.calls[form] = plan.calls.get(form, 0) + 1
        changed = self._captured is not self._program._captured
        here = any(one.plan is plan and one.form == form for one in self._plans)
        if here and not changed:  # arrays of another order, an `out` that overlaps, or a call in another form
            adapter_code.wanted()
            if adapter_code.address and not self._adapts:
                with self._lock:
                    self._install(self._program.captured())
            return
        if calls == 2 or (calls > 2 and (changed or calls % OFTEN == 0)):
            if plan.is_large or plan.layout.scratch_bytes >= KEPT_LEAST:
                memory_code.wanted()
            if entry_code.obtain(calls) is None:
                return
            words = self._words(plan, form, args, keywords)
            if words is None:
                plan.calls[form] = NEVER
            else:
                self._add(plan, form, words)

    def forget(self) -> None:
        """Send every call through Python."""
        with self._lock:
            self._plans = []
            launchable.clear(self._program)

    def _words(self, plan: Plan, form: Form, args: tuple, keywords: dict[str, Any]) -> Words | None:
        """What the entry reads for such calls; None where they have to go through Python."""
        if not entry_code.address or settings().device not in (None, "cpu"):
            return None
        if launchable.offset(self._program) != table()[TABLE_INDEX["program_offset"]]:
            return None  # of a class of the user's own
        if plan.source is None or plan.source.donated != self._program._donated(None):
            return None
        return words_of(plan, plan.source, Call(args, keywords, self._defaults(form)))

    def _add(self, plan: Plan, form: Form, words: Words) -> None:
        """In front of the others; those made for what names meant before go."""
        captured = self._program.captured()
        assert plan.source is not None
        mine = _Installed(plan, form, plan.source, _owner(plan, words))
        with self._lock:
            others = [one for one in self._plans if one.plan is not plan or one.form != form]
            self._plans = [one for one in (mine, *others) if one.source.function == captured[0]][:ENTRIES]
            self._install(captured)

    def _defaults(self, form: Form) -> dict[str, int]:
        """Cells of the numbers that calls of a form leave out."""
        count, *named = form
        program = self._program
        left_out = [p for p in list(program.signature.parameters.values())[count:] if p.name not in named]
        return {
            p.name: scalar_bits(p.name, p.default, program.annotations.get(p.name))
            for p in left_out
            if isinstance(p.default, bool | int | float | np.generic)
            and program.annotations.get(p.name) is not static
        }

    def _install(self, captured: Any) -> None:
        """With the guards that go with the plans: a name may change meanwhile."""
        self._captured = captured
        _, guards = captured
        if any(guard.computed for guard in guards):
            launchable.clear(self._program)  # each call asks again, in Python
            return
        if adapter_code.address and not self._adapts:
            self._otherwise = Otherwise(adapter_code.bound(self._program), self._otherwise.python)
            self._adapts = True
        launchable.install_plans(
            self._program,
            entry_code.address or 0,
            [(one.owner, _writes(one.plan, one.form, one.source)) for one in self._plans],
            self._otherwise,
            [
                (NAME, OVERRIDE, "device", None),  # a block may choose another device
                *(guard.cells() for guard in guards),
            ],
        )


def _owner(plan: Plan, words: Words) -> tuple:
    """What the entry holds while it runs a plan: the words are the first item's."""
    return bytes((ctypes.c_int64 * len(words.words))(*words.words)), plan, tuple(words.kept)


def _writes(plan: Plan, form: Form, source: ProgramSource) -> int:
    """One bit for each argument of a call of this form that has an array which the program writes, and flags."""
    count, *named = form
    found, flat = 0, 0
    for number, parameter in enumerate(source.parameters):
        here = range(flat, flat := flat + sum(1 for _ in leaves(parameter.spec)))
        place = (
            number
            if number < count
            else count + named.index(parameter.name)
            if parameter.name in named
            else -1
        )
        if any(n in plan.written for n in here) and 0 <= place < ADAPTED:
            found |= 1 << place
    hands_out = any(step >= 0 for _, step in plan.taken)
    return found | hands_out << WRITES_FLAGS["hands_out"] | (not plan.is_flat) << WRITES_FLAGS["nested"]

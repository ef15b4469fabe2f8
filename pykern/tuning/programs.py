"""What the tuner chooses for an array program: the schedules of its contractions on this processor.

Comes in: a program, and arguments. Goes out: `Choices` of `pykern.tuning.search`. Read next: `candidates`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pykern.api.jit import Program
from pykern.api.kernel import KernelBase
from pykern.data.index_space import Extent
from pykern.data.program_source import ProgramSource
from pykern.data.schedule import SCHEDULES
from pykern.errors import KernelError
from pykern.obtain.code import loaded
from pykern.program.arguments import describe
from pykern.program.plan import Plan
from pykern.program.product import product_source
from pykern.tuning.candidates import candidates


@dataclass(frozen=True)
class ProgramChoices:
    """Schedules of the contractions of a program that is called with these values."""

    source: ProgramSource
    values: list[Any]
    names: tuple[str, ...]
    device: str = ""

    @classmethod
    def of(cls, program: Program, args: tuple, keywords: dict[str, Any]) -> ProgramChoices:
        """Of a call of a program."""
        values = program._bind(args, keywords)
        arguments = describe(values, program.annotations, permuted=program._permuted(values, ()))
        source = program.source_of(program.captured()[0], arguments.parameters)
        return cls(source, arguments.values, tuple(arguments.names))

    @classmethod
    def of_launch(
        cls, kernel: KernelBase, values: list[tuple[str, Any]], space: tuple[Extent, ...]
    ) -> ProgramChoices | None:
        """Of a launch of a kernel that is a product; None where it is none."""
        arguments = describe(values, kernel.annotations)
        source = product_source(kernel, tuple(e.count for e in space), arguments)
        try:
            artifact = loaded(source)[0]
        except KernelError:  # no product: the raised form is no program
            return None
        return (
            cls(source, arguments.values, tuple(arguments.names)) if SCHEDULES in artifact.resources else None
        )

    def parts(self) -> list[list[str]]:
        """Of each contraction, the neighbours of the cost model's schedule."""
        return [candidates(str(text)) for text in _used(self._plan(()))]

    def made(self, configuration: str) -> Plan | None:
        """The plan with schedules; nothing where the cost model's were taken because they do not fit."""
        wanted = tuple(configuration.split(";"))
        plan = self._plan(wanted)
        if any(w and w != u for w, u in zip(wanted, _used(plan), strict=False)):
            return None
        return plan

    def results(self, made: Plan) -> list[np.ndarray]:
        """The program's results, and the arrays that it was given, which it may have written."""
        values = self._copies()
        return [np.array(r) for r in (*made.run(values), *(v for v in values if isinstance(v, np.ndarray)))]

    def repeated(self, made: Plan) -> Callable[[], object]:
        """A call, each time with the same copies."""
        values = self._copies()
        return lambda: made.run(values)

    def _plan(self, schedules: tuple[str, ...]) -> Plan:
        source = replace(self.source, schedules=schedules if any(schedules) else ())
        return Plan(*loaded(source), self.names, source)

    def _copies(self) -> list[Any]:
        """The arguments; those that the program writes to are copied."""
        return [v.copy(order="K") if isinstance(v, np.ndarray) else v for v in self.values]


def _used(plan: Plan) -> list[str]:
    found = plan.artifact.resources.get(SCHEDULES, [])
    return list(found) if isinstance(found, (list, tuple)) else []

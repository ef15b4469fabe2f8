"""A schedule in the IR: the attribute `kern.schedule` of the functions that a contraction became."""

from __future__ import annotations

import dataclasses

from mlir import ir

from pykern.data.schedule import Schedule
from pykern.dialect import attributes as kern


def attribute(schedule: Schedule) -> ir.Attribute:
    """Its parameters by name."""
    i64 = ir.IntegerType.get_signless(64)
    made: dict[str, ir.Attribute] = {}
    for name, value in dataclasses.asdict(schedule).items():
        if isinstance(value, bool):
            made[name] = ir.BoolAttr.get(value)
        elif isinstance(value, int):
            made[name] = ir.IntegerAttr.get(i64, value)
        else:
            made[name] = ir.StringAttr.get(value)
    return ir.DictAttr.get(made)


def schedules_of(module: ir.Module) -> list[str]:
    """The schedules of a module's contractions, in order, as text."""
    found = []
    for op in module.body.operations:
        if kern.SCHEDULE in op.operation.attributes:
            values = []
            for named in ir.DictAttr(op.operation.attributes[kern.SCHEDULE]):
                kind = {ir.BoolAttr: bool, ir.IntegerAttr: int, ir.StringAttr: str}[type(named.attr)]
                values.append((named.name, kind(named.attr.value)))
            found.append(str(Schedule(**dict(values))))
    return found

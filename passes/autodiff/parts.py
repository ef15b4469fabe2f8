"""Which part of a derivative an op belongs to, as a name around its location.

Comes in: the location of an op that is differentiated. Goes out: the location for what is made of it in the reverse
sweep, or for its tangent. Ops that are copied, or computed again, keep the location they have: they are primal.
Passes hand locations on, so the part is known down to the machine code: `pykern.compiler.lineage` reads it.
"""

from __future__ import annotations

from mlir import ir

ADJOINT, TANGENT = "pykern.adjoint", "pykern.tangent"


def adjoint_of(location: ir.Location) -> ir.Location:
    """The location for ops of the reverse sweep."""
    return location if part_of(location) == ADJOINT else ir.Location.name(ADJOINT, location)


def tangent_of(location: ir.Location) -> ir.Location:
    """The location for ops that compute tangents."""
    return location if part_of(location) else ir.Location.name(TANGENT, location)


def part_of(location: ir.Location) -> str:
    """`ADJOINT`, `TANGENT`, or "" for what is primal; of several, the first that is known."""
    if location.is_a_name():
        own = location.name_str
        return own if own in (ADJOINT, TANGENT) else part_of(location.child_loc)
    if location.is_a_callsite():
        return part_of(location.callee) or part_of(location.caller)
    if location.is_a_fused():
        return next((part for each in location.locations if (part := part_of(each))), "")
    return ""

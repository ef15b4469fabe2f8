"""What a kernel tells the host while it runs: prints, asserts, failed bounds checks.

The ops carry text and types; `number_sites` numbers them before code is made, and the host gets the
list: the code then hands over numbers and values only.
"""

from __future__ import annotations

from dataclasses import replace
from string import Formatter

from mlir import ir
from mlir.dialects import arith

from pykern.data.artifact import Site
from pykern.data.locations import SourceSpan
from pykern.dialect.attribute_forms import small_integer
from pykern.dialect.base import KernOp, i64_attr, kern_op
from pykern.dialect.diagnostics import calls_of, span_of
from pykern.types import BY_NAME

BEFORE_LAUNCH = "before_launch"
"""Of an assert of the frontend that is none of the user's: launches are checked for it, and no code is made of it."""


class SiteOp(KernOp):
    """Base of the ops that report; `site` is their number once they have one."""

    @property
    def site(self) -> int:
        if "site" not in self.attributes:
            raise self.refuse(
                "has no number yet", hint="number_sites, or pykern-opt --target=llvm, gives it one"
            )
        return ir.IntegerAttr(self.attributes["site"]).value

    def describe(self, span: SourceSpan) -> Site:
        """What the host has to know."""
        raise NotImplementedError

    def check(self) -> None:
        if "site" not in self.attributes:
            return
        site = small_integer(self.attributes["site"])
        if site is None or site < 0:
            raise self.refuse("has a `site` that is no number of a place")


@kern_op
class PrintOp(SiteOp):
    """Hand values to the host, which puts them into the template's braces.

    Each comes as 64 bits: integers extended, floats as f64. `dtypes` says what they are; a brace may say how a value is
    shown, ``{:.3f}``.

    ``"kern.print"(%x, %i) {template = "{} at {}\\0A", dtypes = ["f32", "int"]} : (i64, i64) -> ()``
    """

    OPERATION_NAME = "kern.print"
    IRDL = """
    %i64 = irdl.is i64
    %template = irdl.base "#builtin.string"
    %dtypes = irdl.base "#builtin.array"
    irdl.operands(values: variadic %i64)
    irdl.attributes { "template" = %template, "dtypes" = %dtypes }
"""

    @classmethod
    def create(cls, template: str, dtypes: list[str], values: list[ir.Value]) -> ir.Operation:
        names = ir.ArrayAttr.get([ir.StringAttr.get(name) for name in dtypes])
        return cls.build(values, template=ir.StringAttr.get(template), dtypes=names)

    @property
    def dtypes(self) -> tuple[str, ...]:
        return tuple(ir.StringAttr(name).value for name in ir.ArrayAttr(self.attributes["dtypes"]))

    def describe(self, span: SourceSpan) -> Site:
        return Site("print", span, ir.StringAttr(self.attributes["template"]).value, self.dtypes)

    def check(self) -> None:
        super().check()
        for name in ir.ArrayAttr(self.attributes["dtypes"]):
            if not isinstance(name, ir.StringAttr) or name.value not in BY_NAME:
                raise self.refuse(f"names no type with {name}: {', '.join(BY_NAME)}")
        if len(self.dtypes) != len(self.operands):
            raise self.refuse(f"names {len(self.dtypes)} types for {len(self.operands)} values")
        template = ir.StringAttr(self.attributes["template"]).value
        if _braces(template) != len(self.operands):
            raise self.refuse(f"has a template that does not take {len(self.operands)} values: {template!r}")


@kern_op
class AssertOp(SiteOp):
    """Report, once a launch, that `condition` is false.

    ``"kern.assert"(%ok) {message = "x is positive"} : (i1) -> ()``
    """

    OPERATION_NAME = "kern.assert"
    IRDL = """
    %i1 = irdl.is i1
    %message = irdl.base "#builtin.string"
    irdl.operands(condition: %i1)
    irdl.attributes { "message" = %message }
"""

    @classmethod
    def create(cls, condition: ir.Value, message: str, before_launch: bool = False) -> ir.Operation:
        made = cls.build([condition], message=ir.StringAttr.get(message))
        if before_launch:
            made.operation.attributes[BEFORE_LAUNCH] = ir.UnitAttr.get()
        return made

    def describe(self, span: SourceSpan) -> Site:
        return Site("assert", span, ir.StringAttr(self.attributes["message"]).value)


@kern_op
class ReportBoundsOp(SiteOp):
    """Report an access outside: the indices, then the lengths, one of each a dimension.

    ``"kern.report_bounds"(%i, %n) {array = "x"} : (index, index) -> ()``
    """

    OPERATION_NAME = "kern.report_bounds"
    IRDL = """
    %index = irdl.is index
    %array = irdl.base "#builtin.string"
    irdl.operands(indices_and_lengths: variadic %index)
    irdl.attributes { "array" = %array }
"""

    @classmethod
    def create(cls, array: str, indices: list[ir.Value], lengths: list[ir.Value]) -> ir.Operation:
        return cls.build([*indices, *lengths], array=ir.StringAttr.get(array))

    def describe(self, span: SourceSpan) -> Site:
        return Site("bounds", span, ir.StringAttr(self.attributes["array"]).value)

    def check(self) -> None:
        super().check()
        if len(self.operands) % 2:
            raise self.refuse("takes an index and a length of each dimension")


@kern_op
class ReportNanOp(SiteOp):
    """Report an operation that made a NaN: the work-item's indices, then the operands as the bits of f64.

    ``"kern.report_nan"(%i, %a, %b) {rank = 1} : (i64, i64, i64) -> ()``
    """

    OPERATION_NAME = "kern.report_nan"
    IRDL = """
    %i64 = irdl.is i64
    %rank = irdl.base "#builtin.integer"
    irdl.operands(indices_and_values: variadic %i64)
    irdl.attributes { "rank" = %rank }
"""

    @classmethod
    def create(cls, items: list[ir.Value], values: list[ir.Value]) -> ir.Operation:
        wide = ir.IntegerType.get_signless(64)
        indices = [arith.IndexCastOp(wide, item).result for item in items]
        return cls.build([*indices, *values], rank=i64_attr(len(items)))

    def describe(self, span: SourceSpan) -> Site:
        rank = ir.IntegerAttr(self.attributes["rank"]).value
        return Site("nan", span, str(rank), (str(len(self.operands) - rank),))

    def check(self) -> None:
        super().check()
        rank = small_integer(self.attributes["rank"])
        if rank is None or not 0 <= rank <= len(self.operands):
            raise self.refuse(f"has {len(self.operands)} operands, and rank {self.attributes['rank']}")


@kern_op
class ReportTimeoutOp(SiteOp):
    """Report that the time of the launch was over here.

    ``"kern.report_timeout"() : () -> ()``
    """

    OPERATION_NAME = "kern.report_timeout"

    @classmethod
    def create(cls) -> ir.Operation:
        return cls.build()

    def describe(self, span: SourceSpan) -> Site:
        return Site("timeout", span)


@kern_op
class ExpiredOp(KernOp):
    """Whether the time of the launch is over; code for the CPU alone has it.

    ``%over = "kern.expired"() : () -> i1``
    """

    OPERATION_NAME = "kern.expired"
    IRDL = """
    %i1 = irdl.is i1
    irdl.results(over: %i1)
"""

    @classmethod
    def create(cls) -> ir.Value:
        return cls.build(results=[ir.IntegerType.get_signless(1)]).result


@kern_op
class FailuresOp(KernOp):
    """How many failures work-items of this launch have reported so far; device code alone has it.

    ``%n = "kern.failures"() : () -> i32``
    """

    OPERATION_NAME = "kern.failures"
    IRDL = """
    %i32 = irdl.is i32
    irdl.results(count: %i32)
"""

    @classmethod
    def create(cls) -> ir.Value:
        return cls.build(results=[ir.IntegerType.get_signless(32)]).result


def _braces(template: str) -> int | None:
    """How many values a template takes; None where it is none."""
    try:
        fields = [(name, how) for _, name, _, how in Formatter().parse(template) if name is not None]
    except ValueError:
        return None
    return len(fields) if all(field == ("", None) for field in fields) else None


def number_sites(module: ir.Module) -> tuple[Site, ...]:
    """Give every report op its number; the same place (a copied loop body) is still its own site."""
    sites: list[Site] = []

    def visit(op: ir.Operation) -> ir.WalkResult:
        view = op.opview
        if isinstance(view, SiteOp):
            op.attributes["site"] = i64_attr(len(sites))
            site = view.describe(span_of(op.location) or SourceSpan("", 0, 0, 1))
            sites.append(replace(site, callers=tuple(calls_of(op.location))))
        return ir.WalkResult.ADVANCE

    module.operation.walk(visit)
    return tuple(sites)

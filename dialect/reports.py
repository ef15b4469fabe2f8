"""What a kernel tells the host while it runs: prints, asserts, failed bounds checks.

Each op names a `pykern.artifact.Site` by number; the host knows text, types and place.
"""

from __future__ import annotations

from mlir import ir
from pykern.dialect.base import KernOp, i64_attr, kern_op


class SiteOp(KernOp):
    """Base of the ops that name a site."""

    @property
    def site(self) -> int:
        return ir.IntegerAttr(self.attributes["site"]).value


@kern_op
class PrintOp(SiteOp):
    """Hand the values to the host, which prints them by the site's template.

    ``"kern.print"(%x, %i) {site = 0} : (f32, index) -> ()``
    """

    OPERATION_NAME = "kern.print"
    IRDL = """
    %any = irdl.any
    %site = irdl.any
    irdl.operands(values: variadic %any)
    irdl.attributes { "site" = %site }
"""

    @classmethod
    def create(cls, site: int, values: list[ir.Value]) -> ir.Operation:
        return cls.build(values, site=i64_attr(site))


@kern_op
class AssertOp(SiteOp):
    """Report the site, once a launch, where `condition` is false.

    ``"kern.assert"(%ok) {site = 1} : (i1) -> ()``
    """

    OPERATION_NAME = "kern.assert"
    IRDL = """
    %i1 = irdl.is i1
    %site = irdl.any
    irdl.operands(condition: %i1)
    irdl.attributes { "site" = %site }
"""

    @classmethod
    def create(cls, site: int, condition: ir.Value) -> ir.Operation:
        return cls.build([condition], site=i64_attr(site))


@kern_op
class ReportBoundsOp(SiteOp):
    """Report an access outside: the indices, then the lengths, one of each a dimension.

    ``"kern.report_bounds"(%i, %n) {site = 2} : (index, index) -> ()``
    """

    OPERATION_NAME = "kern.report_bounds"
    IRDL = """
    %index = irdl.is index
    %site = irdl.any
    irdl.operands(indices_and_lengths: variadic %index)
    irdl.attributes { "site" = %site }
"""

    @classmethod
    def create(cls, site: int, indices: list[ir.Value], lengths: list[ir.Value]) -> ir.Operation:
        return cls.build([*indices, *lengths], site=i64_attr(site))

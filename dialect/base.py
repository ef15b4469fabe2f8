"""How a kern op is declared: a Python class that carries its IRDL text and its verifier.

Comes in: classes derived from `KernOp`, decorated with `kern_op`.
Goes out: registered op views and `irdl_text()`, the dialect's definition.
Read next: `index_space`, `memory`, `atomics`, `collectives`, `reports`, `tape`, `launch`, where the ops are;
`context` loads the dialect.
"""

from __future__ import annotations

from typing import Any, ClassVar

from mlir import ir
from mlir.dialects._ods_common import _cext

from pykern.dialect.diagnostics import span_of
from pykern.errors import VerifyError

OP_CLASSES: list[type[KernOp]] = []


@_cext.register_dialect
class KernDialect(_cext.ir.Dialect):
    """Namespace of the kern ops."""

    DIALECT_NAMESPACE = "kern"


class KernOp(_cext.ir.OpView):
    """Base of the op views. `IRDL` is the body of its ``irdl.operation``."""

    _ODS_REGIONS = (0, True)
    IRDL: ClassVar[str] = ""

    @classmethod
    def build(cls, operands: Any = (), results: Any = (), **attributes: ir.Attribute) -> ir.Operation:
        """Create the op at the current insertion point and location."""
        return ir.Operation.create(
            cls.OPERATION_NAME, results=list(results), operands=list(operands), attributes=attributes
        )

    def check(self) -> None:
        """What IRDL cannot say; raises `VerifyError` at the op's place."""

    def refuse(self, reason: str, hint: str | None = None) -> VerifyError:
        """A located error about this op."""
        return VerifyError(f"`{self.OPERATION_NAME}` {reason}", span_of(self.location), hint)


def kern_op(cls: type[KernOp]) -> type[KernOp]:
    """Register an op class with MLIR and with the dialect's definition."""
    OP_CLASSES.append(cls)
    return _cext.register_operation(KernDialect)(cls)


def irdl_text() -> str:
    """The dialect in IRDL, put together from the op classes."""
    operations = "\n".join(
        f"  irdl.operation @{cls.OPERATION_NAME.removeprefix('kern.')} {{\n{cls.IRDL.rstrip()}\n  }}"
        for cls in OP_CLASSES
    )
    return f"irdl.dialect @kern {{\n{operations}\n}}"


def is_number(kind: ir.Type) -> bool:
    """Whether a value of this type is one number."""
    return isinstance(kind, ir.IntegerType | ir.IndexType | ir.FloatType)


def i64_attr(value: int) -> ir.IntegerAttr:
    return ir.IntegerAttr.get(ir.IntegerType.get_signless(64), value)

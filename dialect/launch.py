"""A kernel called by an array program: the launch, as an op among tensor operations.

In: buffers and scalars of the program. Out: nothing; the kernel writes into the buffers it is given.
"""

from __future__ import annotations

from mlir import ir

from pykern.dialect import attributes as kern
from pykern.dialect.attribute_forms import integers_of
from pykern.dialect.base import KernOp, kern_op


@kern_op
class LaunchOp(KernOp):
    """Run a kernel over a static index space, and wait for it.

    The body is one call of the kernel. `ndrange` counts the work-items of each dimension; `starts` and
    `steps` (both or neither) say where ranges begin and how far they step; `workgroup` is there where
    the program chose one.

    ``"kern.launch"() ({
        func.call @heat(%T2, %T, %c) : (memref<8x8xf32>, memref<8x8xf32>, f64) -> ()
        vector.yield
    }) {ndrange = array<i64: 6, 6>, starts = array<i64: 1, 1>, steps = array<i64: 1, 1>} : () -> ()``
    """

    OPERATION_NAME = "kern.launch"
    _ODS_REGIONS = (1, True)
    IRDL = """
    %body = irdl.region with size 1
    %ndrange = irdl.base "#builtin.dense_array"
    irdl.regions(body: %body)
    irdl.attributes { "ndrange" = %ndrange }
"""

    @classmethod
    def create(
        cls,
        kernel: str,
        arguments: list[ir.Value],
        ndrange: tuple[int, ...],
        starts: tuple[int, ...] | None = None,
        steps: tuple[int, ...] | None = None,
        workgroup: tuple[int, ...] = (),
    ) -> ir.Operation:
        """Call `kernel` with `arguments`; leave `starts` and `steps` out where ranges start at 0 by 1."""
        optional = {"starts": starts, "steps": steps, "workgroup": workgroup or None}
        attributes = {"ndrange": ndrange} | {name: v for name, v in optional.items() if v is not None}
        made = ir.Operation.create(
            cls.OPERATION_NAME,
            attributes={name: ir.DenseI64ArrayAttr.get(list(v)) for name, v in attributes.items()},
            regions=1,
        )
        with ir.InsertionPoint(made.regions[0].blocks.append()):
            callee = {"callee": ir.FlatSymbolRefAttr.get(kernel)}
            ir.Operation.create("func.call", operands=arguments, attributes=callee)
            ir.Operation.create("vector.yield")
        return made

    @property
    def call(self) -> ir.Operation:
        """The `func.call` of the kernel."""
        return self.operation.regions[0].blocks[0].operations[0].operation

    @property
    def kernel(self) -> str:
        """Symbol of the kernel."""
        return ir.FlatSymbolRefAttr(self.call.attributes["callee"]).value

    @property
    def ndrange(self) -> tuple[int, ...]:
        """Number of work-items in each dimension."""
        return self._integers("ndrange") or ()

    @property
    def starts(self) -> tuple[int, ...]:
        """First coordinate of each dimension."""
        return self._integers("starts") or (0,) * len(self.ndrange)

    @property
    def steps(self) -> tuple[int, ...]:
        """Distance of neighbouring coordinates in each dimension."""
        return self._integers("steps") or (1,) * len(self.ndrange)

    @property
    def workgroup(self) -> tuple[int, ...]:
        """Size of a group, () where the target may choose."""
        return self._integers("workgroup") or ()

    def _integers(self, name: str) -> tuple[int, ...] | None:
        return integers_of(self.attributes[name]) if name in self.attributes else None

    def check(self) -> None:
        self._check_space()
        body = [op for block in self.operation.regions[0].blocks for op in block.operations]
        if [op.operation.name for op in body] != ["func.call", "vector.yield"]:
            raise self.refuse("holds one func.call and a vector.yield")
        callee = self.callee
        if callee is None or kern.KERNEL not in callee.attributes:
            raise self.refuse(f"calls @{self.kernel}, which is no kernel of this module")
        if callee.name != "func.func":
            raise self.refuse(f"calls @{self.kernel}, which is a {callee.name} rather than a func.func")
        inputs = ir.FunctionType(ir.TypeAttr(callee.attributes["function_type"]).value).inputs
        given = [value.type for value in self.call.operands]
        if given != list(inputs) or len(self.call.results):
            raise self.refuse(f"passes ({_listed(given)}) to @{self.kernel}, which takes ({_listed(inputs)})")
        self._check_callee(callee)

    def _check_space(self) -> None:
        for name in ("ndrange", "starts", "steps", "workgroup"):
            if name in self.attributes and not isinstance(self.attributes[name], ir.DenseI64ArrayAttr):
                raise self.refuse(f"needs `{name}` as an array of i64, such as array<i64: 8, 8>")
        rank = len(self.ndrange)
        if ("starts" in self.attributes) != ("steps" in self.attributes):
            raise self.refuse("has `starts` and `steps` together, or neither")
        for name in ("starts", "steps", "workgroup"):
            if name in self.attributes and len(self._integers(name) or ()) != rank:
                raise self.refuse(f"has {rank} dimensions, and `{name}` another number")
        if any(count < 0 for count in self.ndrange):
            raise self.refuse("has a negative length in `ndrange`")
        if 0 in self.steps:
            raise self.refuse("has a step of 0")
        if any(size < 1 for size in self.workgroup):
            raise self.refuse("has a group size below 1")

    def _check_callee(self, callee: ir.Operation) -> None:
        """What the kernel was built for has to be what is launched."""
        if kern.RANK not in callee.attributes:
            raise self.refuse(f"calls @{self.kernel}, which has no `kern.rank`")
        rank = ir.IntegerAttr(callee.attributes[kern.RANK]).value
        if rank != len(self.ndrange):
            raise self.refuse(f"has {len(self.ndrange)} dimensions, and @{self.kernel} {rank}")
        if kern.PLAIN in callee.attributes and "starts" in self.attributes:
            raise self.refuse(f"has `starts`, and @{self.kernel} was built for ranges from 0 by 1")
        if kern.NDRANGE in callee.attributes:
            static = tuple(ir.DenseI64ArrayAttr(callee.attributes[kern.NDRANGE]))
            if static != self.ndrange:
                raise self.refuse(f"is over {self.ndrange}, and @{self.kernel} was built for {static}")

    @property
    def callee(self) -> ir.Operation | None:
        """The kernel's function; None where the module has none of that name."""
        root = self.operation
        while root.name != "builtin.module" and root.parent is not None:
            root = root.parent.operation
        for op in root.regions[0].blocks[0].operations:
            attributes = op.operation.attributes
            if "sym_name" in attributes and ir.StringAttr(attributes["sym_name"]).value == self.kernel:
                return op.operation
        return None


def _listed(types) -> str:
    return ", ".join(map(str, types))

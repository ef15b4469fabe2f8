"""A spirv.module to its binary."""

from __future__ import annotations

from mlir import ir
from mlir.dialects import gpu
from mlir.passmanager import PassManager

from pykern.lowering.spirv.flavour import Flavour
from pykern.passes.kernels import find


def prepare(module: ir.Module, flavour: Flavour) -> None:
    """Tell the conversion which environment it converts for, and each entry point its group."""
    module.operation.attributes["spirv.target_env"] = ir.Attribute.parse(flavour.environment)


def assemble(module: ir.Module, flavour: Flavour) -> tuple[bytes, str]:
    """The binary, and the text of the module that it was made from."""
    context = module.context
    converted = find(module.operation, lambda op: op.name == "spirv.module")[0]
    environment = flavour.environment
    whole = ir.Module.parse(
        f"module attributes {{gpu.container_module}} {{ gpu.module @pykern [{environment}] {{ }} }}", context
    )
    holder = whole.body.operations[0].operation
    copy = converted.clone(ip=ir.InsertionPoint.at_block_begin(holder.regions[0].blocks[0]))
    copy.operation.attributes["spirv.target_env"] = ir.Attribute.parse(environment, context)
    passes = "gpu.module(spirv.module(spirv-lower-abi-attrs,spirv-update-vce))"
    PassManager.parse(f"builtin.module({passes})", context).run(whole.operation)
    text = str(find(whole.operation, lambda op: op.name == "spirv.module")[0])
    PassManager.parse("builtin.module(gpu-module-to-binary)", context).run(whole.operation)
    binary = find(whole.operation, lambda op: op.name == "gpu.binary")[0]
    return gpu.ObjectAttr(ir.ArrayAttr(binary.attributes["objects"])[0]).object, text

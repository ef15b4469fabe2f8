"""A spirv.module to its binary."""

from __future__ import annotations

from collections.abc import Callable

from mlir import ir
from mlir.dialects import gpu

from pykern.lowering.spirv.flavour import Flavour
from pykern.passes.framework import Upstream, run_pass
from pykern.passes.kernels import find


def prepare(module: ir.Module, flavour: Flavour) -> None:
    """Tell the conversion which environment it converts for, and each entry point its group."""
    module.operation.attributes["spirv.target_env"] = ir.Attribute.parse(flavour.environment)


def assemble(
    module: ir.Module, flavour: Flavour, look: Callable[[ir.Operation], None] = lambda op: None
) -> tuple[bytes, str]:
    """The binary, and the text of the module that it was made from, which `look` gets."""
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
    run_pass(Upstream(passes), whole)
    _add_wide_atomics(find(whole.operation, lambda op: op.name == "spirv.module")[0])
    last = find(whole.operation, lambda op: op.name == "spirv.module")[0]
    look(last)
    text = str(last)
    run_pass(Upstream("gpu-module-to-binary"), whole)
    binary = find(whole.operation, lambda op: op.name == "gpu.binary")[0]
    return gpu.ObjectAttr(ir.ArrayAttr(binary.attributes["objects"])[0]).object, text


def _add_wide_atomics(module: ir.Operation) -> None:
    """Atomics of 64 bits need a capability that `spirv-update-vce` does not find."""
    wide = find(module, lambda op: op.name.startswith("spirv.Atomic") and op.results[0].type.width == 64)
    triple = str(module.attributes["vce_triple"])
    if wide and "Int64Atomics" not in triple:
        with_atomics = triple.replace("[", "[Int64Atomics, ", 1)
        module.attributes["vce_triple"] = ir.Attribute.parse(with_atomics, module.context)

"""What is taken of PyTorch, untyped as in `pykern.torch.framework`: types are checked without it."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from pykern.torch.framework import torch as torch


def _module(name: str) -> Any:
    return importlib.import_module(f"torch.{name}")


aten, prims = torch.ops.aten, torch.ops.prims
aot_autograd = _module("_dynamo.backends.common").aot_autograd
registry = _module("_dynamo.backends.registry")
make_boxed_func = _module("_functorch.aot_autograd").make_boxed_func
min_cut_rematerialization_partition = _module("_functorch.partitioners").min_cut_rematerialization_partition
core_aten_decompositions = _module("_decomp").core_aten_decompositions
CapabilityBasedPartitioner = _module("fx.passes.infra.partitioner").CapabilityBasedPartitioner
fuse_by_partitions = _module("fx.passes.utils.fuser_utils").fuse_by_partitions
OptimizedModule = _module("_dynamo.eval_frame").OptimizedModule
FakeTensorMode = _module("_subclasses.fake_tensor").FakeTensorMode

if TYPE_CHECKING:
    GraphModule = Node = Partition = Tensor = Any
    Interpreter = Module = OperatorSupportBase = Any
else:
    from torch import Tensor as Tensor
    from torch.fx import GraphModule as GraphModule
    from torch.fx import Interpreter as Interpreter
    from torch.fx import Node as Node
    from torch.fx.passes.infra.partitioner import Partition as Partition
    from torch.fx.passes.operator_support import OperatorSupportBase as OperatorSupportBase
    from torch.nn import Module as Module

"""One launch of a kernel as an array program: `ProgramSource` of what is launched, with no text of its own.

Comes in: a kernel, its parameters with known lengths, an index space. Goes out: what the compiler is asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pykern.data.index_space import Extent, group_size, is_plain
from pykern.data.program_source import KernelLaunch, ProgramSource
from pykern.data.source import Derivative, KernelOptions, KernelSource, LaunchSpec, Parameter

if TYPE_CHECKING:
    from pykern.launching.launched import LaunchedKernel


def launch_source(
    kernel: LaunchedKernel,
    parameters: tuple[Parameter, ...],
    space: tuple[Extent, ...],
    options: KernelOptions,
    derivatives: tuple[Derivative, ...] = (),
) -> ProgramSource:
    """The program; `options` are its own, the kernel inside has its kernel's."""
    group = () if kernel.workgroup is None else group_size(kernel.workgroup, len(space))
    launch = LaunchSpec(len(space), is_plain(space), tuple(e.count for e in space), group)
    function = kernel.captured()[0]
    source = KernelSource(function, parameters, launch, kernel.options, derivatives=derivatives)
    extents = tuple((e.start, e.step, e.count) for e in space)
    return ProgramSource(function, parameters, options, kernel=KernelLaunch(source, extents))

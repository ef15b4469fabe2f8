"""`pk.tune`: other schedules of a program, or workgroups of a kernel, are timed, and the best is kept for later calls.

Comes in: an array program or a kernel, and arguments. Goes out: `Tuned`. Read next: `search`; `programs` and `groups`,
which say what there is to choose.
"""

from __future__ import annotations

from typing import Any

from pykern.api.jit import Program
from pykern.api.kernel import KernelBase
from pykern.capture.placing import placed
from pykern.data.synthetic_frame import at_users_line
from pykern.errors import KernelError, KernelTypeError
from pykern.launching.checks import device_of
from pykern.launching.entries import LAUNCH_KEYWORDS
from pykern.tuning.groups import GroupChoices
from pykern.tuning.programs import ProgramChoices
from pykern.tuning.search import Choices, Search, Tuned


@at_users_line
def tune(function: Any, *args: Any, seconds: float = 10.0, **keywords: Any) -> Tuned:
    """Time other schedules on these arguments, and keep the best.

    Of a `@pk.jit` program, of a tile kernel and of a kernel that is a product of matrices, the schedules of the
    contractions on this processor. Of any other kernel, on a device, the workgroup, for later launches with arguments
    of this kind that leave it open; `keywords` are those of the launch:
    ``pk.tune(k, y, x, ndrange=x.shape, device="vulkan")``.

    About `seconds` seconds, behind the compilation that every call needs. Each configuration is compiled, its
    results are compared with those of the cost model's schedules, and the least of several timings counts. It runs
    on copies of the arguments. Timings are stored as they come, so that Ctrl-C (which ends tuning and keeps the best
    so far) loses nothing, and another call goes on where this one ended. Later calls with arguments of this kind,
    also in other processes on this machine, use the best.

    Raises `KernelTypeError` for what is neither, and for a launch of a kernel that leaves nothing to choose; and what
    the program or the launch raises. A program without contractions has nothing to tune: the result says so by
    ``tried == 0``.
    """
    if not seconds > 0:
        raise KernelTypeError(f"tune(seconds={seconds!r}): give a time above 0")
    if isinstance(function, KernelBase):
        return _tuned_kernel(function, args, keywords, seconds)
    if not isinstance(function, Program):
        raise KernelTypeError(
            f"`{getattr(function, '__name__', function)}` is neither an array program nor a kernel",
            hint="tune a @pk.jit or a @pk.kernel function",
        )
    return _tuned_program(function, args, keywords, seconds)


def _tuned_program(program: Program, args: tuple, keywords: dict[str, Any], seconds: float) -> Tuned:
    result = Search(ProgramChoices.of(program, args, keywords), seconds).run()
    program.forget_plans()
    return result


def _tuned_kernel(kernel: KernelBase, args: tuple, keywords: dict[str, Any], seconds: float) -> Tuned:
    tiles = kernel.tile_launches()
    if tiles is not None:
        programs, rest = tiles.programs(keywords)
        return _tuned_program(programs[0], args, rest, seconds)
    try:
        result = Search(_choices(kernel, args, keywords), seconds).run()
    except KernelError as error:
        raise placed(error, kernel.text) from None
    kernel.launcher.forget()
    return result


def _choices(kernel: KernelBase, args: tuple, keywords: dict[str, Any]) -> Choices:
    """What a launch of a kernel leaves open."""
    launch = {name: value for name, value in keywords.items() if name in LAUNCH_KEYWORDS}
    rest = {name: value for name, value in keywords.items() if name not in LAUNCH_KEYWORDS}
    values, spaces = kernel.bind(args, rest), kernel.launcher.spaces(launch)
    device = device_of(values, launch.get("device"), launch.get("stream"))
    if kernel.workgroup is not None or launch.get("workgroup") is not None:
        raise KernelTypeError(
            f"the workgroup of `{kernel.__name__}` is given, so there is nothing to tune",
            hint="leave workgroup= out",
        )
    if device not in ("cpu", "python"):
        return GroupChoices(kernel, device, values, launch.get("ndrange", kernel.ndrange), spaces[0])
    product = ProgramChoices.of_launch(kernel, values, spaces[0]) if device == "cpu" else None
    if product is None:
        raise KernelTypeError(
            f"`{kernel.__name__}` has nothing to tune on the device {device}: it is no product of matrices",
            hint='tune its workgroup on a device, as in device="vulkan"',
        )
    return product

"""`@pk.kernel`: the front door. Decorate, call, look inside.

A call goes: compiled entry (no Python at all) -> on a miss `Kernel.__call__` here -> arguments to
specs -> variant (cache, compiler, loader) -> checks -> run, and the new entry is installed.
"""

from __future__ import annotations

import functools
import inspect
import linecache
from collections.abc import Callable
from types import FunctionType
from typing import TYPE_CHECKING, Any

from pykern.api.call_advice import how_to_launch
from pykern.api.decorated import Decorated
from pykern.api.decorator import with_options
from pykern.api.in_graphs import is_traced, traced_call
from pykern.capture.function_text import FunctionText, function_text
from pykern.capture.guards import MISSING
from pykern.capture.placing import place, placed
from pykern.data.debug_checks import debug_checks
from pykern.data.locations import SourceSpan
from pykern.data.provided import provided
from pykern.data.source import Derivative, KernelOptions
from pykern.environment.settings import settings
from pykern.errors import NDRANGE, KernelError, KernelTypeError, LaunchError
from pykern.launching.entries import LAUNCH_KEYWORDS
from pykern.launching.launch import Launcher
from pykern.launching.launched import LaunchedKernel
from pykern.runtime.event import Event
from pykern.runtime.launchable import make_launchable

if TYPE_CHECKING:
    from pykern.program.product import ProductLaunches


class KernelBase(Decorated):
    """A function that runs once for each work-item of an index space.

    Calling it launches: ``k(*args, ndrange=..., workgroup=...)`` gives an `Event`.
    `lower` shows every stage without running.
    """

    __pykern_kernel__ = True
    """What capturing looks for: array programs launch kernels."""

    __slots__ = ("_tiles", "derivatives", "launcher", "ndrange", "timeout", "workgroup")

    KIND = "kernel"

    def __init__(
        self,
        function: Callable,
        options: KernelOptions,
        workgroup: Any,
        ndrange: Any,
        text: FunctionText | None = None,
    ) -> None:
        super().__init__(function, options, text)
        self.workgroup = workgroup
        self.ndrange = ndrange
        self.derivatives: tuple[Derivative, ...] = ()
        self.timeout: float | None = None
        self.launcher = Launcher(self, _products)
        self._tiles: Any = MISSING
        self.refuse_parameters(LAUNCH_KEYWORDS, "a launch keyword", "name each parameter")

    def __call__(self, *args: Any, **keywords: Any) -> Event:
        """Launch over ``ndrange``. Raises a `KernelError` at the kernel's line, or `LaunchError`."""
        __tracebackhide__ = True  # where pytest and IPython print
        if is_traced():
            return traced_call(self, args, keywords)
        try:
            return self._launch(args, keywords)
        except (KernelError, KeyboardInterrupt) as error:
            raise placed(error, self.text) from None

    def __getitem__(self, configuration: object) -> Any:
        """What CUDA's kernels and Triton's are launched with. Raises `LaunchError`, which says how it is done here."""
        error = LaunchError(
            f"`{self.__name__}[...]` does not launch a kernel: call it, with its index space as ndrange=",
            hint=f"write {self.__name__}(..., ndrange=n); workgroup=w says how large groups are",
            code=NDRANGE,
        )
        raise placed(error, self.text)

    def lower(self, *args: Any, **keywords: Any) -> Any:
        """Every stage of the kernel for these arguments or `pk.spec`s, as `Lowered`; nothing runs."""
        __tracebackhide__ = True
        from pykern.api.lowered import lower

        try:
            tiles = self.tile_launches()
            return lower(self, args, keywords) if tiles is None else tiles.lower(args, keywords)
        except (KernelError, KeyboardInterrupt) as error:
            raise placed(error, self.text) from None

    def raised(self, *args: Any, **keywords: Any) -> Any:
        """Whether the kernel is linalg on tensors for these arguments or specs: `Raised`, true or false.

        ``k.raised(x, y, ndrange=n).text`` is the raised form, ``.reason`` the `NotRaisable` that says why not.
        """
        from pykern.api.lowered import raised

        try:
            found = raised(self, args, keywords)
        except KernelError as error:
            raise placed(error, self.text) from None
        if found.reason is not None:
            place(found.reason, self.text)
        return found

    def _launch(self, args: tuple, keywords: dict[str, Any]) -> Event:
        tiles = self.tile_launches()
        return (self.launcher if tiles is None else tiles).launch(args, keywords)

    def tile_launches(self) -> Any:
        """Launches over tiles; None where the index is that of a work-item."""
        if self._tiles is MISSING:  # nobody has asked yet
            self._tiles = provided("launch_tiles")(self) if _may_tile(self.text) else None
        return self._tiles

    def bind(self, args: tuple, keywords: dict[str, Any]) -> list[tuple[str, Any]]:
        """Parameter names with their values, defaults filled in."""
        return self.bound(args, keywords, has_defaults=not self.derivatives)

    def how_to_call(self, args: tuple, keywords: dict[str, Any]) -> str:
        """What a launch takes."""
        return how_to_launch(list(self.signature.parameters), args, keywords)

    def _repr_html_(self) -> str:
        """Notebooks: the explorer's page of the last kind of launch; the source, where there was none."""
        return provided("kernel_html")(self)

    def __repr__(self) -> str:
        return f"<pykern.api.kernel {self.__name__}{self.signature}>"


def _may_tile(text: FunctionText) -> bool:
    """Whether the text may say `pk.tile`: all others need nothing of it."""
    return "tile" in text.text


def _products(kernel: LaunchedKernel) -> ProductLaunches:
    """The launches of a kernel that is a product."""
    from pykern.program.product import ProductLaunches  # here: few kernels are, and it needs array programs

    return ProductLaunches(kernel)


class Docstring:
    """A kernel's docstring is its function's, the class has its own."""

    def __init__(self, base: type) -> None:
        self.base = base

    def __get__(self, made: Any, kind: type) -> str | None:
        return self.base.__doc__ if made is None else made.__wrapped__.__doc__


Kernel = make_launchable(KernelBase)
Kernel.__doc__ = Docstring(KernelBase)


@with_options
def kernel(
    function: Callable | None = None,
    *,
    debug: bool | str | None = None,
    fastmath: bool = False,
    workgroup: int | tuple[int, ...] | None = None,
    ndrange: int | tuple | None = None,
    timeout: float | None = None,
) -> Any:
    """Make a kernel of a function: ``@pk.kernel``, ``@pk.kernel(debug=True)`` or ``pk.kernel(f)``.

    `debug` checks every access and raises `OutOfBounds`; it defaults to ``PYKERN_DEBUG``. A string names checks, with
    commas between: ``"bounds"`` is the same as True; ``"nan"`` raises `NotANumber` where an operation makes a NaN of
    numbers; ``"races"`` runs the work-items one by one in plain Python, on the CPU, and raises `DataRace` where two of
    them access an element with no order between them. A launch on the CPU that takes longer than `timeout` seconds
    is ended: `TimedOut` at the line of the loop that ran; its arrays are then partly written.
    `fastmath` lets sums be reordered and divisions become products, and GPUs take subnormal f32 for zero;
    NaN and infinities keep their meaning. Without it only ``a * b + c`` may be contracted. A `workgroup` or
    `ndrange` given here is static: launches may leave it out, and another one is a `LaunchError`.
    """
    if function is None:
        return functools.partial(
            kernel, debug=debug, fastmath=fastmath, workgroup=workgroup, ndrange=ndrange, timeout=timeout
        )
    if debug is None:
        debug = settings().debug
    try:
        checks = debug_checks(debug)
        limited = _seconds(timeout) is not None
        options = KernelOptions(checks.bounds, fastmath, nan=checks.nan, races=checks.races, limited=limited)
        made = Kernel(function, options, workgroup, ndrange)
        made.timeout = timeout
    except KernelError as error:
        raise placed_at_def(error, function) from None
    _prewarm(made)
    return made


def _seconds(timeout: Any) -> float | None:
    """A time limit, checked."""
    if timeout is not None and not (isinstance(timeout, int | float) and timeout > 0):
        raise KernelTypeError(
            f"timeout={timeout!r} is no time limit",
            hint="write a number of seconds above 0, as in timeout=1.5",
        )
    return timeout


def placed_at_def(error: KernelError, function: Any) -> KernelError:
    """An error of the decoration, at the function's ``def`` where there is its source."""
    plain = inspect.unwrap(getattr(function, "func", function), stop=lambda f: isinstance(f, FunctionType))
    try:
        place(error, function_text(plain))
    except KernelError:  # that it has none is the error
        if (code := getattr(plain, "__code__", None)) is not None:
            line = linecache.getline(code.co_filename, code.co_firstlineno).rstrip("\n")
            indent = len(line) - len(line.lstrip())
            name = code.co_name if code.co_name.isidentifier() else "<module>"
            error.span = SourceSpan(code.co_filename, code.co_firstlineno, indent, len(line), name, line)
    return error


def _prewarm(made: KernelBase) -> None:
    """Start the compiler in the background, unless this function was compiled before."""
    from pykern.obtain.prewarm import before_first_call

    before_first_call(made.text)


__all__ = ["Kernel", "KernelBase", "LaunchError", "kernel"]

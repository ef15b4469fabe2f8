"""Launches while halos travel: their interior at once, the rim when the halos are there.

Comes in: an exchange that was started, and the launches of a ``with`` block. Goes out: the same arrays as if each
launch had waited. A launch that cannot be told apart, or that uses what a rim has yet to write, waits for the halos
first.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any

from pykern.api.kernel import KernelBase
from pykern.arrays.array import Array
from pykern.data.records import record
from pykern.launching import interceptor
from pykern.mpi.stencils import Space, Split, overlap, split

if TYPE_CHECKING:
    from pykern.mpi.grid import Grid


@record
class Rim:
    """The rest of a launch."""

    kernel: KernelBase
    args: tuple
    keywords: dict[str, Any]
    spaces: tuple[Space, ...]

    def run(self) -> None:
        for space in self.spaces:
            self.kernel(*self.args, **{**self.keywords, "ndrange": space})


class Exchange:
    """What `Grid.exchange` returns. In a ``with`` statement launches overlap with the messages."""

    def __init__(self, grid: Grid, arrays: Sequence[Any], site: tuple[Any, int], pending: Any) -> None:
        self._grid = grid
        self._arrays = arrays
        self._site = site
        self._pending = pending
        self._rims: list[Rim] = []
        self._token: Any = None

    def __enter__(self) -> Exchange:
        if self._grid.entered(self._site) or self._pending is not None:
            self._token = interceptor.begin(self._launch)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._token is not None:
            interceptor.end(self._token)
            self._token = None
        self.wait()

    def wait(self) -> None:
        """Until the halos are there; then the rims are run. Raises `LaunchError` where another rank has ended."""
        if self._pending is None:
            return
        pending, self._pending = self._pending, None
        self._grid.finish(pending)
        rims, self._rims = self._rims, []
        for rim in rims:
            rim.run()

    def __del__(self) -> None:
        if self._pending is not None:  # a call in a `with` statement's place that was none this time
            self.wait()

    def _launch(self, function: Any, args: tuple, keywords: dict[str, Any]) -> Any:
        with interceptor.paused():
            found = self._split(function, args, keywords)  # also checks how far the kernel looks
            if found is None or self._pending is None:
                self.wait()
                return function(*args, **keywords)
            self._rims.append(Rim(function, args, keywords, found.rim))
            return function(*args, **{**keywords, "ndrange": found.interior})

    def _split(self, function: Any, args: tuple, keywords: dict[str, Any]) -> Split | None:
        space = keywords.get("ndrange")
        if not isinstance(function, KernelBase) or not isinstance(space, tuple) or self._rims:
            return None
        if set(keywords) != {"ndrange"} or len(args) != len(function.signature.parameters):
            return None
        key = (id(function), space, tuple(map(self._kind, args)))
        known = self._grid.splits
        if key not in known:
            values = list(zip(function.signature.parameters, args, strict=True))
            known[key] = (function, split(function, values, space, self._grid.block, self._arrays))
        return known[key][1]

    def _kind(self, value: Any) -> Any:
        """What a split depends on: which array this is, and its type."""
        shape = getattr(value, "shape", None)
        if shape is None:
            return type(value)
        place = next((n for n, one in enumerate(self._arrays) if value is one), None)
        if place is None and any(overlap(value, one) for one in self._arrays):
            place = -1
        return place, shape, value.dtype, isinstance(value, Array)

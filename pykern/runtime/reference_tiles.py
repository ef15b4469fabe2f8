"""Tile kernels on the reference device: one tile after the other, with slices of NumPy arrays.

Comes in: a kernel's function, its arguments as NumPy arrays, the index space and the sizes that were asked for. Goes
out: nothing; the function has run once a tile. Where no size is asked for tiles are small and odd, so that a result
that depends on their size shows itself.
"""

from __future__ import annotations

import contextvars
import itertools
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from pykern.data.records import record
from pykern.data.tiles import NO_SIZE, TileLaunch, backwards, wide
from pykern.errors import KernelError, KernelTypeError

SIZE, LOOP_SIZE = 5, 3
"""Elements of a tile of the index space, and of a tile that a loop goes through, where nobody says how many."""


@record
class Tile:
    """A part of a range: `count` places from `start` by `step`. ``i + 1`` is the same part, one further; ``2 * i`` is
    every second place, with a `spacing` of 2."""

    start: int
    step: int
    count: int
    moved: int = 0
    spacing: int = 1

    def __add__(self, by: int) -> Tile:
        return replace(self, moved=self.moved + by)

    __radd__ = __add__

    def __sub__(self, by: int) -> Tile:
        return self + -by

    def __mul__(self, by: int) -> Tile:
        return Tile(self.start * by, self.step * by, self.count, self.moved * by, self.spacing * by)

    __rmul__ = __mul__

    def places(self) -> range:
        """The places themselves."""
        first = self.start + self.moved
        return range(first, first + self.count * self.step, self.step)

    def slice(self, length: int) -> slice:
        """What it takes of an axis. Raises `KernelTypeError` where a moved or spaced tile reaches outside."""
        places = self.places()
        if (self.moved or self.spacing > 1) and places and not (places[0] >= 0 and places[-1] < length):
            raise KernelTypeError(
                f"a tile from {places[0]} to {places[-1]} reaches outside of an axis of {length} elements",
                hint="launch over a range that leaves the border out, as in ndrange=range(1, n - 1)",
            )
        return slice(places.start, places.stop, self.step)


@record
class _Running:
    """The tile that runs: what ``pk.tile()`` gives, and the sizes that the launch asks for."""

    tiles: tuple[Tile, ...]
    launch: TileLaunch


class _Asked(BaseException):
    """The sizes that a kernel asks for: ends its first run, which is there to learn them."""

    def __init__(self, sizes: tuple[int | None, ...]) -> None:
        self.sizes = sizes


_running: contextvars.ContextVar[_Running | None] = contextvars.ContextVar("pykern_tile", default=None)


def run(function: Callable, given: dict[str, Any], launch: TileLaunch) -> None:
    """Run every tile. Raises what the kernel's own Python raises."""
    values = {name: v.view(TileArray) if isinstance(v, np.ndarray) else v for name, v in given.items()}
    sizes = _sizes(function, values, launch)
    parts = [
        _parts(extent, SIZE if size is None else size)
        for extent, size in zip(launch.space, sizes, strict=True)
    ]
    for tiles in itertools.product(*parts):
        token = _running.set(_Running(tiles, TileLaunch(launch.space, sizes)))
        try:
            function(**values)
        finally:
            _running.reset(token)


def _sizes(function: Callable, values: dict[str, Any], launch: TileLaunch) -> tuple[int | None, ...]:
    """The sizes that the launch and the kernel ask for."""
    token = _running.set(_Running((), launch))
    try:
        function(**values)
    except _Asked as asked:
        return asked.sizes
    finally:
        _running.reset(token)
    raise KernelError("the kernel ends without pk.tile()", hint="begin it with i = pk.tile()")


def _parts(extent: tuple[int, int, int], size: int) -> list[Tile]:
    start, step, count = extent
    return [Tile(start + k * step, step, min(size, count - k)) for k in range(0, count, size)]


def tile(sizes: tuple[int | None, ...]) -> Any:
    """See `pykern.language.tile`."""
    running = _running.get()
    if running is None:
        raise KernelError("pk.tile() only works inside a kernel", hint="launch a kernel: k(..., ndrange=n)")
    if not running.tiles:
        raise _Asked(running.launch.with_sizes(sizes))
    given = tuple(
        t.start if size == 1 else t for t, size in zip(running.tiles, running.launch.sizes, strict=True)
    )
    return given[0] if len(given) == 1 else given


def tiles(start: int, stop: int) -> Iterator[Tile]:
    """See `pykern.language.tiles`."""
    if _running.get() is None:
        raise KernelError("pk.tiles() only works inside a kernel", hint="launch a kernel: k(..., ndrange=n)")
    if stop < start:
        raise KernelTypeError(backwards(start, stop), hint=NO_SIZE)
    return iter(_parts((start, 1, stop - start), LOOP_SIZE))


def positions(tile: Any) -> Any:
    """See `pykern.language.positions`."""
    if not isinstance(tile, Tile):
        raise KernelTypeError(
            f"pk.positions takes a tile, not {tile!r}", hint="an integer is its own position"
        )
    return np.array(tile.places(), np.int64).view(TileArray)


def lengths(shape: Any) -> Any:
    """A shape whose lengths may be those of tiles."""
    if isinstance(shape, Tile):
        return shape.count
    if isinstance(shape, tuple | list) and any(isinstance(n, Tile) for n in shape):
        return tuple(n.count if isinstance(n, Tile) else n for n in shape)
    return shape


def seen(array: Any) -> Any:
    """A new array, in a tile kernel indexed by tiles."""
    return array if _running.get() is None else _tiled(array)


class TileArray(np.ndarray):
    """An array in a tile kernel: tiles are slices of it, products of narrow types are given in wide ones."""

    def __getitem__(self, key: Any) -> Any:
        return super().__getitem__(self._slices(key))

    def __setitem__(self, key: Any, value: Any) -> None:
        super().__setitem__(self._slices(key), value)

    def reshape(self, *shape: Any, **keywords: Any) -> Any:
        return super().reshape(*(lengths(part) for part in shape), **keywords)

    def _slices(self, key: Any) -> Any:
        """The index with slices in the place of tiles."""
        items = key if isinstance(key, tuple) else (key,)
        if not any(isinstance(item, Tile) for item in items):
            return key
        used = sum(item is not None and item is not ... for item in items)
        made, axis = [], 0
        for item in items:
            made.append(item.slice(self.shape[axis]) if isinstance(item, Tile) else item)
            axis += 0 if item is None else self.ndim - used if item is ... else 1
        return tuple(made)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, out: Any = None, **keywords: Any) -> Any:
        given = [_plain(x) for x in inputs]
        if ufunc is np.matmul:
            into = wide(np.result_type(*given).name)
            given = [np.asarray(x).astype(into) for x in given] if into else given
        if out is not None:
            keywords["out"] = tuple(_plain(x) for x in out)
        found = getattr(ufunc, method)(*given, **keywords)
        if out is not None:
            return out[0] if len(out) == 1 else out
        if isinstance(found, tuple):
            return tuple(_tiled(x) for x in found)
        return _tiled(found)


def _plain(x: Any) -> Any:
    return x.view(np.ndarray) if isinstance(x, TileArray) else x


def _tiled(x: Any) -> Any:
    return x.view(TileArray) if isinstance(x, np.ndarray) else x

"""Launches of kernels whose index is a range: each index space is an array program of its own.

Comes in: a kernel that calls `pk.tile`, and the values and keywords of a launch. Goes out: an event.
A program is made once for an index space and the sizes of tiles, and its compiled entry takes the calls after that.
Read next: `pykern.frontend.program.tiles`; on the device ``python``, `pykern.runtime.reference_tiles`.
"""

from __future__ import annotations

import ast
from typing import Any

from pykern.api.jit import Program
from pykern.capture.function_text import FunctionText
from pykern.data.index_space import Extent, launches
from pykern.data.locations import SourceSpan, parse_definition
from pykern.data.program_source import ProgramSource
from pykern.data.scopes import dotted
from pykern.data.source import Builtin, FunctionSource, is_tiled
from pykern.data.target import REFERENCE
from pykern.data.tiles import TileLaunch
from pykern.errors import NDRANGE, KernelSyntaxError, KernelTypeError, LaunchError, NotDifferentiable
from pykern.launching.checks import device_of
from pykern.launching.launched import LaunchedKernel
from pykern.launching.reference_checks import said_of
from pykern.program import reference as program_reference
from pykern.program.arguments import describe
from pykern.runtime import reference_tiles
from pykern.runtime.devices import OVERRIDE
from pykern.runtime.event import COMPLETED, Event
from pykern.runtime.graph import current_graph
from pykern.runtime.stream import checked_stream

MOST_SPACES = 256
"""Index spaces whose programs are kept."""
_WORK_ITEMS = frozenset(
    ("index", "local_index", "group_index", "group_size", "num_groups", "subgroup_size", "subgroup_index", "lane_index",
     "shared", "private", "barrier")
)  # fmt: skip
"""What a work-item asks: a tile is none."""


class TileLaunches:
    """The programs of one tile kernel."""

    def __init__(self, kernel: LaunchedKernel) -> None:
        self.kernel = kernel
        self._programs: dict[TileLaunch, Program] = {}
        self._said: dict[ProgramSource, Any] = {}
        """What the compiler says of launches that the device ``python`` runs."""
        self._known: dict[Any, Program] = {}
        """By an ndrange of numbers, as it was given."""
        self._on_devices = False
        """Whether one of these was launched on a device with a driver."""
        refuse_work_items(kernel.text, kernel.captured()[0])

    def launch(self, args: tuple, keywords: dict[str, Any]) -> Event:
        """Run. Raises what programs raise, and `LaunchError`."""
        given = keywords.get("ndrange")
        around = OVERRIDE["device"]  # of `with pk.device`
        if around is None and type(given) in (int, tuple) and (known := self._known.get(given)) is not None:
            if len(keywords) == 1 and not self._on_devices:
                known(*args)
                return COMPLETED
            if keywords.keys() <= {"ndrange", "stream"}:
                return self._repeat(known, args, keywords.get("stream"))
        spaces, options, rest = self._asked(keywords)
        values = self.kernel.bind(args, rest)
        args, rest = self._by_place(args, rest)
        device = device_of(values, options.get("device"), options.get("stream"))
        for launch in spaces:
            if 0 in [count for _, _, count in launch.space]:
                continue
            program = self._program(launch)
            if device == "python":
                self._run_in_python(launch, program, values)
            elif device == "cpu":
                program(*args, **rest)
            else:
                program(*args, **rest, **options)
                self._on_devices = True
            if device != "python" and keywords.keys() <= {"ndrange", "stream"} and _is_plain(given):
                self._known[given] = program
        return _event(device, options.get("stream"))

    def _repeat(self, program: Program, args: tuple, stream: Any) -> Event:
        """A launch over an ndrange that has been launched before."""
        device = device_of(list(zip(self.kernel.signature.parameters, args, strict=False)), None, stream)
        if stream is None or device == "cpu":
            program(*args)
        else:
            program(*args, stream=stream)
        return _event(device, stream)

    def lower(self, args: tuple, keywords: dict[str, Any]) -> Any:
        """Every stage of a launch. `keywords` are those of `Program.lower`, and those of a launch."""
        if keywords.pop("debug", None):
            raise LaunchError(
                "debug= of a tile kernel is said where it is made", hint="write @pk.kernel(debug=True)"
            )
        given = {name: keywords.pop(name) for name in ("target", "passes") if name in keywords}
        spaces, _, rest = self._asked(keywords)
        args, rest = self._by_place(args, rest)
        return self._program(spaces[0]).lower(*args, **rest, **given)

    def programs(self, keywords: dict[str, Any]) -> tuple[list[Program], dict[str, Any]]:
        """The programs of a launch, one for each index space, and the keywords that they are called with."""
        spaces, options, rest = self._asked(keywords)
        return [self._program(space) for space in spaces], {**options, **rest}

    def _by_place(self, args: tuple, rest: dict[str, Any]) -> tuple[tuple, dict[str, Any]]:
        """Arguments of the kernel, without names that a call of a program uses itself."""
        if rest.keys().isdisjoint(("out", "donate")):
            return args, rest
        return tuple(value for _, value in self.kernel.bind(args, rest)), {}

    def _asked(self, keywords: dict[str, Any]) -> tuple[list[TileLaunch], dict[str, Any], dict[str, Any]]:
        """What is launched, where, and the kernel's own keywords."""
        rest = dict(keywords)
        name = self.kernel.__name__
        ndrange = rest.pop("ndrange", self.kernel.ndrange)
        if ndrange is None:
            raise LaunchError(
                f"`{name}` is launched without an ndrange",
                hint=f"say over which range its tiles go: {name}(..., ndrange=x.shape)",
                code=NDRANGE,
            )
        for word in ("workgroup", "shared_bytes"):
            if rest.pop(word, None) is not None:
                raise LaunchError(
                    f"{word}= is for work-items, and the index of `{name}` is a tile",
                    hint="tile=(128, 64) says how large tiles are, or leave it out",
                )
        asked = rest.pop("tile", None) if "tile" not in self.kernel.signature.parameters else None
        sizes = () if asked is None else asked if isinstance(asked, tuple) else (asked,)
        if not all(size is None or type(size) is int for size in sizes):
            raise LaunchError(f"tile={asked!r}: sizes are integers, or None", hint="write tile=(128, 64)")
        options = {word: rest.pop(word) for word in ("device", "stream") if word in rest}
        return [_launch(space, sizes) for space in launches(ndrange)], options, rest

    def _program(self, launch: TileLaunch) -> Program:
        kernel = self.kernel
        with kernel._lock:
            made = self._programs.get(launch)
            if made is None:
                launch.with_sizes(())
                self._refuse()
                if len(self._programs) >= MOST_SPACES:
                    self._programs.clear()
                    self._known.clear()
                made = Program(kernel.__wrapped__, kernel.options, text=kernel.text, tiles=launch)
                made.signature, made.annotations = kernel.signature, kernel.annotations
                self._programs[launch] = made
        return made

    def _refuse(self) -> None:
        kernel = self.kernel
        if kernel.derivatives:
            raise NotDifferentiable(
                f"`{kernel.__name__}` is a tile kernel, whose gradient is taken on whole arrays",
                hint='leave level="direct" out, and launch over one ndrange; a program that launches it has pk.jvp',
            )
        if kernel.options.races or kernel.timeout is not None:
            asked = 'debug="races"' if kernel.options.races else "timeout="
            raise LaunchError(
                f"`{kernel.__name__}` has {asked}, which is for work-items", hint="leave it out"
            )

    def _run_in_python(self, launch: TileLaunch, program: Program, values: list[tuple[str, Any]]) -> None:
        """On the reference device. What every device refuses is refused there: it has sizes of tiles of its own."""
        kernel = self.kernel
        parameters = describe(values, kernel.annotations).parameters
        source = program.source_of(kernel.captured()[0], parameters, REFERENCE)
        if source not in self._said:
            self._said[source] = said_of(source)
        if isinstance(self._said[source], KernelTypeError):
            raise self._said[source].with_traceback(None)

        def run(**given: Any) -> None:
            reference_tiles.run(kernel.__wrapped__, given, launch)

        program_reference.run(run, values, parameters, None, bool(kernel.derivatives), kernel.options.debug)


def launch_tiles(kernel: LaunchedKernel) -> TileLaunches | None:
    """The launches of a kernel whose index is a range; None of one for work-items."""
    return TileLaunches(kernel) if is_tiled(kernel.captured()[0]) else None


def refuse_work_items(text: FunctionText, function: FunctionSource) -> None:
    """Raise `KernelSyntaxError` where a tile kernel asks for the place of a work-item, or shares memory of a group."""
    names = {path: meant.name for path, meant in function.captures if isinstance(meant, Builtin)}
    for node in ast.walk(parse_definition(text.text)):
        if isinstance(node, ast.Call) and (name := names.get(dotted(node.func) or "")) in _WORK_ITEMS:
            line = text.text.splitlines()[node.lineno - 1]
            raise KernelSyntaxError(
                f"pk.{name}() is of work-items, and the index of this kernel is a tile",
                SourceSpan(text.file, text.first_line + node.lineno - 1, node.col_offset, node.end_col_offset or 0,
                           text.name, line),
                "write another kernel with pk.index(), or take the indices of a tile: pk.positions(i)",
            )  # fmt: skip


def _event(device: str, stream: Any) -> Event:
    """Of what was just put into the stream."""
    if device in ("cpu", "python") or current_graph() is not None:
        return COMPLETED
    return checked_stream(stream, device).launched()


def _launch(space: tuple[Extent, ...], sizes: tuple[int | None, ...]) -> TileLaunch:
    return TileLaunch(tuple((e.start, e.step, e.count) for e in space), sizes)


def _is_plain(ndrange: Any) -> bool:
    """Whether an ndrange is one space of integers."""
    return type(ndrange) is int or (type(ndrange) is tuple and all(type(n) is int for n in ndrange))

"""The long way of a launch: arguments to specs, specs to a variant, checks, run.

The compiled entry does the same for a signature it knows. Comes in: the values and keywords of a
call. Goes out: nothing; the kernel has run, and the entry for the next call of its kind is in place.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from pykern.artifact import PRODUCT, ArgumentUse, Artifact
from pykern.devices import checked, chosen_device, current_device
from pykern.errors import ARRAY_MEMORY, DIFFERENT_DEVICES, NDRANGE, WORKGROUP, DeviceError, LaunchError
from pykern.event import COMPLETED, Event
from pykern.launching.arguments import Passed, arrays_of, homes, pass_value
from pykern.launching.entries import Entries
from pykern.launching.graph import current_graph
from pykern.launching.index_space import Extent, group_size, index_space, is_plain, launches
from pykern.launching.variants import Variant, compiled, obtain
from pykern.source import ArgSpec, ArraySpec, KernelSource, LaunchSpec, StructSpec

if TYPE_CHECKING:
    from pykern.kernel import KernelBase
    from pykern.launching.repeats import Repeats

LAUNCH_KEYWORDS = ("ndrange", "workgroup", "stream", "device", "shared_bytes")


OVERLAP_WORK: Any = 100_000
"""Steps spent on an exact answer whether two strided views share an element; beyond, they do."""


class Launcher:
    """Launches of one kernel, and the variants made so far."""

    def __init__(self, kernel: KernelBase) -> None:
        self.kernel = kernel
        self.variants: dict[KernelSource, Variant] = {}
        self.artifacts: dict[KernelSource, Artifact] = {}
        self.known: dict[Any, tuple[Artifact, KernelSource]] = {}
        self.launched: dict[Any, int] = {}
        self.tapes: dict[Any, int] = {}
        self.entries = Entries(kernel)
        self.products: Any = None
        self._places: tuple[Any, tuple[str, ...]] = (None, ())
        self.repeats: Repeats | None = None

    def launch(self, args: tuple, keywords: dict[str, Any]) -> Event:
        if self.repeats is None:
            return self._launch(args, keywords)
        event = self.repeats.again(self.kernel, args, keywords)
        if event is None:
            given = dict(keywords)
            self.repeats.forget()
            event = self._launch(args, keywords)
            self.repeats.keep(args, given)
        return event

    def _launch(self, args: tuple, keywords: dict[str, Any]) -> Event:
        if self.products is not None and self.products.again(args, keywords):
            return COMPLETED
        options = {name: keywords.pop(name) for name in LAUNCH_KEYWORDS if name in keywords}
        values = self._bound(args, keywords)
        given, stream = options.get("device"), options.get("stream")
        device = device_of(values, given, stream)
        shared = shared_bytes(options.get("shared_bytes"))
        event = COMPLETED
        for space in self._spaces(options):
            workgroup = self._workgroup(options.get("workgroup"), len(space))
            if device not in ("cpu", "python"):
                may_copy = given is not None or chosen_device() == device or not homes(values)
                event = self._run_on(
                    device, stream, may_copy, values, space, workgroup, shared, frozenset(options)
                )
            elif (captured := current_graph()) is None:
                self._run_here(device, values, space, workgroup, shared)
            else:
                call = (device, values, space, workgroup, shared)
                captured.add(None, lambda _, call=call: self._run_here(*call))
        return event

    def _bound(self, args: tuple, keywords: dict[str, Any]) -> list[tuple[str, Any]]:
        """Parameters with their values; where all are given by their places nothing has to be looked up."""
        signature, names = self._places
        if signature is not self.kernel.signature:
            signature = self.kernel.signature
            plain = all(p.kind is not p.KEYWORD_ONLY for p in signature.parameters.values())
            names = tuple(signature.parameters) if plain else ()
            self._places = signature, names
        if keywords or len(args) != len(names):
            return self.kernel.bind(args, keywords)
        return list(zip(names, args, strict=True))

    # -- what is launched ----------------------------------------------------------------------

    def _spaces(self, options: dict[str, Any]) -> list[tuple[Extent, ...]]:
        static = self.kernel.ndrange
        given = options.get("ndrange", static)
        if given is None:
            raise LaunchError(
                f"`{self.kernel.__name__}` is launched without an ndrange",
                hint=f"say how many work-items: {self.kernel.__name__}(..., ndrange=x.shape)",
                code=NDRANGE,
            )
        spaces = launches(given)
        if static is not None and spaces != [index_space(static)]:
            raise LaunchError(
                f"ndrange={given!r}, but `{self.kernel.__name__}` has the static ndrange {static!r}",
                hint="leave it out of the launch, or out of @pk.kernel(...)",
                code=NDRANGE,
            )
        return spaces

    def _workgroup(self, given: Any, rank: int) -> tuple[int, ...]:
        static = self.kernel.workgroup
        if given is None:
            given = static
        if given is None:
            return ()
        size = group_size(given, rank)
        if static is not None and size != group_size(static, rank):
            raise LaunchError(
                f"workgroup={given!r}, but `{self.kernel.__name__}` has the static workgroup {static!r}",
                hint="leave it out of the launch, or out of @pk.kernel(...)",
                code=WORKGROUP,
            )
        return size

    # -- on a device with a driver -------------------------------------------------------------

    def _run_on(
        self,
        device: str,
        stream: Any,
        may_copy: bool,
        values: list[tuple[str, Any]],
        space: tuple[Extent, ...],
        workgroup: tuple[int, ...],
        shared: int | None,
        keywords: frozenset[str],
    ) -> Event:
        from pykern.launching.on_device import launch
        from pykern.runtime.registry import opened

        return launch(self, opened(device), stream, may_copy, values, space, workgroup, shared, keywords)

    def device_artifact(
        self,
        passed: list[Passed],
        space: tuple[Extent, ...],
        plain: bool,
        workgroup: tuple[int, ...],
        shared: bool,
        target: str,
    ) -> tuple[Artifact, KernelSource]:
        """The code of a kind of call for a target other than the CPU, and what it was made of."""
        source = self._source(passed, space, plain, workgroup, shared, target)
        with self.kernel._lock:
            return self._artifact(source), source

    def _artifact(self, source: KernelSource) -> Artifact:
        if source.target == "llvm":
            return self._obtained(source).artifact
        if source not in self.artifacts:
            self.artifacts[source] = compiled(source)
            self._remember()
        return self.artifacts[source]

    # -- on the CPU ----------------------------------------------------------------------------

    def _run_here(self, device: str, *call: Any) -> None:
        if device == "python":
            self._run_in_python(*call)
        else:
            self._run(*call)

    def _run(
        self,
        values: list[tuple[str, Any]],
        space: tuple[Extent, ...],
        workgroup: tuple[int, ...],
        shared: int | None,
    ) -> None:
        passed = [pass_value(name, v, self.kernel.annotations.get(name)) for name, v in values]
        for _, value in values:
            if getattr(value, "__pykern_array__", False) and value._launch is None:
                from pykern.launching.device_entries import (
                    tell,  # here: programs on NumPy alone have no devices
                )

                tell(value)
        plain = is_plain(space)
        variant = self._variant(passed, space, plain, workgroup, shared is not None)
        check_writable(variant, passed)
        if PRODUCT in variant.artifact.resources and self._in_tiles(values, passed, space):
            return
        cells = [cell for p in passed for cell in p.cells]
        cells += [] if shared is None else [shared]
        for extent in space:
            cells += [extent.count] if plain else [extent.count, extent.start, extent.step]
        if all(e.count for e in space):
            variant.run(cells)

    def _in_tiles(
        self, values: list[tuple[str, Any]], passed: list[Passed], space: tuple[Extent, ...]
    ) -> bool:
        """Run a large product in tiles; false where the launch is none."""
        if not (is_plain(space) and all(e.count for e in space)) or any(overlapping(passed)):
            return False
        if self.products is None:
            from pykern.launching.product import ProductLaunches  # here: it needs array programs

            self.products = ProductLaunches(self.kernel)
        return self.products.run(values, space)

    def _variant(
        self,
        passed: list[Passed],
        space: tuple[Extent, ...],
        plain: bool,
        workgroup: tuple[int, ...],
        shared: bool,
    ) -> Variant:
        source = self._source(passed, space, plain, workgroup, shared, "llvm")
        with self.kernel._lock:
            variant = self._obtained(source)
            self._install(variant)
        return variant

    def _obtained(self, source: KernelSource) -> Variant:
        if source not in self.variants:
            self.variants[source] = obtain(source)
            self._remember()
        return self.variants[source]

    def _source(
        self,
        passed: list[Passed],
        space: tuple[Extent, ...],
        plain: bool,
        workgroup: tuple[int, ...],
        shared: bool,
        target: str,
    ) -> KernelSource:
        function, _ = self.kernel.captured()
        static = plain and (self.kernel.ndrange is not None or is_alone(self.kernel, space))
        counts = tuple(e.count for e in space) if static else None
        launch = LaunchSpec(len(space), plain, counts, workgroup, shared)
        parameters = tuple(p.parameter for p in passed)
        derivatives = self.kernel.derivatives
        options = self.kernel.options
        source = KernelSource(function, parameters, launch, options, target, derivatives=derivatives)
        pairs = list(overlapping(passed))
        return self._aliased(source, pairs) if pairs else source

    def _aliased(self, source: KernelSource, pairs: list[tuple[int, int, bool]]) -> KernelSource:
        """Arguments that overlap: harmless where both are read only, one and the same view is
        compiled without the promise, anything else is refused."""
        with self.kernel._lock:  # what is written is known once a variant is there
            uses = self._artifact(source).uses
        names = [name for p in source.parameters for name in _arrays_in(p.spec, p.name)]
        touching = [(a, b, same) for a, b, same in pairs if uses[a].writes or uses[b].writes]
        for a, b, same in touching:
            if not same:
                raise LaunchError(
                    f"`{names[a]}` and `{names[b]}` overlap in part, and `{self.kernel.__name__}` writes one of them",
                    hint="pass a copy: x.copy()",
                    code=ARRAY_MEMORY,
                )
        return replace(source, noalias=False) if touching else source

    def _remember(self) -> None:
        from pykern.prewarm import remember

        remember(self.kernel.text)

    def _install(self, variant: Variant) -> None:
        """Let the variant's entry take the next call of its kind."""
        if not variant.entry_address or current_device() != "cpu":
            return
        static = self.kernel.workgroup
        rank = variant.source.launch.rank
        if variant.source.launch.workgroup != (() if static is None else group_size(static, rank)):
            return  # the entry does not see `workgroup=`: such calls go the long way
        self.entries.add_variant(variant)

    # -- on the reference device ---------------------------------------------------------------

    def _run_in_python(
        self,
        values: list[tuple[str, Any]],
        space: tuple[Extent, ...],
        workgroup: tuple[int, ...],
        shared: int | None,
    ) -> None:
        from pykern.runtime import python_device

        if self.kernel.derivatives:
            raise DeviceError(
                "the reference device runs kernels, not their derivatives",
                hint="compare with pk.check_grads, or differentiate on the CPU",
            )
        for name, value in values:  # the checks of a compiled launch
            pass_value(name, value, self.kernel.annotations.get(name))
        values = [(name, on_host(value)) for name, value in values]
        python_device.run(
            self.kernel.__wrapped__,
            [v for _, v in values],
            ndrange=tuple((e.start, e.step, e.count) for e in space),
            workgroup=workgroup,
            debug=self.kernel.options.debug,
            shared_bytes=shared,
            annotations=self.kernel.annotations,
        )


def is_alone(kernel: KernelBase, space: tuple[Extent, ...]) -> bool:
    """A derivative launched over one work-item: that no other one writes is worth a variant of its own."""
    return bool(kernel.derivatives) and all(e.count == 1 for e in space)


SHARED_LIMIT = 1 << 30
"""Bytes of shared memory beyond which a launch is taken for a mistake: each thread has its own."""


def shared_bytes(given: Any) -> int | None:
    """The checked `shared_bytes=` of a launch, None where there is none."""
    if given is None:
        return None
    if isinstance(given, bool) or not isinstance(given, int | np.integer):
        raise LaunchError(f"shared_bytes is a number of bytes, not {given!r}")
    if not 0 <= given <= SHARED_LIMIT:
        raise LaunchError(f"shared_bytes={given!r} is outside of 0..{SHARED_LIMIT}")
    return int(given)


def on_host(value: Any) -> Any:
    """A `pk.Array` on the CPU as NumPy sees it."""
    return value.numpy() if getattr(value, "__pykern_array__", False) else value


def device_of(values: list[tuple[str, Any]], given: Any, stream: Any) -> str:
    """The device of a launch: where its arrays live, else as asked for in the call, by its stream, or around it.

    Raises `DeviceError`, which names both, where these differ.
    """
    asked = None if given is None else checked(given)
    if stream is not None:
        home = getattr(stream, "device", None)
        if home is None:
            raise LaunchError(f"stream={stream!r} is no pk.Stream", hint="make one: pk.Stream(device)")
        if asked is not None and asked != home.name and not {asked, home.name} <= {"cpu", "python"}:
            raise DeviceError(
                f"the launch is asked for on {asked}, and its stream is on {home.name}",
                hint=f"make a stream there: pk.Stream({asked!r})",
                code=DIFFERENT_DEVICES,
            )
        asked = asked or home.name
    found = homes(values)
    if not found:
        return asked or current_device()
    names = list(found)
    for name in names:
        if found[name] != found[names[0]]:
            raise DeviceError(
                f"`{names[0]}` lives on {found[names[0]]}, and `{name}` on {found[name]}",
                hint=f"move one of them: {name}.to({found[names[0]]!r})",
                code=DIFFERENT_DEVICES,
            )
    if asked is not None and asked != found[names[0]]:
        raise DeviceError(
            f"`{names[0]}` lives on {found[names[0]]}, and the launch is asked for on {asked}",
            hint=f"move it: {names[0]}.to({asked!r})",
            code=DIFFERENT_DEVICES,
        )
    return found[names[0]]


def check_writable(variant: Variant, passed: list[Passed]) -> None:
    """Refuse read-only arrays that the kernel writes."""
    check_writable_arrays(variant.source.function.name, variant.artifact.uses, list(arrays_of(passed)))


def check_writable_arrays(
    kernel: str, uses: tuple[ArgumentUse, ...], arrays: list[tuple[str, np.ndarray]]
) -> None:
    """The same, for arrays with their names."""
    for (name, array), use in zip(arrays, uses, strict=True):
        if use.writes and not array.flags.writeable:
            raise LaunchError(
                f"`{name}` is read-only, and `{kernel}` writes it",
                hint="pass a copy: x.copy(), or an array you own",
                code=ARRAY_MEMORY,
            )


def _arrays_in(spec: ArgSpec, name: str) -> Iterator[str]:
    """What the arrays of an argument are called."""
    if isinstance(spec, ArraySpec):
        yield name
    elif isinstance(spec, StructSpec):
        for field, inner in spec.fields:
            yield from _arrays_in(inner, f"{name}.{field}")


def overlapping(passed: list[Passed]) -> Iterator[tuple[int, int, bool]]:
    """Pairs of arrays that share memory, by number, and whether they are one and the same view."""
    return overlapping_arrays([array for _, array in arrays_of(passed)])


def overlapping_arrays(arrays: list[np.ndarray]) -> Iterator[tuple[int, int, bool]]:
    """The same, for arrays."""
    for (a, x), (b, y) in combinations(enumerate(arrays), 2):
        if not np.may_share_memory(x, y):
            continue
        same = x.ctypes.data == y.ctypes.data and x.shape == y.shape and x.strides == y.strides
        if same or _share(x, y):
            yield a, b, same and x.dtype == y.dtype


def _share(x: np.ndarray, y: np.ndarray) -> bool:
    try:
        return np.shares_memory(x, y, max_work=OVERLAP_WORK)
    except np.exceptions.TooHardError:
        return True

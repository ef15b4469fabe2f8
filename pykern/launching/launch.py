"""The long way of a launch: arguments to specs, specs to a variant, checks, run.

The compiled entry does the same for a signature it knows. Comes in: the values and keywords of a
call. Goes out: nothing; the kernel has run, and the entry for the next call of its kind is in place.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from pykern.data.artifact import PRODUCT, Artifact
from pykern.data.index_space import Extent, LaunchShape, group_size, index_space, is_alone, launches
from pykern.data.launch_bounds import refuse_outside
from pykern.data.source import KernelSource, LaunchSpec
from pykern.errors import ARRAY_MEMORY, NDRANGE, WORKGROUP, DeviceError, LaunchError
from pykern.launching.arguments import Passed, arrays_of, homes, on_host, pass_value
from pykern.launching.bounds import given_numbers
from pykern.launching.checks import (
    check_writable,
    device_of,
    names_in,
    note_writes,
    overlapping,
    shared_bytes,
)
from pykern.launching.entries import LAUNCH_KEYWORDS, Entries
from pykern.launching.warned import warn
from pykern.obtain.variants import Variant, compiled, obtain
from pykern.runtime.devices import chosen_device, current_device
from pykern.runtime.event import COMPLETED, Event
from pykern.runtime.graph import current_graph, not_captured

if TYPE_CHECKING:
    from pykern.api.kernel import KernelBase
    from pykern.launching.on_device import DeviceKernel
    from pykern.launching.reference_checks import ReferenceChecks
    from pykern.launching.repeats import Repeats


class OnDevice(NamedTuple):
    """Where a launch goes: a device with a driver, a stream or None for its own, and whether NumPy arrays may be
    copied there and back; `keywords` are those of the call."""

    device: str
    stream: Any
    may_copy: bool
    keywords: frozenset[str]


class Launcher:
    """Launches of one kernel, and the variants made so far."""

    def __init__(self, kernel: KernelBase, make_products: Callable[[KernelBase], Any] | None = None) -> None:
        self.kernel = kernel
        self._make_products = make_products
        self.variants: dict[KernelSource, Variant] = {}
        self.artifacts: dict[KernelSource, Artifact] = {}
        self.known: dict[Any, DeviceKernel] = {}
        self.launched: dict[Any, int] = {}
        self.tapes: dict[Any, int] = {}
        self.entries = Entries(kernel)
        self.products: Any = None
        self._places: tuple[Any, tuple[str, ...]] = (None, ())
        self.repeats: Repeats | None = None
        self.reference_checks: ReferenceChecks | None = None

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
            shape = LaunchShape(space, self._workgroup(options.get("workgroup"), len(space)), shared)
            if device not in ("cpu", "python"):
                self._refuse_checks_of_the_cpu(device)
                may_copy = given is not None or chosen_device() == device or not homes(values)
                event = self._run_on(OnDevice(device, stream, may_copy, frozenset(options)), values, shape)
            else:
                if (captured := current_graph()) is None:
                    self._prepared(device, values, shape)()
                else:
                    with not_captured():
                        run = self._prepared(device, values, shape)
                    captured.add(None, lambda _, run=run: run())
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

    def _run_on(self, where: OnDevice, values: list[tuple[str, Any]], shape: LaunchShape) -> Event:
        from pykern.launching.on_device import launch

        return launch(self, where, values, shape)

    def device_artifact(
        self, passed: list[Passed], shape: LaunchShape, target: str
    ) -> tuple[Artifact, KernelSource]:
        """The code of a kind of call for a target other than the CPU, and what it was made of."""
        source = self._source(passed, shape, target)
        with self.kernel._lock:
            return self._artifact(source), source

    def _artifact(self, source: KernelSource) -> Artifact:
        if source.target == "llvm":
            return self._obtained(source).artifact
        found = self.artifacts.get(source)
        if found is None:
            found = self.artifacts[source] = compiled(source)
            self._remember()
        return found

    # -- on the CPU ----------------------------------------------------------------------------

    def _prepared(self, device: str, values: list[tuple[str, Any]], shape: LaunchShape) -> Callable[[], None]:
        """What runs the launch, with the code for what names mean now. In Python they mean what they mean then."""
        if device == "python" or self.kernel.options.races:
            return lambda: self._run_in_python(values, shape)
        passed = [pass_value(name, v, self.kernel.annotations.get(name)) for name, v in values]
        for _, value in values:
            if getattr(value, "__pykern_array__", False) and value._launch is None:
                from pykern.launching.device_entries import (
                    tell,  # here: programs on NumPy alone have no devices
                )

                tell(value)
        variant = self._variant(passed, shape)
        check_writable(variant, passed)
        warn(variant.artifact, shape)
        if variant.artifact.bounds.checks:
            refuse_outside(variant.artifact.bounds, given_numbers(passed, shape))
        if not shape.empty:
            note_writes(variant.artifact.uses, (array for _, array in arrays_of(passed)))
        cells = [cell for p in passed for cell in p.cells]
        cells += [] if shape.shared is None else [shape.shared]

        def run() -> None:
            if PRODUCT in variant.artifact.resources and self._in_tiles(variant, values, passed, shape):
                return
            if not shape.empty:
                variant.run([*cells, *shape.words], self.kernel.timeout)

        return run

    def _refuse_checks_of_the_cpu(self, device: str) -> None:
        if self.kernel.options.races or self.kernel.timeout is not None:
            asked = 'debug="races"' if self.kernel.options.races else "timeout="
            raise LaunchError(
                f"`{self.kernel.__name__}` has {asked}, which {device} has not",
                hint="launch on the CPU or on the device `python`, or leave it out",
            )

    def _in_tiles(
        self, variant: Variant, values: list[tuple[str, Any]], passed: list[Passed], shape: LaunchShape
    ) -> bool:
        """Run a large product in tiles; false where the launch is none, or is of a graph and names have changed."""
        if self._make_products is None or not shape.plain or shape.empty or any(overlapping(passed)):
            return False
        if variant.source.function != self.kernel.captured()[0]:
            return False
        if self.products is None:
            self.products = self._make_products(self.kernel)
        return self.products.run(values, shape.counts)

    def _variant(self, passed: list[Passed], shape: LaunchShape) -> Variant:
        source = self._source(passed, shape, "llvm")
        with self.kernel._lock:
            variant = self._obtained(source)
            self._install(variant)
        return variant

    def _obtained(self, source: KernelSource) -> Variant:
        found = self.variants.get(source)  # once: what it is hashed by is large
        if found is None:
            found = self.variants[source] = obtain(source)
            self._remember()
        return found

    def _source(self, passed: list[Passed], shape: LaunchShape, target: str) -> KernelSource:
        source = self.plain_source(passed, shape, target)
        pairs = list(overlapping(passed))
        return self._aliased(source, pairs) if pairs else source

    def plain_source(self, passed: list[Passed], shape: LaunchShape, target: str) -> KernelSource:
        """What is compiled for a kind of call whose arguments do not overlap."""
        function, _ = self.kernel.captured()
        static = shape.plain and (
            self.kernel.ndrange is not None or is_alone(self.kernel.derivatives, shape.space)
        )
        counts = shape.counts if static else None
        asks = shape.shared is not None
        launch = LaunchSpec(len(shape.space), shape.plain, counts, shape.workgroup, asks)
        parameters = tuple(p.parameter for p in passed)
        derivatives = self.kernel.derivatives
        options = self.kernel.options
        return KernelSource(function, parameters, launch, options, target, derivatives=derivatives)

    def _aliased(self, source: KernelSource, pairs: list[tuple[int, int, bool]]) -> KernelSource:
        """Arguments that overlap: harmless where both are read only, one and the same view is
        compiled without the promise, anything else is refused."""
        with self.kernel._lock:  # what is written is known once a variant is there
            uses = self._artifact(source).uses
        names = [name for p in source.parameters for name in names_in(p.spec, p.name)]
        touching = [(a, b, same) for a, b, same in pairs if uses[a].writes or uses[b].writes]
        for a, b, same in touching:
            if not same:
                raise self._overlap(names[a], names[b])
        return replace(source, noalias=False) if touching else source

    def _overlap(self, first: str, second: str) -> LaunchError:
        return LaunchError(
            f"`{first}` and `{second}` overlap in part, and `{self.kernel.__name__}` writes one of them",
            hint="pass a copy: x.copy()",
            code=ARRAY_MEMORY,
        )

    def _remember(self) -> None:
        from pykern.obtain.prewarm import remember

        remember(self.kernel.text)

    def _install(self, variant: Variant) -> None:
        """Let the variant's entry take the next call of its kind."""
        if not variant.entry_address or current_device() != "cpu":
            return
        static = self.kernel.workgroup
        rank = variant.source.launch.rank
        if variant.source.launch.workgroup != (() if static is None else group_size(static, rank)):
            return  # the entry does not see `workgroup=`: such calls go the long way
        if self.kernel.ndrange is not None and not variant.source.launch.plain:
            return  # nor with which ranges the kernel was decorated
        self.entries.add_variant(variant)

    # -- on the reference device ---------------------------------------------------------------

    def _run_in_python(self, values: list[tuple[str, Any]], shape: LaunchShape) -> None:
        from pykern.launching.reference_checks import ReferenceChecks
        from pykern.launching.reference_rewrite import rewritten
        from pykern.runtime import python_device
        from pykern.runtime.reference_program import checks

        if self.kernel.derivatives:
            raise DeviceError(
                "the reference device runs kernels, not their derivatives",
                hint="compare with pk.check_grads, or differentiate on the CPU",
            )
        annotations = self.kernel.annotations  # the checks of a compiled launch
        passed = [pass_value(name, value, annotations.get(name)) for name, value in values]
        names = [name for p in passed for name in names_in(p.parameter.spec, p.parameter.name)]
        refused = {
            name: self._overlap(names[a], names[b])
            for a, b, same in overlapping(passed)
            if not same
            for name in (names[a], names[b])
        }
        self.reference_checks = self.reference_checks or ReferenceChecks()
        options = replace(self.kernel.options, debug=self.kernel.options.debug or checks())
        from_end = self.reference_checks.check(self, passed, shape, options)
        values = [(name, on_host(name, value)) for name, value in values]
        python_device.run(
            self.kernel.__wrapped__,
            [v for _, v in values],
            ndrange=tuple((e.start, e.step, e.count) for e in shape.space),
            workgroup=shape.workgroup,
            debug=options.debug,
            nan=options.nan,
            races=options.races,
            timeout=self.kernel.timeout,
            shared_bytes=shape.shared,
            annotations=self.kernel.annotations,
            rewrite=rewritten,
            refused=refused,
            from_end=from_end,
        )

"""The long way of a launch: arguments to specs, specs to a variant, checks, run.

The compiled entry does the same for a signature it knows. Comes in: the values and keywords of a
call. Goes out: nothing; the kernel has run, and the entry for the next call of its kind is in place.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from pykern.data.artifact import PRODUCT, SHORT_NUMBERS, Artifact
from pykern.data.index_space import Extent, LaunchShape, group_size, index_space, launches
from pykern.data.launch_bounds import refuse_outside
from pykern.data.source import KernelSource
from pykern.errors import NDRANGE, WORKGROUP, KernelError, KernelSyntaxError, KernelTypeError, LaunchError
from pykern.launching.arguments import arrays_of, homes, pass_value
from pykern.launching.bounds import given_numbers
from pykern.launching.checks import (
    check_writable,
    device_of,
    note_writes,
    overlap_in_part,
    shared_bytes,
)
from pykern.launching.entries import LAUNCH_KEYWORDS, register_arrays
from pykern.launching.interceptor import INTERCEPTOR
from pykern.launching.known_numbers import KnownNumbers
from pykern.launching.launch_cache import LaunchCache
from pykern.launching.launch_kind import LaunchKind
from pykern.launching.short_lengths import joined
from pykern.launching.warned import warn
from pykern.obtain.schedules import with_tuned_group
from pykern.obtain.variant import Variant
from pykern.runtime import launchable
from pykern.runtime.devices import chosen_device, current_device
from pykern.runtime.event import COMPLETED, Event
from pykern.runtime.graph import current_graph, not_captured

if TYPE_CHECKING:
    from pykern.launching.launched import LaunchedKernel

T = TypeVar("T")


class OnDevice(NamedTuple):
    """Where a launch goes: a device with a driver, a stream or None for its own, and whether NumPy arrays may be
    copied there and back; `keywords` are those of the call."""

    device: str
    stream: Any
    may_copy: bool
    keywords: frozenset[str]


class Launcher:
    """Launches of one kernel; `cache` keeps what they have found out."""

    def __init__(
        self, kernel: LaunchedKernel, make_products: Callable[[LaunchedKernel], Any] | None = None
    ) -> None:
        self.kernel = kernel
        self._make_products = make_products
        self.cache = LaunchCache(kernel)

    def launch(self, args: tuple, keywords: dict[str, Any]) -> Event:
        if (interceptor := INTERCEPTOR.get()) is not None:
            return interceptor(self.kernel, args, keywords)
        repeats = self.cache.repeats
        if repeats is None:
            return self._launch(args, keywords)
        event = repeats.repeat_launch(self.kernel, args, keywords)
        if event is None:
            given = dict(keywords)
            repeats.forget()
            event = self._launch(args, keywords)
            repeats.keep(args, given)
        return event

    def _launch(self, args: tuple, keywords: dict[str, Any]) -> Event:
        products = self.cache.products
        if products is not None and products.repeat_launch(args, keywords):
            return COMPLETED
        options = {name: keywords.pop(name) for name in LAUNCH_KEYWORDS if name in keywords}
        values = self._bound(args, keywords)
        given, stream = options.get("device"), options.get("stream")
        device = device_of(values, given, stream)
        shared = shared_bytes(options.get("shared_bytes"))
        event = COMPLETED
        for space in self.spaces(options):
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
        names = self.cache.names(self.kernel.signature)
        if keywords or len(args) != len(names):
            return self.kernel.bind(args, keywords)
        return list(zip(names, args, strict=True))

    # -- what is launched ----------------------------------------------------------------------

    def spaces(self, options: dict[str, Any]) -> list[tuple[Extent, ...]]:
        """The index spaces of a launch with these keywords."""
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

    def device_artifact(self, kind: LaunchKind, device: str) -> tuple[Artifact, KernelSource]:
        """The code of a kind of launch for a target other than the CPU, and what it was made of. Where the launch
        leaves its workgroup open, it is the one that `pk.tune` found to be the fastest on the device of that name."""

        def made() -> tuple[Artifact, KernelSource]:
            source = with_tuned_group(self.source_of(kind), device)
            return self.cache.artifact(source), source

        with self.kernel._lock:
            return self._with_lengths(kind, made)

    def forget(self) -> None:
        """Compile each kind of launch anew: tuning has found something."""
        with self.kernel._lock:
            launchable.clear(self.kernel)
            self.cache = LaunchCache(self.kernel)

    # -- on the CPU ----------------------------------------------------------------------------

    def _prepared(self, device: str, values: list[tuple[str, Any]], shape: LaunchShape) -> Callable[[], None]:
        """What runs the launch, with the code for what names mean now. In Python they mean what they mean then."""
        if device == "python" or self.kernel.options.races:
            from pykern.launching.on_reference import run as run_in_python  # here: it is for looking on

            return lambda: run_in_python(self, values, shape)
        passed = [pass_value(name, v, self.kernel.annotations.get(name)) for name, v in values]
        register_arrays(values)
        kind = LaunchKind(passed, shape)
        slots = [slot for p in passed for slot in p.slots]
        slots += [] if shape.shared is None else [shape.shared]
        variant = self._variant(kind, [*slots, *shape.slots])
        check_writable(variant, passed)
        warn(variant.artifact, shape)
        if variant.artifact.bounds.checks:
            refuse_outside(variant.artifact.bounds, given_numbers(passed, shape))
        if not shape.empty:
            note_writes(variant.artifact.uses, (array for _, array in arrays_of(passed)))

        def run() -> None:
            def loops() -> None:
                variant.run([*slots, *shape.slots], self.kernel.timeout)

            if PRODUCT in variant.artifact.resources and self._in_tiles(variant, values, kind, loops):
                return
            if not shape.empty:
                loops()

        return run

    def _refuse_checks_of_the_cpu(self, device: str) -> None:
        if self.kernel.options.races or self.kernel.timeout is not None:
            asked = 'debug="races"' if self.kernel.options.races else "timeout="
            raise LaunchError(
                f"`{self.kernel.__name__}` has {asked}, which {device} has not",
                hint="launch on the CPU or on the device `python`, or leave it out",
            )

    def _in_tiles(
        self,
        variant: Variant,
        values: list[tuple[str, Any]],
        kind: LaunchKind,
        loops: Callable[[], None],
    ) -> bool:
        """Run a large product in tiles, or by `loops` while they are few; false where the launch is none, or is of a
        graph and names have changed."""
        if self._make_products is None or not kind.shape.plain or kind.shape.empty or kind.overlaps:
            return False
        if variant.source.function != self.kernel.captured()[0]:
            return False
        if self.cache.products is None:
            self.cache.products = self._make_products(self.kernel)
        written = {n for n, use in enumerate(variant.artifact.uses) if use.writes}
        return self.cache.products.run(values, kind.shape.counts, written, loops)

    def _variant(self, kind: LaunchKind, slots: list[int]) -> Variant:
        """The code for a launch: that for the numbers that it has, where it is worth to know them."""
        with self.kernel._lock:
            variant = self._with_lengths(kind, lambda: self.cache.variant(self.source_of(kind)))
            source = variant.source
            self._install(variant)
            if SHORT_NUMBERS not in variant.artifact.resources:
                return variant
            numbers = self.cache.known_numbers.setdefault(source, KnownNumbers())
            if known := numbers.choose(variant.artifact, slots, kind):
                variant = self.cache.variant(replace(source, known=joined(source.known, known)))
                self._install(variant)
        return variant

    def _with_lengths(self, kind: LaunchKind, make: Callable[[], T]) -> T:
        """What `make` compiles; once more with the short lengths of the launch where it is refused for any lengths.
        Then all launches of the kernel are compiled so."""
        try:
            return make()
        except (KernelSyntaxError, KernelTypeError) as error:
            source = kind.source(self.kernel)
            if self.cache.needs_lengths or kind.with_short_lengths(source) == source:
                raise
            refused = error
        self.cache.needs_lengths = True
        try:
            return make()
        except KernelError as error:
            self.cache.needs_lengths = False
            raise (error if error.span == refused.span else refused) from None

    def source_of(self, kind: LaunchKind) -> KernelSource:
        """What is compiled. Arguments that overlap are harmless where both are read only; one and the same view is
        compiled without the promise that arrays are apart; anything else is refused."""
        source = kind.source(self.kernel)
        if self.cache.needs_lengths:
            source = kind.with_short_lengths(source)
        if not kind.overlaps:
            return source
        with self.kernel._lock:  # what is written is known once a variant is there
            uses = self.cache.artifact(source).uses
        touching = [(a, b, same) for a, b, same in kind.overlaps if uses[a].writes or uses[b].writes]
        for a, b, same in touching:
            if not same:
                raise overlap_in_part(self.kernel.__name__, kind.names[a], kind.names[b])
        return replace(source, noalias=False) if touching else source

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
        self.cache.entries.add_variant(variant)

"""Which level a gradient launch takes, and the launch where that is the raised one.

Comes in: the kernel of the derivative (shadows among its parameters) and the values of a launch. Goes out:
a plan that runs it on whole arrays, or None where work-items are differentiated one by one. The answer is
kept, in memory and on disk, so that a warm start asks no compiler.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np

from pykern.api.lowered import Lowered
from pykern.arrays.array import Array
from pykern.compiler.cache import shared_cache
from pykern.compiler.service import service
from pykern.compiler.versions import versions
from pykern.data.index_space import Extent, launches
from pykern.data.program_source import ProgramSource
from pykern.data.source import ArraySpec, Parameter, is_tiled
from pykern.errors import NotDifferentiable, NotRaisable
from pykern.launching.arguments import homes
from pykern.launching.checks import device_of
from pykern.launching.device_kinds import fitted
from pykern.launching.on_device import Places
from pykern.obtain.code import compiled, loaded
from pykern.program.arguments import ProgramArguments, describe, describe_specs
from pykern.program.calls import call_here, call_on
from pykern.program.device import DevicePlan, bring_back, overlap
from pykern.program.kinds import kind_of, leaf_values
from pykern.program.launch_source import launch_source
from pykern.program.plan import Plan
from pykern.runtime.devices import chosen_device, current_device
from pykern.runtime.event import COMPLETED, Event
from pykern.runtime.graph import current_graph
from pykern.runtime.registry import opened
from pykern.runtime.stream import checked_stream
from pykern.types import ArrayAnnotation

MOST_SHAPES = 16
"""Lengths are known to raised code: kernels launched over more kinds of arrays than this go the direct way."""
MOST_KINDS = 256
"""Kinds of launches whose plans are found at once."""


class RaisedGradients:
    """Raised gradients of one kernel by one choice of arguments."""

    def __init__(self, kernel: Any, level: str) -> None:
        self.kernel = kernel
        self.tiled = is_tiled(kernel.captured()[0])
        self.level = "raised" if self.tiled else level
        self._plans: dict[tuple[str, ProgramSource], Plan | DevicePlan | None] = {}
        self._by_kind: tuple[Any, dict[Any, Plan | None]] = (None, {})
        """Plans of the CPU found by kinds of arguments alone, for what captured names mean now."""
        self._simple = all(isinstance(a, ArrayAnnotation) for a in kernel.annotations.values())

    def run(self, values: list[Any], launch: dict[str, Any]) -> Event | None:
        """Run the launch raised; None where it is not for this level. Raises `NotRaisable` at level "raised"."""
        by_kind, kind = self._plans_by_kind(), self._kind(values, launch)
        if kind in by_kind:
            known = by_kind[kind]
            if known is None or _overlapping([v for v in values if isinstance(v, np.ndarray)]):
                return None
            call_here(known, list(leaf_values(values)), None)
            return COMPLETED
        request = self._request(values, launch)
        if request is None:
            return None
        plan = self._plan(request)
        if kind is not None and not isinstance(plan, DevicePlan) and len(by_kind) < MOST_KINDS:
            by_kind[kind] = plan
        if plan is None:
            return None
        given = request.arguments.values
        if isinstance(plan, Plan):
            call_here(plan, given, None)
            return COMPLETED
        places = request.places
        assert places is not None
        plan.check_hosts(places)
        stream = checked_stream(launch.get("stream"), request.device)
        if any(host is not None for host in places.hosts):
            bring_back(plan.run(given, None, stream), places, plan)
        else:
            call_on(plan, given, None, stream)
        return stream.record() if current_graph() is None else COMPLETED

    def _plans_by_kind(self) -> dict[Any, Plan | None]:
        captured, _ = self.kernel.captured()
        known = self._by_kind
        if known[0] is not captured:
            known = self._by_kind = (captured, {})
        return known[1]

    def _kind(self, values: list[Any], launch: dict[str, Any]) -> Any:
        """What the plan depends on; None where the long way has to look at the launch."""
        if not self._simple or [*launch] != ["ndrange"] or isinstance(launch["ndrange"], list):
            return None
        kinds = tuple(map(kind_of, values))
        return None if None in kinds else (current_device(), launch["ndrange"], kinds)

    def lower(self, values: list[Any], launch: dict[str, Any]) -> Lowered | None:
        """The stages of the raised launch; None where it is not for this level."""
        source = self._source_of_specs(values, launch)
        if source is None:
            return None
        try:
            return Lowered(source, service().compile(source, keep_stages=True))
        except (NotRaisable, NotDifferentiable):
            if self.level == "raised":
                raise
            return None

    def _source_of_specs(self, values: list[Any], launch: dict[str, Any]) -> ProgramSource | None:
        names = list(self.kernel.signature.parameters)
        ndrange = launch.get("ndrange", self.kernel.ndrange) or 0
        if any(
            n is None or isinstance(n, str) for n in (ndrange if isinstance(ndrange, tuple) else [ndrange])
        ):
            return None  # lengths known at launch only
        spaces = launches(ndrange)
        extras = [k for k in launch if k != "ndrange" and launch[k] is not None]
        parameters = describe_specs(list(zip(names, values, strict=True)), self.kernel.annotations)
        known = all(
            None not in p.spec.shape and not p.spec.strided
            for p in parameters
            if isinstance(p.spec, ArraySpec)
        )
        if extras or len(spaces) != 1 or not known or self.kernel.workgroup is not None:
            return None
        return self.source(tuple(parameters), spaces[0])

    def request(
        self, values: list[Any], launch: dict[str, Any]
    ) -> tuple[ProgramSource, ProgramArguments] | None:
        """The source of the launch on whole arrays; None where it asks for what only work-items have."""
        request = self._request(values, launch)
        return None if request is None else (request.source, request.arguments)

    def _request(self, values: list[Any], launch: dict[str, Any]) -> _Request | None:
        spaces = launches(launch.get("ndrange", self.kernel.ndrange) or 0)
        named = list(zip(self.kernel.signature.parameters, values, strict=True))
        device = device_of(named, launch.get("device"), launch.get("stream"))
        chosen = ("ndrange", "device") if device == "cpu" else ("ndrange", "device", "stream")
        extras = [k for k in launch if k not in chosen and launch[k] is not None]
        usual = (
            len(spaces) == 1
            and all(e.count for e in spaces[0])
            and not extras
            and self.kernel.workgroup is None
            and (self.tiled or not self.kernel.options.debug)
            and device != "python"
        )
        if not usual:
            return None
        places = None
        if device == "cpu":
            arguments = describe(named, self.kernel.annotations)
        else:
            asked = launch.get("device") is not None or chosen_device() == device or not homes(named)
            places = Places(device, asked)
            arguments = describe(named, self.kernel.annotations, places)
            arrays = iter(places.arrays)
            arguments.values = [next(arrays) if isinstance(v, np.ndarray) else v for v in arguments.values]
        if _overlapping(arguments.values):
            return None
        source = self.source(tuple(arguments.parameters), spaces[0])
        if device != "cpu":
            whole = [v for v in arguments.values if isinstance(v, Array) and v.contiguous]
            source = replace(source, target=fitted(opened(device).info.target, whole, ()))
        return _Request(device, source, arguments, places)

    def source(self, parameters: tuple[Parameter, ...], space: tuple[Extent, ...]) -> ProgramSource:
        *before, last = self.kernel.derivatives
        derivatives = (*before, replace(last, level=self.level))
        return launch_source(self.kernel, parameters, space, self.kernel.options, derivatives)

    def _plan(self, request: _Request) -> Plan | DevicePlan | None:
        key = request.device, request.source
        with self.kernel._lock:
            if key in self._plans:
                return self._plans[key]
            if self.level == "auto" and len(self._plans) >= MOST_SHAPES:
                return None
            plan = self._obtain(request)
            self._plans[key] = plan
            return plan

    def _obtain(self, request: _Request) -> Plan | DevicePlan | None:
        source, names = request.source, tuple(request.arguments.names)
        refused = source.key(f"direct {versions()}")
        if self.level == "auto" and shared_cache().seen(refused):
            return None
        try:
            if request.device == "cpu":
                return Plan(*loaded(source), names)
            artifact = compiled(source)
        except (NotRaisable, NotDifferentiable):
            if self.level == "raised":
                raise
            shared_cache().mark_seen(refused)  # the direct level says itself what it refuses
            return None
        return DevicePlan(opened(request.device), artifact, source.parameters, names, self.kernel.text, False)


@dataclass(frozen=True)
class _Request:
    """A launch on whole arrays; `places` are there on a device with a driver."""

    device: str
    source: ProgramSource
    arguments: ProgramArguments
    places: Places | None


def _overlapping(values: list[Any]) -> bool:
    arrays = [v for v in values if not isinstance(v, int)]
    return any(overlap(a, b) for a, b in combinations(arrays, 2))

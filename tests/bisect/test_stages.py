"""The interpreter against devices: every stage of right kernels agrees with plain Python, on every target that runs."""

from __future__ import annotations

import numpy as np
import pytest

from pykern.interpreter.memory import Memory, OutsideMemory
from pykern.testing.bisection import _Search
from tests.bisect.kernels import cases

NAMES = tuple(cases(np.random.default_rng(0)))
DEVICES = [("cpu", name) for name in NAMES]
DEVICES += [
    (device, n)
    for device in ("opencl:0", "vulkan:0")
    for n in ("sums", "counted", "strided", "collective", "fp8", "leaves early")
]


class Everywhere(_Search):
    """A search that looks at every stage."""

    def _halve(self, stages, artifact, wrong):
        marked = self._stand_ins(stages)
        self.outcomes = {s.name: self._outcome(s) for n, s in enumerate(stages) if n not in marked}

    def _differences(self, found):
        shown = super()._differences(found)
        self.first = getattr(self, "first", shown)
        return shown or "look at the stages all the same" if not hasattr(self, "space") else shown


@pytest.mark.parametrize(("device", "name"), DEVICES, indirect=["device"])
def test_every_stage_agrees(device, name, rng):
    kernel, args, launch = cases(rng)[name]
    search = Everywhere(kernel, args, launch, device, (), None, None)
    search.run()
    assert search.first is None
    assert {n: o for n, o in search.outcomes.items() if o != ""} == {}
    assert len(search.outcomes) > 20


def test_memory_checks_every_access():
    memory = Memory()
    array = np.arange(4, dtype=np.int32)
    address = memory.know(array.view(np.uint8))
    assert memory.load(address + 12, np.dtype(np.int32)) == 3
    for wrong in (address - 4, address + 16, address + 13):
        with pytest.raises(OutsideMemory):
            memory.load(wrong, np.dtype(np.int32))
    fresh = memory.make(8)
    memory.store(7, fresh, np.dtype(np.int64))
    memory.forget(fresh)
    with pytest.raises(OutsideMemory):
        memory.load(fresh, np.dtype(np.int64))

"""Random programs on tensors: on a device as on the CPU.

``PYKERN_FUZZ_SEED=S`` chooses others; a failure prints the seed as the test's parameter.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pytest
from mlir import ir

import pykern as pk
from pykern.compiler.programs import Request, compile_module
from pykern.data.source import ArraySpec, Parameter
from pykern.data.target import parse
from pykern.lowering.record import Recorder
from pykern.program.device import DevicePlan
from pykern.runtime.registry import opened
from pykern.runtime.stream import default_stream
from tests.cases.program_texts import _CONTEXT, TextProgram
from tests.cases.random_tensor_programs import N, Writer, X
from tests.cases.tensor_texts import function

over_devices = pytest.mark.parametrize("device", ["opencl:0", "vulkan:0"], indirect=True)
FIRST = int(os.environ.get("PYKERN_FUZZ_SEED", "40"))


def run(text: str, device: str, arrays: list[np.ndarray]) -> list[Any]:
    there = opened(device)
    with _CONTEXT, ir.Location.unknown():
        module = ir.Module.parse(text)
        artifact = compile_module(
            lambda: module, Request("f", target=parse(there.info.target)), Recorder(texts=False)
        )
    names = tuple(f"a{n}" for n in range(len(arrays)))
    specs = tuple(Parameter(n, ArraySpec("f64", a.shape)) for n, a in zip(names, arrays, strict=True))
    plan = DevicePlan(there, artifact, specs, names, None, False)  # type: ignore[arg-type]
    found = plan.run([pk.asarray(a, device=device) for a in arrays], None, default_stream(device))
    return [np.asarray(a) for a in found]


@over_devices
@pytest.mark.parametrize("seed", range(FIRST, FIRST + 4))
def test_random_programs(device, seed):
    writer = Writer(seed)
    values = ["%x", "%w"]
    text = writer.statements(values, 8, 2)
    results = [f"{v}: {X}" for v in dict.fromkeys((values[-1], values[-3], values[-5]))]
    text = function(f"%x: {X}, %w: {X}", text, results)
    arguments = list(np.random.default_rng(seed).standard_normal((2, N, N)))
    expected = TextProgram(text)(*[a.copy() for a in arguments])
    for have, want in zip(run(text, device, arguments), expected, strict=True):
        np.testing.assert_allclose(have, want, rtol=1e-8, atol=1e-10)

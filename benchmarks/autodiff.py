"""Gradients of array programs beside JAX and torch: ``python benchmarks/autodiff.py [--json FILE] [--only WORD]``.

One process on one core (bound before any library starts, so that each sees one), contenders in turn, every
gradient compared with JAX's in the same run. A gradient is `value_and_grad` where the program returns one
float, else the vjp with a given cotangent, which runs the program too. On a busy machine wall times say little:
the table has medians of processor time (user and system, all threads of the process); the JSON file has wall
times as well, medians and minima. Everybody allocates results. Extra memory is what is needed beside arguments
and results: pykern's scratch, JAX's `memory_analysis`, what torch's allocator holds at most in a second run.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.metadata
import itertools
import json
import os
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

FOLDER = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [FOLDER, os.path.dirname(FOLDER)]
TOLERANCE = {"float64": 1e-11, "float32": 2e-4}
PEERS = ("jax", "torch")


@dataclass(frozen=True)
class Case:
    """`make` gives the active arguments and the constant ones; `static` stands behind them.

    `peer` is the function's name at the peers where it is another, with the arguments `more`.
    """

    name: str
    program: str
    make: Callable[[Any], tuple[list, list]]
    static: tuple[int, ...] = ()
    checkpoint: str = "all"
    peer: str = ""
    more: tuple[int, ...] = ()
    scalar: bool = False


def _normal(*shapes: tuple[int, ...]) -> Callable[[Any], tuple[list, list]]:
    return lambda random: ([random.standard_normal(s) for s in shapes], [])


def _field(n: int) -> Callable[[Any], tuple[list, list]]:
    return lambda random: ([random.random((n, n))], [])


def _gmm(random: Any) -> tuple[list, list]:
    import adbench

    *active, x = adbench.gmm_data(1000, 10, 25)
    return active, [x]


CASES = (
    Case("sum of squares 2^22", "squares", _normal((1 << 22,)), scalar=True),
    Case("heat 1024^2, one step, kernel launched", "heat_launched", _field(1024), (1,)),
    Case("heat 1024^2, one step, slices", "heat", _field(1024), (1,)),
    Case("heat 1024^2 x10, kernel launched", "heat_launched", _field(1024), (10,)),
    Case("heat 1024^2 x10, slices", "heat", _field(1024), (10,)),
    Case("heat 512^2 x64, slices", "heat", _field(512), (64,)),
    Case("nonlinear heat 512^2 x64", "nonlinear_heat", _field(512), (64,)),
    Case(
        "nonlinear heat 512^2 x64, every(8)", "nonlinear_heat", _field(512), (64,), "every(8)",
        "nonlinear_heat_every", (8,),
    ),
    Case(
        "nonlinear heat 512^2 x64, binomial(9)", "nonlinear_heat", _field(512), (64,), "binomial(9)",
        "nonlinear_heat_every", (8,),
    ),
    Case("softmax 4096x1024", "softmax", _normal((4096, 1024))),
    Case("layernorm 1024^2", "layernorm", _normal((1024, 1024), (1024,), (1024,))),
    Case("matmul 512", "matmul", _normal((512, 512), (512, 512))),
    Case("GMM n=1000 d=10 K=25", "gmm", _gmm, scalar=True),
)  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", metavar="FILE", help="write the results here too")
    parser.add_argument("--only", metavar="WORD", default="", help="cases with this in their name")
    parser.add_argument("--repeat", type=int, default=11)
    parser.add_argument("--dtypes", nargs="*", default=["float64", "float32"])
    chosen = parser.parse_args()
    pin()
    rows = []
    for case in CASES:
        for dtype in chosen.dtypes:
            if chosen.only in case.name:
                found = rows_of(measured(case, dtype, chosen.repeat))
                report(found, first=not rows)
                rows += found
                if chosen.json:  # after each case: what was measured outlives what fails later
                    with open(chosen.json, "w") as file:
                        json.dump({"machine": machine(), "rows": rows}, file, indent=1)
                        file.write("\n")


def pin() -> None:
    """One core for the process and all its threads; afterwards the libraries may be imported."""
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    for variable in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ[variable] = "1"
    os.environ.setdefault("JAX_PLATFORMS", "cpu")
    importlib.import_module("pykern").set_num_threads(1)
    if "torch" in PEERS:
        importlib.import_module("torch").set_num_threads(1)


# -- one case -------------------------------------------------------------------------------------------


def measured(case: Case, dtype: str, repeat: int) -> dict[str, Any]:
    import numpy as np

    random = np.random.default_rng(0)
    active, constant = ([a.astype(dtype) for a in arrays] for arrays in case.make(random))
    row: dict[str, Any] = {"case": case.name, "dtype": dtype}
    functions: dict[str, Callable[[], Any]] = {}
    shape = np.shape(with_pykern(case, active, constant, functions, row, random))
    cotangent = np.random.default_rng(1).random(shape).astype(dtype)
    functions["pykern gradient"] = gradient_of_pykern(case, active, constant, cotangent, row)
    with_jax(case, active, constant, cotangent, functions, row)
    with_torch(case, active, constant, cotangent, functions)
    row["torch_extra_mib"] = extra_of_torch(functions["torch gradient"])
    if case.program == "gmm":
        with_kernel(active, constant, functions, row)
    row["difference"] = compared(functions, dtype)
    row["times_ms"] = in_turn(functions, repeat)
    row["load"] = os.getloadavg()[0]
    return row


def with_pykern(case: Case, active: list, constant: list, functions: dict, row: dict, random: Any) -> Any:
    program = getattr(importlib.import_module("autodiff_programs"), case.program)
    functions["pykern forward"] = lambda: program(*active, *constant, *case.static)
    return functions["pykern forward"]()


def gradient_of_pykern(
    case: Case, active: list, constant: list, cotangent: Any, row: dict
) -> Callable[[], Any]:
    """The gradient of all active arguments; also notes its scratch memory and what compiling it took."""
    import pykern as pk
    from pykern.data.program_source import ProgramDerivative

    program = getattr(importlib.import_module("autodiff_programs"), case.program)
    arguments = [*active, *constant, *case.static]
    numbers = tuple(range(len(active)))
    if case.scalar:
        derived = pk.value_and_grad(program, numbers if len(numbers) > 1 else 0, checkpoint=case.checkpoint)
    else:  # the program that `pk.vjp` calls
        wanted = ProgramDerivative("vjp", numbers, case.checkpoint)
        derived = program.derived(wanted, ("cotangent0",), f"vjp({program.__name__})")
        arguments.append(cotangent)
    lowered = derived.lower(*arguments)
    row["scratch_mib"] = lowered.artifact.program.scratch_bytes / 2**20
    row["compile_ms"] = sum(s.ms for s in lowered.stages)
    row["transform_ms"] = sum(s.ms for s in lowered.stages if s.name in ("gradient", "vjp"))
    return lambda: derived(*arguments)


def with_jax(case: Case, active: list, constant: list, cotangent: Any, functions: dict, row: dict) -> None:
    import autodiff_programs_jax
    import jax

    function = getattr(autodiff_programs_jax, case.peer or case.program)
    count = len(active)

    def program(*arrays):
        return function(*arrays, *case.static, *case.more)

    def gradient(ct, *arrays):
        if case.scalar:
            return jax.value_and_grad(program, tuple(range(count)))(*arrays)
        return jax.vjp(lambda *a: program(*a, *arrays[count:]), *arrays[:count])[1](ct)

    arrays = [jax.numpy.asarray(a) for a in (*active, *constant)]
    ct = jax.numpy.asarray(cotangent)
    started = time.process_time()
    compiled: Any = jax.jit(gradient).lower(ct, *arrays).compile()
    row["jax_compile_ms"] = (time.process_time() - started) * 1e3
    row["jax_extra_mib"] = compiled.memory_analysis().temp_size_in_bytes / 2**20
    forward = jax.jit(program)
    functions["jax forward"] = lambda: jax.block_until_ready(forward(*arrays))
    functions["jax gradient"] = lambda: jax.block_until_ready(compiled(ct, *arrays))


def with_torch(case: Case, active: list, constant: list, cotangent: Any, functions: dict) -> None:
    import autodiff_programs_torch
    import torch

    function = getattr(autodiff_programs_torch, case.peer or case.program)
    inputs = [torch.from_numpy(a).requires_grad_() for a in active]
    others = [torch.from_numpy(a) for a in constant]
    ct = torch.from_numpy(cotangent)

    def forward():
        with torch.no_grad():
            return function(*inputs, *others, *case.static, *case.more)

    def gradient():
        value = function(*inputs, *others, *case.static, *case.more)
        if case.scalar:
            return value.detach(), torch.autograd.grad(value, inputs)
        return torch.autograd.grad(value, inputs, ct)

    functions["torch forward"], functions["torch gradient"] = forward, gradient


def extra_of_torch(gradient: Callable[[], Any]) -> float:
    """MiB that torch allocates at most at a time, less what it returns."""
    from torch.profiler import ProfilerActivity, profile

    profiled: Any = profile(activities=[ProfilerActivity.CPU], profile_memory=True)
    with profiled:
        results = gradient()
    events = [e for e in profiled.profiler.kineto_results.events() if e.name() == "[memory]"]
    held = itertools.accumulate(e.nbytes() for e in sorted(events, key=lambda e: e.start_ns()))
    returned = sum(t.numel() * t.element_size() for t in leaves_of(results))
    return max(0, max(held, default=0) - returned) / 2**20


def with_kernel(active: list, constant: list, functions: dict, row: dict) -> None:
    """The same as a kernel, differentiated work-item by work-item; shadows are zeroed in each call."""
    import autodiff_programs
    import numpy as np

    import pykern as pk

    n = len(constant[0])
    out, shadow = np.zeros(n, constant[0].dtype), np.zeros(n, constant[0].dtype)

    def forward():
        autodiff_programs.gmm_kernel(out, *active, *constant, ndrange=n)
        return out.sum()

    def gradient():
        shadow.fill(1)
        shadows = [np.zeros_like(a) for a in active]
        duplicated = map(pk.Dup, active, shadows)
        autodiff_programs.gmm_kernel_gradient(pk.Dup(out, shadow), *duplicated, *constant, ndrange=n)
        return out.sum(), tuple(shadows)

    functions["kernel forward"], functions["kernel gradient"] = forward, gradient
    shadows = [pk.Dup(a, np.zeros_like(a)) for a in active]
    lowered = autodiff_programs.gmm_kernel_gradient.lower(pk.Dup(out, shadow), *shadows, *constant, ndrange=n)
    row["kernel_compile_ms"] = sum(s.ms for s in lowered.stages)


def compared(functions: dict[str, Callable[[], Any]], dtype: str) -> float:
    """The largest difference from JAX's results, relative to the largest element. Raises beyond TOLERANCE."""
    import numpy as np

    worst = 0.0
    for name, function in functions.items():
        expected = list(leaves(functions[f"jax {name.split()[1]}"]()))
        found = list(leaves(function()))
        for a, b in zip(found, expected, strict=True):
            assert a.shape == b.shape, f"{name}: {a.shape} for {b.shape}"
            off = float(np.max(np.abs(a - b)) / np.max(np.abs(b)))
            assert off < TOLERANCE[dtype], f"{name}: {off}"
            worst = max(worst, off)
    return worst


def leaves(value: Any) -> Any:
    import numpy as np

    for item in leaves_of(value):
        detached = item.detach() if hasattr(item, "detach") else item
        yield np.asarray(detached, dtype=np.float64)


def leaves_of(value: Any) -> Any:
    if isinstance(value, tuple | list):
        for item in value:
            yield from leaves_of(item)
    else:
        yield value


def in_turn(functions: dict[str, Callable[[], Any]], repeat: int) -> dict[str, dict[str, float]]:
    """Of each function: the median of its processor time, and of its wall time the median and the minimum."""
    counts = {}
    for name, function in functions.items():
        function()
        started = time.process_time()
        function()
        counts[name] = max(1, int(0.02 / max(time.process_time() - started, 1e-6)))
    taken: dict[str, list[tuple[float, float]]] = {name: [] for name in functions}
    for _ in range(repeat):
        for name, function in functions.items():
            wall, cpu = time.perf_counter(), time.process_time()
            for _ in range(counts[name]):
                function()
            cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
            taken[name].append((cpu * 1e3 / counts[name], wall * 1e3 / counts[name]))
    found = {}
    for name, times in taken.items():
        cpu, wall = zip(*times, strict=True)
        found[name] = {
            "cpu": statistics.median(cpu), "cpu_least": min(cpu),
            "wall": statistics.median(wall), "wall_least": min(wall),
        }  # fmt: skip
    return found


# -- the table ------------------------------------------------------------------------------------------

COLUMNS = (
    "forward ms", "gradient ms", "grad/fwd", "jax fwd", "jax grad", "torch grad", "ours/jax",
    "MiB", "jax MiB", "torch MiB", "compile ms", "transform", "jax compile",
)  # fmt: skip


def rows_of(row: dict[str, Any]) -> list[dict[str, Any]]:
    """The row; where there is a kernel's gradient too, that is a row of its own beside the same peers."""
    times = dict(row["times_ms"])
    kernel = {name: times.pop(f"kernel {name}", None) for name in ("forward", "gradient")}
    array = {**row, "times_ms": times}
    compile_ms = array.pop("kernel_compile_ms", None)
    if None in kernel.values():
        return [array]
    other = {key: value for key, value in array.items() if key not in ("scratch_mib", "transform_ms")}
    swapped = {**times, **{f"pykern {name}": time for name, time in kernel.items()}}
    changes = {"case": f"{row['case']}, kernel", "compile_ms": compile_ms, "times_ms": swapped}
    return [array, {**other, **changes}]


def report(rows: list[dict[str, Any]], first: bool) -> None:
    if first:
        print(f"{'':42}{'':4}" + "".join(f"{c:>12}" for c in COLUMNS))
    for row in rows:
        times = {name: t["cpu"] for name, t in row["times_ms"].items()}
        forward, gradient, jax = (
            times[name] for name in ("pykern forward", "pykern gradient", "jax gradient")
        )
        numbers = [forward, gradient, gradient / forward, times["jax forward"], jax, times["torch gradient"]]
        numbers.append(gradient / jax)
        numbers += [row.get("scratch_mib", 0.0), row["jax_extra_mib"], row["torch_extra_mib"]]
        numbers += [row["compile_ms"], row.get("transform_ms", 0.0), row["jax_compile_ms"]]
        print(f"{row['case']:42}{row['dtype'][-2:]:4}" + "".join(f"{n:12.3g}" for n in numbers), flush=True)


def machine() -> dict[str, str]:
    import cpu

    peers = {name: importlib.metadata.version(name) for name in PEERS}
    return {**cpu.machine(), **peers, "pinned": "one core"}


if __name__ == "__main__":
    main()

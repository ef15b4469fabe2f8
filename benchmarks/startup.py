"""What a user waits for before the first result: ``python benchmarks/startup.py [--json FILE]``.

Every figure comes from fresh processes and a cache folder of its own; medians. The clock runs inside
the process, so the interpreter's own start is not in the figures. Bytecode is kept in a folder of the
run and filled by a turn that does not count, as it is after an installation: without bytecode the
imports take longer. Compile times are the compiler's own.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile

import numpy as np
import workloads
from cpu import machine

KERNEL = """
import sys, time
import numpy as np
started = time.perf_counter()
import pykern as pk

@pk.kernel
def saxpy(z, x, y, a):
    i = pk.index()
    z[i] = a * x[i] + y[i]

decorated = time.perf_counter()
x, y, z = (np.ones(1000, np.float32) for _ in range(3))
"""
WAIT_FOR_COMPILER = """
from pykern.compiler.service import service
assert service().worker_pid is not None, "the compiler was not started by the decorator"
time.sleep(2.5)  # it loads MLIR meanwhile
"""
CALL = """
before = time.perf_counter()
saxpy(z, x, y, 2.0, ndrange=1000)
first = time.perf_counter() - before
before = time.perf_counter()
saxpy(z, x, y, 2.0, ndrange=1000)
second = time.perf_counter() - before
assert (z == 3).all()
assert not any(m.split(".")[0] in ("mlir", "llvmlite") for m in sys.modules), "the user's process imported MLIR"
print((decorated - started) * 1e3, first * 1e3, second * 1e3)
"""
IMPORTS = {
    "numpy": "import numpy",
    "pykern": "import pykern",
    "pykern and its kernel": "import pykern; pykern.kernel",
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", metavar="FILE", help="write the results here too")
    parser.add_argument("--repeat", type=int, default=7)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as bytecode:
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
        os.environ["PYTHONPYCACHEPREFIX"] = bytecode
        imports(1)
        first_calls(1)
        results = measure(chosen.repeat)
    report(results, chosen.json)


def measure(repeat: int) -> dict[str, dict[str, float]]:
    return {"import_ms": imports(repeat), "first_call_ms": first_calls(repeat), "stages_ms": stages()}


def report(results: dict[str, dict[str, float]], path: str | None) -> None:
    for group, rows in results.items():
        print(group)
        for name, value in rows.items():
            print(f"  {name:44} {value:9.3f}")
    if path:
        with open(path, "w") as file:
            json.dump({"machine": machine(), "load": os.getloadavg()[0], **results}, file, indent=1)


def imports(repeat: int) -> dict[str, float]:
    """Milliseconds of an import, by turns. ``import pykern`` alone is lazy: the kernel is what loads it."""
    taken: dict[str, list[float]] = {name: [] for name in IMPORTS}
    for _ in range(repeat):
        for name, statement in IMPORTS.items():
            code = (
                f"import time; t = time.perf_counter(); {statement}; print((time.perf_counter() - t) * 1e3)"
            )
            taken[name].append(_python(["-c", code])[0])
    return {name: statistics.median(times) for name, times in taken.items()}


def first_calls(repeat: int) -> dict[str, float]:
    """Milliseconds until the first call of saxpy returns."""
    rows: dict[str, list[float]] = {}

    def add(name: str, value: float) -> None:
        rows.setdefault(name, []).append(value)

    with tempfile.TemporaryDirectory() as folder:
        program = {"cold": KERNEL + CALL, "ready": KERNEL + WAIT_FOR_COMPILER + CALL}
        for name, text in program.items():
            with open(os.path.join(folder, f"{name}.py"), "w") as file:
                file.write(text)
        for turn in range(repeat):
            cold, ready = (os.path.join(folder, f"{name}.py") for name in ("cold", "ready"))
            cache = os.path.join(folder, f"cache{turn}")
            add("compiler ready, nothing cached", _python([ready], f"{cache}-ready")[1])
            add("nothing running, nothing cached", _python([cold], cache)[1])
            decorated, first, second = _python([cold], cache)
            add("cached on disk: import and decorate", decorated)
            add("cached on disk: first call", first)
            add("cached on disk: second call", second)
    return {name: statistics.median(times) for name, times in rows.items()}


def stages() -> dict[str, float]:
    """Where the compiler's time goes: the five longest stages of three kernels, and their sums."""
    flat, row = np.ones(1000, np.float32), np.ones((8, 1000), np.float32)
    calls = {
        "saxpy": lambda: workloads.saxpy.lower(flat, flat, flat, 2.0, ndrange=1000),
        "heat": lambda: workloads.heat.lower(row, row, 0.1, ndrange=row.shape),
        "softmax": lambda: workloads.softmax.lower(row, row, ndrange=8),
    }
    rows: dict[str, float] = {}
    for name, lower in calls.items():
        lower()  # the compiler is warm, and has its own caches filled
        found = [(s.name, s.ms) for s in lower().stages]
        rows[f"{name}, {len(found)} stages together"] = sum(ms for _, ms in found)
        for stage, ms in sorted(found, key=lambda s: -s[1])[:5]:
            rows[f"  {name}: {stage[:34]}"] = ms
    return rows


def _python(arguments: list[str], cache: str | None = None) -> list[float]:
    environment = os.environ | ({"PYKERN_CACHE_DIR": cache} if cache else {})
    done = subprocess.run(
        [sys.executable, *arguments], env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise SystemExit(f"{arguments}: {done.stderr}")
    return [float(number) for number in done.stdout.split()]


if __name__ == "__main__":
    main()

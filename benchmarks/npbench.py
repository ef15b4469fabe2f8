"""NPBench's programs in several forms: ``python benchmarks/npbench.py path/to/npbench [--only WORD] [--preset S]``.

Comes in: a checkout of NPBench (github.com/spcl/npbench), of which nothing is kept here: its arguments, its NumPy
version, which says what is right, and its versions for Numba and JAX, beside which is measured. Goes out: a line a
program. pykern's forms are in `npbench_programs`: programs over whole arrays, programs with loops, kernels as plain
loops, as people write them.

A result is right by NPBench's own tolerance: `allclose`, or a small enough norm of the difference. One thread each.
Medians of turns, or with `--busy` least times; arrays that are changed are restored before each turn,
outside of the time. Arrays of JAX's are waited for. Each program has a process of its own, which ends when it takes
too long.
"""

from __future__ import annotations

import argparse
import gc
import importlib.util
import json
import math
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

ALONE = {
    "NUMBA_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "JAX_PLATFORMS": "cpu",
    "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1",
}
NUMBA = ("n", "np", "npr", "o", "op", "opr")
"""What the names of NPBench's files for Numba end in."""
LONGEST = 10
"""Turns that are this many times longer than the time of a form are not repeated."""

Arguments = list[Any]


# -- NPBench's files -----------------------------------------------------------------------------


class Checkout:
    """One program of a checkout: its description, its arguments, and functions from its files."""

    def __init__(self, root: Path, name: str, preset: str) -> None:
        self.description = json.loads((root / "bench_info" / f"{name}.json").read_text())["benchmark"]
        self.folder = root / "npbench" / "benchmarks" / self.description["relative_path"]
        self.arguments = self._arguments(preset)

    def _arguments(self, preset: str) -> Arguments:
        known = dict(self.description["parameters"][preset])
        if init := self.description.get("init"):
            made = self.function("", init["func_name"])(*(known[name] for name in init["input_args"]))
            names = init["output_args"]
            known.update(zip(names, made if len(names) > 1 else (made,), strict=True))
        return [known[name] for name in self.description["input_args"]]

    def function(self, ending: str, name: str = "") -> Callable[..., Any]:
        """The function of the program in the file whose name ends so."""
        path = self.folder / f"{self.description['module_name']}{ending}.py"
        spec = importlib.util.spec_from_file_location(path.stem, path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[path.stem] = module
        spec.loader.exec_module(module)
        return getattr(module, name or self.description["func_name"])

    def has(self, ending: str) -> bool:
        return (self.folder / f"{self.description['module_name']}{ending}.py").exists()

    def is_right(self, expected: list[Any], found: list[Any]) -> bool:
        """NPBench's own tolerance."""
        return len(expected) == len(found) and all(map(self._close, expected, found))

    def _close(self, expected: Any, found: Any) -> bool:
        e, f = np.asarray(expected), np.asarray(found)
        if e.shape != f.shape:
            return False
        rtol, atol = self.description.get("rtol", 1e-5), self.description.get("atol", 1e-8)
        if np.allclose(e, f, rtol=rtol, atol=atol):
            return True
        return bool(
            np.linalg.norm(e - f) < self.description.get("norm_error", 1e-5) * float(np.linalg.norm(e))
        )


# -- runs ----------------------------------------------------------------------------------------


class Run:
    """A function on copies of the arguments, which are restored before each turn."""

    def __init__(self, call: Callable[..., Any], arguments: Arguments) -> None:
        self.call, self.blank = call, arguments
        self.own = [a.copy() if isinstance(a, np.ndarray) else a for a in arguments]
        self.changed: list[int] = [i for i, a in enumerate(arguments) if isinstance(a, np.ndarray)]

    def reset(self) -> None:
        for at in self.changed:
            np.copyto(self.own[at], self.blank[at])

    def turn(self) -> Any:
        return self.call(*self.own)

    def first(self) -> list[Any]:
        """What it returns, then what it has changed; later turns restore only that."""
        returned = flat(self.turn())
        self.changed = [at for at in self.changed if not np.array_equal(self.own[at], self.blank[at])]
        return [*returned, *(self.own[at].copy() for at in self.changed)]


class RunInJax(Run):
    """JAX's arrays do not change: what NumPy's version changes is returned."""

    def __init__(self, call: Callable[..., Any], arguments: Arguments) -> None:
        import jax

        super().__init__(call, arguments)
        self.own = [jax.numpy.array(a) if isinstance(a, np.ndarray) else a for a in arguments]
        self.changed = []

    def turn(self) -> Any:
        import jax

        return jax.block_until_ready(super().turn())


def flat(returned: Any) -> list[Any]:
    if returned is None:
        return []
    return list(returned) if isinstance(returned, tuple | list) else [returned]


def measured(runs: dict[str, Run], seconds: float, busy: bool) -> dict[str, float]:
    """The median of each in ms, on a busy machine the least; by turns, until each had its seconds, and five times.

    Not the processor's time: JAX computes in threads of its own, whose time is counted late or with their waiting.
    """
    summary = min if busy else statistics.median
    times: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(500):
        waiting = [
            name
            for name, taken in times.items()
            if sum(taken) < seconds or (len(taken) < 5 and sum(taken) < LONGEST * seconds)
        ]
        if not waiting:
            break
        for name in waiting:
            runs[name].reset()
            started = time.perf_counter()
            runs[name].turn()
            taken = time.perf_counter() - started
            if times[name] and taken < min(times[name]) / LONGEST:
                times[name].clear()  # they waited for code for these lengths
            times[name].append(taken)
    return {name: 1e3 * summary(taken) for name, taken in times.items()}


# -- one program ---------------------------------------------------------------------------------


def contenders(checkout: Checkout, name: str, peers: bool) -> dict[str, Callable[[], Run]]:
    """pykern's forms and the versions of the checkout, by name; made when they are asked for."""
    from npbench_programs import FORMS

    def made(call: Callable[..., Any]) -> Callable[[], Run]:
        return lambda: Run(call, checkout.arguments)

    every = {f"pykern {one.name}": made(one.call) for one in FORMS if one.benchmark == name}
    if not peers:
        return every
    for ending in NUMBA:
        if checkout.has(f"_numba_{ending}"):
            every[f"numba {ending}"] = lambda ending=ending: Run(
                checkout.function(f"_numba_{ending}"), checkout.arguments
            )
    for ending in ("_jax", "_jax_lib"):
        if checkout.has(ending):
            every[ending[1:]] = lambda ending=ending: RunInJax(checkout.function(ending), checkout.arguments)
    return every


def figures(asked: argparse.Namespace, name: str) -> dict[str, Any]:
    """Times of all forms of a program and of its peers, each checked against NumPy's result."""
    import pykern as pk

    pk.set_num_threads(1)
    peers = not asked.no_peers
    if peers and importlib.util.find_spec("jax"):
        import jax

        jax.config.update("jax_enable_x64", True)
    checkout = Checkout(asked.checkout, name, asked.preset)
    reference = Run(checkout.function("_numpy"), checkout.arguments)
    expected = reference.first()
    runs, failed = {"numpy": reference}, {}
    for who, make in contenders(checkout, name, peers).items():
        try:
            run = make()
            found = run.first()
        except Exception as error:  # noqa: BLE001  a version that does not run is named, and the others are measured
            failed[who] = f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"[:200]
            continue
        if checkout.is_right(expected, found):
            runs[who] = run
        else:
            failed[who] = "wrong"
    gc.collect()
    gc.disable()
    times = measured(runs, asked.seconds, asked.busy)
    return {"program": name, "preset": asked.preset, "busy": asked.busy, "ms": times, "failed": failed}


def ratios(found: dict[str, Any]) -> dict[str, float]:
    """The best peer over the best and the slowest form; the slowest form over the best."""
    own = [t for who, t in found["ms"].items() if who.startswith("pykern")]
    other = [t for who, t in found["ms"].items() if not who.startswith("pykern")]
    if not own:
        return {}
    return {
        "best": min(other) / min(own),
        "slowest": min(other) / max(own),
        "forms": max(own) / min(own),
    }


def shown(found: dict[str, Any]) -> str:
    lines = []
    if r := ratios(found):
        lines.append(
            f"{found['program']:<26} best form {r['best']:6.2f}, slowest {r['slowest']:6.2f} times the best peer"
        )
    for who, taken in sorted(found["ms"].items(), key=lambda item: item[1]):
        lines.append(f"{'':<4}{taken:12.3f} ms   {who}")
    lines += [f"{'':<16}FAILED  {who}: {why}" for who, why in found["failed"].items()]
    return "\n".join(lines)


# -- all of them ---------------------------------------------------------------------------------


def in_a_process(asked: argparse.Namespace, name: str) -> dict[str, Any]:
    """The figures of a program, from a process that ends when it takes too long."""
    command = [sys.executable, __file__, str(asked.checkout), "--preset", asked.preset, "--one", name]
    command += ["--seconds", str(asked.seconds)]
    command += [option for option, on in (("--no-peers", asked.no_peers), ("--busy", asked.busy)) if on]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=asked.limit, env=os.environ | ALONE, check=False
        )
    except subprocess.TimeoutExpired:
        return {"program": name, "ms": {}, "failed": {"all": f"more than {asked.limit:.0f} s"}}
    if done.returncode:
        last = (done.stderr.strip().splitlines() or [f"status {done.returncode}"])[-1]
        return {"program": name, "ms": {}, "failed": {"all": last}}
    return json.loads(done.stdout.splitlines()[-1])


def main() -> int:
    parser = argparse.ArgumentParser(
        description="NPBench's programs, in several forms, beside its own versions."
    )
    parser.add_argument("checkout", type=Path, help="a checkout of github.com/spcl/npbench")
    parser.add_argument("--only", default="", help="programs whose name has this word")
    parser.add_argument("--preset", default="S", choices=("S", "M", "L", "paper"), help="NPBench's sizes")
    parser.add_argument("--seconds", type=float, default=0.3, help="of each form")
    parser.add_argument("--limit", type=float, default=900.0, help="seconds of a program, with its compiles")
    parser.add_argument("--busy", action="store_true", help="least times, where others use the machine")
    parser.add_argument("--no-peers", action="store_true", help="beside NumPy alone")
    parser.add_argument("--json", default="", help="a file for the figures, one line a program")
    parser.add_argument("--one", default="", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.one:
        print(json.dumps(figures(asked, asked.one)))
        return 0
    from npbench_programs import BENCHMARKS

    every = []
    for name in (name for name in BENCHMARKS if asked.only in name):
        found = in_a_process(asked, name)
        every.append(found)
        print(shown(found), flush=True)
        if asked.json:
            with open(asked.json, "a") as file:
                file.write(json.dumps(found) + "\n")
    measured = [r for r in map(ratios, every) if r]
    for key, text in (
        ("best", "best peer over best form"),
        ("slowest", "best peer over slowest form"),
        ("forms", "slowest over fastest form"),
    ):
        if measured:
            mean = math.exp(sum(math.log(r[key]) for r in measured) / len(measured))
            print(f"{text}: {mean:.2f} (geometric mean of {len(measured)})")
    wrong = any(who.startswith(("pykern", "all")) for found in every for who in found["failed"])
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())

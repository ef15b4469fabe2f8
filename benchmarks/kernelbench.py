"""``torch.compile(backend="pykern")`` on the problems of KernelBench, beside eager PyTorch and Inductor, on the CPU.

    python benchmarks/kernelbench.py path/to/KernelBench [--levels 1 2 3] [--only 23_Softmax ...] [--inductor]

Comes in: a checkout of KernelBench (github.com/ScalingIntelligence/KernelBench), of which nothing is kept here. A
problem is a file with a class `Model`, `get_inputs()` and `get_init_inputs()`. Its lengths are the constants of the
module: the largest are halved until a run needs at most `MOST_WORK` multiplications and `MOST_ELEMENTS` elements.
Goes out: a line a problem, and how many are right, how many in PyTorch alone, how many slower.

A result is right where it differs by at most 1e-4 of the norm, and of the largest element, of eager PyTorch's: no
absolute tolerance, which a result of zeros would pass. Where more is lost because numbers cancel, it is right that is
at most four times as far from the same model in float64 as eager PyTorch is. Random numbers are the same for
all (`manual_seed`). `dynamo` is eager PyTorch behind Dynamo's guards, which every backend pays for. Another process
measures, which is started anew when it dies or takes too long.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import json
import math
import os
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

TOLERANCE = 1e-4
MOST_WORK = 5e8
MOST_ELEMENTS = 1 << 23
LEAST_LENGTH, LEAST_BATCH = 16, 2
"""Constants up to the first are left alone: channels, groups, sizes of windows; sizes of batches up to the second."""
SLOWER = 1.1


# -- a problem, reduced --------------------------------------------------------------------------


def constants(tree: ast.Module) -> list[ast.Constant]:
    """The lengths in the assignments of a module that may become smaller."""
    found = []
    for node in tree.body:
        if isinstance(node, ast.Assign):
            least = LEAST_BATCH if "batch" in ast.unparse(node.targets[0]) else LEAST_LENGTH
            inside = [n for n in ast.walk(node.value) if isinstance(n, ast.Constant)]
            found += [n for n in inside if type(n.value) is int and n.value > least]
    return found


def names_of(tree: ast.Module, path: Path) -> dict[str, Any]:
    """The module's names."""
    names: dict[str, Any] = {"__name__": path.stem, "__file__": str(path)}
    exec(compile(tree, str(path), "exec"), names)
    return names


@contextlib.contextmanager
def whole_recurrent_layers() -> Iterator[list[int]]:
    """Inside, a layer of `torch.nn.GRU`, `LSTM` or `RNN` is one operation of fake tensors, whose multiplications are
    added to the list. PyTorch takes such layers apart, time step by time step, which takes minutes."""
    multiplications: list[int] = []

    def layer(x: Any, state: Any, weights: Any, *options: Any) -> tuple[Any, ...]:
        _bias, _layers, _dropout, _train, both_ways, _batch_first = options
        states = state if isinstance(state, tuple) else (state,)
        multiplications.append(x.shape[:-1].numel() * sum(w.numel() for w in weights))
        width = states[0].shape[-1] * (2 if both_ways else 1)
        return x.new_empty((*x.shape[:-1], width)), *(each.clone() for each in states)

    with contextlib.ExitStack() as patches:
        for name in ("gru", "lstm", "rnn_tanh", "rnn_relu"):
            patches.enter_context(mock.patch.object(torch_functions(), name, layer))
        yield multiplications


def torch_functions() -> Any:
    """What the layers of `torch.nn` call."""
    import torch

    return torch._VF


def work_of(tree: ast.Module, path: Path) -> tuple[float, int]:
    """Multiplications of a run, and elements of what it is given and makes; nothing is computed."""
    import torch
    from torch._subclasses.fake_tensor import FakeTensorMode
    from torch.utils.flop_counter import FlopCounterMode

    with FakeTensorMode(allow_non_fake_inputs=True), torch.no_grad():
        names = names_of(tree, path)
        model = names["Model"](*names["get_init_inputs"]())
        inputs = names["get_inputs"]()
        counted = FlopCounterMode(display=False)
        with counted, whole_recurrent_layers() as recurrent:
            made = model(*inputs)
        tensors = [*inputs, *model.parameters(), made]
        elements = sum(t.numel() for t in tensors if isinstance(t, torch.Tensor))
    return counted.get_total_flops() / 2 + sum(recurrent), elements


def reduced(path: Path) -> ast.Module:
    """The problem's module with smaller constants."""
    tree = ast.parse(path.read_text())
    fixed: set[int] = set()
    try:
        work, elements = work_of(tree, path)
    except Exception:  # noqa: BLE001  a model that reads numbers out of tensors where it is made
        for node in tree.body:
            if isinstance(node, ast.Assign) and "batch" in ast.unparse(node.targets[0]):
                node.value = ast.copy_location(ast.Constant(LEAST_BATCH), node.value)
        return tree
    while work > MOST_WORK or elements > MOST_ELEMENTS:
        left = [c for c in constants(tree) if id(c) not in fixed]
        if not left:
            break
        length = max(c.value for c in left)
        same = [c for c in left if c.value == length]
        for together in (same, *([one] for one in same)):  # lengths that are equal may have to stay so
            for one in together:
                one.value = length // 2
            try:
                work, elements = work_of(tree, path)
                break
            except Exception:  # noqa: BLE001  the model needs such a length as it is
                for one in together:
                    one.value = length
        else:
            fixed |= {id(one) for one in same}
    return tree


# -- one run -------------------------------------------------------------------------------------


def leaves(value: Any) -> list[Any]:
    return [t for item in value for t in leaves(item)] if isinstance(value, tuple | list) else [value]


def difference(found: Any, expected: Any) -> float:
    """The relative difference: by norm and by the largest element, the larger of the two."""
    worst = 0.0
    for a, b in zip(leaves(found), leaves(expected), strict=True):
        if a.shape != b.shape or a.dtype != b.dtype:
            return math.inf
        a, b = a.detach().double(), b.detach().double()
        if bool((a.isnan() != b.isnan()).any()):
            return math.inf
        same = (a == b) | b.isnan()
        off = (a - b).masked_fill(same, 0.0)
        size = b.masked_fill(~b.isfinite(), 0.0)
        scales = ((off.norm(), size.norm()), (off.abs().max(), size.abs().max()))
        worst = max(worst, *(float(o / s) if o else 0.0 for o, s in scales))
    return worst


def seconds(runs: dict[str, Any]) -> dict[str, float]:
    """The least time of each, in turns. With one thread it is the processor's time, which others on the machine
    change less."""
    import torch

    clock = time.thread_time if torch.get_num_threads() == 1 else time.perf_counter
    best = dict.fromkeys(runs, math.inf)
    end = time.perf_counter() + 1.5
    rounds = 0
    while rounds < 5 or (time.perf_counter() < end and rounds < 100):
        for name, run in runs.items():
            started = clock()
            run()
            best[name] = min(best[name], clock() - started)
        rounds += 1
    return best


def in_double(model: Any, state: dict[str, Any], inputs: list[Any]) -> Any:
    """What the model gives in float64, as float32."""
    import torch

    model.load_state_dict(state)
    model.double()
    torch.manual_seed(1)
    wide = [t.double() if isinstance(t, torch.Tensor) and t.is_floating_point() else t for t in inputs]
    with torch.no_grad():
        return [t.float() for t in leaves(model(*wide))]


def measure(path: Path, inductor: bool) -> dict[str, Any]:
    """All of one problem."""
    import torch

    import pykern.torch as pkt
    from pykern.torch.backend import backend

    warnings.simplefilter("ignore")
    names = names_of(reduced(path), path)
    torch.manual_seed(0)
    model = names["Model"](*names["get_init_inputs"]())
    inputs = names["get_inputs"]()
    torch._dynamo.reset()
    compiled = {
        "pykern": torch.compile(model, backend=backend),
        "dynamo": torch.compile(model, backend="eager"),
    }
    if inductor:
        torch._inductor.config.fallback_random = True
        compiled["inductor"] = torch.compile(model)
    runs: dict[str, Any] = {"eager": model, **compiled}
    results, state = {}, {k: v.clone() for k, v in model.state_dict().items()}
    took = {}
    with torch.no_grad():
        for name, run in runs.items():
            model.load_state_dict(state)
            torch.manual_seed(1)
            started = time.perf_counter()
            results[name] = run(*inputs)
            took[name] = time.perf_counter() - started
        times = seconds({name: lambda run=run: run(*inputs) for name, run in runs.items()})
    errors = {name: difference(results[name], results["eager"]) for name in compiled}
    if max(errors.values()) > TOLERANCE:  # numbers that cancel to nothing: who is farther from the truth?
        exact = in_double(model, state, inputs)
        mine = difference(results["eager"], exact)
        errors = {
            n: min(e, difference(results[n], exact) / (4 * mine) * TOLERANCE) for n, e in errors.items()
        }
    told = pkt.summary(compiled["pykern"])
    return {
        "problem": path.stem,
        "error": errors,
        "ms": {name: 1e3 * t for name, t in times.items()},
        "compile": took,
        "taken": sum(g.taken for g in told.graphs),
        "in_torch": sum(g.in_torch for g in told.graphs),
        "failures": [part.failure for g in told.graphs for part in g.parts if part.failure],
        "summary": str(told),
    }


def work() -> None:
    """The process that measures: a line of input a problem, a line of output each."""
    for line in sys.stdin:
        asked = json.loads(line)
        try:
            found = measure(Path(asked["path"]), asked["inductor"])
        except Exception as error:  # noqa: BLE001  the next problem is another one
            found = {"problem": Path(asked["path"]).stem, "failed": f"{type(error).__name__}: {error}"[:600]}
        print("\n" + json.dumps(found), flush=True)


# -- all of them ---------------------------------------------------------------------------------


class Worker:
    """The process, started when it is needed."""

    def __init__(self, threads: int | None, limit: float) -> None:
        self.process: subprocess.Popen[str] | None = None
        self.limit = limit
        given = (
            {} if threads is None else dict.fromkeys(("OMP_NUM_THREADS", "PYKERN_NUM_THREADS"), str(threads))
        )
        self.environment = os.environ | given

    def ask(self, path: Path, inductor: bool) -> dict[str, Any]:
        if self.process is None:
            command = [sys.executable, __file__, "--work"]
            self.process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                stderr=subprocess.DEVNULL,
                env=self.environment,
            )
        process = self.process
        assert process.stdin is not None and process.stdout is not None
        process.stdin.write(json.dumps({"path": str(path), "inductor": inductor}) + "\n")
        process.stdin.flush()
        timer = threading.Timer(self.limit, process.kill)
        timer.start()
        for line in process.stdout:
            if line.startswith("{"):
                timer.cancel()
                return json.loads(line)
        timer.cancel()
        self.process = None
        return {"problem": path.stem, "failed": f"the process died ({process.wait()}) or took too long"}


def verdict(found: dict[str, Any]) -> str:
    if "failed" in found:
        return f"FAILED  {found['failed'][:100]}"
    ms, error = found["ms"], found["error"]["pykern"]
    right = "right" if error <= TOLERANCE else "WRONG"
    ratios = "  ".join(f"{name} {ms[name]:8.3f}" for name in ms)
    return (
        f"{right} {error:.1e}  ours {found['taken']:3d} torch {found['in_torch']:3d}  {ratios}  "
        f"x{ms['eager'] / ms['pykern']:.2f}"
        + (f"  FELL BACK: {found['failures'][0][:80]}" if found["failures"] else "")
    )


def told(results: list[dict[str, Any]]) -> None:
    """What came of all of them."""
    ran = [r for r in results if "failed" not in r]
    right = [r for r in ran if r["error"]["pykern"] <= TOLERANCE]
    alone = [r for r in right if not r["taken"]]
    print(f"{len(right)} of {len(results)} right, {len(alone)} of them in PyTorch alone")
    for name, said in (("eager", "eager"), ("dynamo", "eager behind Dynamo's guards")):
        slower = [r for r in ran if r["ms"]["pykern"] > SLOWER * r["ms"][name]]
        print(f"{len(slower)} slower than {said} by more than {SLOWER - 1:.0%}")
    ours = [r for r in ran if r["taken"] > r["in_torch"]]
    for name in ("eager", "dynamo", "inductor"):
        pairs = [r["ms"][name] / r["ms"]["pykern"] for r in ours if name in r["ms"]]
        if pairs:
            mean = math.exp(sum(map(math.log, pairs)) / len(pairs))
            print(f"where most of the graph is ours ({len(pairs)}): {mean:.2f} times as fast as {name}")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("checkout", nargs="?", type=Path)
    parser.add_argument("--levels", nargs="+", type=int, default=[1, 2, 3])
    parser.add_argument("--only", nargs="+", default=[], help="parts of problems' names")
    parser.add_argument("--inductor", action="store_true", help="measure Inductor, too")
    parser.add_argument("--threads", type=int, help="as many for all; default: the processors")
    parser.add_argument("--limit", type=float, default=240.0, help="seconds that a problem may take")
    parser.add_argument("--json", type=Path, help="a file for all results")
    parser.add_argument("--work", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.work:
        work()
        return
    folder = options.checkout / "KernelBench"
    worker, results = Worker(options.threads, options.limit), []
    for level in options.levels:
        problems = sorted(folder.glob(f"level{level}/*.py"), key=lambda p: int(p.stem.split("_")[0]))
        for path in problems:
            if options.only and not any(part in path.stem for part in options.only):
                continue
            found = worker.ask(path, options.inductor)
            results.append({"level": level, **found})
            print(f"{level}/{path.stem[:48]:48s} {verdict(found)}", flush=True)
            if options.json:
                options.json.write_text(json.dumps(results, indent=1))
    told(results)


if __name__ == "__main__":
    main()

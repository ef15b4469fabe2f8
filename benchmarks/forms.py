"""Forms that mean the same: ``python benchmarks/forms.py [--quick] [--only WORD] [--scale 1.0] [--json FILE]``.

Each computation stands there in the forms in which people write it: guards or ranges, two indices or a flat one, a loop
or its iterations written out. Measured is how much slower the slowest form is than the fastest, which ought to be 1,
and how each compares with Numba, which runs the same statements as plain loops. One thread each; the least of several
times, all forms of a computation in turn and on the same arrays. All results are compared with NumPy's. Read next:
`forms_computations`, which has the computations, `forms_references`, and `forms_numba`, which makes Numba's loops of a
kernel.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import time
from collections.abc import Callable
from typing import Any

os.environ.setdefault("NUMBA_NUM_THREADS", "1")

import numpy as np
from forms_computations import COMPUTATIONS, QUICK, Computation, Form
from forms_references import REFERENCES

import pykern as pk

Run = Callable[[], Any]


def measured(runs: dict[str, Run], seconds: float) -> dict[str, float]:
    """The least time of each, in ms; all in turn, until each had `seconds`, and at least 5 times."""
    least = dict.fromkeys(runs, math.inf)
    spent = dict.fromkeys(runs, 0.0)
    for number in range(1000):
        waiting = [name for name in runs if number < 5 or spent[name] < seconds]
        if not waiting:
            break
        for name in waiting:
            started = time.perf_counter()
            runs[name]()
            taken = time.perf_counter() - started
            least[name] = min(least[name], taken)
            spent[name] += min(taken, 10 * least[name])  # a run that compiles is none of many
    return {name: 1e3 * taken for name, taken in least.items()}


def prepared(computation: Computation, form: Form, arrays: tuple, peer: bool) -> Run:
    """What runs a form, by pykern or by its peer."""
    given = computation.given(form, arrays)
    if form.space is None:
        return lambda: form.kernel(*given[1:])
    space = form.space(*arrays)
    if peer:
        from forms_numba import plain_loops  # here: without the peer Numba need not be there

        function, bounds = plain_loops(form.kernel, space)
        return lambda: function(*given, *bounds)
    return lambda: form.kernel(*given, ndrange=space)


def figures(computation: Computation, scale: float, seconds: float, peer: bool) -> dict[str, Any]:
    """Times of all forms of one computation, each checked against NumPy's result."""
    arrays = computation.arrays(scale)
    blank, expected = arrays[0].copy(), REFERENCES[computation.name](*arrays)
    runs: dict[str, Run] = {}
    wrong = []
    for form in computation.forms:
        for who in ("pykern", "numba") if peer and form.space and form.peer else ("pykern",):
            name = f"{who} {form.name}"
            runs[name] = prepared(computation, form, arrays, who == "numba")
            arrays[0][...] = blank
            returned = runs[name]()
            result = arrays[0] if form.space else returned
            close = np.isclose(result, expected, rtol=1e-3, atol=1e-4)
            if close.mean() < 1 - computation.may_differ:
                wrong.append(name)
    times = measured(runs, seconds)
    own = {name.partition(" ")[2]: t for name, t in times.items() if name.startswith("pykern")}
    other = {name.partition(" ")[2]: t for name, t in times.items() if name.startswith("numba")}
    return {
        "computation": computation.name,
        "ms": own,
        "numba_ms": other,
        "ratio": max(own.values()) / min(own.values()),
        "slower_than_numba": {n: own[n] / t for n, t in other.items() if own[n] > 1.1 * t},
        "wrong": wrong,
    }


def shown(found: dict[str, Any]) -> str:
    """One line a computation, and one a form that is slow."""
    own, other = found["ms"], found["numba_ms"]
    best = min(own, key=lambda name: own[name])
    line = f"{found['computation']:<20}{found['ratio']:8.2f}   {best} {own[best]:.3f} ms"
    lines = [line + (f", Numba {min(other.values()):.3f}" if other else "")]
    for name, ms in own.items():
        against = f", Numba's {ms / other[name]:.2f} times" if name in other else ""
        if ms > 1.5 * own[best] or name in found["slower_than_numba"]:
            lines.append(f"{'':<20}{ms / own[best]:8.2f}   {name} {ms:.3f} ms{against}")
    lines += [f"{'':<20}  WRONG   {name}" for name in found["wrong"]]
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description="How much slower the slowest form of a computation is.")
    parser.add_argument("--only", default="", help="computations whose name has this word")
    parser.add_argument("--quick", action="store_true", help="a few computations, at a quarter of the size")
    parser.add_argument("--scale", type=float, default=1.0, help="of the lengths of arrays")
    parser.add_argument("--seconds", type=float, default=0.2, help="of each form")
    parser.add_argument("--no-numba", action="store_true", help="only pykern")
    parser.add_argument("--json", default="", help="a file for the figures, one line a computation")
    asked = parser.parse_args()
    pk.set_num_threads(1)
    chosen = [c for c in COMPUTATIONS if asked.only in c.name and (not asked.quick or c.name in QUICK)]
    scale = asked.scale / 4 if asked.quick else asked.scale
    every = []
    for computation in chosen:
        found = figures(computation, scale, asked.seconds, not asked.no_numba)
        every.append(found)
        print(shown(found), flush=True)
        if asked.json:
            with open(asked.json, "a") as file:
                file.write(json.dumps(found) + "\n")
    mean = math.exp(sum(math.log(f["ratio"]) for f in every) / max(len(every), 1))
    worst = max((f["ratio"] for f in every), default=1.0)
    slower = sum(len(f["slower_than_numba"]) for f in every)
    forms = sum(len(f["ms"]) for f in every)
    print(f"{len(every)} computations, {forms} forms, {slower} slower than Numba's;")
    print(f"slowest over fastest: {mean:.2f} (geometric mean), {worst:.2f} at most")
    return 1 if any(f["wrong"] for f in every) else 0


if __name__ == "__main__":
    raise SystemExit(main())

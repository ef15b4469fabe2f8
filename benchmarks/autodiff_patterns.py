"""Gradients of what kernels do, next to Warp, Taichi and JAX: ``python benchmarks/autodiff_patterns.py``.

Each pattern is written as each library's users write it (`autodiff_patterns_<library>.py`); the gradient is
compared with central differences of plain Python (`autodiff_patterns_data.py`). An entry of the table is

- ``right``, or ``wrong`` with the relative error: a number that is not the gradient, without a word;
- ``refused``: the library says so (its words stand below the table); where its documentation offers
  another way to write the pattern, that is tried too and named;
- ``not expressible`` on this device, ``crash``, ``hang``, ``not installed``.

Every entry is computed in a process of its own.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.metadata
import importlib.util
import json
import os
import subprocess
import sys
import tempfile

import numpy as np

FOLDER = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [FOLDER, os.path.dirname(FOLDER)]
from autodiff_patterns_data import PATTERNS  # noqa: E402

LIBRARIES = {"pykern": "pykern", "warp": "warp-lang", "taichi": "taichi", "jax": "jax"}
TOLERANCE = 1e-5
TIMEOUT = 60
MARK = "result: "


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", metavar="FILE", help="write the table here too")
    parser.add_argument("--libraries", nargs="*", default=list(LIBRARIES), choices=list(LIBRARIES))
    parser.add_argument("--patterns", nargs="*", default=list(PATTERNS), choices=list(PATTERNS))
    parser.add_argument("--one", nargs=3, metavar=("LIBRARY", "PATTERN", "WAY"), help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.one:
        print(MARK + json.dumps(compared(*chosen.one)))
        return
    table = {library: row(library, chosen.patterns) for library in chosen.libraries}
    report(table, chosen.patterns)
    if chosen.json:
        with open(chosen.json, "w") as file:
            json.dump({"versions": versions(), "tolerance": TOLERANCE, "table": table}, file, indent=1)
            file.write("\n")


# -- in a process of its own ----------------------------------------------------------------------------


def compared(library: str, name: str, way: str) -> dict:
    """One entry: the gradient of one pattern by one library."""
    module = importlib.import_module(f"autodiff_patterns_{library}")
    pattern = PATTERNS[name]
    if name not in module.KERNELS:
        return {"outcome": "not expressible"}
    arguments = pattern.arguments()
    expected = pattern.gradients(arguments)
    again = {"workaround": True} if way == "workaround" else {}
    try:
        found = module.gradients(name, {key: value.copy() for key, value in arguments.items()}, **again)
    except Exception as error:  # noqa: BLE001  (whatever a library raises is its refusal)
        return {"outcome": "refused", "why": shortened(error), "other_way": name in module.WORKAROUNDS}
    error = max(
        float(np.abs(found[key] - expected[key]).max() / np.abs(expected[key]).max()) for key in pattern.by
    )
    outcome = "right" if error <= TOLERANCE else "wrong"  # NaN is wrong
    return {"outcome": outcome, "error": error, "other_way": name in module.WORKAROUNDS}


def shortened(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    telling = [line for line in lines if any(word in line for word in ("rror", "not ", "annot"))] or lines
    return f"{type(error).__name__}: {telling[0] if telling else ''}"[:200]


# -- the table ------------------------------------------------------------------------------------------


def row(library: str, names: list[str]) -> dict[str, dict]:
    if importlib.util.find_spec(library) is None:
        return {name: {"outcome": "not installed"} for name in names}
    return {name: entry(library, name) for name in names}


def entry(library: str, name: str) -> dict:
    found = in_process(library, name, "plain")
    if found["outcome"] in ("wrong", "refused") and found.get("other_way"):
        found["workaround"] = in_process(library, name, "workaround")["outcome"]
        module = os.path.join(FOLDER, f"autodiff_patterns_{library}.py")
        found["see"] = f"WORKAROUNDS in {os.path.basename(module)}"
    return found


def in_process(library: str, name: str, way: str) -> dict:
    with tempfile.TemporaryFile("w+") as errors:
        try:
            done = subprocess.run(
                [sys.executable, __file__, "--one", library, name, way],
                stdout=subprocess.PIPE, stderr=errors, text=True, timeout=TIMEOUT, check=False,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return {"outcome": "hang", "why": f"no answer in {TIMEOUT} s"}
        for line in done.stdout.splitlines():
            if line.startswith(MARK):
                return json.loads(line[len(MARK) :])
        errors.seek(0)
        last = errors.read().strip().splitlines()[-1:]
        return {"outcome": "crash", "why": f"exit status {done.returncode} {' '.join(last)[:160]}"}


def report(table: dict[str, dict[str, dict]], names: list[str]) -> None:
    print(f"{'':24}" + "".join(f"{library:34}" for library in table))
    for name in names:
        print(f"{name:24}" + "".join(f"{described(table[library][name]):34}" for library in table))
    for library, entries in table.items():
        for name, found in entries.items():
            if "why" in found:
                print(f"{library}, {name}: {found['why']}")


def described(found: dict) -> str:
    text = found["outcome"]
    if "error" in found:
        text += f" {found['error']:.0e}"
    if "workaround" in found:
        text += f" (rewritten: {found['workaround']})"
    return text


def versions() -> dict[str, str]:
    known = {"python": sys.version.split()[0]}
    for library, distribution in LIBRARIES.items():
        if importlib.util.find_spec(library) is not None:
            known[library] = importlib.metadata.version(distribution) if library != "pykern" else _pykern()
    return known


def _pykern() -> str:
    import pykern

    return pykern.__version__


if __name__ == "__main__":
    main()

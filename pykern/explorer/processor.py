"""The ceilings of this processor: measured once, then read from the store on disk.

Comes in: nothing. Goes out: a `Roof` with the rate of a large copy, and of multiply-adds in f32 and f64. The rates
hold for the threads that launches use, so each number of threads has its own. Read next: `pykern.benchmarking.limits`.
"""

from __future__ import annotations

import hashlib
import json

from pykern.compiler.versions import host_cpu
from pykern.explorer.roof import Roof
from pykern.runtime.cpu_table import get_num_threads
from pykern.storage.store import LIMITS, shared_store

NAME = "this processor"
DTYPES = {"f32": "float32", "f64": "float64"}
_VERSION = 1


def this_processor(remeasure: bool = False) -> Roof:
    """The roof. `remeasure` measures it now, too: of two measurements the higher is the limit that can be had."""
    known = known_processor()
    if known is not None and not remeasure:
        return known
    roof = _higher(_measured(), known)
    text = json.dumps({"gb_per_s": roof.gb_per_s, "gflop_per_s": dict(roof.gflop_per_s)})
    shared_store().write(LIMITS, _key(), text.encode())
    return roof


def known_processor() -> Roof | None:
    """The roof where it has been measured; None elsewhere."""
    return _parsed(shared_store().read(LIMITS, _key()))


def _key() -> str:
    return hashlib.sha256(f"{_VERSION} {host_cpu()} {get_num_threads()}".encode()).hexdigest()


def _measured() -> Roof:
    from pykern.benchmarking import limits  # here: it compiles kernels

    found = {name: limits.measured("cpu", dtype) for name, dtype in DTYPES.items()}
    rate = max(each.gb_per_s for each in found.values())
    return Roof(NAME, rate, {name: each.gflop_per_s for name, each in found.items()}, measured=True)


def _higher(one: Roof, other: Roof | None) -> Roof:
    if other is None:
        return one
    flops = {name: max(value, other.gflop_per_s[name]) for name, value in one.gflop_per_s.items()}
    return Roof(NAME, max(one.gb_per_s, other.gb_per_s), flops, measured=True)


def _parsed(data: bytes | None) -> Roof | None:
    """The roof in an entry of the store; None where there is none, or another version wrote it."""
    try:
        found = json.loads(data or b"")
        rates = {name: float(found["gflop_per_s"][name]) for name in DTYPES}
        return Roof(NAME, float(found["gb_per_s"]), rates, measured=True)
    except (ValueError, TypeError, KeyError):
        return None

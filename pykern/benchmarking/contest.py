"""One case measured: contenders made, checked, timed alternately.

Comes in: a `Case`, peers. Goes out: records and what is missing. It runs in a process that is bound to its threads.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from types import ModuleType
from typing import Any

import numpy as np

from pykern.benchmarking import facts
from pykern.benchmarking.agreement import difference, values_of
from pykern.benchmarking.clock import finish
from pykern.benchmarking.interleaved import Effort, within
from pykern.benchmarking.limits import Limits
from pykern.benchmarking.records import SCHEMA, Record, rates, times
from pykern.benchmarking.samples import Samples
from pykern.benchmarking.workload import Case, Contender, sources_of

OURS = "pykern"
PEERS_FAIL_WITH = (
    RuntimeError,
    TypeError,
    ValueError,
    AttributeError,
    NotImplementedError,
    ImportError,
    OSError,
)
Message = tuple[str, Any]


def contest(
    case: Case,
    peers: Mapping[str, ModuleType | str],
    limits: Limits,
    effort: Effort,
    shared: Mapping[str, Any],
) -> Iterator[Message]:
    """Messages of kind `record`, `trying`, `missing` (benchmark, peer, why) and `wrong` (the same, for pykern)."""
    workload = case.workload
    expected = [np.asarray(one) for one in values_of(workload.expected(case.arrays))]
    ready: dict[str, Contender] = {}
    first: dict[str, float] = {}
    for peer, make in sources_of(case, peers):
        if isinstance(make, str):
            yield "missing", [workload.title, peer, make]
            continue
        yield "trying", [workload.title, peer]
        try:
            for contender in make(case):
                own = values_of(contender.expected()) if contender.expected else expected
                seconds, wrong = _first(contender, own, workload.tolerance)
                if wrong:
                    yield _failed(workload.title, contender.name, f"wrong result: {wrong}")
                else:
                    ready[_key(contender)], first[_key(contender)] = contender, seconds
        except PEERS_FAIL_WITH as error:
            yield _failed(workload.title, peer, _reason(error))
    samples = within(
        {key: one.run for key, one in ready.items()}, effort,
        {key: one.reset for key, one in ready.items() if one.reset is not None},
    )  # fmt: skip
    for key, one in ready.items():
        spread = Samples(tuple(seconds / workload.calls / one.part for seconds in samples[key].seconds))
        record: Record = {
            "schema": SCHEMA, "benchmark": workload.name, "line": one.name, **facts.device("cpu"),
            "clock": "host", "cache": "warm", "threads": case.threads, "config": dict(workload.config),
            "allocates": one.allocates, **times(spread), "bytes": workload.bytes, "flops": workload.flops,
            "compile_ms_cold": max(0.0, first[key] - samples[key].median) * 1e3, **shared,
        }  # fmt: skip
        yield "record", record | rates(record, limits.as_json())


def _reason(error: BaseException) -> str:
    """The first lines of what it says."""
    said = " ".join(str(error).split())
    return f"{type(error).__name__}: {said[:240]}" if said else type(error).__name__


def _failed(title: str, name: str, why: str) -> Message:
    return "wrong" if name.startswith(OURS) else "missing", [title, name, why]


def _key(contender: Contender) -> str:
    return contender.name + (", allocates" if contender.allocates else "")


def _first(contender: Contender, expected: list[np.ndarray], tolerance: float) -> tuple[float, str | None]:
    """Seconds of the first call, which compiles where something is compiled; and what is wrong with its results."""
    for output in contender.outputs:
        output[...] = np.nan if output.dtype.kind in "fc" else 77  # no result looks like that
    if contender.reset is not None:
        contender.reset()
    started = time.perf_counter()
    returned = contender.run()
    finish(returned)
    seconds = time.perf_counter() - started
    found = list(contender.outputs) or values_of(returned)
    if len(found) != len(expected):
        return seconds, f"{len(found)} results, not {len(expected)}"
    for one, other in zip(found, expected, strict=True):
        if (wrong := difference(one, other, tolerance)) is not None:
            return seconds, wrong
    return seconds, None

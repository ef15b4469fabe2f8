"""Results as records: one JSON object a line, so that runs append.

Comes in: times, facts. Goes out: records, checked against `FIELDS`, as JSON lines or CSV; and back from a file, that
of pytest-benchmark included. Read next: `regression`.
"""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from pykern.api.user_file import contents
from pykern.benchmarking.samples import Samples
from pykern.errors import LaunchError

Record = dict[str, Any]
SCHEMA = "pykern-bench/1"


@dataclass(frozen=True)
class Field:
    """What a field of a record holds; not `needed` ones may be left out or null."""

    types: tuple[type, ...]
    meaning: str
    needed: bool = True


_NUMBER = (int, float)
_TIMES = ("median_ns", "min_ns", "p10_ns", "p90_ns")
_RESULTS = "give a file of `pykern bench --json`"
FIELDS: dict[str, Field] = {
    "schema": Field((str,), f"`{SCHEMA}`"),
    "benchmark": Field((str,), "what is measured"),
    "line": Field((str,), "which implementation"),
    "kernel": Field((str,), "the pykern kernel or program that the line runs, where it runs one", False),
    "key": Field((str,), "hash of that kernel: its source, types, target and the compiler's versions", False),
    "device": Field((str,), "`cpu`, `opencl:0`, ..."),
    "device_name": Field((str,), "the device as its driver calls it"),
    "driver": Field((str,), "that driver and its version", False),
    "clocks": Field((dict,), "the processor's frequency and governor when the run began", False),
    "clock": Field((str,), "how the time was measured: by the `host`, or by events of a device"),
    "cache": Field((str,), "`warm`, or `flushed` before each measurement"),
    "threads": Field((int,), "threads, and the processors the process was bound to", False),
    "config": Field((dict,), "the values of the parameters, such as `{\"n\": 4096}`"),
    "allocates": Field((bool,), "whether a call allocates its result", False),
    "n": Field((int,), "number of measurements"),
    "median_ns": Field(_NUMBER, "nanoseconds of a call: the median"),
    "min_ns": Field(_NUMBER, "the minimum"),
    "p10_ns": Field(_NUMBER, "the 10th percentile"),
    "p90_ns": Field(_NUMBER, "the 90th percentile"),
    "bytes": Field((int,), "bytes that a call must move", False),
    "flops": Field((int,), "operations on floats of a call", False),
    "gb_per_s": Field(_NUMBER, "bytes by the median", False),
    "gflop_per_s": Field(_NUMBER, "flops by the median", False),
    "share_of_limit": Field(_NUMBER, "the least possible time by the measured limits, divided by the median", False),
    "bound": Field((str,), "the limit that is closer: `memory` or `compute`", False),
    "limits": Field((dict,), "`gb_per_s` and `gflop_per_s` that the probes of the same run reached", False),
    "compile_ms_cold": Field(_NUMBER, "milliseconds of the first call with nothing cached", False),
    "compile_ms_warm": Field(_NUMBER, "the same from the disk cache, in a new process", False),
    "versions": Field((dict,), "Python's, pykern's, NumPy's and the peers' versions"),
    "commit": Field((str,), "the commit of the repository that the benchmark lies in", False),
    "date": Field((str,), "UTC, ISO 8601"),
    "load": Field(_NUMBER, "load average of the machine when the run began", False),
}  # fmt: skip


def times(samples: Samples) -> Record:
    """The fields of a spread."""
    return {
        "n": len(samples), "median_ns": samples.median * 1e9, "min_ns": samples.min * 1e9,
        "p10_ns": samples.p10 * 1e9, "p90_ns": samples.p90 * 1e9,
    }  # fmt: skip


def rates(record: Record, limits: dict[str, float] | None) -> Record:
    """The fields that follow from bytes, flops, the median and the limits of the machine."""
    seconds, moved, flops = record["median_ns"] / 1e9, record.get("bytes") or 0, record.get("flops") or 0
    found: Record = {}
    if moved:
        found["gb_per_s"] = moved / seconds / 1e9
    if flops:
        found["gflop_per_s"] = flops / seconds / 1e9
    if limits and (moved or flops):
        memory, compute = moved / limits["gb_per_s"] / 1e9, flops / limits["gflop_per_s"] / 1e9
        found |= {
            "share_of_limit": max(memory, compute) / seconds,
            "bound": "memory" if memory >= compute else "compute",
            "limits": limits,
        }
    return found


def problems(record: Record) -> list[str]:
    """What is wrong with a record, in words; nothing where it follows the schema."""
    found = [f"`{name}` is missing" for name, field in FIELDS.items() if field.needed and name not in record]
    for name, value in record.items():
        field = FIELDS.get(name)
        if field is None:
            found.append(f"`{name}` is no field")
        elif value is None and not field.needed:
            continue
        elif not isinstance(value, field.types) or (isinstance(value, bool) and bool not in field.types):
            found.append(f"`{name}` is a {type(value).__name__}")
        elif name in _TIMES and not 0 < (value or 0) < math.inf:
            found.append(f"`{name}` is {value}, no time")
        elif name == "schema" and value != SCHEMA:
            found.append(f"`schema` is {value!r}, and {SCHEMA!r} is read")
    return found


def identity(record: Record) -> tuple[Any, ...]:
    """What two runs have to share for their records to be compared."""
    config = json.dumps(record["config"], sort_keys=True)
    return (
        record["benchmark"],
        record["line"],
        record["device"],
        record.get("threads"),
        config,
        record.get("allocates"),
    )


def title(record: Record) -> str:
    """A record in a few words: ``saxpy n=4096, pykern, 2 threads``."""
    config = " ".join(f"{name}={value}" for name, value in record["config"].items())
    words = [f"{record['benchmark']} {config}".strip(), record["line"]]
    if record.get("threads"):
        words.append(f"{record['threads']} thread{'s' * (record['threads'] > 1)}")
    if record["device"] != "cpu":
        words.append(record["device"])
    if record.get("allocates"):
        words.append("allocating")
    return ", ".join(words)


def as_lines(records: Iterable[Record]) -> str:
    """JSON lines."""
    return "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)


def as_csv(records: Sequence[Record]) -> str:
    """A table with a header: one column a field, `config.n` and the like for what varies."""
    varied = list(dict.fromkeys(name for record in records for name in record["config"]))
    plain = [n for n, f in FIELDS.items() if dict not in f.types]
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([*plain[:3], *(f"config.{name}" for name in varied), *plain[3:]])
    for record in records:
        cells = [record.get(name) for name in plain]
        writer.writerow([*cells[:3], *(record["config"].get(name) for name in varied), *cells[3:]])
    return out.getvalue()


def read(path: str) -> list[Record]:
    """Records of a file: JSON lines of ours, or the JSON of pytest-benchmark. Raises `LaunchError` for others."""
    try:
        text = contents(path).decode("utf-8")
    except OSError as error:
        raise LaunchError(f"{path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise _no_results(path, "it is no text") from None
    try:
        if text.lstrip().startswith("{") and '"machine_info"' in text:
            found = _of_pytest_benchmark(json.loads(text))
        else:
            found = [json.loads(line) for line in text.splitlines() if line.strip()]
    except KeyError as error:
        raise _no_results(path, f"`{error.args[0]}` is missing") from None
    except (ValueError, TypeError, AttributeError, OverflowError, ZeroDivisionError) as error:
        raise _no_results(path, str(error)) from None
    except RecursionError:
        raise _no_results(path, "it is nested too deeply") from None
    if not found:
        raise _no_results(path, "it is empty")
    for number, record in enumerate(found, 1):
        wrong = problems(record) if isinstance(record, dict) else ["it is no object"]
        if wrong:
            raise LaunchError(f"{path}, line {number} is no result: {wrong[0]}", hint=_RESULTS)
    return found


def _no_results(path: str, why: str) -> LaunchError:
    return LaunchError(f"{path} holds no results: {why}", hint=_RESULTS)


def _of_pytest_benchmark(data: Any) -> list[Record]:
    """Each of its benchmarks as the only line of one: `group` or `name`; `extra_info` may have bytes and flops."""
    machine, found = data["machine_info"], []
    cpu = (machine.get("cpu") or {}).get("brand_raw", machine.get("machine", ""))
    for one in data["benchmarks"]:
        stats, more = one["stats"], one.get("extra_info") or {}
        record = {
            "schema": SCHEMA, "benchmark": one.get("group") or one["name"], "line": one["name"],
            "device": "cpu", "device_name": str(cpu),
            "clock": "host", "cache": "warm", "config": one.get("params") or {}, "n": int(stats["rounds"]),
            "median_ns": stats["median"] * 1e9, "min_ns": stats["min"] * 1e9,
            "p10_ns": stats["q1"] * 1e9, "p90_ns": stats["q3"] * 1e9,
            "versions": {"python": str(machine.get("python_version", ""))}, "date": str(data.get("datetime", "")),
        }  # fmt: skip
        for name in ("bytes", "flops"):
            if isinstance(more.get(name), int):
                record[name] = more[name]
        found.append(record | rates(record, None))
    return found

"""Facts of the machine that both the compiler and the runtime ask for; and of machines code is made for elsewhere."""

from __future__ import annotations

import functools
import math
import os
import platform

from pykern.data.records import record


@record
class Cpu:
    """What schedules depend on: vectors, registers, caches (bytes), and instructions for narrow products.

    `isa` is "avx512", "avx2", "neon" or "sse2".
    """

    isa: str
    vector_bytes: int
    registers: int
    l1: int = 32 << 10
    l2: int = 512 << 10
    features: tuple[str, ...] = ()

    def lanes(self, bits: int) -> int:
        """Elements of a vector."""
        return self.vector_bytes * 8 // bits


ISAS = {"avx512": (64, 32), "avx2": (32, 16), "neon": (16, 32), "sse2": (16, 16)}
"""Bytes of a vector, and how many registers hold one."""
_DOT_FEATURES = {"avx512_bf16": "bf16-dot", "avx512_vnni": "i16-dot", "avx_vnni": "i16-dot"}
_ARM_DOT_FEATURES = {"bf16": "bf16-dot", "asimddp": "i8-dot", "i8mm": "mixed-dot"}
"""What Linux calls instructions that sum products of narrow numbers, and what they are called here."""


def cpu(name: str = "") -> Cpu:
    """The machine this runs on, or one of `ISAS` with caches as most have them.

    A name may add features after a plus: "avx512+bf16-dot". Raises KeyError for others.
    """
    if not name:
        return host_cpu()
    isa, *features = name.split("+")
    return Cpu(isa, *ISAS[isa], features=tuple(features))


@functools.cache
def host_cpu() -> Cpu:
    """This machine, from what Linux tells; elsewhere from the name of the architecture alone."""
    if platform.machine().lower() in ("arm64", "aarch64"):
        isa, flags, dots = "neon", _flags("Features"), _ARM_DOT_FEATURES
    else:
        flags, dots = _flags("flags"), _DOT_FEATURES
        isa = "avx512" if {"avx512f", "avx512vl", "avx512bw"} <= flags else "avx2"
        if not {"avx2", "fma"} <= flags:
            isa = "sse2"
    features = tuple(dict.fromkeys(word for flag, word in dots.items() if flag in flags))
    first = _cache_size("index0") or 32 << 10
    second = _cache_size("index2") or 512 << 10
    return Cpu(isa, *ISAS[isa], first, second, features)


@functools.cache
def cache_bytes() -> int:
    """Size of the last-level cache; 32 MiB where the system does not tell."""
    for level in (3, 2):
        size = _cache_size(f"index{level}")
        if size:
            return size
    return 32 << 20


@functools.cache
def processors() -> int:
    """Processors that this process may use: those it is bound to, or fewer where its group has less of their time."""
    bound = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, math.ceil(min(bound, _time_share())))


def _time_share() -> float:
    """Processors' worth of time that the control groups of this process have, as containers set it; else infinity."""
    shares = [math.inf]
    for line in _words(_OWN_GROUPS):
        number, controllers, path = line.split(":", 2)
        own = [part for part in path.strip().split("/") if part]
        for depth in range(len(own) + 1):  # a group has no more than the one around it
            inner = "/".join(own[:depth])
            if number == "0":
                quota = _words(f"{_GROUPS}/{inner}/cpu.max")[:1]
                shares += [_ratio(*each.split()) for each in quota if len(each.split()) == 2]
            elif "cpu" in controllers.split(","):
                folder = f"{_GROUPS}/cpu/{inner}"
                quota, period = (_words(f"{folder}/cpu.cfs_{name}_us")[:1] for name in ("quota", "period"))
                shares += [_ratio(*pair) for pair in zip(quota, period, strict=False)]
    return min(shares)


_OWN_GROUPS, _GROUPS = "/proc/self/cgroup", "/sys/fs/cgroup"


def _ratio(quota: str, period: str) -> float:
    """Infinity for a group without a bound, `max` or -1."""
    try:
        return int(quota) / int(period) if int(quota) > 0 else math.inf
    except (ValueError, ZeroDivisionError):
        return math.inf


def _words(path: str) -> list[str]:
    """The lines of a file; none where there is no such file."""
    try:
        with open(path) as file:
            return file.read().splitlines()
    except OSError:
        return []


def memory_bytes() -> int:
    """The memory this process may have: the machine's, or less where its group has a bound; 4 GiB where none tells."""
    found = [_number(path) for path in _GROUP_BOUNDS]
    try:
        found.append(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    except (AttributeError, OSError, ValueError):
        pass
    return min((bound for bound in found if bound), default=4 << 30)


_GROUP_BOUNDS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")


def _number(path: str) -> int | None:
    """The number in a file; None where there is none, or a word."""
    try:
        with open(path) as file:
            return int(file.read())
    except (OSError, ValueError):
        return None


def _cache_size(index: str) -> int | None:
    try:
        with open(f"/sys/devices/system/cpu/cpu0/cache/{index}/size") as file:
            return int(file.read().strip().removesuffix("K")) * 1024
    except (OSError, ValueError):
        return None


def _flags(name: str) -> set[str]:
    """Flags of the first processor; those of AVX2 where the system does not tell (macOS, Windows)."""
    try:
        with open("/proc/cpuinfo") as file:
            for line in file:
                if line.startswith(name):
                    return set(line.split(":", 1)[1].split())
    except OSError:
        pass
    return {"avx2", "fma"}

"""What a record tells of where it was measured.

Comes in: nothing, or a device's name. Goes out: names, versions, clocks, the commit.
Nothing is imported to learn a version.
"""

from __future__ import annotations

import datetime
import importlib.metadata
import os
import platform
import subprocess
import sys
from collections.abc import Iterable

import pykern

PACKAGES = ("numpy", "numba", "torch", "jax", "warp-lang", "taichi", "iree-base-compiler", "cupy", "triton")


def cpu_name() -> str:
    """The processor as the system calls it."""
    try:
        with open("/proc/cpuinfo") as file:
            for line in file:
                if line.startswith("model name"):
                    return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def versions(packages: Iterable[str] = PACKAGES) -> dict[str, str]:
    """Python's, pykern's, and those of the packages that are installed."""
    found = {"python": platform.python_version(), "pykern": pykern.__version__}
    for name in packages:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found


def clocks() -> dict[str, object]:
    """The first processor's governor and frequency, and whether it may go beyond its base frequency."""
    found: dict[str, object] = {}
    base = "/sys/devices/system/cpu"
    for name, path in (
        ("governor", f"{base}/cpu0/cpufreq/scaling_governor"),
        ("khz", f"{base}/cpu0/cpufreq/scaling_cur_freq"),
        ("boost", f"{base}/cpufreq/boost"),
    ):
        try:
            with open(path) as file:
                found[name] = file.read().strip()
        except OSError:
            continue
    try:
        with open("/proc/cpuinfo") as file:
            mhz = [line.split(":")[1].strip() for line in file if line.startswith("cpu MHz")]
        found |= {"mhz": float(mhz[0])} if mhz else {}
    except (OSError, ValueError):
        pass
    return found


def commit(folder: str) -> str | None:
    """The commit of the repository that `folder` lies in."""
    try:
        done = subprocess.run(
            ["git", "-C", folder, "rev-parse", "HEAD"], capture_output=True, text=True, check=False
        )
    except OSError:
        return None
    return done.stdout.strip() or None


def device(name: str) -> dict[str, str]:
    """`device`, `device_name` and `driver` of a record."""
    if name in ("cpu", "python"):
        return {"device": name, "device_name": cpu_name(), "driver": "none"}
    from pykern.runtime.devices import device as opened

    info = opened(name).info
    return {"device": name, "device_name": info.name, "driver": info.driver}


def run(folder: str) -> dict[str, object]:
    """What all records of one run share."""
    return {
        "clocks": clocks(),
        "versions": versions(),
        "commit": commit(folder),
        "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        "load": os.getloadavg()[0] if sys.platform != "win32" else None,
    }

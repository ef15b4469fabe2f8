"""pykern-opt and pykern for tests: run in forks of processes that have loaded MLIR once.

`tests.tools.test_warm_tool` holds that they print what a process of the tool's own prints. The command `pykern`
compiles in the fork: a compiler process of its own, which tests of the service start, would load MLIR again.
"""

from __future__ import annotations

import functools
import os
import subprocess
import sys
from pathlib import Path

from pykern.tools.warm_server import client_command

ALONE = [sys.executable, "-m", "pykern.tools.opt"]
CLI_ALONE = [sys.executable, "-m", "pykern.tools.cli"]


@functools.cache
def opt() -> list[str]:
    """The command; the process that it asks starts with the first call, and ends with this one."""
    return client_command(os.environ) or ALONE


@functools.cache
def cli() -> list[str]:
    """The same for `pykern`, with the variables of `in_place`."""
    return client_command(os.environ, "pykern.tools.cli", "numpy", "pykern.compiler.driver") or CLI_ALONE


def in_place() -> dict[str, str]:
    """The variables of a process that compiles in itself."""
    return {**os.environ, "PYKERN_COMPILER": "inprocess"}


def pykern(*arguments: str | Path, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """What a command of `pykern` prints, its messages and its status."""
    return subprocess.run(
        [*cli(), *map(str, arguments)], capture_output=True, text=True, timeout=120, env=in_place(), cwd=cwd
    )

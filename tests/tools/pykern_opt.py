"""pykern-opt for tests: run in forks of one process of this test process, which has loaded MLIR once.

`tests.tools.test_warm_tool` holds that this prints what a process of the tool's own prints.
"""

from __future__ import annotations

import functools
import os
import sys

from pykern.tools.warm_server import client_command

ALONE = [sys.executable, "-m", "pykern.tools.opt"]


@functools.cache
def command() -> list[str]:
    """The command; the process that it asks starts with the first call, and ends with this one."""
    return client_command(os.environ) or ALONE

"""Run other programs in tests."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from pathlib import Path


def run(*command: str | Path, cwd: Path, environment: Mapping[str, str] | None = None) -> str:
    """What `command` prints; the test fails with all of its output where the command fails."""
    status, output, errors = attempt(*command, cwd=cwd, environment=environment)
    assert status == 0, output + errors
    return output


def attempt(
    *command: str | Path, cwd: Path, environment: Mapping[str, str] | None = None
) -> tuple[int, str, str]:
    """Exit status, standard output and standard error of `command`."""
    done = subprocess.run(
        command, cwd=cwd, env=environment, capture_output=True, text=True, timeout=600, check=False
    )
    return done.returncode, done.stdout, done.stderr

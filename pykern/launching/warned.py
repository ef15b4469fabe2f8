"""Warnings about launches: what the compiler found that is most likely not meant, each once a process.

Comes in: an artifact and how many work-items there are. Goes out: `RuntimeWarning`s of Python's `warnings`, at the
kernel's line.
"""

from __future__ import annotations

import math
import warnings

from pykern.data.artifact import Artifact, Remark
from pykern.data.index_space import LaunchShape

_said: set[Remark] = set()


def warn(artifact: Artifact, shape: LaunchShape) -> None:
    """Say what is to be said of a launch of more than one work-item."""
    if artifact.warnings and math.prod(shape.counts) > 1:
        warn_of(artifact)


def warn_of(artifact: Artifact) -> None:
    """Say what is to be said of a kernel that runs more than once, or of a program that launches such kernels."""
    for remark in artifact.warnings:
        if remark not in _said:
            _said.add(remark)
            text = f"`{artifact.kernel}`: {remark.text}" if not remark.file else remark.text
            file, line = remark.file or "<unknown>", remark.line or 1
            warnings.warn_explicit(text, RuntimeWarning, file, line)

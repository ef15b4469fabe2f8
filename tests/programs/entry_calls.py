"""Calls of array programs, and whether the compiled entry takes them."""

from __future__ import annotations

import functools
import sys

import numpy as np
import pytest

from pykern.compiler.service import service
from pykern.errors import KernelError
from pykern.obtain.entry_code import entry_code


@functools.cache
def compiler_is_there() -> None:
    """Start it: the entry's code is not waited for otherwise, where only that is missing in the cache."""
    if entry_code.obtain(1) is None:
        service().start()


def through_python(call):
    """Whether Python's way of calling a program runs in `call`."""
    seen = []

    def note(frame, event, _):
        if (
            event == "call"
            and frame.f_code.co_name == "__call__"
            and frame.f_code.co_filename.endswith("jit.py")
        ):
            seen.append(frame)

    sys.setprofile(note)
    try:
        call()
    finally:
        sys.setprofile(None)
    return bool(seen)


def warm(program, *args, **keywords):
    """Call until the entry takes it; what it returns is checked to be the same each time."""
    compiler_is_there()
    results = [program(*args, **keywords) for _ in range(3)]
    assert not through_python(lambda: program(*args, **keywords))
    return results[-1]


def random(*shape, dtype=np.float32):
    values = np.random.default_rng(sum(shape)).random(shape)
    return (values * 100).astype(dtype) if np.dtype(dtype).kind in "iu" else values.astype(dtype)


def error(program, *args, **keywords):
    with pytest.raises(KernelError) as caught:
        program(*args, **keywords)
    return type(caught.value), caught.value.reason

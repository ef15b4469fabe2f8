"""The same function as a program and as plain Python: results and arguments are equal afterwards."""

from __future__ import annotations

import numpy as np
import pytest

import pykern as pk
from tests.cases.python_programs import CASES, leaves


@pytest.mark.parametrize(("function", "arguments"), CASES, ids=[f.__name__ for f, _ in CASES])
def test_case(rng, function, arguments):
    ours = [rng.random(a) if isinstance(a, tuple) else a for a in arguments]
    theirs = [a.copy() if isinstance(a, np.ndarray) else a for a in ours]
    result, expected = leaves(pk.jit(function)(*ours)), leaves(function(*theirs))
    assert len(result) == len(expected)
    for have, want in zip(result, expected, strict=True):
        assert np.shape(have) == np.shape(want)
        np.testing.assert_allclose(have, want, rtol=1e-11, atol=1e-13)
    for n, (have, want) in enumerate(zip(ours, theirs, strict=True)):
        np.testing.assert_allclose(have, want, rtol=1e-11, err_msg=f"argument {n}")

"""Kernels, programs and functions are copied and pickled as functions are."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys

import numpy as np
import pytest

import pykern as pk

MODULE = '''
import pykern as pk


@pk.kernel
def double(x):
    """Twice as much."""
    i = pk.index()
    x[i] = twice(x[i])


@pk.jit
def total(x):
    return x.sum()


@pk.func
def twice(v):
    return 2 * v


def make():
    @pk.kernel
    def inner(x):
        i = pk.index()
        x[i] = 1

    return inner


of_local = make()
'''


@pytest.fixture
def module(tmp_path, monkeypatch):
    (tmp_path / "named.py").write_text(MODULE)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}:" + ":".join(sys.path))
    monkeypatch.delitem(sys.modules, "named", raising=False)
    import named  # type: ignore[import-not-found]

    yield named
    del sys.modules["named"]


@pytest.mark.parametrize("name", ["double", "total", "twice"])
def test_they_are_themselves(module, name):
    made = getattr(module, name)
    assert pickle.loads(pickle.dumps(made)) is made
    assert copy.copy(made) is made and copy.deepcopy([made])[0] is made


def test_another_process_runs_them(module):
    x = np.arange(5.0)
    code = (
        "import pickle, sys; double, total, x = pickle.load(sys.stdin.buffer);"
        "double(x, ndrange=5); print(total(x))"
    )
    sent = pickle.dumps((module.double, module.total, x))
    told = subprocess.run([sys.executable, "-c", code], input=sent, capture_output=True, check=True)
    assert float(told.stdout) == 20


def test_what_has_no_name_is_refused(module):
    for made in (module.of_local, pk.grad(module.total)):
        with pytest.raises(pickle.PicklingError, match="pickled by its name"):
            pickle.dumps(made)
        assert copy.deepcopy(made) is made


def test_the_docstring_is_the_functions(module):
    assert module.double.__doc__ == "Twice as much." and type(module.double).__doc__ != module.double.__doc__

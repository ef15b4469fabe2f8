"""Kernels of a few lines on rows, and what NumPy makes of the same lines."""

from __future__ import annotations

import itertools

import numpy as np

import pykern as pk

_NUMBERS = itertools.count()


def of_lines(text, tmp_path, parameters="x, y", names=None, **options):
    """A kernel with these lines after ``i = pk.index()``."""
    file = tmp_path / f"rows{next(_NUMBERS)}.py"
    lines = "".join(f"    {line}\n" for line in text.splitlines())
    file.write_text(f"def k({parameters}):\n    i = pk.index()\n{lines}")
    scope: dict = {"pk": pk, "np": np, **(names or {})}
    exec(compile(file.read_text(), file, "exec"), scope)
    return pk.kernel(scope["k"], **options)


def by_numpy(text, n, names, **arrays):
    """The arrays after NumPy has run the lines for each work-item."""
    copies = {
        name: np.copy(value) if isinstance(value, np.ndarray) else value for name, value in arrays.items()
    }
    with np.errstate(all="ignore"):
        for i in range(n):
            exec(text, {"np": np, "pk": pk, "i": i, **(names or {}), **copies})
    return copies


def check(text, n, tmp_path, devices, names=None, rtol=1e-12, atol=1e-12, **arrays):
    """Compare the arrays after a launch with what NumPy makes of them."""
    k = of_lines(text, tmp_path, ", ".join(arrays), names)
    expected = by_numpy(text, n, names, **arrays)
    for device in devices:
        given = {
            name: pk.array(value, device=device) if isinstance(value, np.ndarray) else value
            for name, value in arrays.items()
        }
        k(*given.values(), ndrange=n)
        for name, value in expected.items():
            if isinstance(value, np.ndarray):
                said = f"{name} on {device} after\n{text}"
                np.testing.assert_allclose(given[name].numpy(), value, rtol, atol, err_msg=said)

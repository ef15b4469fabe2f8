"""Memory of kernels' own of any size: on the stack while there is room, else on the heap, else refused at its line."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import pykern as pk
from pykern.errors import TargetError
from tests.cases.texts import written

N = 24


def kernel_of(tmp_path, body: str, head: str = ""):
    """A kernel of source text, for arrays whose number is a parameter of the test."""
    path = tmp_path / "own.py"
    names = written(path, f"import pykern as pk\n{head}\n@pk.kernel\ndef k(y):\n    i = pk.index()\n{body}\n")
    return names["k"]


def check(kernel, expected, **keywords) -> None:
    y = np.ones(N)
    kernel(y, ndrange=N, **keywords)
    np.testing.assert_array_equal(y, expected)


@pk.kernel
def one_large(y):
    i = pk.index()
    p = pk.private(2_000_000, pk.f64)
    for j in range(2_000_000):
        p[j] = i + j
    y[i] = p[i] + p[1_999_999]


def test_a_private_array_that_no_stack_holds():
    check(one_large, 3 * np.arange(N) + 1_999_999)


def test_the_same_in_a_thread_with_a_small_stack():
    """256 KiB, as some systems give to threads."""
    found: list = []

    def run() -> None:
        y = np.ones(N)
        one_large(y, ndrange=N)
        found.append(y)

    before = threading.stack_size(256 << 10)
    try:
        thread = threading.Thread(target=run)
        check(one_large, 3 * np.arange(N) + 1_999_999)  # compiled by a thread that has room for Python
        thread.start()
        thread.join()
    finally:
        threading.stack_size(before)
    np.testing.assert_array_equal(found[0], 3 * np.arange(N) + 1_999_999)


@pytest.mark.parametrize("count", [3, 60])
def test_many_private_arrays(tmp_path, count):
    each = "\n".join(
        f"    p{n} = pk.private(9_000, pk.f64)\n    for j in range(9_000):\n        p{n}[j] = i + j + {n}"
        for n in range(count)
    )
    total = " + ".join(f"p{n}[i]" for n in range(count))
    expected = 2 * count * np.arange(N) + sum(range(count))
    check(kernel_of(tmp_path, f"{each}\n    y[i] = {total}"), expected)


def test_private_arrays_of_functions_and_in_loops(tmp_path):
    function = (
        "@pk.func\ndef f(i):\n    p = pk.private(200_000, pk.f64)\n    for j in range(200_000):\n"
        "        p[j] = i + j\n    return p[i]\n"
    )
    body = "    for r in range(20):\n        y[i] += f(i) + f(i + r)"
    expected = 1 + 20 * 4 * np.arange(N) + 2 * sum(range(20))
    check(kernel_of(tmp_path, body, function), expected)


@pytest.mark.parametrize("workgroup", [1, 8, 24])
def test_private_and_shared_memory_of_groups(tmp_path, workgroup):
    shared = "\n".join(
        f"    s{n} = pk.shared(7_000, pk.f64)\n    s{n}[pk.local_index()] = i + {n}" for n in range(60)
    )
    own = "    p = pk.private(30_000, pk.f64)\n    for j in range(30_000):\n        p[j] = i + j\n    pk.barrier()"
    total = " + ".join(f"s{n}[pk.local_index()]" for n in range(60))
    kernel = kernel_of(tmp_path, f"{shared}\n{own}\n    y[i] = p[i] + {total}")
    check(kernel, 62 * np.arange(N) + sum(range(60)), workgroup=workgroup)


def test_values_that_live_across_barriers(tmp_path):
    made = "\n".join(f"    v{n} = y[i] * {n} + pk.sqrt(y[i] + {n})" for n in range(150))
    kernel = kernel_of(
        tmp_path, f"{made}\n    pk.barrier()\n    y[i] = " + " + ".join(f"v{n}" for n in range(150))
    )
    y = np.ones(1024)
    kernel(y, ndrange=1024, workgroup=1024)
    np.testing.assert_allclose(y, sum(n + np.sqrt(1.0 + n) for n in range(150)), rtol=1e-12)


def test_what_no_machine_has_is_refused_at_its_line():
    @pk.kernel
    def k(y):
        i = pk.index()
        p = pk.private(1 << 36, pk.f64)
        p[i] = 1.0
        y[i] = p[i]

    with pytest.raises(TargetError, match=r"takes 549755813888 bytes of private memory") as caught:
        k(np.ones(N), ndrange=N)
    assert caught.value.span is not None
    assert "pk.private" in caught.value.span.source_line()

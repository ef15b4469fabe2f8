"""What `debug=` and `timeout=` of a kernel look for: NaNs that operations make, races, launches that do not end."""

from __future__ import annotations

import linecache
import time

import numpy as np
import pytest

import pykern as pk
from pykern.errors import KernelTypeError
from tests.cases.emulated import EMULATED
from tests.cases.seeds import seeds
from tests.cases.texts import imported

over_devices = pytest.mark.parametrize(
    "device",
    [
        "cpu",
        "python",
        "opencl:0",
        "vulkan:0",
        "webgpu:0",
        *EMULATED,
        "metal:emulated:0",
    ],
    indirect=True,
)
on_the_cpu = pytest.mark.parametrize("device", ["cpu", "python"])


def line_of(error: pk.KernelError) -> str:
    assert error.span is not None
    return linecache.getline(error.span.file, error.span.line).strip()


def run(kernel, device: str, *args, **keywords) -> None:
    """Launch, and wait where launches are under way: errors are told then."""
    kernel(*args, **keywords, device=device)
    if device not in ("cpu", "python"):
        pk.synchronize(device)


# -- NaN ------------------------------------------------------------------------------------------


@pk.func
def ratio(a, b):
    return a / b


@pk.kernel(debug="nan")
def operations(y, x, kind: pk.static):
    i = pk.index()
    v = x[i]
    if kind == "divide":
        y[i] = v / (v - v)
    elif kind == "subtract":
        y[i] = v - v
    elif kind == "multiply":
        y[i] = v * (v - v)
    elif kind == "root":
        y[i] = pk.sqrt(v)
    elif kind == "logarithm":
        y[i] = pk.log(v)
    elif kind == "sine":
        y[i] = pk.sin(v)
    elif kind == "function":
        y[i] = ratio(v, v)
    elif kind == "in a loop":
        for k in range(5):
            y[i] = v / (3 - k) * (3 - k)


CASES = [  # what makes a NaN of which number, and of which it does not
    ("divide", 0.0, np.nan),
    ("subtract", np.inf, 2.0),
    ("multiply", np.inf, np.nan),
    ("root", -2.0, 2.0),
    ("logarithm", -1.0, 0.0),
    ("sine", np.inf, 1.0),
    ("function", 0.0, np.nan),
    ("in a loop", 0.0, np.nan),
]


@over_devices
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("kind", "bad", "good"), CASES, ids=[kind for kind, _, _ in CASES])
def test_the_operation_that_makes_a_nan_is_named(device, dtype, kind, bad, good):
    x = np.full(9, good, dtype)
    run(operations, device, np.zeros_like(x), x, kind, ndrange=9)
    x[6] = bad
    with pytest.raises(pk.NotANumber, match="makes a NaN of numbers") as caught:
        run(operations, device, np.zeros_like(x), x, kind, ndrange=9)
    written = {"function": "return a / b", "in a loop": "y[i] = v / (3 - k) * (3 - k)"}
    line = line_of(caught.value)
    assert line == written.get(kind, line) and ("v" in line or kind == "function")
    assert isinstance(caught.value, ArithmeticError)
    assert "in work-item 6" in caught.value.reason


@over_devices
def test_work_items_are_named_in_two_dimensions(device):
    @pk.kernel(debug="nan")
    def roots(y, x):
        i, j = pk.index()
        y[i, j] = pk.sqrt(x[i, j])

    x = np.ones((4, 5))
    x[2, 3] = -4
    with pytest.raises(pk.NotANumber, match=r"\(2, 3\)") as caught:
        run(roots, device, np.zeros_like(x), x, ndrange=x.shape)
    assert "-4" in caught.value.reason


def test_results_are_those_of_kernels_without_checks(rng):
    def body(y, x):
        i = pk.index()
        s = 0.0
        for k in range(x.shape[1]):
            s += pk.exp(-x[i, k] * x[i, k]) / (1 + k)
        y[i] = s

    x = rng.normal(size=(17, 31))
    plain, checked = np.zeros(17), np.zeros(17)
    pk.kernel(body)(plain, x, ndrange=17)
    pk.kernel(body, debug="bounds,nan", timeout=60)(checked, x, ndrange=17)
    np.testing.assert_allclose(checked, plain, rtol=1e-14)


def test_kernels_of_programs_are_checked(rng):
    @pk.kernel
    def reciprocal(y, x):
        i = pk.index()
        y[i] = (x[i] - 1) / (x[i] - 1)

    @pk.jit(debug="nan")
    def program(x):
        y = pk.zeros_like(x)
        reciprocal(y, x, ndrange=x.shape)
        return y

    np.testing.assert_array_equal(program(np.array([3.0, 5.0])), [1, 1])
    with pytest.raises(pk.NotANumber):
        program(np.array([3.0, 1.0]))


# -- races ----------------------------------------------------------------------------------------


@pk.kernel(debug="races")
def accumulate(y, x):
    i = pk.index()
    y[0] += x[i]


@pk.kernel(debug="races")
def accumulate_atomically(y, x):
    i = pk.index()
    pk.atomic_add(y, 0, x[i])


@pk.kernel(debug="races")
def read_beside_atomics(y, x):
    i = pk.index()
    pk.atomic_add(y, 0, x[i])
    x[i] = y[0]


@pk.kernel(debug="races")
def shift(y, x):
    i = pk.index()
    if i + 1 < y.shape[0]:
        y[i] = y[i + 1] + x[i]


@pk.kernel(debug="races")
def shift_elsewhere(y, x):
    i = pk.index()
    if i + 1 < y.shape[0]:
        y[i] = x[i + 1]


@pk.kernel(debug="races")
def mark(y, x):
    i = pk.index()
    if x[i] > 0:
        y[0] = 1.0


@pk.kernel(debug="races")
def scatter(y, x):
    i = pk.index()
    y[(i * 5) % y.shape[0]] = x[i]


@pk.kernel(debug="races")
def reverse_in_group(y, x):
    i, own, n = pk.index(), pk.local_index(), pk.group_size()
    t = pk.shared((8,), pk.f64)
    t[own] = x[i]
    pk.barrier()
    y[i] = t[n - 1 - own]


@pk.kernel(debug="races")
def reverse_without_barrier(y, x):
    i, own, n = pk.index(), pk.local_index(), pk.group_size()
    t = pk.shared((8,), pk.f64)
    t[own] = x[i]
    y[i] = t[n - 1 - own]
    pk.barrier()


@pk.kernel(debug="races")
def groups_through_memory(y, x):
    i, n = pk.index(), pk.group_size()
    y[i] = x[i]
    pk.barrier()
    x[i] = y[(i + n) % y.shape[0]]


@pk.kernel(debug="races")
def own_memory(y, x):
    i = pk.index()
    t = pk.private((4,), pk.f64)
    for k in range(4):
        t[k] = x[i] * k
    y[i] = t[3]


@on_the_cpu
@pytest.mark.parametrize(
    "kernel", [accumulate_atomically, shift_elsewhere, mark, scatter, reverse_in_group, own_memory]
)
def test_orderly_kernels_run(device, kernel, rng):
    x = rng.random(16)
    y, expected = np.zeros(16), np.zeros(16)
    kernel(y, x.copy(), ndrange=16, workgroup=8, device=device)
    pk.kernel(kernel.__wrapped__)(expected, x.copy(), ndrange=16, workgroup=8)
    np.testing.assert_allclose(y, expected, rtol=1e-14)


@on_the_cpu
@pytest.mark.parametrize(
    ("kernel", "array"),
    [
        (accumulate, "y[0]"),
        (read_beside_atomics, "y[0]"),
        (shift, "y["),
        (reverse_without_barrier, "pk.shared memory["),
        (groups_through_memory, "y["),
    ],
)
def test_a_race_is_told_with_both_places(device, kernel, array, rng):
    with pytest.raises(pk.DataRace, match="nothing orders the two") as caught:
        kernel(np.zeros(16), rng.random(16), ndrange=16, workgroup=8, device=device)
    error = caught.value
    assert array in error.reason and error.reason.count("work-item") == 2
    ((told, place),) = error.extra_notes
    assert place is not None and "it here" in told
    assert array.split("[")[0].removeprefix("pk.shared memory") in linecache.getline(place.file, place.line)


def test_one_array_given_twice_is_one_memory():
    @pk.kernel(debug="races")
    def rotate(y, x):
        i = pk.index()
        y[i] = x[(i + 1) % x.shape[0]] + 1

    memory = np.arange(10.0)
    with pytest.raises(pk.DataRace):
        rotate(memory, memory, ndrange=10)
    rotate(memory[:5], memory[5:], ndrange=5)
    np.testing.assert_array_equal(memory[:5], [7, 8, 9, 10, 6])


@pytest.mark.parametrize("seed", seeds(6))
def test_random_accesses(tmp_path, seed):
    """Tables say which element each work-item reads and writes in two phases, with or without a barrier between."""
    random = np.random.default_rng(seed)
    file = tmp_path / "tables.py"
    module = imported(
        file,
        "import pykern as pk\n@pk.kernel(debug='races')\ndef k(y, read, write, sync: pk.static):\n"
        "    i = pk.index()\n    v = y[read[i, 0]]\n    y[write[i, 0]] = v + i + 1\n"
        "    if sync:\n        pk.barrier()\n    v = y[read[i, 1]]\n    y[write[i, 1]] = v * 2 + i + 100\n",
    )
    for _ in range(10):
        sync, items = bool(random.integers(2)), 8
        read = random.permutation(40)[: 2 * items].reshape(items, 2)
        write = read.copy() if random.integers(2) else random.permutation(40)[: 2 * items].reshape(items, 2)
        if random.integers(2):  # what another one had in the other phase
            read[:, 1] = write[::-1, 0]
        try:
            module.k(np.zeros(40), read, write, sync, ndrange=items, workgroup=items)
            found = False
        except pk.DataRace:
            found = True
        assert found == _races(read, write, sync), (read, write, sync)


def _races(read: np.ndarray, write: np.ndarray, sync: bool) -> bool:
    """Whether two work-items access an element, one of them writing, in phases that nothing separates."""
    touched = [
        (item, phase, element, writes)
        for table, writes in ((read, False), (write, True))
        for item, row in enumerate(table)
        for phase, element in enumerate(row)
    ]
    return any(
        a[2] == b[2] and a[0] != b[0] and (a[3] or b[3]) and (not sync or a[1] == b[1])
        for n, a in enumerate(touched)
        for b in touched[:n]
    )


# -- time -----------------------------------------------------------------------------------------


@pk.kernel(timeout=0.5)
def counts(y, start, step):
    i = pk.index()
    k = start
    while k > 0:
        k += step
        if k > 1_000_000:
            k = 1
    y[i] = k


@on_the_cpu
def test_a_launch_that_does_not_end_is_ended(device):
    begin = time.perf_counter()
    with pytest.raises(pk.TimedOut, match="took longer than its timeout") as caught:
        counts(np.zeros(7), 1, 1, ndrange=7, device=device)
    assert time.perf_counter() - begin < 60
    assert line_of(caught.value).startswith(("while k > 0", "k += step", "if k > 1_000_000", "k = 1"))
    assert isinstance(caught.value, TimeoutError)
    y = np.zeros(7)
    counts(y, 3, -1, ndrange=7, device=device)  # the next one has its own time
    np.testing.assert_array_equal(y, np.zeros(7))


@on_the_cpu
def test_many_work_items_are_ended_too(device):
    @pk.kernel(timeout=0.3)
    def busy(y):
        i = pk.index()
        s = 0
        for k in range(100_000):
            s += k ^ i
        y[i] = s

    with pytest.raises(pk.TimedOut):
        busy(np.zeros(3_000_000, np.int64), ndrange=3_000_000, device=device)


# -- words ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"debug": "nam"}, "did you mean 'nan'"),
        ({"debug": "everything"}, "a string of 'bounds', 'nan', 'races'"),
        ({"debug": 3}, "a string of 'bounds', 'nan', 'races'"),
        ({"timeout": 0}, "a number of seconds above 0"),
        ({"timeout": "5"}, "a number of seconds above 0"),
    ],
)
def test_other_words_are_refused(options, reason):
    with pytest.raises(KernelTypeError, match=reason):
        pk.kernel(own_memory.__wrapped__, **options)


@pytest.mark.parametrize(
    "device",
    ["opencl:0", "vulkan:0", "webgpu:0", *EMULATED, "metal:emulated:0"],
    indirect=True,
)
@pytest.mark.parametrize("options", [{"debug": "races"}, {"timeout": 1.0}])
def test_what_a_device_cannot_look_for_is_refused(device, options):
    x = pk.ones(3, pk.f64, device=device)
    with pytest.raises(pk.LaunchError, match="launch on the CPU"):
        pk.kernel(own_memory.__wrapped__, **options)(pk.zeros_like(x), x, ndrange=3)

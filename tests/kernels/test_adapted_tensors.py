"""PyTorch's tensors without Python: values, writes that are counted, and everything that Python refuses."""

from __future__ import annotations

import signal
import sys
import threading

import numpy as np
import pytest

import pykern as pk
from pykern.data.abi import TABLE_INDEX
from pykern.errors import KernelError, KernelTypeError, LaunchError
from pykern.launching import torch_layout
from pykern.pytest_plugin import need_package
from pykern.runtime.cpu_table import table
from pykern.runtime.launchable import SUPPORTED
from tests.cases.adapted import fast, make_axpy, make_copy, make_copy_2d, python_calls, slow

torch = need_package("torch")
__all__ = ["python_calls"]
pytestmark = [
    pytest.mark.skipif(not SUPPORTED, reason="calls go through Python in this build of CPython"),
]
DTYPES = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "bfloat16",
          "float32", "float64", "float8_e4m3fn", "float8_e5m2"]  # fmt: skip


def tensors(n=7, dtype=torch.float32):
    generator = torch.Generator().manual_seed(n)
    return [torch.randint(0, 9, (n,), generator=generator).to(dtype) for _ in range(3)]


@pytest.fixture
def warm(python_calls):
    """A kernel that takes tensors without Python, and such tensors."""
    axpy, (o, x, y) = make_axpy(), tensors()
    fast(python_calls, lambda: axpy(o, x, y, 3.0, ndrange=7))
    assert torch.equal(o, 3 * x + y)
    return axpy, o, x, y


@pytest.mark.parametrize("dtype", DTYPES)
def test_each_dtype(python_calls, dtype):
    copied, (o, x, _) = make_copy(), tensors(dtype=getattr(torch, dtype))
    fast(python_calls, lambda: copied(o, x, ndrange=o.shape))
    assert torch.equal(o.float(), x.float())


@pytest.mark.parametrize(("dtype", "tolerance"), [("bfloat16", 2**-7), ("float16", 2**-10)])
def test_short_floats_are_computed(python_calls, dtype, tolerance):
    axpy, (o, x, y) = make_axpy(), tensors(300, getattr(torch, dtype))
    x, y = torch.rand(300).to(x.dtype), torch.rand(300).to(x.dtype)
    fast(python_calls, lambda: axpy(o, x, y, 0.5, ndrange=300))
    torch.testing.assert_close(o, 0.5 * x + y, rtol=2 * tolerance, atol=tolerance)


@pytest.mark.parametrize(
    "view",
    [lambda t: t, lambda t: t.T, lambda t: t[1:, 2:], lambda t: t[::2, ::3], lambda t: t[:, :1], lambda t: t[:0],
     lambda t: t[3:4], lambda t: t.flip(0), lambda t: t.unfold(1, 3, 3)[1], lambda t: t[:, 4:5]],
)  # fmt: skip
def test_strides(python_calls, view):
    copied, base = make_copy_2d(), torch.arange(48.0).reshape(6, 8)
    x = view(base)
    o, whole = torch.zeros_like(x), torch.zeros(32, 32)
    fast(python_calls, lambda: copied(o, x, ndrange=x.shape))
    assert torch.equal(o, x)
    part = whole[: 2 * x.shape[0] : 2, 1 : 1 + x.shape[1]]
    fast(python_calls, lambda: copied(part, x, ndrange=tuple(x.shape)))
    assert torch.equal(part, x) and whole.sum() == x.sum()


def test_no_dimensions(python_calls):
    @pk.kernel
    def total(o, x):
        i = pk.index()
        pk.atomic_add(o, (), x[i])

    o, x = torch.zeros(()), torch.arange(5.0)
    fast(python_calls, lambda: total(o, x, ndrange=5))
    assert o.item() == 50.0


def test_parameters_inference_tensors_and_others(warm, python_calls):
    axpy, o, x, y = warm
    with torch.inference_mode():
        of_inference = torch.ones(7)
    shared = torch.zeros(7).share_memory_()
    frozen = torch.nn.Parameter(torch.full((7,), 2.0), requires_grad=False)
    for out, given in ((o, frozen), (shared, x), (o.detach(), of_inference), (o.numpy(), x)):
        fast(python_calls, lambda out=out, given=given: axpy(out, given, y, 3.0, ndrange=7))
        assert torch.equal(torch.as_tensor(out), 3 * given + y)


def test_tensors_beside_arrays(warm, python_calls):
    axpy, o, _, y = warm
    rows = np.arange(7, dtype=np.float32)
    fast(python_calls, lambda: axpy(o=o, x=rows, y=y, ndrange=np.int64(7)))
    assert torch.equal(o, 2 * torch.from_numpy(rows) + y)


def test_writes_are_counted_once_for_each_launch(warm, python_calls):
    axpy, o, x, y = warm
    for out in (o, o[:], torch.zeros(3, 7)[1], torch.zeros(7).detach()):
        before = out._version, x._version, y._version
        for _ in range(3):
            fast(python_calls, lambda out=out: axpy(out, x, y, 3.0, ndrange=7), warm=0)
        assert (out._version, x._version, y._version) == (before[0] + 3, *before[1:])


def test_a_saved_tensor_that_is_overwritten_is_noticed(warm, python_calls):
    axpy, _, x, y = warm
    w = torch.ones(7, requires_grad=True)
    saved = torch.arange(7.0)
    loss = (w * saved).sum()
    fast(python_calls, lambda: axpy(saved, x, y, 3.0, ndrange=7), warm=0)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        loss.backward()


def test_what_is_written_is_a_matter_of_each_entry(python_calls):
    @pk.kernel
    def either(a, b, which: pk.static):
        i = pk.index()
        if which == 0:
            a[i] = b[i]
        else:
            b[i] = a[i]

    a, b = torch.zeros(4), torch.ones(4)
    for which in (0, 1, 0, 1):
        for _ in range(4):
            either(a, b, which, ndrange=4)
        before = a._version, b._version
        fast(python_calls, lambda which=which: either(a, b, which, ndrange=4), warm=0)
        assert (a._version - before[0], b._version - before[1]) == ((1, 0) if which == 0 else (0, 1))


def test_memory_that_goes_and_comes_back(warm, python_calls):
    axpy, o, _, y = warm
    x = torch.ones(7)  # of which nobody has a view: that would keep its storage
    fast(python_calls, lambda: axpy(o, x, y, 3.0, ndrange=7), warm=0)
    x.untyped_storage().resize_(0)
    with pytest.raises(KernelTypeError, match="memory was given back"):
        slow(python_calls, lambda: axpy(o, x, y, 3.0, ndrange=7))
    x.untyped_storage().resize_(5 * 4)  # less than it needs, and not nothing
    with pytest.raises(KernelTypeError, match="memory was given back"):
        slow(python_calls, lambda: axpy(o, x, y, 3.0, ndrange=7))
    x.untyped_storage().resize_(7 * 4)
    x.fill_(2.0)
    fast(python_calls, lambda: axpy(o, x, y, 3.0, ndrange=7), warm=0)
    assert torch.equal(o, 6 + y)
    last = torch.zeros(20)[13:]
    fast(python_calls, lambda: axpy(last, x, y, 3.0, ndrange=7), warm=0)
    last.untyped_storage().resize_(19 * 4)
    with pytest.raises(KernelTypeError, match="memory was given back"):
        slow(python_calls, lambda: axpy(last, x, y, 3.0, ndrange=7))


class Subclass(torch.Tensor):
    pass


class Logged(torch.Tensor):
    @classmethod
    def __torch_dispatch__(cls, function, types, args=(), kwargs=None):
        raise AssertionError("nothing is dispatched")


def fake():
    from torch._subclasses.fake_tensor import FakeTensorMode

    with FakeTensorMode():
        return torch.zeros(7)


def quantised():
    return torch.quantize_per_tensor(torch.ones(7), 0.1, 0, torch.qint8)


NUMBERS = torch.arange(7.0) + 1j * torch.arange(7.0)
REFUSED = {
    "requires_grad": (lambda: torch.ones(7, requires_grad=True), "requires a gradient"),
    "of a computation": (lambda: torch.ones(7, requires_grad=True) * 2, "requires a gradient"),
    "parameter": (lambda: torch.nn.Parameter(torch.ones(7)), "requires a gradient"),
    "negative bit": (lambda: NUMBERS.conj().imag, "sign is still to be changed"),
    "conjugate bit": (lambda: NUMBERS.conj(), "conjugate that is still to be taken"),
    "meta": (lambda: torch.zeros(7, device="meta"), "device meta"),
    "sparse": (lambda: torch.ones(7).to_sparse(), "sparse tensor"),
    "csr": (lambda: torch.eye(7).to_sparse_csr(), "sparse tensor"),
    "quantised": (quantised, "quantised tensor"),
    "fake": (fake, "operators of its own"),
    "dispatches": (lambda: torch.ones(7).as_subclass(Logged), "operators of its own"),
    "functional": (lambda: torch._to_functional_tensor(torch.ones(7)), "traced by torch.func"),
    "nested": (lambda: torch.nested.nested_tensor([torch.ones(3), torch.ones(4)]), "nested tensor"),
}


@pytest.mark.filterwarnings("ignore:The PyTorch API of nested", "ignore:Sparse CSR", "ignore:torch.quantize")
@pytest.mark.parametrize("what", REFUSED)
def test_what_is_refused(warm, python_calls, what):
    axpy, o, x, y = warm
    make, reason = REFUSED[what]
    value = make()
    for _ in range(3):
        with pytest.raises(KernelTypeError, match=reason) as caught:
            slow(python_calls, lambda: axpy(o, value, y, 3.0, ndrange=7))
        assert "`x`" in caught.value.reason
        with torch.set_grad_enabled("gradient" in reason), pytest.raises(KernelTypeError, match=reason):
            slow(python_calls, lambda: axpy(value, x, y, 3.0, ndrange=7))
    fast(python_calls, lambda: axpy(o, x, y, 3.0, ndrange=7), warm=0)


def test_complex_tensors_are_taken_and_their_versions_counted():
    @pk.kernel
    def turn(o, z, factor):
        i = pk.index()
        o[i] = z[i] * factor

    z = NUMBERS[1:]
    o = torch.zeros(6, 2, dtype=torch.complex64)[:, 1]
    for _ in range(2):
        turn(o, z, 2j, ndrange=6)
    assert torch.equal(o, z * 2j)
    assert o._version == 2


def test_zero_tensors_have_no_memory(warm, python_calls):
    axpy, o, _, y = warm
    with pytest.raises(KernelError):
        slow(python_calls, lambda: axpy(o, torch._efficientzerotensor(7), y, 3.0, ndrange=7))


def test_subclasses_go_through_python(warm, python_calls):
    axpy, o, x, y = warm
    sub = x.as_subclass(Subclass)
    for _ in range(5):
        slow(python_calls, lambda: axpy(o, sub, y, 3.0, ndrange=7))
    assert torch.equal(o, 3 * x + y)


def test_parameters_are_updated_where_nothing_is_recorded():
    @pk.kernel
    def descend(w, g, rate):
        i = pk.index()
        w[i] -= rate * g[i]

    layer = torch.nn.Linear(5, 1, bias=False)
    weight, other = layer.weight, layer.weight.detach().clone()
    layer(torch.arange(5.0)).backward()
    before = weight._version
    with torch.no_grad():
        for _ in range(3):
            descend(weight[0], weight.grad[0], 0.5, ndrange=5)
    torch.testing.assert_close(weight.detach(), other - 1.5 * torch.arange(5.0))
    assert weight._version == before + 3
    assert weight.requires_grad


def test_a_gradient_that_comes_and_goes(warm, python_calls):
    axpy, o, x, y = warm
    x.requires_grad_()
    with pytest.raises(KernelTypeError, match="`x` is a tensor that requires a gradient"):
        slow(python_calls, lambda: axpy(o, x, y, 3.0, ndrange=7))
    fast(python_calls, lambda: axpy(o, x.detach(), y, 3.0, ndrange=7), warm=0)
    with torch.no_grad():  # nothing is recorded, so nothing is lost
        o.zero_()
        axpy(o, x, y, 3.0, ndrange=7)
        assert torch.equal(o, 3 * x + y)
    with pytest.raises(KernelTypeError, match="`x` is a tensor that requires a gradient"):
        axpy(o, x, y, 3.0, ndrange=7)
    x.requires_grad_(False)
    fast(python_calls, lambda: axpy(o, x, y, 3.0, ndrange=7), warm=0)


@pytest.mark.filterwarnings("ignore:`torch.jit.script` is deprecated")
def test_duals_of_forward_mode(warm, python_calls):
    axpy, o, x, y = warm
    forward = torch.autograd.forward_ad
    with forward.dual_level():
        dual = forward.make_dual(x, torch.ones(7))
        with pytest.raises(KernelTypeError, match="`x` is a dual tensor"):
            slow(python_calls, lambda: axpy(o, dual, y, 3.0, ndrange=7))
        slow(python_calls, lambda: axpy(o, x, y, 3.0, ndrange=7))  # plain, and looked at
    fast(python_calls, lambda: axpy(o, x, y, 3.0, ndrange=7), warm=0)


@pytest.mark.filterwarnings("ignore:`torch.jit.script` is deprecated")
@pytest.mark.parametrize("transform", ["vmap", "grad", "jvp", "functionalize"])
def test_inside_of_transformations(warm, python_calls, transform):
    axpy, o, x, y = warm

    def inside(t):
        slow(python_calls, lambda: axpy(o, t, y, 3.0, ndrange=7))
        return t.sum()

    call = {
        "vmap": lambda: torch.func.vmap(inside)(torch.ones(2, 7)),
        "grad": lambda: torch.func.grad(inside)(x),
        "jvp": lambda: torch.func.jvp(inside, (x,), (x,)),
        "functionalize": lambda: torch.func.functionalize(inside)(x),
    }[transform]
    with pytest.raises(KernelTypeError, match=r"`x` is traced by torch\.func"):
        call()


def test_outputs_with_one_place_for_many(warm, python_calls):
    axpy, o, x, y = warm
    for out in (torch.zeros(1).expand(7), torch.as_strided(torch.zeros(9), (7,), (0,))):
        with pytest.raises(LaunchError, match="`o` has several positions at one place"):
            slow(python_calls, lambda out=out: axpy(out, x, y, 3.0, ndrange=7))
    fast(python_calls, lambda: axpy(o, torch.ones(1).expand(7), y[:], 3.0, ndrange=7))  # is only read
    assert torch.equal(o, 3 + y)


def test_arguments_that_overlap(warm, python_calls):
    axpy, o, _, y = warm
    whole = torch.arange(8.0)
    with pytest.raises(LaunchError, match="overlap in part"):
        slow(python_calls, lambda: axpy(whole[1:], whole[:-1], y, 1.0, ndrange=7))
    assert torch.equal(whole, torch.arange(8.0))
    with pytest.raises(LaunchError, match="overlap in part"):
        slow(python_calls, lambda: axpy(whole[1:], whole.numpy()[:-1], y, 1.0, ndrange=7))
    fast(python_calls, lambda: axpy(o, o, y, 0.0, ndrange=7))
    assert torch.equal(o, y)


def test_an_index_outside(warm, python_calls):
    axpy, o, x, y = warm
    before = o.clone()
    with pytest.raises(KernelError, match="outside of `x`"):
        slow(python_calls, lambda: axpy(o, x, y, 3.0, ndrange=8))
    assert torch.equal(o, before)


def test_another_dtype_is_another_entry(warm, python_calls):
    axpy, *_ = warm
    for dtype in (torch.float64, torch.int32, torch.float32):
        a, b, c = tensors(7, dtype)
        fast(python_calls, lambda a=a, b=b, c=c: axpy(a, b, c, 2.0, ndrange=7))
        assert torch.equal(a, 2 * b + c)


def test_references_and_memory_stay(warm, python_calls):
    axpy, o, x, y = warm
    held = (o, x, y)
    before = [sys.getrefcount(t) for t in held], o.untyped_storage().data_ptr()
    for _ in range(300):
        axpy(o, x, y=y, ndrange=o.shape)
    assert ([sys.getrefcount(t) for t in held], o.untyped_storage().data_ptr()) == before


def test_counting_that_fails_is_told(warm):
    axpy, o, x, y = warm

    def fails(tensors):
        assert tensors == (o,)
        raise RuntimeError("cannot count")

    cell = TABLE_INDEX["torch.increment_version"]
    before = table()[cell]
    table()[cell] = id(fails)
    try:
        with pytest.raises(RuntimeError, match="cannot count"):
            axpy(o, x, y, 5.0, ndrange=7)
    finally:
        table()[cell] = before
    assert torch.equal(o, 5 * x + y)


def test_places_are_found_by_what_torch_says():
    found = torch_layout._places(torch)
    assert found is not None
    plain = torch.zeros(4, 5)[1:, ::2]
    assert torch_layout._keys(torch, plain) == found["keys"]
    for make, _ in (REFUSED[name] for name in ("negative bit", "conjugate bit", "meta", "sparse")):
        assert torch_layout._keys(torch, make()) not in (found["keys"], found["inference_keys"])


# -- array programs ------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32"])
def test_programs(python_calls, dtype):
    @pk.jit
    def both(x, y, scale):
        return x * 2 + y, (x - y).sum()

    _, x, y = tensors(7, getattr(torch, dtype))
    call = lambda: both(x, y, 2)  # noqa: E731
    first, second = fast(python_calls, call)
    np.testing.assert_allclose(first, (2 * x + y).numpy())
    np.testing.assert_allclose(second, (x - y).sum().numpy())
    first, _ = fast(python_calls, lambda: both(x, scale=2, y=y))
    np.testing.assert_allclose(first, (2 * x + y).numpy())


def test_programs_that_write_and_return_their_arguments(python_calls):
    @pk.jit
    def update(y, x):
        y[:] = x * 2

    @pk.jit(donate_argnums=0)
    def donated(y, x):
        return y + x

    y, x = torch.zeros(7), torch.arange(7.0)
    before = y._version
    fast(python_calls, lambda: update(y, x))
    assert torch.equal(y, 2 * x) and y._version == before + 5 and x._version == 0
    fast(python_calls, lambda: update(x=x, y=y))
    assert y._version == before + 10 and x._version == 0
    for _ in range(4):
        result = slow(python_calls, lambda: donated(y, x))  # its memory comes back
    np.testing.assert_array_equal(result, (6 * x).numpy())
    assert type(result) is torch.Tensor and result.data_ptr() == y.data_ptr()


def test_results_go_into_tensors(python_calls):
    @pk.jit
    def one(x):
        return x * 2

    @pk.jit
    def two(x, y):
        return x + y, x - y

    @pk.jit
    def nested(x):
        return {"a": (x + 1, x + 2)}

    o, x, y = tensors()
    before = o._version
    assert fast(python_calls, lambda: one(x, out=o)) is o
    assert torch.equal(o, 2 * x) and o._version == before + 5
    rows = x.numpy()
    assert fast(python_calls, lambda: one(rows, out=o)) is o
    p, q = torch.zeros(7), np.zeros(7, np.float32)
    result = fast(python_calls, lambda: two(x, y, out=(p, q)))
    assert result[0] is p and result[1] is q and type(result) is tuple
    assert torch.equal(p, x + y) and np.array_equal(q, (x - y).numpy())
    q = torch.zeros(7)
    for _ in range(4):
        result = slow(python_calls, lambda: nested(x, out=[p, q]))
    assert result["a"][0] is p and result["a"][1] is q and torch.equal(q, x + 2)
    shown = sys.getrefcount(p), sys.getrefcount(o)
    for _ in range(100):
        two(x, y, out=(p, q))
        one(x, out=o)
    python_calls.clear()
    assert (sys.getrefcount(p), sys.getrefcount(o)) == shown


@pytest.mark.parametrize(
    ("make", "error", "reason"),
    [
        (
            lambda: torch.zeros(7, requires_grad=True),
            KernelTypeError,
            "`out` is a tensor that requires a gradient",
        ),
        (lambda: torch.zeros(8), LaunchError, "`out` has float32"),
        (lambda: torch.zeros(7, dtype=torch.float64), LaunchError, "`out` has float64"),
        (lambda: torch.zeros(1).expand(7), LaunchError, "`out` has several positions"),
        (lambda: torch.zeros(7, device="meta"), KernelTypeError, "`out` is a tensor on the device meta"),
    ],
)
def test_what_no_result_goes_into(python_calls, make, error, reason):
    @pk.jit
    def one(x):
        return x * 2

    o, x, _ = tensors()
    fast(python_calls, lambda: one(x, out=o))
    bad = make()
    with pytest.raises(error, match=reason):
        slow(python_calls, lambda: one(x, out=bad))
    overlapping = torch.arange(8.0)
    result = one(overlapping[:7], out=overlapping[1:])
    assert torch.equal(overlapping[1:], 2 * torch.arange(7.0)) and torch.equal(result, overlapping[1:])


# -- signals and threads -------------------------------------------------------------------------


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timers here")
def test_a_launch_that_a_signal_ends_has_written(python_calls):
    @pk.kernel
    def slowly(y, x):
        i = pk.index()
        s = x[i]
        for _ in range(20_000):
            s = pk.sin(s) + 1.0
        y[i] = s

    y, x = torch.zeros(200_000), torch.ones(200_000)
    fast(python_calls, lambda: slowly(y, x, ndrange=10))
    before = y._version, x._version

    class Ended(Exception):
        pass

    def end(*_):
        raise Ended

    kept = signal.signal(signal.SIGALRM, end)
    signal.setitimer(signal.ITIMER_REAL, 0.3)
    try:
        with pytest.raises(Ended):
            slowly(y, x, ndrange=200_000)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, kept)
    assert not python_calls
    assert (y._version, x._version) == (before[0] + 1, before[1])
    fast(python_calls, lambda: slowly(y, x, ndrange=10), warm=0)


def test_threads_that_launch_at_once(python_calls):
    """Also while entries change places: there are more kinds of calls than entries."""

    @pk.kernel
    def many(o, x, a):
        i = pk.index()
        s = x[i]
        for _ in range(40):
            s = s + a
        o[i] = s

    kinds = [torch.float32, torch.float64, torch.int32, torch.int64, torch.float16, torch.int16, torch.bfloat16,
             torch.uint8, torch.int8]  # fmt: skip
    wrong = []

    def launches(seed):
        for turn in range(120):
            n = 20_000 if turn % 10 == 0 else 7  # long ones let other threads run
            x = torch.arange(n).remainder(5).to(kinds[(turn + seed) % len(kinds)])
            o = torch.zeros_like(x)
            many(o, a=1, x=x, ndrange=np.int64(n))
            if not torch.equal(o, x + 40) or o._version != 1:
                wrong.append((seed, turn, x.dtype, o._version))

    launches(0)
    threads = [threading.Thread(target=launches, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong

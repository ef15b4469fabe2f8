"""PyTorch's tensors: writes are counted, so that autograd refuses what was overwritten; what is more than memory is
refused by name."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import NamedTuple

import numpy as np
import pytest

import pykern as pk
from pykern.pytest_plugin import need_package

torch = need_package("torch")
DEVICES = ["cpu", "python", "opencl:0", "vulkan:0"]
over_devices = pytest.mark.parametrize("device", DEVICES, indirect=True)


class Pair(NamedTuple):
    first: object
    second: object


@pk.kernel
def twice(y, x):
    i = pk.index()
    y[i] = 2 * x[i]


@pk.kernel
def added(y, x):
    i = pk.index()
    pk.atomic_add(y, 0, x[i])


@pk.kernel
def of_pair(pair):
    i = pk.index()
    pair.first[i] = 2 * pair.second[i]


@pk.jit
def doubled(x):
    return x * 2


@pk.jit
def update(y, x):
    y[:] = x * 2


@pk.jit
def update_pair(pair):
    pair["y"][:] = pair["x"] * 2


@pk.jit
def launching(y, x):
    twice(y, x, ndrange=y.shape)


def copy_into(y, x):
    pk.from_dlpack(y)[:] = 2 * x.numpy()


def routes():
    """Every way to write a tensor: (name, what writes `y` from `x` on a device)."""
    return {
        "kernel": lambda y, x, device: twice(y, x, ndrange=y.shape, device=device),
        "kernel again": lambda y, x, device: [twice(y, x, ndrange=y.shape, device=device) for _ in range(3)],
        "atomics": lambda y, x, device: added(y, x, ndrange=x.shape, device=device),
        "struct": lambda y, x, device: of_pair(Pair(y, x), ndrange=y.shape, device=device),
        "program": lambda y, x, device: update(y, x, device=device),
        "tree": lambda y, x, device: update_pair({"y": y, "x": x}, device=device),
        "launch in a program": lambda y, x, device: launching(y, x, device=device),
        "out": lambda y, x, device: doubled(x.numpy(), out=y.numpy(), device=device),
        "pk.Array": lambda y, x, device: twice(pk.from_dlpack(y), pk.from_dlpack(x), ndrange=y.shape),
        "pk.Array in a program": lambda y, x, device: update(pk.from_dlpack(y)[::1], x),
        "elements of a pk.Array": lambda y, x, device: copy_into(y, x),
        "numpy view": lambda y, x, device: update(y.numpy(), x, device=device),
    }


@over_devices
@pytest.mark.parametrize("route", routes())
def test_each_write_is_counted(device, route):
    kind = torch.int32 if route == "atomics" else torch.float32
    y, x = torch.zeros(5, dtype=kind), torch.arange(5, dtype=kind)
    versions = y._version, x._version
    routes()[route](y, x, device)
    assert y[0] == (10 if route == "atomics" else 0) and (route == "atomics" or y[4] == 8)
    assert y._version > versions[0] and x._version == versions[1]


@pytest.mark.parametrize("view", ["detach", "slice", "transposed", "data", "alias"])
def test_views_count_for_their_base(view):
    base = torch.zeros(4, 4)
    made = {
        "detach": lambda: base.detach(),
        "slice": lambda: base[1:3, ::2],
        "transposed": lambda: base.T,
        "data": lambda: base.data,
        "alias": lambda: base.view(16).view(4, 4),
    }[view]()

    @pk.kernel
    def fill(y):
        i, j = pk.index()
        y[i, j] = 10.0 * i + j

    before = base._version, made._version
    fill(made, ndrange=tuple(made.shape))
    np.testing.assert_array_equal(
        made.numpy(), np.add.outer(10.0 * np.arange(len(made)), np.arange(made.shape[1]))
    )
    assert made._version > before[1]
    assert (
        view == "data" or base._version > before[0]
    )  # `.data` has a count of its own, by PyTorch's own rule


@pytest.mark.parametrize("how", ["tensor", "detach"])
def test_a_saved_tensor_that_was_overwritten_is_no_silent_gradient(how):
    w = torch.full((3,), 3.0, requires_grad=True)
    y = w * 1.0
    loss = (y * y).sum()  # saves y
    target = y.detach() if how == "detach" else torch.from_numpy(y.detach().numpy())
    if how == "detach":
        twice(target, torch.ones(3), ndrange=3)
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            loss.backward()
    else:
        loss.backward()
        np.testing.assert_array_equal(w.grad.numpy(), [6, 6, 6])


def test_each_launch_on_an_array_of_a_tensor_is_counted():
    """Also those that a compiled entry would take."""
    y = torch.zeros(5)
    array, plain = pk.from_dlpack(y), pk.zeros(5, pk.f32)
    x = pk.from_dlpack(np.arange(5, dtype=np.float32))
    for count in range(1, 6):
        twice(plain, x, ndrange=5)
        twice(array, x, ndrange=5)
        twice(array[1:], x[1:], ndrange=4)
        assert y._version == 2 * count
    np.testing.assert_array_equal(y, 2 * np.arange(5))


def test_what_is_only_read_is_not_counted():
    x = torch.arange(4.0)
    doubled(x)
    update(np.zeros(4, np.float32), x)
    twice(np.zeros(4, np.float32), x, ndrange=4)
    twice(x, x, ndrange=0)  # nothing runs
    assert x._version == 0


def test_a_refused_launch_counts_nothing():
    y = torch.zeros(4)
    with pytest.raises(pk.KernelTypeError):
        twice(y, torch.ones(4, requires_grad=True), ndrange=4)
    with pytest.raises(pk.LaunchError):
        twice(y[1:], y[:3], ndrange=3)  # they overlap
    assert y._version == 0


def test_inference_tensors():
    with torch.inference_mode():
        x = torch.arange(3.0)
    y = torch.zeros(3)
    twice(y, x, ndrange=3)
    twice(x, y, ndrange=3)
    assert x.tolist() == [0, 4, 8]


class Wrapped(torch.Tensor):
    """A tensor that answers every operator itself."""

    @classmethod
    def __torch_dispatch__(cls, function, types, args=(), kwargs=None):
        raise NotImplementedError


def special(kind):
    """A tensor that is more, or less, than its memory."""
    x = torch.arange(6.0)
    if kind == "requires grad":
        return x.requires_grad_()
    if kind == "not a leaf":
        return x.requires_grad_() * 2
    if kind == "conjugate":
        return torch.complex(x, x).conj()
    if kind == "negative":
        return torch.complex(x, x).conj().imag
    if kind == "sparse":
        return x.to_sparse()
    if kind == "meta":
        return x.to("meta")
    if kind == "fake":
        from torch._subclasses.fake_tensor import FakeTensorMode

        with FakeTensorMode():
            return torch.zeros(6)
    if kind == "quantised":
        return torch.quantize_per_tensor(x, 0.1, 0, torch.quint8)
    if kind == "nested":
        return torch.nested.nested_tensor([x, x[:2]])
    if kind == "functional":
        return torch._to_functional_tensor(x)
    if kind == "dispatches":
        return torch.Tensor._make_subclass(Wrapped, x)
    x.untyped_storage().resize_(0)
    return x


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("device", ["cpu", "python", "opencl:0"], indirect=True)
@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("requires grad", "requires a gradient"), ("not a leaf", "requires a gradient"),
        ("conjugate", "a conjugate"), ("negative", "sign is still to be changed"), ("sparse", "sparse"),
        ("meta", "no values"), ("fake", "FakeTensor"), ("quantised", "quantised"), ("nested", "nested"),
        ("functional", "traced by torch.func"), ("dispatches", "__torch_dispatch__"), ("freed", "given back"),
    ],
)  # fmt: skip
def test_what_is_more_than_memory_is_refused(device, kind, said):
    x, y = special(kind), torch.zeros(6)
    for call in (
        lambda: twice(y, x, ndrange=6, device=device),
        lambda: twice(x, y, ndrange=6, device=device),
        lambda: of_pair(Pair(y, x), ndrange=6, device=device),
        lambda: doubled(x, device=device),
        lambda: update(x, y, device=device),
        lambda: update_pair({"y": y, "x": x}, device=device),
        lambda: pk.from_dlpack(x),
        lambda: pk.asarray(x),
        lambda: pk.array(x, device=device),
    ):
        with pytest.raises(pk.KernelTypeError, match=said) as caught:
            call()
        assert "help:" in str(caught.value)
    assert y._version == 0


@pytest.mark.filterwarnings("ignore")  # PyTorch's own, of `torch.jit`
def test_transformed_functions_are_refused():
    with pytest.raises(pk.KernelTypeError, match=r"torch\.func"):
        torch.vmap(lambda x: torch.as_tensor(doubled(x)))(torch.ones(2, 3))
    with pytest.raises(pk.KernelTypeError, match=r"torch\.func"):
        torch.func.grad(lambda x: torch.as_tensor(doubled(x)).sum())(torch.ones(3))
    with pytest.raises(pk.KernelTypeError, match=r"torch\.func"):
        torch.func.jvp(lambda x: torch.as_tensor(doubled(x)), (torch.ones(3),), (torch.ones(3),))


@pytest.mark.filterwarnings("ignore")
def test_a_tangent_is_not_lost():
    from torch.autograd import forward_ad

    y = torch.zeros(3)
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(torch.ones(3), torch.ones(3))
        for call in (lambda: twice(y, dual, ndrange=3), lambda: doubled(dual), lambda: update(dual, y)):
            with pytest.raises(pk.KernelTypeError, match="tangent would be lost"):
                call()
        twice(y, forward_ad.unpack_dual(dual).primal, ndrange=3)
        twice(y, dual.detach(), ndrange=3)
    assert y.tolist() == [2, 2, 2]


def test_what_pytorch_has_resolved_is_taken():
    z = torch.tensor([1 + 2j, 3 - 4j])
    np.testing.assert_array_equal(doubled(z.conj().imag.resolve_neg()), [-4, 8])
    np.testing.assert_array_equal(doubled(z.real), [2, 6])  # every second number of its memory
    np.testing.assert_array_equal(doubled(torch.nn.Parameter(torch.ones(2)).detach()), [2, 2])


@over_devices
def test_expanded_tensors_are_read_and_not_written(device):
    y, x = torch.zeros(4), torch.full((1,), 3.0).expand(4)
    twice(y, x, ndrange=4, device=device)
    assert y.tolist() == [6, 6, 6, 6]
    for call in (
        lambda: twice(torch.zeros(1).expand(4), y, ndrange=4, device=device),
        lambda: update(torch.zeros(1).expand(4), y, device=device),
    ):
        if device == "python" and call.__code__.co_names[0] == "update":
            continue  # NumPy itself writes there
        with pytest.raises(pk.LaunchError, match="several positions at one place"):
            call()


NEEDS = """
from pykern.pytest_plugin import need_package
def test_required(): need_package("no_such_package")
def test_other(): need_package("another_package")
def test_there(): assert need_package("json").loads("1") == 1
"""


def test_a_package_that_is_missing_is_told(tmp_path):
    (tmp_path / "test_needs.py").write_text(NEEDS)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-rs", "-p", "no:cacheprovider", str(tmp_path)],
        env=os.environ | {"PYKERN_TEST_REQUIRE": "no_such_package"},
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
    )
    assert "1 failed, 1 passed, 1 skipped" in done.stdout, done.stdout
    assert "PYKERN_TEST_REQUIRE asks for it: no_such_package is not installed" in done.stdout
    assert "another_package is not installed" in done.stdout


@pk.jit
def both(x):
    return {"twice": x * 2, "sum": x.sum()}, (x + 1, None)


def test_programs_give_what_they_are_given():
    for dtype in (torch.float32, torch.bfloat16, torch.int32):
        x = torch.arange(5).to(dtype)
        for _ in range(4):  # through Python, then without
            found = doubled(x)
            assert type(found) is torch.Tensor and found.dtype is dtype
            assert found.tolist() == [0, 2, 4, 6, 8]
        for _ in range(4):
            held, more = both(x)
            assert type(held["twice"]) is torch.Tensor and type(more[0]) is torch.Tensor and more[1] is None
            assert float(held["sum"]) == 10
    for _ in range(4):
        assert type(doubled(np.arange(3.0))) is np.ndarray
    assert type(update_pair({"y": torch.zeros(3), "x": torch.ones(3)})) is type(None)


def test_out_comes_back_as_it_is_given():
    x, y, z = torch.arange(5.0), torch.zeros(5), np.zeros(5, np.float32)
    for _ in range(4):
        assert doubled(x, out=y) is y
        assert doubled(x, out=z) is z
        assert doubled(z, out=y) is y


def test_derivatives_give_tensors():
    x = torch.arange(3.0, dtype=torch.bfloat16)
    value, pull = pk.vjp(doubled, x)
    (slope,) = pull(torch.ones_like(x))
    assert type(value) is torch.Tensor and type(slope) is torch.Tensor and slope.dtype is torch.bfloat16
    assert slope.tolist() == [2, 2, 2]
    _, tangent = pk.jvp(doubled, (x,), (x,))
    assert type(tangent) is torch.Tensor and tangent.tolist() == [0, 2, 4]


def test_memory_may_be_resized_after_a_launch():
    """As models do whose parameters are shared by several processes, which free them between their layers."""
    x, y = torch.arange(5.0), torch.zeros(10)[::2]
    twice(y, x, ndrange=5)
    torch.testing.assert_close(doubled(x), 2 * x)
    torch.testing.assert_close(y, 2 * x)
    x.untyped_storage().resize_(0)
    x.untyped_storage().resize_(20)
    x.fill_(3)
    twice(y, x, ndrange=5)
    torch.testing.assert_close(y, torch.full((5,), 6.0))

"""Kernels as operators of PyTorch: results, and derivatives of every kind, against PyTorch's own functions."""

from __future__ import annotations

import copy
import pickle

import pytest

from pykern.pytest_plugin import need_package

torch = need_package("torch")

import pykern.torch as pkt  # noqa: E402
from pykern.errors import KernelTypeError, LaunchError  # noqa: E402
from tests.interop.torch.kernels import axpy, axpy_, axpy_expected, saxpy  # noqa: E402


def doubles(*shape: int, **options):
    return torch.randn(shape, dtype=torch.float64, **options)


def in_place(o, x, y, a):
    o = o.clone()
    axpy_(o, x, y, a, ndrange=o.shape)
    return o


def test_a_launch_gives_fresh_tensors():
    x, y = doubles(7), doubles(7)
    torch.testing.assert_close(saxpy(x, y, 2.0), axpy_expected(x, y, 2.0))
    torch.testing.assert_close(saxpy(x, a=2, y=y), axpy_expected(x, y, 2))


@pytest.mark.parametrize("n", [7, 0])
def test_warm_calls_see_what_they_are_given(n):
    """A call of the kind of the one before goes past the dispatcher; another one does not."""
    x, y = doubles(n), doubles(n)
    for _ in range(4):
        torch.testing.assert_close(saxpy(x, y, 2.0), axpy_expected(x, y, 2.0))
    wanted = x.clone().requires_grad_()
    saxpy(wanted, y, 2.0).sum().backward()
    torch.testing.assert_close(wanted.grad, 2 * (2 * x).exp())
    torch.testing.assert_close(saxpy(wanted.detach(), y, torch.tensor(2.0)), axpy_expected(x, y, 2.0))
    with torch.no_grad():
        assert saxpy(wanted, y, 2.0).grad_fn is None
    with torch.autograd.forward_ad.dual_level():
        found = saxpy(torch.autograd.forward_ad.make_dual(x, y), y, 2.0)
        torch.testing.assert_close(
            torch.autograd.forward_ad.unpack_dual(found).tangent, 2 * y * (2 * x).exp()
        )
    assert torch.empty_like(x, device="meta").shape == saxpy(x.to("meta"), y.to("meta"), 2.0).shape
    negated = torch.complex(x, y).conj().imag
    torch.testing.assert_close(saxpy(negated, y, 2.0), axpy_expected(-y, y, 2.0))


def test_a_list_of_index_spaces_is_refused():
    several = pkt.op(axpy, out={"o": pkt.like("x")}, ndrange=lambda x, y, a: [x.shape])
    x = doubles(3)
    for _ in range(3):
        with pytest.raises(LaunchError, match="a list of index spaces is several"):
            several(x, x, 2.0)
    with pytest.raises(LaunchError, match="a list of index spaces is several"):
        axpy_(x, x.clone(), x.clone(), 2.0, ndrange=[3])


def test_gradients_of_one_kind_of_launch():
    """The second launch of a gradient finds its plan by the kinds of its arguments."""
    for n in (5, 5, 8, 5):
        x, y = doubles(n, requires_grad=True), doubles(n)
        (found,) = torch.autograd.grad(saxpy(x, y, 2.0).sum(), x)
        torch.testing.assert_close(found, (2 * (2 * x).exp()).detach())
        z = torch.randn(n, requires_grad=True)
        (found,) = torch.autograd.grad(saxpy(z, z, 2.0).sum(), z)
        torch.testing.assert_close(found, (2 * (2 * z).exp() + 1).detach())


def test_a_launch_in_place_is_counted():
    o, x, y = doubles(7), doubles(7), doubles(7)
    before = o._version
    axpy_(o, x, y, 2.0, ndrange=7)
    torch.testing.assert_close(o, axpy_expected(x, y, 2.0))
    assert o._version > before


@pytest.mark.parametrize(
    "function", [saxpy, lambda x, y, a: in_place(doubles(5), x, y, a)], ids=["out", "in place"]
)
def test_derivatives_of_both_modes_and_orders(function):
    x, y = doubles(5, requires_grad=True), doubles(5, requires_grad=True)
    a = torch.tensor(0.7, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(function, (x, y, a), check_forward_ad=True)
    assert torch.autograd.gradgradcheck(function, (x, y, a))


def test_views_that_are_written_have_gradients():
    def part(o, x, y):
        o = o.clone()
        axpy_(o[2:5], x, y, 2.0, ndrange=3)
        return o

    o, x, y = (doubles(n, requires_grad=True) for n in (9, 3, 3))
    assert torch.autograd.gradcheck(part, (o, x, y), check_forward_ad=True)


def test_views_of_one_memory_that_are_written_and_read():
    def column(rows, x):
        rows = rows.clone()
        axpy_(rows[:, 0], rows[:, 1], x, 2.0, ndrange=3)
        return rows

    rows, x = doubles(3, 2, requires_grad=True), doubles(3, requires_grad=True)
    assert torch.autograd.gradcheck(column, (rows, x), check_forward_ad=True)
    with torch.no_grad():
        expected = torch.stack([axpy_expected(rows[:, 1], x, 2.0), rows[:, 1]], 1)
        torch.testing.assert_close(column(rows, x), expected)


def test_what_is_written_and_read_at_once_is_refused_where_gradients_follow():
    x = doubles(5)
    expected = axpy_expected(x, x, 2.0)
    with torch.no_grad():
        axpy_(x, x, x, 2.0, ndrange=5)
    torch.testing.assert_close(x, expected)
    y = doubles(5, requires_grad=True) * 1
    for read in (y, y.view(5), y[:]):
        with pytest.raises(KernelTypeError, match=r"`o` is written where `x` is read"):
            axpy_(y, read, x, 2.0, ndrange=5)
    with pytest.raises(KernelTypeError, match=r"pass a copy: y\.clone"):
        torch.func.grad(lambda y: (axpy_(z := y * 1, y, z, 2.0, ndrange=5), z.sum())[1])(x)


def test_transformations():
    x, y = doubles(3, 5), doubles(5)

    def loss(x, y):
        return (saxpy(x, y, 2.0) ** 2).sum()

    def expected(x, y):
        return (axpy_expected(x, y, 2.0) ** 2).sum()

    for transformed in (torch.func.grad, torch.func.hessian, lambda f: torch.func.jacrev(torch.func.grad(f))):
        torch.testing.assert_close(transformed(loss)(x[0], y), transformed(expected)(x[0], y))
    rows = torch.vmap(torch.func.grad(loss), (0, None))(x, y)
    torch.testing.assert_close(rows, torch.vmap(torch.func.grad(expected), (0, None))(x, y))
    _, tangent = torch.func.jvp(lambda x: saxpy(x, y, 2.0), (x[0],), (x[1],))
    torch.testing.assert_close(tangent, 2 * x[1] * (2 * x[0]).exp())


@pytest.mark.parametrize("operator", ["functional", "in place"])
def test_opcheck(operator):
    x, y = doubles(5, requires_grad=True), doubles(5)
    if operator == "functional":
        torch.library.opcheck(saxpy.variant("TTN").overload, (x, y, 2.0))
    else:
        torch.library.opcheck(axpy_.variant("TTTN").overload, (doubles(5), x, y, 2.0, [0, 5, 1]))


def test_derivatives_are_found_by_name():
    """Graphs that PyTorch compiled in another process, and kept on disk, ask for them."""
    name = saxpy.variant("TTN").name
    x, y = doubles(3), doubles(3)
    gradient = getattr(torch.ops.pykern, f"{name}_vjp_0_1110").default(x, y, 2.0, torch.ones_like(x))
    torch.testing.assert_close(gradient, 2 * (2 * x).exp())
    assert not hasattr(torch.ops.pykern, f"{name}x_vjp_0_1110")


def test_operators_are_pickled_by_name_and_copies_share_them():
    with pytest.raises(pickle.PicklingError, match="is pickled by its name"):
        pickle.dumps(saxpy)  # `axpy` is another object
    assert copy.deepcopy(saxpy) is saxpy


def test_names_tell_what_rules_do():
    length = 3

    def made():
        return pkt.op(axpy, out={"o": lambda x, y, a: x.new_zeros(length)}, ndrange=lambda x, y, a: (length,))

    first, again = made().variant("TTN").name, made().variant("TTN").name
    length = 4
    assert again == f"{first}_1"
    assert not made().variant("TTN").name.startswith(first)


def test_profiles_have_the_operators():
    x = torch.randn(4)
    name = saxpy.variant("TTN").name
    for _ in range(3):
        saxpy(x, x, 2.0)
    with torch.profiler.profile() as profile:
        saxpy(x, x, 2.0)
    assert f"pykern::{name}" in {event.key for event in profile.key_averages()}

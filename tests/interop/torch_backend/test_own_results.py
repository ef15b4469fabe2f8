"""What a compiled function makes is a tensor by itself, which the caller may change, with a gradient and without."""

from __future__ import annotations

import pytest

from pykern.pytest_plugin import need_package

torch = need_package("torch")
functional = torch.nn.functional

FUNCTIONS = {
    "stack": lambda x, y: torch.stack([x * 2 + 1, y.exp()]),
    "stack of columns": lambda x, y: torch.stack([x, y * 2], 1),
    "product of batches": lambda x, y: torch.matmul(x.reshape(2, 2, 6) * 2, y.t()),
    "layer": lambda x, y: functional.linear(x.reshape(2, 2, 6) * 2, y),
    "kron": lambda x, y: torch.kron(x * 2, y),
    "pooling": lambda x, y: functional.max_pool1d((x + y)[None] * 2, 2),
    "two of one": lambda x, y: ((x * y).cumsum(0), (x + y).reshape(24)),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_results_are_changed_in_place(name):
    function = FUNCTIONS[name]
    x, y = torch.randn(2, 4, 6)
    weights = torch.rand(())
    weights.requires_grad_()
    found = {}
    for compiled in (False, True):
        torch._dynamo.reset()
        call = torch.compile(function, backend="pykern") if compiled else function
        with torch.no_grad():
            made = call(x, y)
        made = made if isinstance(made, tuple) else (made,)
        if compiled:
            assert not any(each._is_view() for each in made)
            for each in made:
                each.mul_(weights)
        found[compiled] = [each.detach() if compiled else each * weights.detach() for each in made]
    torch.testing.assert_close(found[True], found[False])
    assert [each.stride() for each in found[True]] == [each.stride() for each in found[False]]


@pytest.mark.parametrize("name", ["stack", "layer"])
def test_with_a_gradient(name):
    x, y = torch.randn(2, 4, 6)
    slopes = []
    for compiled in (False, True):
        torch._dynamo.reset()
        call = torch.compile(FUNCTIONS[name], backend="pykern") if compiled else FUNCTIONS[name]
        given = x.clone().requires_grad_()
        made = call(given, y)
        made.mul_(3)
        made.square().sum().backward()
        slopes.append(given.grad)
    torch.testing.assert_close(*slopes)


def test_views_of_arguments_stay_views():
    x = torch.randn(4, 6)
    compiled = torch.compile(lambda x: (x.t(), x * 2), backend="pykern")
    with torch.no_grad():
        view, _ = compiled(x)
    assert view._is_view() and view.data_ptr() == x.data_ptr()

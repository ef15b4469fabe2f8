"""Every operation that array programs take, on each type it takes, beside PyTorch's own."""

from __future__ import annotations

import pytest

from pykern.pytest_plugin import need_package
from tests.cases.count import FULL, PROGRAMS

torch = need_package("torch")

from pykern.torch.backend import costs  # noqa: E402
from pykern.torch.backend.ops import pooling  # noqa: E402
from tests.interop.torch_backend.compare import compared, in_torch, taken  # noqa: E402

functional = torch.nn.functional
FUNCTIONS = (
    "exp", "exp2", "expm1", "sin", "cos", "tan", "atan", "sinh", "cosh", "tanh", "asinh", "erf", "erfc", "sigmoid",
    "neg", "abs", "sign", "relu", "square", "floor", "ceil", "trunc", "round",
)  # fmt: skip
OF_POSITIVE = ("log", "log2", "log10", "log1p", "sqrt", "rsqrt", "reciprocal", "asin", "acos", "atanh")
OF_NETWORKS = (
    "gelu", "silu", "mish", "elu", "selu", "celu", "leaky_relu", "hardswish", "hardsigmoid", "softplus", "softsign",
    "tanhshrink", "logsigmoid", "hardshrink", "softshrink", "relu6", "hardtanh", "glu",
)  # fmt: skip
REDUCTIONS = (
    "sum",
    "mean",
    "prod",
    "amax",
    "amin",
    "std",
    "var",
    "argmax",
    "argmin",
    "any",
    "all",
    "logsumexp",
)
SPECIAL = [float("nan"), float("inf"), -float("inf"), 0.0, -0.0, 1.0, -1.5, 2.5, 0.5, 1e30, -1e-30]


def some(cases):
    """The first half of them; all in `make test-all`."""
    return cases if PROGRAMS >= FULL else cases[: (len(cases) + 1) // 2]


@pytest.fixture(autouse=True)
def _alone(monkeypatch):
    """One operation alone is a program, too."""
    monkeypatch.setattr(costs, "LEAST", 1)
    torch.manual_seed(0)


def arrays():
    x = torch.randn(3, 6, 4)
    whole = torch.randint(-9, 9, (3, 6, 4))
    return {
        "f32": x, "f64": torch.randn(3, 6, 4, dtype=torch.float64), "i64": whole, "i32": whole.flip(0).int(),
        "u8": whole.abs().to(torch.uint8), "bool": x > 0, "special": torch.tensor(SPECIAL), "bf16": x.bfloat16(),
        "f16": x.half(), "number": torch.tensor(2.5), "row": torch.randn(6, 1),
    }  # fmt: skip


def test_numbers_are_turned_and_added_up():
    """Axes of a tensor that has none: PyTorch takes 0 and -1."""

    def function(x):
        turned = x.flip(0) * 2, x.flip(-1).exp(), x.transpose(0, -1) - 1
        return *turned, x.sum(-1) + 1, x.cumsum(0), x.amax(0), x.softmax(-1), x.logsumexp(0)

    compared(function, torch.tensor(2.5))


@pytest.mark.parametrize("kind", some(["f32", "special", "i64", "f64", "u8", "bf16"]))
def test_functions(kind):
    x = arrays()[kind]

    def function(x):
        positive = x.abs() + 1 if kind == "special" else (x.abs() + 1) / 20
        made = [getattr(torch, name)(x) for name in FUNCTIONS]
        return (*made, *(getattr(torch, name)(positive) for name in OF_POSITIVE), torch.acosh(x.abs() + 1))

    assert taken(compared(function, x)) >= 30


def test_functions_of_networks():
    def function(x):
        made = [getattr(functional, name)(3 * x) for name in OF_NETWORKS]
        return (*made, functional.gelu(x, approximate="tanh"), functional.prelu(x, torch.full((6,), 0.3)))

    assert not in_torch(compared(function, torch.randn(3, 6, 4)))


PAIRS = (
    ("f32", "row"), ("f32", "i64"), ("f32", "f64"), ("i64", "i32"), ("f32", "u8"), ("i64", "number"), ("i64", "bool"),
    ("special", "number"), ("f16", "f32"), ("u8", "i32"),
)  # fmt: skip


@pytest.mark.parametrize(("left", "right"), some(PAIRS), ids=map("-".join, some(PAIRS)))
def test_two_operands_are_promoted_as_in_torch(left, right):
    a, b = arrays()[left], arrays()[right]

    def function(a, b):
        whole = not (a.is_floating_point() or b.is_floating_point())
        made = [a + b, a * b, a / b, torch.maximum(a, b), torch.minimum(a, b), torch.add(a, b, alpha=3)]
        made += [
            a == b,
            a < b,
            a >= b,
            torch.logical_and(a, b),
            torch.logical_xor(a, b),
            torch.logical_not(a),
        ]
        made += [torch.where(a > 0, a, b), a.to(torch.float32) - b.float()]
        made += [a | b, a ^ b, ~a] if whole else [torch.atan2(a, b), torch.div(a, b, rounding_mode="trunc")]
        return tuple(made)

    assert taken(compared(function, a, b)) >= 14


@pytest.mark.parametrize("kind", some(["f32", "i64", "u8", "bool", "bf16"]))
def test_numbers_are_weak(kind):
    x = arrays()[kind]
    numbers = (2, 0.25, -1, True, float("inf")) if kind != "bf16" else (2, 0.25)

    def function(x):
        made = [
            operation(x, n)
            for n in numbers
            for operation in (torch.add, torch.mul, torch.div, torch.eq, torch.le)
        ]
        return (*made, 3 - x.float(), x.clamp(-1, 2) if kind != "bool" else x)

    compared(function, x)


def test_powers():
    def function(x):
        return (*(x**e for e in (2, 3, -1, -2, 0.5, -0.5, 1.7, 0, 1, 4, -3.0, 7)), 2**x, x.abs() ** x)

    compared(function, torch.tensor(SPECIAL))
    compared(function, torch.randn(7))


@pytest.mark.parametrize("kind", ["f32", "i64", "bool", "u8", "special"])
def test_reductions(kind):
    x = arrays()[kind]
    floats = ("mean", "std", "var", "logsumexp")
    names = [n for n in REDUCTIONS if x.is_floating_point() or n not in floats]
    names = [n for n in names if kind != "bool" or not n.startswith(("arg", "am"))]

    def function(x):
        made = []
        for name in names:
            reduce = getattr(torch, name)
            made += [reduce(x, dim=0), reduce(x, dim=-1, keepdim=True)]
            made += [reduce(x)] if name not in ("logsumexp",) else []
        made += [*x.max(0), *x.min(-1)] if kind not in ("special", "bool") else []
        return (*made, x.sum(0, dtype=torch.int32)) if not x.is_floating_point() else tuple(made)

    compared(function, x)


def test_reductions_of_several_axes():
    def function(x):
        made = [getattr(x, name)((0, 2)) for name in ("sum", "mean", "amax", "amin", "std", "var")]
        made += [torch.linalg.vector_norm(x, order, dim=(1, 2)) for order in (1, 2, float("inf"))]
        return (*made, x.var(1, correction=0), torch.any(x > 1), torch.cosine_similarity(x, x + 1))

    compared(function, torch.randn(3, 6, 4))


def test_forms():
    def function(x, y):
        return (
            x.permute(2, 0, 1) + 1, x.permute(2, 0, 1).contiguous() * 2, x[:, 1:5:2] * 2, x[:, -1] * 2,
            x.flip(0, 2) * 2, torch.cat([x, y, x[:1]]) + 1, torch.stack([x, y], -1) * 2, y.expand(2, 3, 6, 4) * 2,
            functional.pad(x, (1, 2, 0, 3)) * 2, functional.pad(x, (1, 2), value=1.0) + 1, x.tril(-1), x.triu(1),
            x + torch.arange(4), x + torch.arange(1, 9, 2), x * torch.full((4,), 2.0), x.unsqueeze(1).squeeze() + 1,
            x.chunk(2, -1)[1] * 2, x.transpose(0, 2) * 2, x.reshape(-1, 8) + 1, x.repeat(2, 1, 1) * 2, x.roll(1, 0) + 1,
            x[0, :4] + torch.eye(4), torch.zeros_like(x) + y.sum(), x[torch.tensor([0, 2])] * 2,
        )  # fmt: skip

    compared(function, torch.randn(3, 6, 4), torch.randn(3, 6, 4))


def test_conversions():
    kinds = (torch.float32, torch.float64, torch.int64, torch.int32, torch.uint8, torch.bool, torch.bfloat16)
    for name in ("f32", "i64", "u8", "bool", "bf16"):
        compared(lambda x: tuple(x.abs().to(kind) for kind in kinds), arrays()[name] * 1)


def test_products():
    def function(a, b, c):
        return (
            a @ b, torch.bmm(c, c.transpose(1, 2)), torch.addmm(a[:, :1], a, b, beta=0.5, alpha=2), a @ b[:, 0],
            functional.linear(c, a, a[:, 0]), torch.einsum("bij,bkj->ik", c, c), torch.outer(a[0], a[1]), a[0] @ a[1],
            torch.baddbmm(c[:, :, :3], c, c[:, :4, :3].clone(), beta=2),
        )  # fmt: skip

    for dtype in (torch.float32, torch.float64):
        compared(function, *(torch.randn(*s, dtype=dtype) for s in ((5, 4), (4, 3), (3, 6, 4))))


def test_norms():
    def function(x, w):
        mean, variance = x.mean((0, 2)), x.var((0, 2))
        running = torch.zeros(6), torch.ones(6)
        return (
            x.softmax(1), x.log_softmax(-1), functional.layer_norm(x, (6, 4), x[0], x[1]), functional.rms_norm(x, (4,)),
            functional.layer_norm(x.bfloat16(), (4,)), functional.group_norm(x, 3, w, w + 1),
            functional.instance_norm(x), functional.batch_norm(x, mean, variance, w, w),
            functional.normalize(x, dim=-1), x.half().softmax(0),
            functional.batch_norm(x, *running, w, training=True, momentum=0.3), *running,
        )  # fmt: skip

    told = compared(function, torch.randn(3, 6, 4), torch.randn(6))
    assert not any("norm" in name or "softmax" in name for name in in_torch(told))


def test_pooling():
    def plane(x):
        return (
            functional.max_pool2d(x, 2), functional.max_pool2d(x, 3, 2, 1), functional.max_pool2d(x, (1, 3)),
            functional.max_pool2d(x, 3, 1, dilation=2), functional.avg_pool2d(x, 2), functional.avg_pool2d(x, 3, 1, 1),
            functional.max_pool1d(x[0], 4), functional.avg_pool1d(x[0], 4), functional.max_pool2d(x, 2, ceil_mode=True),
            functional.max_pool2d(x, 3, 2, 1, ceil_mode=True),
            functional.max_pool2d(x, 2, 5, dilation=3, ceil_mode=True),
            functional.avg_pool2d(x, 3, 2, 1, count_include_pad=False), functional.adaptive_avg_pool2d(x, 1),
        )  # fmt: skip

    def space(x):
        return (
            functional.max_pool3d(x, 2),
            functional.max_pool3d(x, 3, 2, 1),
            functional.avg_pool3d(x, 3, 2, 1),
        )

    x = torch.randn(2, 3, 6, 7, 8)
    x[0, 0, 1, 2, 3] = float("nan")
    told = compared(plane, x[:, :, 0])
    assert sorted(in_torch(told).values()) == ["a mean of windows beyond the rim"]
    assert not in_torch(compared(space, x))


def test_pooling_of_large_tensors_has_its_ends_apart(monkeypatch):
    monkeypatch.setattr(pooling, "LARGE", 0)

    def line(x):
        return (
            functional.max_pool1d(x, 8, 1, 4, 3), functional.max_pool1d(x, 3, 2, 1), functional.avg_pool1d(x, 5, 2, 2),
            functional.max_pool1d(x, 4, 3, 2, ceil_mode=True), functional.max_pool2d(x, (3, 1), 1, (1, 0)),
        )  # fmt: skip

    x = torch.randn(2, 4, 31)
    x[0, 1, 2], x[1, 2, 30] = float("nan"), float("inf")
    assert not in_torch(compared(line, x))


def test_places_of_the_largest_stay_in_torch():
    told = compared(lambda x: functional.max_pool2d(x, 2, return_indices=True), torch.randn(1, 2, 6, 6))
    assert "the places of the largest elements are needed" in in_torch(told).values()


def test_losses():
    def function(x, y):
        p = x.sigmoid()
        return (
            functional.mse_loss(x, y), functional.huber_loss(x, y), functional.smooth_l1_loss(x, y),
            functional.l1_loss(x, y), functional.binary_cross_entropy(p, y.sigmoid()),
            functional.binary_cross_entropy_with_logits(x, p), functional.triplet_margin_loss(x, y, p),
            functional.kl_div(x.log_softmax(-1), y.softmax(-1), reduction="batchmean"), (1 - x * y).clamp(min=0).mean(),
            functional.cross_entropy(x, torch.arange(5)),
        )  # fmt: skip

    compared(function, torch.randn(5, 7), torch.randn(5, 7))


def test_what_is_not_the_same_stays_in_torch():
    def function(x, k, b):
        rounded = torch.div(k, k.abs() + 1, rounding_mode="floor"), x.abs().to(torch.int32), b + b
        return (*rounded, torch.div(x, 0.3, rounding_mode="floor"), x[b], x.cumsum(0))

    x = torch.randn(5, 4)
    torch._dynamo.config.capture_dynamic_output_shape_ops = True
    try:
        told = compared(function, x, torch.randint(-9, 9, (5, 4)), x > 0)
    finally:
        torch._dynamo.config.capture_dynamic_output_shape_ops = False
    assert {"arithmetic of bools", "no rule writes it", "a division that is rounded down"} <= {
        *in_torch(told).values()
    }


def test_complex_numbers_and_indices_outside_stay_in_torch():
    told = compared(lambda z: (z * 2 + 1, z.real.sum()), torch.randn(4, dtype=torch.complex64))
    assert any("complex64" in reason for reason in in_torch(told).values())
    compiled = torch.compile(lambda x, k: torch.exp(x)[k] + 1, backend="pykern")
    with pytest.raises(IndexError, match="out of bounds"):
        compiled(torch.randn(4), torch.tensor([1, 7]))

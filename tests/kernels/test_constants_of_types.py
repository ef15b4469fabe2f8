"""A constant that the type of what it meets does not hold: refused at its line on every device, as NumPy 2 does.

Comparisons are exact, and numbers that only a launch knows wrap (`test_reference_rules`).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pykern as pk
from tests.cases.texts import defined

WIDE, BELOW = 300, -1


@pk.func
def plus(a, b):
    return a + b


@pk.func
def wide():
    return WIDE


def made(text: str, decorator: Any) -> Any:
    file, lines = f"<constant {text}>", f"def run(x, a):\n    {text}\n"
    names = {"pk": pk, "np": np, "WIDE": WIDE, "BELOW": BELOW, "i": pk.index}
    names |= {"plus": plus, "wide": wide}
    space = defined(lines, file, names)
    return decorator(space["run"])


STATEMENTS = [
    "x[i()] = x[i()] + 300", "x[i()] = WIDE - x[i()]", "x[i()] = BELOW * x[i()]", "x[i()] = x[i()] ** 300",
    "x[i()] = 300 ** x[i()]", "x[i()] //= 300", "x[i()] **= WIDE", "x[i()] = x[i()] & -1", "x[i()] = 300",
    "x[i()] = BELOW", "x[i()] = 2**8 + 7", "x[i()] = pk.where(i() > 1, x[i()], WIDE)", "x[i()] = max(x[i()], 300)",
    "x[i()] = pk.minimum(BELOW, x[i()])", "x[i()] = divmod(x[i()], WIDE)[1]", "x[i()] = pow(x[i()], 300)",
    "c = 300; x[i()] = x[i()] + c", "t = (1, 300); x[i()] += t[1]", "b, c = WIDE, 2; x[i()] = x[i()] * b",
    "for k in pk.unroll(range(300, 302)): x[i()] = k", "x[i()] = wide()",
    "c = 300 if 1 < 2 else 3; x[i()] = min(c, x[i()])", "t = (300, 2); x[i()] = max(t) - x[i()]",
    "p = pk.private(2, pk.u8); c = BELOW; p[0] = c; x[i()] = p[0]", "c = WIDE; pk.atomic_max(x, i(), c)",
    "pk.atomic_add(x, i(), 300)", "pk.atomic_exchange(x, i(), BELOW)", "pk.atomic_compare_exchange(x, i(), 300, 1)",
]  # fmt: skip


@pytest.mark.parametrize("text", STATEMENTS)
def test_kernels_refuse(text, device):
    x = np.array([0, 1, 100], np.uint8)
    with pytest.raises(
        pk.KernelTypeError, match=r"the constant (-1|300|263) does not fit u8 \(0 .. 255\)"
    ) as caught:
        made(text, pk.kernel)(x, 3, ndrange=3, device=device)
    assert caught.value.span is not None and caught.value.span.line == 2
    assert "pk.u8(" in str(caught.value)
    assert x.tolist() == [0, 1, 100]


def test_functions_refuse_what_they_are_given(device):
    x = np.array([0, 1, 100], np.uint8)
    with pytest.raises(pk.KernelTypeError, match="the constant 300 does not fit u8") as caught:
        made("x[i()] = plus(x[i()], 300)", pk.kernel)(x, 3, ndrange=3, device=device)
    assert caught.value.span is not None and caught.value.span.source_line().strip() == "return a + b"
    made("x[i()] = plus(x[i()], 30)", pk.kernel)(x, 3, ndrange=3, device=device)
    assert x.tolist() == [30, 31, 130]


PROGRAMS = [
    "return x + 300", "return BELOW * x", "return x ** 300", "return 300 ** x", "x[0] = 300", "x[1:] = BELOW",
    "x += WIDE", "x.fill(300)", "return np.full(3, 300, np.uint8)", "return np.full_like(x, WIDE)",
    "return np.maximum(x, 300)", "return x + len(x) * 100",
]  # fmt: skip


@pytest.mark.parametrize("text", PROGRAMS)
def test_programs_refuse(text, device):
    x = np.array([0, 1, 100], np.uint8)
    with pytest.raises(
        pk.KernelTypeError, match=r"the constant (-1|300) does not fit u8 \(0 .. 255\)"
    ) as caught:
        made(text, pk.jit)(x, 3, device=device)
    assert caught.value.span is not None and caught.value.span.line == 2
    with pytest.raises(OverflowError):
        eval(compile(text.removeprefix("return "), "", "exec" if "=" in text or "fill" in text else "eval"),
             {"x": x, "np": np, "WIDE": WIDE, "BELOW": BELOW})  # fmt: skip


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("x[i()] = x[i()] < 300", [1, 1, 1]),
        ("x[i()] = x[i()] == BELOW", [0, 0, 0]),
        ("x[i()] = 300 > x[i()]", [1, 1, 1]),
        ("x[i()] = pk.u8(300)", [44, 44, 44]),
        ("x[i()] = i() + 300", [44, 45, 46]),
        ("x[i()] = a", [44, 44, 44]),
        ("x[i()] = max(x[i()], a)", [44, 44, 44]),
        ("x[i()] = min(x[i()], a - 301)", [255, 255, 255]),
        ("x[i()] = (x[i()] + 3) ** a", [pow(n + 3, 300, 256) for n in (0, 1, 100)]),
        ("x[i()] = a ** x[i()]", [pow(300, n, 256) for n in (0, 1, 100)]),
    ],
)
def test_others_are_what_they_were(text, wanted, device):
    x = np.array([0, 1, 100], np.uint8)
    made(text, pk.kernel)(x, 300, ndrange=3, device=device)
    assert x.tolist() == wanted

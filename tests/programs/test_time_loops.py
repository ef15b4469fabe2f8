"""Time loops: no memory is made or copied in an iteration, results lie where they belong at the end."""

from __future__ import annotations

import numpy as np
import pytest

from tests.cases.program_texts import TextProgram, elementwise, program

LOOP = """
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = {count}
  %last{results} = scf.for %i = %c0 to %n step %c1 iter_args({carried}) -> ({types}) {{
{body}
    scf.yield {yielded} : {types}
  }}
"""


def loop(count: int | None, carried: str, types: str, body: str, yielded: str) -> str:
    known = "arith.index_cast %steps : i64 to index" if count is None else f"arith.constant {count} : index"
    number = types.count("tensor")
    return LOOP.format(
        count=known, carried=carried, types=types, body=body, yielded=yielded,
        results=f":{number}" if number > 1 else "",
    )  # fmt: skip


def inside(text: str) -> str:
    """The body of the (first) loop."""
    return text[text.index("scf.for") : text.index("return")]


def heat(steps: int | None, length: int) -> str:
    kind, inner = f"tensor<{length}xf64>", f"tensor<{length - 2}xf64>"
    body = "".join(
        [
            f"\n %{name} = tensor.extract_slice %t[{at}] [{length - 2}] [1] : {kind} to {inner}"
            for name, at in (("l", 0), ("m", 1), ("h", 2))
        ]
    )
    body += elementwise(
        "%g", "%l, %m, %h", f"{inner}, {inner}, {inner}", inner,
        "%s = arith.addf %a, %c : f64\n %w = arith.constant 0.25 : f64\n %q = arith.mulf %s, %w : f64\n"
        "%v = arith.constant 0.5 : f64\n %p = arith.mulf %b, %v : f64\n %r = arith.addf %q, %p : f64", "f64",
    )  # fmt: skip
    body += f"\n %new = tensor.insert_slice %g into %t[1] [{length - 2}] [1] : {inner} into {kind}"
    arguments = f"%x: {kind}" + (", %steps: i64" if steps is None else "")
    return program(arguments, kind, loop(steps, "%t = %x", kind, body, "%new") + f"\n  return %last : {kind}")


def heat_numpy(x, steps):
    for _ in range(steps):
        x = np.concatenate([x[:1], 0.25 * (x[:-2] + x[2:]) + 0.5 * x[1:-1], x[-1:]])
    return x


@pytest.mark.parametrize("steps", [0, 1, 2, 3, 10, 11])
def test_heat(rng, steps):
    f = TextProgram(heat(steps, 101))
    x = rng.random(101)
    kept = x.copy()
    np.testing.assert_allclose(f(x)[0], heat_numpy(x, steps), rtol=1e-13)
    np.testing.assert_array_equal(x, kept)


@pytest.mark.parametrize("steps", [2, 7])
def test_heat_copies_only_the_rim(steps):
    text = TextProgram(heat(steps, 101)).buffers
    assert text.count("memref.alloc") == 1  # with the result the two that take turns
    assert "memref.alloc" not in inside(text)
    copies = [line for line in text.splitlines() if "memref.copy" in line]
    assert len(copies) == 2 and all("memref<1xf64" in line for line in copies)


def test_number_of_steps_at_run_time(rng):
    f = TextProgram(heat(None, 50))
    x = rng.random(50)
    for steps in (0, 1, 2, 3, 8, 9):
        np.testing.assert_allclose(f(x, steps)[0], heat_numpy(x, steps), rtol=1e-13)
    assert "memref.alloc" not in inside(f.buffers)


def leapfrog(steps: int) -> str:
    """u_next = 2 u - u_previous + something: three buffers take turns."""
    kind = "tensor<64xf64>"
    body = elementwise(
        "%g", "%p, %u", f"{kind}, {kind}", kind,
        "%h = arith.constant 0.01 : f64\n %s = arith.addf %b, %b : f64\n %d = arith.subf %s, %a : f64\n"
        "%k = arith.mulf %b, %h : f64\n %r = arith.subf %d, %k : f64", "f64",
    )  # fmt: skip
    return program(
        f"%x: {kind}, %y: {kind}",
        f"{kind}, {kind}",
        loop(steps, "%p = %x, %u = %y", f"{kind}, {kind}", body, "%u, %g")
        + f"\n  return %last#0, %last#1 : {kind}, {kind}",
    )


@pytest.mark.parametrize("steps", [0, 1, 2, 3, 4, 9])
def test_leapfrog(rng, steps):
    f = TextProgram(leapfrog(steps))
    x, y = rng.random((2, 64))
    p, u = x, y
    for _ in range(steps):
        p, u = u, 2 * u - p - 0.01 * u
    first, second = f(x, y)
    np.testing.assert_allclose(first, p, rtol=1e-12)
    np.testing.assert_allclose(second, u, rtol=1e-12)
    if steps > 2:
        assert "memref.copy" not in f.buffers and f.buffers.count("memref.alloc") == 1


def swapping(steps: int) -> str:
    kind = "tensor<64xf64>"
    body = elementwise("%g", "%t, %u", f"{kind}, {kind}", kind, "%r = arith.mulf %a, %b : f64", "f64")
    return program(
        f"%x: {kind}, %y: {kind}",
        f"{kind}, {kind}",
        loop(steps, "%t = %x, %u = %y", f"{kind}, {kind}", body, "%g, %t")
        + f"\n  return %last#0, %last#1 : {kind}, {kind}",
    )


@pytest.mark.parametrize("steps", [0, 1, 2, 5])
def test_exchange(rng, steps):
    f = TextProgram(swapping(steps))
    x, y = rng.random((2, 64))
    t, u = x, y
    for _ in range(steps):
        t, u = t * u, t
    first, second = f(x, y)
    np.testing.assert_allclose(first, t, rtol=1e-12)
    np.testing.assert_allclose(second, u, rtol=1e-12)


def test_pure_swap(rng):
    """Buffers that come round again and again, with one of them made anew: the way that is always right."""
    kind = "tensor<16xf64>"
    body = elementwise("%g", "%t", kind, kind, "%r = arith.addf %a, %a : f64", "f64")
    f = TextProgram(
        program(
            f"%x: {kind}, %y: {kind}, %z: {kind}",
            f"{kind}, {kind}, {kind}",
            loop(5, "%t = %x, %u = %y, %v = %z", f"{kind}, {kind}, {kind}", body, "%g, %v, %u")
            + f"\n  return %last#0, %last#1, %last#2 : {kind}, {kind}, {kind}",
        )
    )
    x, y, z = rng.random((3, 16))
    kept = x.copy(), y.copy(), z.copy()
    a, b, c = f(x, y, z)
    np.testing.assert_array_equal((a, b, c), (32 * x, z, y))
    np.testing.assert_array_equal((x, y, z), kept)


def test_nested_loops(rng):
    kind = "tensor<32xf64>"
    step = elementwise("%g", "%u", kind, kind, "%r = arith.addf %a, %a : f64", "f64")
    inner = f"""
  %q = arith.constant 3 : index
  %in = scf.for %j = %c0 to %q step %c1 iter_args(%u = %t) -> ({kind}) {{{step}
    scf.yield %g : {kind}
  }}"""
    inner += elementwise("%w", "%in, %t", f"{kind}, {kind}", kind, "%r = arith.subf %a, %b : f64", "f64")
    f = TextProgram(
        program(f"%x: {kind}", kind, loop(4, "%t = %x", kind, inner, "%w") + f"\n  return %last : {kind}")
    )
    x = rng.random(32)
    np.testing.assert_allclose(f(x)[0], x * 7**4, rtol=1e-13)


def test_in_place_update_in_a_loop(rng):
    """`for ...: x[:] = f(x)` ends in the caller's array."""
    kind = "tensor<40xf64>"
    body = elementwise("%g", "%t", kind, kind, "%r = arith.addf %a, %a : f64", "f64")
    text = program(
        f"%x: {kind}", kind, loop(5, "%t = %x", kind, body, "%g") + f"\n  return %last : {kind}",
        attributes=", kern.updated = [0 : i64]",
    )  # fmt: skip
    x = rng.random(40)
    before = x.copy()
    assert TextProgram(text)(x) == []
    np.testing.assert_array_equal(x, 32 * before)


def test_repeated_calls_and_threads(rng):
    import threading

    f = TextProgram(heat(9, 301))
    xs = rng.random((8, 301))
    wrong = []

    def work(x):
        for _ in range(50):
            if not np.allclose(f(x)[0], heat_numpy(x, 9), rtol=1e-12):
                wrong.append(x)

    threads = [threading.Thread(target=work, args=(x,)) for x in xs]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong

"""Text of tensor programs, in f64: pieces, and the programs of known layers."""

from __future__ import annotations

import re
from collections.abc import Sequence


def tensor(*sizes: int, type: str = "f64") -> str:
    return f"tensor<{''.join(f'{n}x' for n in sizes)}{type}>"


def generic(
    result: str, inputs: Sequence[str], into: str, maps: str, kinds: str, body: str, types: Sequence[str] = ()
) -> str:
    """One linalg.generic: ``%x: type`` each; ``(i, j) -> (i), (j)`` gives loops and every operand's map;
    kinds are letters p and r; the body has %a, %b, ... for the inputs and %o for the output."""
    loops, _, places = maps.partition("->")
    maps_text = ", ".join(
        f"affine_map<{loops.strip()} -> ({p.strip().strip('()')})>" for p in places.split("),")
    )
    kinds_text = ", ".join({"p": '"parallel"', "r": '"reduction"'}[k] for k in kinds)
    elements = [re.sub(r"tensor<(?:\d+x)*|>", "", t.split(":")[1].strip()) for t in [*inputs, into]]
    names = [f"%{chr(ord('a') + k)}" for k in range(len(inputs))] + ["%o"]
    arguments = ", ".join(f"{n}: {e}" for n, e in zip(names, elements, strict=True))
    values, kinds_of = [t.split(":")[0].strip() for t in inputs], [t.split(":")[1].strip() for t in inputs]
    ins = f"ins({', '.join(values)} : {', '.join(kinds_of)}) " if inputs else ""
    out, out_type = (part.strip() for part in into.split(":"))
    return (
        f"{result} = linalg.generic {{indexing_maps = [{maps_text}], iterator_types = [{kinds_text}]}}\n"
        f"  {ins}outs({out} : {out_type}) {{\n  ^bb0({arguments}):\n{body}\n  }} -> {out_type}"
    )


def function(arguments: str, body: str, results: Sequence[str]) -> str:
    """``@f``: results are ``%y: type``."""
    values, types = [r.split(":")[0].strip() for r in results], [r.split(":")[1].strip() for r in results]
    given = ", ".join(types)
    head = f"func.func @f({arguments}) -> ({given}) attributes {{kern.program}} {{"
    return f"{head}\n{CONSTANTS}{body}\nreturn {', '.join(values)} : {given}\n}}"


CONSTANTS = """
%zero = arith.constant 0.0 : f64
%one = arith.constant 1.0 : f64
%half = arith.constant 0.5 : f64
%low = arith.constant 0xFFF0000000000000 : f64
%high = arith.constant 0x7FF0000000000000 : f64
%i0 = arith.constant 0 : index
%i1 = arith.constant 1 : index
"""


def full(result: str, type: str, value: str = "%zero") -> str:
    empty = result + "_e"
    return (
        f"{empty} = tensor.empty() : {type}\n"
        f"{result} = linalg.fill ins({value} : f64) outs({empty} : {type}) -> {type}\n"
    )


def pointwise(result: str, inputs: Sequence[str], body: str, type: str) -> str:
    """An elementwise op on tensors of one type; the body's lines end with ``;``, its last value is ``%r``."""
    body = body.replace("; ", "\n")
    rank = type.count("x")
    loops = ", ".join(f"d{k}" for k in range(rank))
    maps = f"({loops}) -> " + ", ".join([f"({loops})"] * (len(inputs) + 1))
    return (
        f"{result}_e = tensor.empty() : {type}\n"
        + generic(
            result,
            [f"{i}: {type}" for i in inputs],
            f"{result}_e: {type}",
            maps,
            "p" * rank,
            f"{body}\nlinalg.yield %r : f64",
        )
        + "\n"
    )


ROW = "(i, j) -> (i, j), (i)"


def reduced(
    result: str, source: str, sizes: tuple[int, int], combine: str, init: str, before: str = ""
) -> str:
    """Rows of a matrix reduced; `combine` gives ``%r`` from %o and %v, `before` gives %v from %a."""
    n, m = sizes
    body = f"{before or '%v = arith.addf %a, %zero : f64'}\n{combine}\nlinalg.yield %r : f64"
    return (
        full(f"{result}_i", tensor(n), init)
        + generic(result, [f"{source}: {tensor(n, m)}"], f"{result}_i: {tensor(n)}", ROW, "pr", body)
        + "\n"
    )


def with_rows(result: str, matrix: str, row: str, sizes: tuple[int, int], body: str) -> str:
    """Elementwise of a matrix and a vector of its rows, as %a and %b."""
    type = tensor(*sizes)
    return f"{result}_e = tensor.empty() : {type}\n" + generic(
        result, [f"{matrix}: {type}", f"{row}: {tensor(sizes[0])}"], f"{result}_e: {type}",
        "(i, j) -> (i, j), (i), (i, j)", "pp", f"{body}\nlinalg.yield %r : f64",
    ) + "\n"  # fmt: skip


ADD = "%r = arith.addf %o, %v : f64"


def softmax(n: int, m: int) -> str:
    x = tensor(n, m)
    body = (
        reduced("%m", "%x", (n, m), "%r = arith.maximumf %o, %v : f64", "%low")
        + with_rows("%e", "%x", "%m", (n, m), "%s = arith.subf %a, %b : f64\n%r = math.exp %s : f64")
        + reduced("%t", "%e", (n, m), ADD, "%zero")
        + with_rows("%y", "%e", "%t", (n, m), "%r = arith.divf %a, %b : f64")
    )
    return function(f"%x: {x}", body, [f"%y: {x}"])


def layernorm(n: int, m: int) -> str:
    x, v = tensor(n, m), tensor(m)
    body = (
        f"%scale = arith.constant {1.0 / m!r} : f64\n%eps = arith.constant 1.0e-5 : f64\n"
        + reduced("%s", "%x", (n, m), ADD, "%zero")
        + with_rows("%d", "%x", "%s", (n, m), "%q = arith.mulf %b, %scale : f64\n%r = arith.subf %a, %q : f64")
        + reduced("%v", "%d", (n, m), ADD, "%zero", "%v = arith.mulf %a, %a : f64")
        + with_rows(
            "%z", "%d", "%v", (n, m),
            "%q = arith.mulf %b, %scale : f64\n%p = arith.addf %q, %eps : f64\n"
            "%t = math.rsqrt %p : f64\n%r = arith.mulf %a, %t : f64",
        )
        + f"%y_e = tensor.empty() : {x}\n"
        + generic(
            "%y", [f"%z: {x}", f"%g: {v}", f"%h: {v}"], f"%y_e: {x}", "(i, j) -> (i, j), (j), (j), (i, j)", "pp",
            "%q = arith.mulf %a, %b : f64\n%r = arith.addf %q, %c : f64\nlinalg.yield %r : f64",
        )
    )  # fmt: skip
    return function(f"%x: {x}, %g: {v}, %h: {v}", body, [f"%y: {x}"])


def conv1d(
    n: int, k: int, stride: int = 1, offset: int = 0, body: str = "%p = arith.mulf %a, %b : f64"
) -> str:
    """y[i] = sum over j of body(x[stride * i + j + offset], w[j]); the body gives %p."""
    out = (n - k - offset) // stride + 1
    place = f"i * {stride} + j + {offset}"
    text = full("%z", tensor(out)) + generic(
        "%y", [f"%x: {tensor(n)}", f"%w: {tensor(k)}"], f"%z: {tensor(out)}",
        f"(i, j) -> ({place}), (j), (i)", "pr", f"{body}\n%s = arith.addf %o, %p : f64\nlinalg.yield %s : f64",
    )  # fmt: skip
    return function(f"%x: {tensor(n)}, %w: {tensor(k)}", text, [f"%y: {tensor(out)}"])


def cut(
    result: str,
    source: str,
    type: str,
    offsets: Sequence[int],
    sizes: Sequence[int],
    strides: Sequence[int] | None = None,
) -> str:
    strides = strides or [1] * len(sizes)
    places = f"{list(offsets)} {list(sizes)} {list(strides)}"
    return f"{result} = tensor.extract_slice {source}{places} : {type} to {tensor(*sizes)}\n"


def heat_step(new: str, old: str, n: int, m: int, nonlinear: bool = False) -> str:
    """The five-point stencil by slices, boundary kept: T + 0.1 * (sum of neighbours - 4 T), or its cosine."""
    whole, inside = tensor(n, m), tensor(n - 2, m - 2)
    text = ""
    for k, (i, j) in enumerate([(1, 1), (0, 1), (2, 1), (1, 0), (1, 2)]):
        text += cut(f"{new}_{k}", old, whole, (i, j), (n - 2, m - 2))
    body = """%s0 = arith.addf %b, %c : f64
%s1 = arith.addf %d, %e : f64
%s2 = arith.addf %s0, %s1 : f64
%f0 = arith.constant 4.0 : f64
%s3 = arith.mulf %f0, %a : f64
%s4 = arith.subf %s2, %s3 : f64
%f1 = arith.constant 0.1 : f64
%s5 = arith.mulf %f1, %s4 : f64
"""
    if nonlinear:
        body += "%s6 = math.cos %a : f64\n%s7 = arith.mulf %s5, %s6 : f64\n%r = arith.addf %a, %s7 : f64"
    else:
        body += "%r = arith.addf %a, %s5 : f64"
    text += pointwise(f"{new}_n", [f"{new}_{k}" for k in range(5)], body, inside)
    return (
        text
        + f"{new} = tensor.insert_slice {new}_n into {old}[1, 1] [{n - 2}, {m - 2}] [1, 1] : {inside} into {whole}\n"
    )


def time_loop(type: str, steps: int, step: str) -> str:
    """``%y`` from ``%x`` by `steps` steps; `step` gives %next from %u."""
    return (
        f"%n = arith.constant {steps} : index\n"
        f"%y = scf.for %t = %i0 to %n step %i1 iter_args(%u = %x) -> ({type}) {{\n{step}scf.yield %next : {type}\n}}\n"
    )

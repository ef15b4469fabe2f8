"""Random products of matrices in array programs, with what is done before and after; NumPy computes the same in f64.

Goes out: a `RandomProduct`: the text of a program `f`, its arguments, what it must give, and the bound of its error,
``c n eps`` of the sum of magnitudes (Higham, Accuracy and Stability of Numerical Algorithms, section 3.1).
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

import numpy as np

SIZES = (1, 2, 3, 4, 5, 7, 8, 9, 13, 16, 17, 31, 33, 48, 64, 65, 100)
LARGE = (250, 384, 511)
BATCHES = ((1,), (2,), (3,), (5,), (2, 3), (3, 1))


@dataclass(frozen=True)
class Form:
    """`left` and `right` are shapes in the letters m, k, n; b stands for batches."""

    expression: str
    left: str
    right: str


FORMS = (
    Form("a @ b", "mk", "kn"),
    Form("a.T @ b", "km", "kn"),
    Form("a @ b.T", "mk", "nk"),
    Form("a.T @ b.T", "km", "nk"),
    Form("a @ b", "mk", "k"),
    Form("a @ b", "k", "kn"),
    Form("a @ b", "bmk", "bkn"),
    Form("a @ b", "bmk", "kn"),
    Form("a @ b", "bmk", "k"),
    Form("a @ b", "mk", "bkn"),
    Form("a @ swapaxes(b, -1, -2)", "bmk", "bnk"),
    Form("(a * b).sum(axis=-1)", "bmk", "bmk"),
)


@dataclass(frozen=True)
class RandomProduct:
    text: str
    arguments: tuple[np.ndarray, ...]
    expected: np.ndarray
    bound: np.ndarray


def random_product(seed: int) -> RandomProduct:
    choose, rng = Random(seed), np.random.default_rng(seed)
    dtype = choose.choice((np.float32, np.float64))
    form = choose.choice(FORMS)
    sizes = LARGE if choose.random() < 0.08 and "b" not in form.left + form.right else SIZES
    lengths = {letter: (choose.choice(sizes),) for letter in "mkn"} | {"b": choose.choice(BATCHES)}

    def array(shape: tuple[int, ...]) -> np.ndarray:
        values = rng.standard_normal(shape).astype(dtype)
        if choose.random() < 0.8:
            return values
        apart = np.zeros([2 * n for n in shape], dtype)[tuple(slice(None, None, 2) for _ in shape)]
        apart[...] = values
        return apart

    def shaped(letters: str) -> np.ndarray:
        return array(tuple(n for letter in letters for n in lengths[letter]))

    a, b = shaped(form.left), shaped(form.right)
    names, arguments, steps = ["a", "b"], [a, b], []
    wide = [x.astype(np.float64) for x in (a, b)]
    for number, name in enumerate(("a", "b")):
        before = choose.choice(("", "", "", "scale", "relu", "columns", "exp"))
        if before == "scale":
            steps.append(f"{name} = {name} * 0.5 - 1.0")
            wide[number] = wide[number] * 0.5 - 1
        elif before == "relu":
            steps.append(f"{name} = pk.maximum({name}, 0.0)")
            wide[number] = np.maximum(wide[number], 0)
        elif before == "columns":
            names.append(f"of_{name}")
            arguments.append(more := array(wide[number].shape[-1:]))
            steps.append(f"{name} = {name} * of_{name}")
            wide[number] = wide[number] * more
        elif before == "exp":
            steps.append(f"{name} = pk.exp({name})")
            wide[number] = np.exp(wide[number])
    prologues = len(steps)
    value = _evaluated(form, *wide)
    size = _evaluated(form, *map(np.abs, wide))
    for step in choose.sample(
        ("scale", "bias", "column", "residual", "relu"), choose.choice((0, 1, 1, 2, 3))
    ):
        if step == "scale":
            steps.append("p = p * 2.0")
            value, size = value * 2, size * 2
        elif step == "relu":
            steps.append("p = pk.maximum(p, 0.0)")
            value = np.maximum(value, 0)
        elif value.ndim > (step == "column"):
            shape = {
                "bias": value.shape[-1:],
                "column": (*value.shape[:-1], 1),
                "residual": value.shape,
            }[step]
            more = array(shape)
            names.append(step)
            arguments.append(more)
            if step == "column":
                steps.append("p = p * column")
                value, size = value * more, size * np.abs(more)
            else:
                steps.append(f"p = {step} - p" if step == "residual" else f"p = p + {step}")
                value = more - value if step == "residual" else value + more
                size = size + np.abs(more)
    product = f"p = {form.expression}".replace("swapaxes", "pk.swapaxes")
    lines = [*steps[:prologues], product, *steps[prologues:], "return p"]
    body = "\n".join(f"    {line}" for line in lines)
    text = f"import pykern as pk\n\n\n@pk.jit\ndef f({', '.join(names)}):\n{body}\n"
    terms = lengths["k"][0] + 8
    return RandomProduct(text, tuple(arguments), value, 4 * terms * np.finfo(dtype).eps * size + 1e-30)


def _evaluated(form: Form, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.asarray(eval(form.expression, {"a": a, "b": b, "swapaxes": np.swapaxes}))

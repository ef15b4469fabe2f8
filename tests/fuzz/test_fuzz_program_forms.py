"""Random programs in forms that are rewritten as a whole, against the same text on NumPy's arrays.

Arrays of all pairs of points, with sums along any of their axes, and sweeps over `range` with bodies of any size, whose
number indexes arrays and is computed with. ``PYKERN_FUZZ=N`` runs N / 100 of each.
"""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from tests.cases.seeds import seeds
from tests.cases.texts import load

HEAD = "import numpy as np\nimport pykern as pk\n\n\n"
UNARY = ("np.abs({0})", "-{0}", "np.sqrt(1 + {0} * {0})", "{0} * {0}", "np.minimum({0}, 0.5)")
BINARY = ("{0} + {1}", "{0} - {1}", "{0} * {1}", "np.maximum({0}, {1})", "np.where({0} < {1}, {0}, 2 * {1})")
ENDS = ("sum", "max", "min", "mean", "prod")


def pairs(random: Random) -> str:
    """A program of pairs: differences of points, operations on them, and reductions along one or two axes."""
    lines = ["d0 = x[:, None] - y[None]"]
    names = ["d0"]
    for number in range(1, random.randrange(2, 5)):
        one, other = random.choice(names), random.choice([*names, "w", "x[:, None]", "m[:, :, None]"])
        form = random.choice(UNARY) if random.random() < 0.5 else random.choice(BINARY)
        lines.append(f"d{number} = {form.format(one, other)}")
        names.append(f"d{number}")
    results = []
    for _ in range(random.randrange(1, 4)):
        axis = random.choice(("axis=2", "axis=1", "axis=0", "axis=2, keepdims=True", "axis=(1, 2)"))
        results.append(f"{random.choice(names)}.{random.choice(ENDS)}({axis})")
    if random.random() < 0.2:
        results.append(names[-1])
    return program("x, y, w, m", [*lines, f"return ({', '.join(results)},)"])


def sweep(random: Random) -> str:
    """A program of one to three loops over rows or columns, forwards or backwards, one in another in part."""
    lines: list[str] = []
    for _ in range(random.randrange(1, 4)):
        down = random.random() < 0.5
        lines.append(f"for i in range({'n - 2, 0, -1' if random.random() < 0.3 else '1, n - 1'}):")
        if random.random() < 0.3:
            lines.append(f"    for j in range({random.choice(('i', 'i + 1, n', '3'))}):")
            lines.append(
                f"        x[j] = x[j] - 0.05 * {term(random, 'j', True)} + 0.05 * {term(random, 'i', True)}"
            )
        for _ in range(random.randrange(1, 4)):
            target = random.choice(("x", "y"))
            terms = [f"0.25 * {term(random, 'i', down)}" for _ in range(random.randrange(1, 5))]
            if random.random() < 0.3:
                terms.append("0.01 * (i % 3) + i / n")
            lines.append(f"    {target}[{'i' if down else ':, i'}] = {' - '.join(terms)}")
    return program("x, y", ["n = x.shape[0]", *lines, "return x + y"])


def term(random: Random, number: str, down: bool) -> str:
    """A row or a column near the number of a loop."""
    near = number + (random.choice((" - 1", "", " + 1")) if number == "i" else "")
    return f"{random.choice('xy')}[{near if down else f':, {near}'}]"


def program(parameters: str, lines: list[str]) -> str:
    body = "\n".join(f"    {line}" for line in lines)
    return f"def plain({parameters}):\n{body}\n\n\n@pk.jit\ndef run({parameters}):\n{body}\n"


@pytest.mark.parametrize("seed", seeds(3))
def test_pairs(seed, tmp_path):
    random, rng = Random(seed), np.random.default_rng(seed)
    length = random.randrange(1, 6)
    x, y, w = (
        rng.standard_normal((n, length)) for n in (random.randrange(9, 40), random.randrange(9, 40), 1)
    )
    m = rng.standard_normal((len(x), len(y)))
    text = pairs(random)
    made = load(HEAD + text, tmp_path)
    for found, expected in zip(made.run(x, y, w[0], m), made.plain(x, y, w[0], m), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9, err_msg=text)


@pytest.mark.parametrize("seed", seeds(3))
def test_sweeps(seed, tmp_path):
    random, rng = Random(seed), np.random.default_rng(seed)
    n = random.choice((5, 19, 34, 61))
    x, y = rng.standard_normal((2, n, n))
    text = sweep(random)
    made = load(HEAD + text, tmp_path)
    given = x.copy(), y.copy()
    with np.errstate(all="ignore"):
        expected = made.plain(x, y)
    found = made.run(*given)
    scale = max(1.0, np.abs(expected).max())
    for one, other in ((found, expected), (given[0], x), (given[1], y)):
        np.testing.assert_allclose(one / scale, other / scale, rtol=1e-9, atol=1e-9, err_msg=text)

"""Short rows in order in a kernel: ``np.sort(x[i, :9])``, ``np.median``.

Comes in: a row of known length. Goes out: its elements after a network of comparisons, NaN last, as NumPy has it.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING

from pykern.frontend import arithmetic, rows
from pykern.frontend.casts import convert
from pykern.frontend.rows import Row, is_row
from pykern.frontend.values import Scalar, Value
from pykern.passes.analysis.cost_model.lengths import SHORT_ROW_OF_VALUES
from pykern.types import f64, weak_int

if TYPE_CHECKING:
    from pykern.frontend.calls import Calls


def _numbers(t: Calls, node: ast.Call, args: list[Value], keywords: dict) -> list[Scalar]:
    """The elements in order. Raises `KernelTypeError` for a row that is long, or of a length that is not known."""
    name = ast.unparse(node.func)
    if len(args) != 1 or keywords or not is_row(args[0]) or len(args[0].shape) != 1:
        raise t.type_error(node, f"`{name}` takes one row in kernels", f"write {name}(x[i, :3])")
    count = rows.known_count(rows.lengths(t, args[0]))
    if count is None or not 0 < count <= SHORT_ROW_OF_VALUES:
        raise t.type_error(node, f"`{name}` takes up to {SHORT_ROW_OF_VALUES} elements, and their number is known",
                           f"write {name}(x[i, :3]), or sort before the launch")  # fmt: skip
    if isinstance(args[0], Row):
        rows.check_fresh(t, node, args[0])
    found = [rows.element_of(t, node, args[0], (Scalar(weak_int, const=k),)) for k in range(count)]
    for end in range(count - 1, 0, -1):  # the greatest of the first ones goes to their end
        for k in range(end):
            found[k], found[k + 1] = _in_order(found[k], found[k + 1])
    return found


def _in_order(a: Scalar, b: Scalar) -> tuple[Scalar, Scalar]:
    swaps = arithmetic.binary("<", b, a)
    if a.dtype.is_float:
        a_alone = arithmetic.binary("&", arithmetic.binary("!=", a, a), arithmetic.binary("==", b, b))
        swaps = arithmetic.binary("|", swaps, a_alone)
    return rows.where(swaps, b, a), rows.where(swaps, a, b)


def sort(t: Calls, node: ast.Call, args: list[Value], keywords: dict) -> Value:
    """``np.sort``: a row."""
    numbers = _numbers(t, node, args, keywords)
    return rows.of_numbers(t, node, numbers, numbers[0].dtype)


def median(t: Calls, node: ast.Call, args: list[Value], keywords: dict) -> Value:
    """The middle element, or the mean of the two in the middle; NaN where one is."""
    numbers = _numbers(t, node, args, keywords)
    dtype = numbers[0].dtype if numbers[0].dtype.is_float else f64
    two = [convert(numbers[k], dtype) for k in ((len(numbers) - 1) // 2, len(numbers) // 2)]
    with t.operands_of(node):
        total = arithmetic.binary("+", *two, t.fastmath)
        middle = arithmetic.binary("*", total, Scalar(dtype, const=0.5), t.fastmath)
    last = convert(numbers[-1], dtype)
    return rows.where(arithmetic.binary("!=", last, last), last, middle)


HANDLERS: dict[str, Callable] = {"sort": sort, "median": median}

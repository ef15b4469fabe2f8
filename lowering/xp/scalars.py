"""Operations on numbers, which are those on whole arrays too, as expressions.

Comes in: the name of an operation of arith or math, texts of its operands. Goes out: a text. Integers have no sign in
MLIR: here they are signed, and operations that take them as unsigned say so.
"""

from __future__ import annotations

from mlir import ir

from pykern.errors import TargetError
from pykern.lowering.xp.libraries import Library

OPERATORS = {
    "arith.addf": "{0} + {1}", "arith.addi": "{0} + {1}", "arith.subf": "{0} - {1}", "arith.subi": "{0} - {1}",
    "arith.mulf": "{0} * {1}", "arith.muli": "{0} * {1}", "arith.divf": "{0} / {1}", "arith.negf": "-{0}",
    "arith.andi": "{0} & {1}", "arith.ori": "{0} | {1}", "arith.xori": "{0} ^ {1}", "arith.shli": "{0} << {1}",
    "arith.shrsi": "{0} >> {1}", "arith.floordivsi": "{0} // {1}", "arith.ceildivsi": "-(-{0} // {1})",
    "arith.remsi": "{0} - quotient({0}, {1}) * {1}", "math.fma": "{0} * {1} + {2}",
}  # fmt: skip
FUNCTIONS = {
    "arith.maximumf": "maximum", "arith.minimumf": "minimum", "arith.maxnumf": "fmax", "arith.minnumf": "fmin",
    "arith.maxsi": "maximum", "arith.minsi": "minimum", "arith.remf": "fmod", "arith.select": "where",
    "math.exp": "exp", "math.exp2": "exp2", "math.expm1": "expm1", "math.log": "log", "math.log2": "log2",
    "math.log10": "log10", "math.log1p": "log1p", "math.sqrt": "sqrt", "math.rsqrt": "rsqrt", "math.cbrt": "cbrt",
    "math.sin": "sin", "math.cos": "cos", "math.tan": "tan", "math.asin": "arcsin", "math.acos": "arccos",
    "math.atan": "arctan", "math.atan2": "arctan2", "math.sinh": "sinh", "math.cosh": "cosh", "math.tanh": "tanh",
    "math.asinh": "arcsinh", "math.acosh": "arccosh", "math.atanh": "arctanh", "math.absf": "abs", "math.absi": "abs",
    "math.ceil": "ceil", "math.floor": "floor", "math.trunc": "trunc", "math.roundeven": "round",
    "math.powf": "power", "math.ipowi": "power", "math.fpowi": "power", "math.copysign": "copysign",
    "math.erf": "erf", "math.erfc": "erfc", "math.isnan": "isnan", "math.isinf": "isinf", "math.isfinite": "isfinite",
}  # fmt: skip
OF_NUMBERS = ("arith.", "math.", "func.call")
"""How the names begin of operations that `expression` takes."""
CALLED = {"hypot": "hypot", "hypotf": "hypot", "nextafter": "nextafter", "nextafterf": "nextafter"}
"""Functions of C that are called by name, as NumPy calls them."""
CASTS = {
    "arith.extf", "arith.truncf", "arith.sitofp", "arith.fptosi", "arith.extsi", "arith.trunci", "arith.index_cast",
}  # fmt: skip
UNSIGNED = {
    "arith.divui": "{0} // {1}", "arith.remui": "{0} % {1}", "arith.shrui": "{0} >> {1}", "arith.uitofp": "{0}",
    "arith.extui": "{0}", "arith.maxui": "maximum", "arith.minui": "minimum", "arith.index_castui": "{0}",
    "arith.fptoui": "{0}",
}  # fmt: skip
_ORDERED = {1: "{0} == {1}", 2: "{0} > {1}", 3: "{0} >= {1}", 4: "{0} < {1}", 5: "{0} <= {1}"}
_FLOATS = {
    **_ORDERED, 6: "({0} < {1}) | ({0} > {1})", 7: "({0} == {0}) & ({1} == {1})",
    8: "~(({0} < {1}) | ({0} > {1}))", 9: "~({0} <= {1})", 10: "~({0} < {1})", 11: "~({0} >= {1})",
    12: "~({0} > {1})", 13: "{0} != {1}", 14: "({0} != {0}) | ({1} != {1})",
}  # fmt: skip
_SAME = {7: "{0} == {0}", 14: "{0} != {0}"}
"""Whether a float is a number, and whether it is none."""
_INTEGERS = {
    0: "{0} == {1}", 1: "{0} != {1}", 2: "{0} < {1}", 3: "{0} <= {1}", 4: "{0} > {1}", 5: "{0} >= {1}",
    6: "{0} < {1}", 7: "{0} <= {1}", 8: "{0} > {1}", 9: "{0} >= {1}",
}  # fmt: skip
_FIRST_UNSIGNED = 6
_FP8 = {"f8E4M3FN": "f8e4m3", "f8E5M2": "f8e5m2"}


def element(kind: ir.Type) -> str:
    """The dtype of numbers or arrays of a type."""
    inner = str(ir.ShapedType(kind).element_type) if isinstance(kind, ir.ShapedType) else str(kind)
    return {"i1": "bool", "index": "i64", **_FP8}.get(inner, inner)


def expression(op: ir.Operation, operands: list[str], library: Library) -> str:
    """An operation. Raises `TargetError` for one that has no text."""
    name = op.name
    if name in OPERATORS:
        return f"({OPERATORS[name].format(*operands)})"
    if name == "arith.divsi":
        return f"quotient({operands[0]}, {operands[1]})"
    if name in FUNCTIONS:
        return library.call(FUNCTIONS[name], operands)
    if name == "func.call":
        callee = ir.FlatSymbolRefAttr(op.attributes["callee"]).value
        if callee not in CALLED:
            raise TargetError(f"the function `{callee}` has no form in {library.name}")
        return library.call(CALLED[callee], operands)
    if name in CASTS:
        return cast(operands[0], op.results[0].type, library)
    if name == "arith.bitcast":
        return library.call("bitcast", [operands[0], library.type(element(op.results[0].type))])
    if name == "arith.cmpf":
        predicate = _number(op, "predicate")
        if op.operands[0] == op.operands[1] and predicate in _SAME:
            return f"({_SAME[predicate].format(operands[0])})"
        return f"({_FLOATS[predicate].format(*operands)})"
    if name == "arith.cmpi":
        predicate = _number(op, "predicate")
        if predicate >= _FIRST_UNSIGNED:
            operands = [unsigned(o, op.operands[0].type, library) for o in operands]
        return f"({_INTEGERS[predicate].format(*operands)})"
    if name in UNSIGNED:
        return _unsigned(op, operands, library)
    raise TargetError(f"`{name}` has no form in {library.name}")


def cast(operand: str, kind: ir.Type, library: Library) -> str:
    """The operand as a type."""
    return library.cast.format(operand, type=library.type(element(kind)))


def unsigned(operand: str, kind: ir.Type, library: Library) -> str:
    """A signed integer as the unsigned one of its bits; a boolean is none."""
    dtype = element(kind)
    return operand if dtype == "bool" else library.cast.format(operand, type=library.type(f"u{dtype[1:]}"))


def _unsigned(op: ir.Operation, operands: list[str], library: Library) -> str:
    form = UNSIGNED[op.name]
    if op.name != "arith.fptoui":
        operands = [unsigned(o, op.operands[0].type, library) for o in operands]
    text = f"({form.format(*operands)})" if "{" in form else library.call(form, operands)
    return cast(text, op.results[0].type, library)


def _number(op: ir.Operation, name: str) -> int:
    return ir.IntegerAttr(op.attributes[name]).value


def literal(attribute: ir.Attribute, kind: ir.Type) -> str:
    """A number as Python writes it."""
    if str(kind) == "i1":
        return str(bool(ir.IntegerAttr(attribute).value))
    if isinstance(kind, ir.IntegerType | ir.IndexType):
        return str(ir.IntegerAttr(attribute).value)
    value = ir.FloatAttr(attribute).value
    if value != value or value in (float("inf"), float("-inf")):
        return f'float("{value}")'
    return repr(value)

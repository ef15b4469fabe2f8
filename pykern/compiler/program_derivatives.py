"""The derivatives of an array program: from what its source asks for to functions of the module.

Comes in: the module of the primal and the source. Goes out: the same module, whose program is the
derivative: see `ProgramDerivative` for its arguments and results.
"""

from __future__ import annotations

import copy
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from mlir import ir
from mlir.dialects import func, tensor

from pykern.compiler.derivative_results import (
    drop_seeds_of_updated,
    dtype_of,
    gradient_tree,
    jvp_tree,
    keep_results,
    numbered,
    result_tree,
    seed,
)
from pykern.compiler.program_halves import backward_half, forward_half, is_float_constant
from pykern.data.program_source import ProgramDerivative, ProgramSource
from pykern.data.source import (
    COMPLEX,
    DICT,
    LIST,
    ArgSpec,
    ArraySpec,
    Parameter,
    ScalarSpec,
    StructSpec,
    leaves,
)
from pykern.dialect import attributes as kern
from pykern.dialect.diagnostics import span_of
from pykern.errors import KernelTypeError
from pykern.frontend.kernel import argument_names
from pykern.passes import kernels
from pykern.passes.autodiff.tensor.forward import forward
from pykern.passes.autodiff.tensor.reverse import reverse
from pykern.passes.autodiff.tensor.values import is_float
from pykern.passes.framework import Upstream, run_pass, verify
from pykern.passes.kernel.reuse_loads import ReuseLoads
from pykern.passes.kernel.simplify import Simplify
from pykern.passes.kernels import integers, programs
from pykern.passes.tensor.inline_helpers import InlineHelpers
from pykern.passes.tensor.outline_launches import OutlineLaunches
from pykern.passes.tensor.raise_launches import RaiseLaunches


def undifferentiated(source: ProgramSource) -> ProgramSource:
    """The source of the program as the user wrote it."""
    source = source.residuals_source()
    count = len(source.parameters) - sum(source.added)
    return replace(source, parameters=source.parameters[:count], derivatives=(), added=())


def differentiate(module: ir.Module, source: ProgramSource, record: Any) -> None:
    """Take the derivatives of the source in order. Raises `NotDifferentiable`, `KernelTypeError`."""
    whole, source = source, source.residuals_source()
    count = len(source.parameters) - sum(source.added)
    if source.derivatives:
        for step in (RaiseLaunches(), OutlineLaunches(), Simplify(), ReuseLoads()):
            run_pass(step, module)
    for derivative, added in zip(whole.derivatives, whole.added, strict=True):
        started = time.perf_counter()
        before = replace(source, parameters=source.parameters[:count])
        run_pass(Upstream("canonicalize,cse", bodies=True), module)
        _take(module, before, derivative)
        _name_added(module, source.parameters[count : count + added])
        verify(module, "differentiation made invalid IR")
        run_pass(Upstream("canonicalize,cse", bodies=True), module)
        count += added
        pulls = derivative.kind == "pullback"
        _check_arguments(module, whole if pulls else replace(source, parameters=source.parameters[:count]))
        run_pass(InlineHelpers(keep=True), module)  # of what is left: the next derivative sees through them
        record.add(derivative.kind, str(module) if record.texts else "", started)


def _take(module: ir.Module, source: ProgramSource, derivative: ProgramDerivative) -> None:
    primal = cast(func.FuncOp, programs(module)[0].opview)
    active, trees = _active(source, derivative, primal)
    tree = result_tree(primal)
    kept = len(primal.type.results) - len(integers(primal.operation, kern.UPDATED) or ())
    with primal.location:
        if derivative.kind == "jvp":
            made = forward(primal, active)
            keep_results(made, jvp_tree(primal, tree))
        else:
            made = reverse(primal, active, derivative.checkpoint)
            seeds = len(made.arguments) - len(primal.arguments)
            if derivative.kind == "gradient":
                seed(made, seeds, _objective(primal, tree, derivative))
                first = len(primal.type.results)
                gradients = numbered(trees, first)
                keep_results(made, gradient_tree(tree, gradients, derivative))
            else:
                drop_seeds_of_updated(made, primal, kept)
                _keep_half(module, primal, made, derivative, _Forms(tree, trees, source.pullback_name()))
    name = primal.operation.attributes["sym_name"]
    primal.operation.erase()
    made.operation.attributes["sym_name"] = name


def _name_added(module: ir.Module, parameters: Sequence[Parameter]) -> None:
    """The arguments that a derivative adds are called as its parameters: the next derivative may be by them."""
    attributes = programs(module)[0].operation.attributes
    names = [name for p in parameters for name in argument_names(p.spec, p.name)]
    given = list(ir.ArrayAttr(attributes["arg_attrs"]))
    named = [ir.DictAttr.get({kern.NAME: ir.StringAttr.get(name)}) for name in names]
    attributes["arg_attrs"] = ir.ArrayAttr.get([*given[: len(given) - len(named)], *named])


def _check_arguments(module: ir.Module, source: ProgramSource) -> None:
    """What is passed for the added parameters is what the derivative takes; an array without dimensions stands for a
    number, as JAX passes them."""
    program = programs(module)[0]
    given = [s for p in source.parameters for s in leaves(p.spec)]
    _read_numbers(program, given)
    taken = [a.type for a in kernels.body(program).arguments]
    fits = len(taken) == len(given) and all(
        _fits(kind, spec) for kind, spec in zip(taken, given, strict=True)
    )
    if not fits:
        raise KernelTypeError(
            f"the derivative takes {', '.join(map(str, taken))}, and is given {', '.join(map(str, given))}",
            span_of(program.location),
            "give tangents and cotangents the shape and dtype of what they belong to",
        )


def _read_numbers(program: ir.Operation, given: Sequence[ArgSpec]) -> None:
    """Take arrays without dimensions where these are given for numbers, and numbers for such arrays."""
    block = kernels.body(program)
    is_changed = False
    for argument, spec in zip(block.arguments, given, strict=False):
        is_array = isinstance(argument.type, ir.ShapedType)
        with ir.InsertionPoint.at_block_begin(block), program.location:
            if isinstance(spec, ArraySpec) and not spec.shape and not is_array:
                argument.set_type(ir.RankedTensorType.get([], argument.type))
                taken = tensor.ExtractOp(argument, [])
            elif isinstance(spec, ScalarSpec) and is_array and not ir.ShapedType(argument.type).rank:
                kind = argument.type
                argument.set_type(ir.ShapedType(kind).element_type)
                taken = tensor.FromElementsOp(kind, [argument])
            else:
                continue
        argument.replace_all_uses_except(taken.result, taken.operation)
        is_changed = True
    if is_changed:
        results = ir.FunctionType(ir.TypeAttr(program.attributes["function_type"]).value).results
        kernels.update_type(program, results)


def _fits(kind: ir.Type, spec: ArraySpec | ScalarSpec) -> bool:
    if isinstance(spec, ScalarSpec):
        return not isinstance(kind, ir.ShapedType)
    return isinstance(kind, ir.ShapedType) and tuple(ir.ShapedType(kind).shape) == spec.shape


@dataclass(frozen=True)
class _Forms:
    """Of the program's value and of the cotangents of its arguments; and what its pullback is called."""

    value: Any
    cotangents: Any
    pullback: str


def _keep_half(
    module: ir.Module, primal: func.FuncOp, made: func.FuncOp, derivative: ProgramDerivative, forms: _Forms
) -> None:
    """All of the vjp, or the half that is asked for."""
    if derivative.kind == "residuals":
        tree = forward_half(module, primal, made, forms.value, forms.pullback, derivative.borrowed)
        keep_results(made, tree, list(integers(primal.operation, kern.UPDATED) or ()))
        return
    first = len(primal.type.results)
    if derivative.kind == "pullback":
        backward_half(module, primal, made, derivative.borrowed)
        first = 0
    keep_results(made, numbered(forms.cotangents, first))


def _active(
    source: ProgramSource, derivative: ProgramDerivative, primal: func.FuncOp
) -> tuple[list[int], Any]:
    """Numbers of the float arguments of the active parameters, and the form of their derivatives.

    In the form, a leaf is the position of its argument among them.
    """
    places = _places(source, primal)
    active: list[int] = []
    forms: list[Any] = []
    for place, number in enumerate(derivative.active):
        if number in derivative.active[:place]:
            forms.append(copy.deepcopy(forms[derivative.active.index(number)]))
            continue
        parameter, before = source.parameters[number], len(active)
        forms.append(_form(parameter.name, parameter.spec, iter(places[number]), primal, active))
        if len(active) == before:
            raise KernelTypeError(
                f"`{parameter.name}` holds no float: nothing can be differentiated by it",
                span_of(primal.location),
                "pass floats (3.0, x.astype(float)), or choose other parameters with argnums",
            )
    return active, forms[0] if len(forms) == 1 and not derivative.several else {"tuple": forms}


def _form(name: str, spec: ArgSpec, places: Iterator[int], primal: func.FuncOp, active: list[int]) -> Any:
    """The derivative of a parameter: as the parameter is made, null for what is no float. `active` gets the others."""
    if isinstance(spec, StructSpec) and spec.name == COMPLEX:
        return _complex_form(name, spec, places, primal, active)
    if isinstance(spec, StructSpec):
        items = {n: _form(f"{name}.{n}", inner, places, primal, active) for n, inner in spec.fields}
        if spec.name == DICT:
            return {"dict": items}
        form: dict[str, Any] = {"tuple": list(items.values())}
        if all(n.isdigit() for n in items):
            return form | ({"list": True} if spec.name == LIST else {})
        return form | {"name": spec.name, "fields": list(items)}
    if not isinstance(spec, ArraySpec | ScalarSpec):
        return None
    argument = next(places)
    kind = primal.arguments[argument].type
    if not is_float(kind):
        return None
    active.append(argument)
    return {"array" if isinstance(kind, ir.ShapedType) else "scalar": len(active) - 1}


def _complex_form(
    name: str, spec: StructSpec, places: Iterator[int], primal: func.FuncOp, active: list[int]
) -> Any:
    """The derivative of a complex array: by the real and the imaginary part, as the two parts of a complex array."""
    (_, parts), *others = spec.fields
    if others:
        raise KernelTypeError(
            f"`{name}` is a complex number, and derivatives are by complex arrays",
            span_of(primal.location),
            f"pass an array without dimensions, np.array({name}), or choose other parameters with argnums",
        )
    return _form(name, parts, places, primal, active) | {"complex": "array"}


def _places(source: ProgramSource, primal: func.FuncOp) -> list[list[int]]:
    """For each parameter the numbers of its arguments. One name may stand for several: keys of dicts have dots, too."""
    found: dict[str, list[int]] = {}
    for number, attributes in enumerate(primal.operation.attributes["arg_attrs"]):
        name = ir.StringAttr(ir.DictAttr(attributes)[kern.NAME]).value
        found.setdefault(name, []).append(number)
    return [[found[name].pop(0) for name in argument_names(p.spec, p.name)] for p in source.parameters]


def _objective(primal: func.FuncOp, tree: Any, derivative: ProgramDerivative) -> int | None:
    """The number of the result that is differentiated; None for a constant. Raises where it is not one float."""
    leaf = tree
    if derivative.aux:
        if not isinstance(tree, dict) or not tree.get("tuple"):
            raise KernelTypeError(
                f"with has_aux=True a program returns (float, anything), not {_in_words(tree, primal)}",
                span_of(primal.location),
                "return a tuple, or leave has_aux out",
            )
        leaf = tree["tuple"][0]
    number = leaf.get("array", leaf.get("scalar")) if isinstance(leaf, dict) else None
    kind = None if number is None else primal.type.results[number]
    is_one_float = is_float_constant(leaf) if kind is None else is_float(kind) and not _rank(kind)
    if not is_one_float:
        raise KernelTypeError(
            f"a gradient needs a program that returns one float, not {_in_words(leaf, primal)}",
            span_of(primal.location),
            "return a real number: z.real, or abs(z)" if _is_complex(leaf) else _instead(leaf, kind),
        )
    return number


def _is_complex(leaf: Any) -> bool:
    return isinstance(leaf, dict) and "complex" in leaf


def _rank(kind: ir.Type) -> int:
    return ir.ShapedType(kind).rank if isinstance(kind, ir.ShapedType) else 0


def _instead(leaf: Any, kind: ir.Type | None) -> str:
    if leaf is None:
        return "return the float"
    if "constant" in leaf or (kind is not None and not is_float(kind)):
        return "integers and bools have no derivative: convert to a float before the sum, x.astype(pk.f64)"
    return "sum it up, use has_aux=True for further results, or pk.vjp"


def _in_words(leaf: Any, primal: func.FuncOp) -> str:
    """What a program returns, for a reader."""
    if leaf is None:
        return "None"
    if "tuple" in leaf:
        return f"a tuple of {len(leaf['tuple'])}"
    if "dict" in leaf:
        return "a dict"
    if "constant" in leaf:
        return repr(leaf["constant"])
    kind = primal.type.results[leaf.get("array", leaf.get("scalar"))]
    if _is_complex(leaf):
        return "a complex number" if _rank(kind) == 1 else "a complex array"
    name = leaf.get("dtype") or dtype_of(kind)
    return f"an array {name}{list(ir.ShapedType(kind).shape)}" if _rank(kind) else f"a number of type {name}"

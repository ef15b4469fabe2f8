"""What is not differentiated says so at its line; what is asked wrongly, too; and the signature that results."""

from __future__ import annotations

import pytest
from mlir import ir

from pykern.dialect.context import new_context
from pykern.errors import NotDifferentiable, PassError
from pykern.passes.autodiff.tensor.forward import Forward
from pykern.passes.autodiff.tensor.reverse import Reverse
from pykern.passes.autodiff.tensor.schedule import least_steps, schedule
from pykern.passes.framework import Pass, run_pass
from pykern.passes.registry import parse_pipeline
from tests.cases.tensor_texts import function, generic, pointwise, tensor, time_loop

V = tensor(6)
AT = ' loc("model.py":12:4)'


def transformed(text: str, *passes: Pass) -> str:
    with new_context(), ir.Location.unknown():
        module = ir.Module.parse(text)
        for step in passes:
            run_pass(step, module)
        return str(module)


UNKNOWN = {
    "memory": (
        f"%m = bufferization.to_buffer %x : {V} to memref<6xf64>{AT}\n"
        f"%y = bufferization.to_tensor %m : memref<6xf64> to {V}",
        V,
    ),
    "a branch in a body": (
        f"%e = tensor.empty() : {V}\n"
        + generic(
            "%y",
            [f"%x: {V}"],
            f"%e: {V}",
            "(i) -> (i), (i)",
            "p",
            "%p = arith.cmpf ogt, %zero, %one : f64\n%r = scf.if %p -> (f64) { scf.yield %a : f64 }"
            f" else {{ scf.yield %one : f64 }}{AT}\nlinalg.yield %r : f64",
        ),
        V,
    ),
    "a captured tensor": (
        f"%e = tensor.empty() : {V}\n"
        + generic(
            "%y",
            [],
            f"%e: {V}",
            "(i) -> (i)",
            "p",
            f"%s = tensor.extract_slice %x[0] [1] [1] : {V} to tensor<1xf64>{AT}\n"
            "%r = tensor.extract %s[%i0] : tensor<1xf64>\nlinalg.yield %r : f64",
        ),
        V,
    ),
    "softmax": (
        f"%e = tensor.empty() : tensor<2x3xf64>\n%m = tensor.expand_shape %x [[0, 1]] output_shape [2, 3] : {V} into"
        " tensor<2x3xf64>\n%y = linalg.softmax dimension(1) ins(%m : tensor<2x3xf64>) outs(%e : tensor<2x3xf64>)"
        f" -> tensor<2x3xf64>{AT}",
        "tensor<2x3xf64>",
    ),
    "bits": (
        f"%v = tensor.extract %x[%i0] : {V}\n%b = arith.bitcast %v : f64 to i64{AT}\n%y = arith.sitofp %b : i64 to f64",
        "f64",
    ),
    "a function of an element": (
        f"%v = tensor.extract %x[%i0] : {V}\n%y = math.clampf %v to [%zero, %one] : f64{AT}",
        "f64",
    ),
}


@pytest.mark.parametrize("mode", [Reverse(), Forward()], ids=["reverse", "forward"])
@pytest.mark.parametrize("case", UNKNOWN)
def test_refused_at_its_line(case, mode):
    body, type = UNKNOWN[case]
    with pytest.raises(NotDifferentiable) as raised:
        transformed(function(f"%x: {V}", body, [f"%y: {type}"]), mode)
    span = raised.value.span
    assert span is not None and (span.file, span.line) == ("model.py", 12)


def test_an_op_without_rule_that_does_not_matter():
    """It is not reached by what is differentiated."""
    body = "%y = math.absf %c : f64\n%z = math.clampf %d to [%zero, %one] : f64\n"
    text = function("%c: f64, %d: f64", body, ["%y: f64", "%z: f64"])
    assert "@f.vjp" in transformed(text, Reverse(active="0"))
    with pytest.raises(NotDifferentiable):
        transformed(text, Reverse(active="0,1"))


def test_binomial_needs_the_trip_count():
    step = pointwise("%next", ["%u"], "%r = math.cos %a : f64", V)
    body = f"%y = scf.for %t = %i0 to %n step %i1 iter_args(%u = %x) -> ({V}) {{\n{step}scf.yield %next : {V}\n}}{AT}"
    with pytest.raises(NotDifferentiable, match="trip count") as raised:
        transformed(function(f"%x: {V}, %n: index", body, [f"%y: {V}"]), Reverse(checkpoint="binomial(2)"))
    assert raised.value.hint is not None and "every(k)" in raised.value.hint
    assert raised.value.span is not None and raised.value.span.line == 12


@pytest.mark.parametrize("checkpoint", ["some", "every", "every(0)", "binomial(-1)", "all(3)"])
def test_checkpoints_that_are_none(checkpoint):
    text = function(
        f"%x: {V}", time_loop(V, 3, pointwise("%next", ["%u"], "%r = math.cos %a : f64", V)), [f"%y: {V}"]
    )
    with pytest.raises(PassError, match="checkpoint"):
        transformed(text, Reverse(checkpoint=checkpoint))


def test_integers_are_not_active():
    with pytest.raises(PassError, match="argument 1 is no float"):
        transformed(function("%c: f64, %n: i32", "", ["%c: f64"]), Reverse(active="0,1"))


@pytest.mark.parametrize(("active", "words"), [("2", "has no argument 2"), ("0,0", "asked for twice")])
def test_wrong_arguments(active, words):
    for mode in (Reverse(active=active), Forward(active=active)):
        with pytest.raises(PassError, match=words):
            transformed(function("%c: f64, %n: i32", "", ["%c: f64"]), mode)


def test_unknown_function():
    with pytest.raises(PassError, match="no function `g`"):
        transformed(function("%c: f64", "", ["%c: f64"]), Reverse(function="g"))


def test_signature():
    text = """func.func @f(%x: tensor<6xf64> {kern.name = "x"}, %n: i64 {kern.name = "n"}, %c: f32 {kern.name = "c"})
    -> (tensor<6xf64> {kern.name = "y"}, i64, f32) attributes {kern.program} {
    return %x, %n, %c : tensor<6xf64>, i64, f32 }"""
    found = transformed(text, Reverse(), Forward(function="f"))
    assert (
        'func.func @f.vjp(%arg0: tensor<6xf64> {kern.name = "x"}, %arg1: i64 {kern.name = "n"}, '
        '%arg2: f32 {kern.name = "c"}, %arg3: tensor<6xf64> {kern.name = "y.cotangent"}, '
        '%arg4: f32 {kern.name = "result2.cotangent"}) -> '
        '(tensor<6xf64> {kern.name = "y"}, i64, f32, tensor<6xf64>, f32) '
        "attributes {kern.program} {\n    return %arg0, %arg1, %arg2, %arg3, %arg4"
    ) in found
    assert '%arg3: tensor<6xf64> {kern.name = "x.tangent"}, %arg4: f32 {kern.name = "c.tangent"})' in found


def test_pipeline_text():
    text = (
        "builtin.module(kern-reverse{function=f active=0,2 checkpoint=every(4)},kern-forward{function=f.vjp})"
    )
    assert str(parse_pipeline(text)) == text


@pytest.mark.parametrize("kept", [1, 2, 3, 5, 9])
def test_the_schedule_is_the_best(kept):
    """Against the recurrence of dynamic programming, and by running it."""
    best = {(1, s): 0 for s in range(kept + 1)}
    for n in range(2, 40):
        best[n, 1] = n * (n - 1) // 2
        for s in range(2, kept + 1):
            best[n, s] = min(m + best[m, s] + best[n - m, s - 1] for m in range(1, n))
    for n in range(1, 40):
        plan = schedule(n, kept)
        assert least_steps(n, kept) == best[n, kept] == plan.steps + plan.first[-1]
        slots = dict(enumerate(plan.first))
        for trip in reversed(range(n)):
            for replay in plan.replays[trip]:
                assert slots[replay.source] == replay.first < replay.last
                slots[replay.target] = replay.last
            assert slots[plan.states[trip]] == trip
        assert max(slots) <= kept


def test_the_known_optimum():
    """Griewank and Walther's 200 steps with 9 states besides the first: 2.61 steps a step."""
    assert least_steps(200, 10) == 522

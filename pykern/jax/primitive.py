"""`Call`: a program as a primitive of JAX, with all of its rules.

Comes in: a `Callee`, and how the call is a batch of calls. Goes out: results. Derivatives are calls of the callee's
derivatives: tangents are a call that is linear by the tangents it takes, and whose transposition gives cotangents. A
batch is one call, in which the handler goes through it. Read next: `reverse`, where a call keeps residuals.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from pykern.data.artifact import ResultSpec
from pykern.errors import NotDifferentiable
from pykern.jax.callee import Callee
from pykern.jax.code import jax_dtype, unsharded
from pykern.jax.cut_rule import CutRule
from pykern.jax.device_code import device_code_of, gpus_here
from pykern.jax.framework import Array, ad, batching, core, jax, jnp, mlir, needs_devices
from pykern.jax.halves import Halves


@dataclass(frozen=True)
class Batch:
    """A call for each of `shape`: these lengths stand in front of the results, and of the arguments that are
    `batched`."""

    shape: tuple[int, ...]
    batched: tuple[bool, ...]

    def behind(self, more: Sequence[bool]) -> Batch:
        """The same, for a callee that takes further arguments."""
        return Batch(self.shape, (*self.batched, *more))


call_p = core.Primitive("pykern")
call_p.multiple_results = True


@dataclass(frozen=True)
class Call:
    """A call that gives those results that are `kept`. `tangents_of`, where it gives tangents: the callee and its
    parameters whose tangents come behind its arguments; by these it is linear.

    `halves`, where residuals are kept: a call of the program gives those of the forward half behind its results, and
    calls of the derivatives take them behind their arguments. Nothing is differentiated by a residual: derivatives are
    those of the arguments, which a call has, too.
    """

    callee: Callee
    batch: Batch
    kept: tuple[int, ...]
    tangents_of: tuple[Callee, tuple[int, ...]] | None = None
    halves: Halves | None = None

    def bind(self, *arrays: Array) -> list[Array]:
        """Call it, under whatever JAX does."""
        return call_p.bind(*arrays, call=self)

    @property
    def _is_cut(self) -> bool:
        """Whether devices may compute parts of it."""
        is_whole = not self.batch.shape and self.tangents_of is None and self.halves is None
        return is_whole and self.callee.resized is not None and self.callee.sharding is not None

    @property
    def _rule(self) -> CutRule:
        rule = self.callee.sharding
        assert rule is not None
        return rule.keeping(self.kept)

    def kinds(self, *given: Any) -> list[Any]:
        """The types of the results."""
        like, results = given[0] if given else None, self.results
        explicit = next((kind for kind in given if kind.sharding.mesh.explicit_axes), None)
        specs = self._specs(given) if explicit is not None else None
        return [
            _kind(
                explicit or like,
                (*self.batch.shape, *results[n].shape),
                jax_dtype(results[n], n),
                specs and specs[n],
            )
            for n in self.kept
        ]

    def _specs(self, given: Sequence[Any]) -> list[Any]:
        """How results are cut whose types say so (`jax.sharding.AxisType.Explicit`), as those of the arguments do."""
        depth = len(self.batch.shape)
        cuts = [
            (*(None,) * depth * (not is_batched), *kind.sharding.spec)
            for kind, is_batched in zip(given, self.batch.batched, strict=True)
        ]
        front = [next((cut[n] for cut in cuts if cut[n] is not None), None) for n in range(depth)]
        callee = self.callee if self.tangents_of is None else self.tangents_of[0]
        if callee.sharding is None or callee.resized is None:
            inner: list[Any] = [(None,) * len(result.shape) for result in self.results]
        else:
            inner = list(callee.sharding.specs([cut[depth:] for cut in cuts[: len(callee.leaves)]]))
            inner += [inner[n] for n in callee.float_results] if self.tangents_of is not None else []
        specs = [(*front, *(None if axis in front else axis for axis in spec)) for spec in inner]
        return [jax.sharding.PartitionSpec(*spec) for spec in specs]

    @property
    def results(self) -> tuple[ResultSpec, ...]:
        """All that the callee gives. Tangents are what they belong to: no code of theirs is asked for, which reverse
        mode never runs."""
        if self.tangents_of is None:
            return self._computed.code.results
        callee, _ = self.tangents_of
        found = callee.code.results
        return (*found, *(found[n] for n in callee.float_results))

    # -- what is computed --------------------------------------------------------------------------

    @property
    def _computed(self) -> Callee:
        """The program that runs."""
        if self.halves is None or self.tangents_of is not None:
            return self.callee
        return self.halves.forward if self.callee is self.halves.primal else self.halves.backward

    def _taken(self, operands: Sequence[Any]) -> list[Any]:
        """What that program takes of the operands, or of what is said of each."""
        count = len(self.callee.leaves)
        if self.halves is None or self._computed is not self.halves.backward:
            return list(operands[:count])
        arguments = len(self.halves.primal.leaves)
        return self.halves.operands(operands[:arguments], operands[arguments:count], operands[count:])

    def expand(self, *arrays: Array) -> list[Array]:
        """The call; each device computes its part of it where the program's rule lets dimensions be cut."""
        if arrays and jax.typeof(arrays[0]).manual_axis_type.empty and self._is_cut:
            return list(self._rule.partitioned(self.on_one, self._on_part)(*arrays))
        return self.on_one(*arrays)

    def _on_part(self, *arrays: Array) -> list[Array]:
        resized = self.callee.resized
        assert resized is not None
        return replace(self, callee=resized([a.shape for a in arrays])).on_one(*arrays)

    def on_one(self, *arrays: Array) -> list[Array]:
        """On the CPU by the handler, elsewhere by the portable source, which XLA compiles; where there is none, on this
        machine's GPUs by handlers too."""
        ways: dict[str, Any] = {"cpu": functools.partial(self._here, "cpu")}
        if self._computed.portable is not None:
            ways["default"] = self._elsewhere
        else:
            ways |= {kind: functools.partial(self._here, kind) for kind in gpus_here()}
        return jax.lax.platform_dependent(*arrays, **ways)

    def _here(self, kind: str, *arrays: Array) -> list[Array]:
        like = jax.typeof(arrays[0]) if arrays else None
        code = self._computed.code if kind == "cpu" else device_code_of(self._computed.source, kind)
        found = code.call(self._taken(arrays), self.batch.shape, like)
        return [found[n] for n in self.kept]

    def _elsewhere(self, *arrays: Array) -> list[Array]:
        function, results = self._computed.portable, self.results
        assert function is not None
        for _ in self.batch.shape:
            function = jax.vmap(function, tuple(0 if b else None for b in self._taken(self.batch.batched)))
        found = function(*self._taken(arrays))
        return [found[n].astype(jax_dtype(results[n], n)) for n in self.kept]

    # -- derivatives -------------------------------------------------------------------------------

    def jvp(self, arrays: Sequence[Array], tangents: Sequence[Any]) -> tuple[list[Array], list[Any]]:
        """Results and their tangents. The results are a call of their own: the tangents alone may be a batch."""
        nonzero = [n for n, t in enumerate(tangents) if not isinstance(t, ad.Zero)]
        parameters = self.parameters_of(nonzero)
        results = self.bind(*arrays)
        return results, self.tangents(parameters, arrays[: len(self.callee.leaves)], tangents, results)

    def parameters_of(self, operands: Sequence[int]) -> tuple[int, ...]:
        """The callee's parameters that some of the operands belong to; none do that are residuals."""
        return self.callee.parameters_of(n for n in operands if n < len(self.callee.leaves))

    def tangents(
        self,
        parameters: tuple[int, ...],
        arguments: Sequence[Array],
        tangents: Sequence[Any],
        results: Sequence[Array],
        halves: Halves | None = None,
        residuals: Sequence[Array] = (),
    ) -> list[Any]:
        """Those of the results, by the tangents of these parameters: a call that is linear by them. Its transposition
        takes the residuals, where there are `halves`."""
        callee = self.callee
        active, count = callee.floats_of(parameters), len(callee.leaves)
        given = [ad.instantiate_zeros(tangents[n]) for n in active]
        first = len(callee.code.results)
        places = {n: first + k for k, n in enumerate(callee.float_results)}
        kept = tuple(places[n] for n in self.kept if n in places)
        own = Batch(self.batch.shape, self.batch.batched[:count])
        batch = own.behind([own.batched[n] for n in active]).behind([bool(own.shape)] * len(residuals))
        call = Call(callee.pushed(parameters), batch, kept, (callee, parameters), halves)
        found = iter(call.bind(*alike(*arguments, *given, *residuals)))
        return [
            next(found) if n in places else ad.Zero(jax.typeof(r).to_tangent_aval())
            for n, r in zip(self.kept, results, strict=True)
        ]

    def transpose(self, cotangents: Sequence[Any], *arguments: Any) -> list[Any]:
        """Of a call that gives tangents: the cotangents of the tangents that it takes."""
        if self.tangents_of is None:
            raise NotDifferentiable(f"`{self.callee.name}` is not linear")
        callee, parameters = self.tangents_of
        count, results = len(callee.leaves), len(callee.code.results)
        by_result = dict(zip(self.kept, cotangents, strict=True))
        given = {n: by_result.get(results + k) for k, n in enumerate(callee.float_results)}
        batch = Batch(self.batch.shape, self.batch.batched[:count])
        active = callee.floats_of(parameters)
        residuals = arguments[count + len(active) :]
        pulled = _pull(callee, parameters, arguments[:count], given, batch, self.halves, residuals)
        wanted = zip(active, arguments[count : count + len(active)], strict=True)
        found = [pulled[n] if ad.is_undefined_primal(a) else None for n, a in wanted]
        return [None] * count + found + [None] * len(residuals)

    # -- batches -----------------------------------------------------------------------------------

    def batched(self, arrays: Sequence[Array], dims: Sequence[int | None]) -> tuple[list[Array], list[int]]:
        """One call of the batch: its length comes in front of what stands there already."""
        size = next(a.shape[d] for a, d in zip(arrays, dims, strict=True) if d is not None)
        shape, inner = (size, *self.batch.shape), len(self.batch.shape)
        whole = [d is not None or b for d, b in zip(dims, self.batch.batched, strict=True)]
        if self.tangents_of is None:
            for argument, _ in self._computed.code.aliases:
                whole[argument] = True
        given = []
        for n, (array, dim) in enumerate(zip(arrays, dims, strict=True)):
            if not whole[n]:
                given.append(array)
                continue
            front = jnp.expand_dims(array, 0) if dim is None else jnp.moveaxis(array, dim, 0)
            if not self.batch.batched[n]:
                front = jnp.expand_dims(front, tuple(range(1, 1 + inner)))
            given.append(jnp.broadcast_to(front, (*shape, *front.shape[1 + inner :])))
        found = replace(self, batch=Batch(shape, tuple(whole))).bind(*alike(*given))
        return found, [0] * len(found)


@functools.partial(jax.jit, static_argnums=0)
def _executable(call: Call, *arrays: Array) -> list[Array]:
    return call.bind(*arrays)


@call_p.def_impl
def _eager(*arrays: Array, call: Call) -> list[Array]:
    """A call of its own is an executable, also where `jax.disable_jit` asks for calls one by one."""
    with jax.disable_jit(False):
        return _executable(call, *arrays)


call_p.def_abstract_eval(lambda *given, call: call.kinds(*given))


def _lowered(context: Any, *values: Any, call: Call) -> Any:
    """On several devices their number decides: custom_partitioning wants to be asked for no other."""
    several = getattr(context.module_context.axis_context, "num_devices", 1) > 1
    compute = call.expand if several else call.on_one
    mesh = next((m for k in context.avals_in if (m := k.sharding.mesh).explicit_axes), None)
    if mesh is None or mesh.manual_axes:
        return mlir.lower_fun(lambda *arrays: compute(*arrays), multiple_results=True)(context, *values)

    out = context.avals_out

    def constrained(*arrays: Array) -> list[Array]:
        kinds = zip(compute(*arrays), out, strict=True)
        return [jax.lax.with_sharding_constraint(found, kind.sharding.spec) for found, kind in kinds]

    context = context.replace(
        avals_in=[jax.core.ShapedArray(k.shape, k.dtype) for k in context.avals_in],
        avals_out=[jax.core.ShapedArray(k.shape, k.dtype) for k in context.avals_out],
    )
    automatic = mesh.update_axis_types(dict.fromkeys(mesh.axis_names, jax.sharding.AxisType.Auto))
    with jax.sharding.use_abstract_mesh(automatic):  # inside, XLA chooses how to cut
        return mlir.lower_fun(constrained, multiple_results=True)(context, *values)


mlir.register_lowering(call_p, _lowered)
needs_devices.add(call_p)
ad.primitive_jvps[call_p] = lambda arrays, tangents, call: call.jvp(arrays, tangents)
ad.primitive_transposes[call_p] = lambda cotangents, *arguments, call: call.transpose(cotangents, *arguments)
batching.primitive_batchers[call_p] = lambda arrays, dims, call: call.batched(arrays, dims)


def bind(callee: Callee, arrays: Sequence[Array]) -> list[Array]:
    """Call a callee."""
    batch = Batch((), (False,) * len(arrays))
    return Call(callee, batch, tuple(range(len(callee.code.results)))).bind(*alike(*arrays))


def alike(*arrays: Array) -> list[Array]:
    """Under `shard_map`, where arguments vary over axes of the mesh: all over those over which some do."""
    kinds = [jax.typeof(a).manual_axis_type.varying for a in arrays]
    axes = frozenset().union(*kinds)
    return [
        a if mine == axes else jax.lax.pcast(a, tuple(sorted(axes - mine)), to="varying")
        for a, mine in zip(arrays, kinds, strict=True)
    ]


def _kind(like: Any, shape: tuple[int, ...], dtype: Any, spec: Any) -> Any:
    """The type of a result: under `shard_map` it varies over the axes over which the arguments do. `spec` says how it
    is cut where types say so."""
    if spec is not None and like.manual_axis_type.empty:
        sharding = like.sharding.update(spec=spec)
        return like.update(shape=shape, dtype=dtype, weak_type=False, sharding=sharding)
    if like is None or like.manual_axis_type.empty:
        return jax.core.ShapedArray(shape, dtype)
    return like.update(shape=shape, dtype=dtype, weak_type=False, sharding=unsharded(like, len(shape)))


def _pull(
    callee: Callee,
    parameters: tuple[int, ...],
    arrays: Sequence[Array],
    given: dict[int, Any],
    batch: Batch,
    halves: Halves | None,
    residuals: Sequence[Array],
) -> list[Any]:
    """Cotangents of the arguments, None for those that have none; `given` are those of results, some of them zero."""
    pulled = callee.pulled(parameters)
    seeds = [_seed(callee, n, given.get(n), batch.shape) for n in callee.float_results]
    whole = batch.behind([True] * len(seeds)).behind([bool(batch.shape)] * len(residuals))
    kept = tuple(range(len(callee.floats_of(parameters))))
    found = Call(pulled, whole, kept, halves=halves).bind(*alike(*arrays, *seeds, *residuals))
    result: list[Any] = [None] * len(arrays)
    for n, cotangent in zip(callee.floats_of(parameters), found, strict=True):
        if batch.shape and not batch.batched[n]:
            cotangent = cotangent.sum(tuple(range(len(batch.shape))))
        kind = jax.typeof(arrays[n])
        if kind.sharding.mesh.explicit_axes and kind.manual_axis_type.empty:
            cotangent = jax.sharding.reshard(cotangent, kind.sharding)
        result[n] = cotangent.astype(kind.dtype)
    return result


def _seed(callee: Callee, result: int, given: Any, batch: tuple[int, ...]) -> Array:
    if given is not None and not isinstance(given, ad.Zero):
        return given
    kind = callee.code.results[result]
    return jnp.zeros((*batch, *kind.shape), jax_dtype(kind, result))

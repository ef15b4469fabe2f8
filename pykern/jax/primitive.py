"""`Call`: a program as a primitive of JAX, with all of its rules.

Comes in: a `Callee`, and how the call is a batch of calls. Goes out: results. JAX asks for derivatives (`vjp_fwd`,
`vjp_bwd_retval`, `jvp`, `lin`, `linearized`), which are calls of the callee's derivatives, for a batch of calls, which
the handler makes one by one, and at last for what the call is (`expand`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from pykern.errors import NotDifferentiable
from pykern.jax.callee import Callee
from pykern.jax.code import jax_dtype, unsharded
from pykern.jax.framework import Array, hijax, jax, jnp


@dataclass(frozen=True)
class Batch:
    """A call for each of `shape`: these lengths stand in front of the results, and of the arguments that are
    `batched`."""

    shape: tuple[int, ...]
    batched: tuple[bool, ...]

    def behind(self, more: Sequence[bool]) -> Batch:
        """The same, for a callee that takes further arguments."""
        return Batch(self.shape, (*self.batched, *more))


class Call(hijax.VJPHiPrimitive):
    """A call that gives those results that are `kept`. `tangents_of`, where it gives tangents: the callee and its
    parameters whose tangents come behind its arguments."""

    callee: Callee
    of_batch: Batch
    kept: tuple[int, ...]
    tangents_of: tuple[Callee, tuple[int, ...]] | None

    def __init__(
        self,
        callee: Callee,
        arrays: Sequence[Array],
        of_batch: Batch,
        kept: tuple[int, ...],
        tangents_of: tuple[Callee, tuple[int, ...]] | None = None,
    ) -> None:
        self.in_avals = tuple(map(jax.typeof, arrays))
        self.like = self.in_avals[0] if arrays else None
        results = callee.code.results
        self.out_aval = [
            _kind(self.like, (*of_batch.shape, *results[n].shape), jax_dtype(results[n], n)) for n in kept
        ]
        self.params = {"callee": callee, "of_batch": of_batch, "kept": kept, "tangents_of": tangents_of}
        super().__init__()

    def expand(self, *arrays: Array) -> list[Array]:
        """What is computed: on the CPU by the handler, elsewhere by the portable source, which XLA compiles."""

        def here(*arrays: Array) -> list[Array]:
            found = self.callee.code.call(arrays, self.of_batch.shape, self.like)
            return [found[n] for n in self.kept]

        if self.callee.portable is None:
            return jax.lax.platform_dependent(*arrays, cpu=here)
        return jax.lax.platform_dependent(*arrays, cpu=here, default=self._elsewhere)

    def _elsewhere(self, *arrays: Array) -> list[Array]:
        function = self.callee.portable
        assert function is not None
        for _ in self.of_batch.shape:
            function = jax.vmap(function, tuple(0 if b else None for b in self.of_batch.batched))
        found = function(*arrays)
        return [found[n].astype(kind.dtype) for n, kind in zip(self.kept, self.out_aval, strict=True)]

    # -- derivatives -------------------------------------------------------------------------------

    def vjp_fwd(self, nonzero: Sequence[bool], *arrays: Array) -> tuple[list[Array], Any]:
        """The call, and what its derivative needs: the arguments."""
        parameters = self._active(nonzero)
        self.callee.pulled(parameters)  # where there is no derivative, it is said here
        return self(*arrays), (_Known(parameters), arrays)

    def vjp_bwd_retval(self, residuals: Any, cotangents: Sequence[Any]) -> tuple[Any, ...]:
        """Cotangents of the arguments; None for those that have none."""
        known, arrays = residuals
        given = dict(zip(self.kept, cotangents, strict=True))
        return tuple(_pull(self.callee, known.value, arrays, given, self.of_batch))

    def jvp(self, arrays: Sequence[Array], tangents: Sequence[Any]) -> tuple[list[Array], list[Any]]:
        """Results and their tangents. The results are a call of their own: the tangents alone may be a batch."""
        parameters = self._active([not isinstance(t, hijax.Zero) for t in tangents])
        return self(*arrays), self._push(parameters, arrays, tangents)

    def lin(self, nonzero: Sequence[bool], *arrays: Array) -> tuple[list[Array], Any]:
        """For `jax.linearize`: as `vjp_fwd`."""
        return self(*arrays), (_Known(self._active(nonzero)), arrays)

    def linearized(self, residuals: Any, *tangents: Any) -> list[Any]:
        """The tangents of the results."""
        known, arrays = residuals
        return self._push(known.value, arrays, tangents)

    def transpose(self, cotangents: Sequence[Any], *arguments: Any) -> None:
        """Of a call that gives tangents: what JAX wants to know of tangents it collects in `arguments`."""
        if self.tangents_of is None:
            raise NotDifferentiable(f"`{self.callee.name}` is not linear")
        callee, parameters = self.tangents_of
        count, results = len(callee.leaves), len(callee.code.results)
        of_tangents = dict(zip(self.kept, cotangents, strict=True))
        given = {n: of_tangents.get(results + k) for k, n in enumerate(callee.float_results)}
        batch = Batch(self.of_batch.shape, self.of_batch.batched[:count])
        pulled = _pull(callee, parameters, arguments[:count], given, batch)
        for n, accumulator in zip(callee.floats_of(parameters), arguments[count:], strict=True):
            if hasattr(accumulator, "accum"):
                accumulator.accum(pulled[n])

    def _active(self, nonzero: Iterable[bool]) -> tuple[int, ...]:
        return self.callee.parameters_of(n for n, there in enumerate(nonzero) if there)

    def _push(
        self, parameters: tuple[int, ...], arrays: Sequence[Array], tangents: Sequence[Any]
    ) -> list[Any]:
        pushed = self.callee.pushed(parameters)
        active = self.callee.floats_of(parameters)
        given = [hijax.instantiate_zeros(tangents[n]) for n in active]
        batch = self.of_batch.behind([self.of_batch.batched[n] for n in active])
        first = len(self.callee.code.results)
        places = {n: first + k for k, n in enumerate(self.callee.float_results)}
        kept = tuple(places[n] for n in self.kept if n in places)
        found = iter(bind(pushed, (*arrays, *given), batch, kept, (self.callee, parameters)))
        zeros = [hijax.Zero(a.to_tangent_aval()) for a in self.out_aval]
        return [next(found) if n in places else zero for n, zero in zip(self.kept, zeros, strict=True)]

    # -- batches -----------------------------------------------------------------------------------

    def batch(self, axis_data: Any, arrays: Sequence[Array], dims: Sequence[Any]) -> tuple[list[Array], Any]:
        """One call of the batch: its length comes in front of what stands there already."""
        if all(d is None for d in dims):
            return self(*arrays), [None] * len(self.out_aval)
        shape = (axis_data.size, *self.of_batch.shape)
        inner = len(self.of_batch.shape)
        mapped = [d is not None for d in dims]
        whole = [m or b for m, b in zip(mapped, self.of_batch.batched, strict=True)]
        for argument, _ in self.callee.code.aliases:
            whole[argument] = True
        given = []
        for n, (array, dim) in enumerate(zip(arrays, dims, strict=True)):
            if not whole[n]:
                given.append(array)
                continue
            front = jnp.expand_dims(array, 0) if dim is None else jnp.moveaxis(array, dim, 0)
            if not self.of_batch.batched[n]:
                front = jnp.expand_dims(front, tuple(range(1, 1 + inner)))
            given.append(jnp.broadcast_to(front, (*shape, *front.shape[1 + inner :])))
        found = bind(self.callee, given, Batch(shape, tuple(whole)), self.kept, self.tangents_of)
        return found, [0] * len(found)


def _kind(like: Any, shape: tuple[int, ...], dtype: Any) -> Any:
    """The type of a result: under `shard_map` it varies over the axes over which the arguments do."""
    if like is None or like.manual_axis_type.empty:
        return hijax.ShapedArray(shape, dtype)
    return like.update(shape=shape, dtype=dtype, weak_type=False, sharding=unsharded(like, len(shape)))


@dataclass(frozen=True)
class _Known:
    """What a rule keeps that is no array."""

    value: tuple[int, ...]


jax.tree_util.register_static(_Known)


def bind(
    callee: Callee,
    arrays: Sequence[Array],
    batch: Batch | None = None,
    kept: tuple[int, ...] | None = None,
    tangents_of: tuple[Callee, tuple[int, ...]] | None = None,
) -> list[Array]:
    """Call a callee. Under `shard_map` all arguments vary over the axes over which some do."""
    kinds = [jax.typeof(a).manual_axis_type.varying for a in arrays]
    axes = frozenset().union(*kinds)
    alike = [
        a if mine == axes else jax.lax.pcast(a, tuple(sorted(axes - mine)), to="varying")
        for a, mine in zip(arrays, kinds, strict=True)
    ]
    if batch is None:
        batch = Batch((), (False,) * len(arrays))
    if kept is None:
        kept = tuple(range(len(callee.code.results)))
    return Call(callee, alike, batch, kept, tangents_of)(*alike)


def _pull(
    callee: Callee, parameters: tuple[int, ...], arrays: Sequence[Array], given: dict[int, Any], batch: Batch
) -> list[Any]:
    """Cotangents of the arguments, None for those that have none; `given` are those of results, some of them zero."""
    pulled = callee.pulled(parameters)
    seeds = [_seed(callee, n, given.get(n), batch.shape) for n in callee.float_results]
    found = bind(pulled, (*arrays, *seeds), batch.behind([True] * len(seeds)))
    result: list[Any] = [None] * len(arrays)
    for n, cotangent in zip(callee.floats_of(parameters), found, strict=True):
        if batch.shape and not batch.batched[n]:
            cotangent = cotangent.sum(tuple(range(len(batch.shape))))
        result[n] = cotangent.astype(jax.typeof(arrays[n]).dtype)
    return result


def _seed(callee: Callee, result: int, given: Any, batch: tuple[int, ...]) -> Array:
    if given is not None and not isinstance(given, hijax.Zero):
        return given
    kind = callee.code.results[result]
    return jnp.zeros((*batch, *kind.shape), jax_dtype(kind, result))

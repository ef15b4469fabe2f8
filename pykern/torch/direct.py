"""The functions that a launch's operator is made of, written for its arguments.

Comes in: what each parameter of the kernel is given (`slots`), and what launches it. Goes out: `values`, which gives
the results of arguments; `fakes`, the same without a launch; and `direct`, which first looks whether autograd, a mode
or a transformation of PyTorch has to see the call, and gives `MISSED` then. A call of an operator is shorter than the
loops over its arguments would be, so these are Python text, as the methods of a dataclass are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from inspect import CO_VARARGS, CO_VARKEYWORDS
from typing import Any

from pykern.errors import KernelTypeError
from pykern.torch.framework import empty_strided, forward_ad, torch
from pykern.torch.operation import MISSED
from pykern.torch.rules import Like, checked, one_launch
from pykern.torch.slots import Slot, number_of


def dense(shape: Sequence[int]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The lengths, and the distances between elements of a dense tensor in the order of its axes."""
    steps = [1]
    for length in reversed(shape[1:]):
        steps.append(steps[-1] * max(length, 1))
    return tuple(shape), tuple(reversed(steps)) if len(shape) else ()


_NAMES = {
    "MISSED": MISSED, "KernelTypeError": KernelTypeError, "Tensor": torch.Tensor, "Parameter": torch.nn.Parameter,
    "followed": torch.is_grad_enabled, "forward_ad": forward_ad, "zeros_like": torch.zeros_like,
    "empty_like": torch.empty_like, "empty_strided": empty_strided, "dense": dense, "checked": checked,
    "transformed": torch._C._are_functorch_transforms_active, "dispatch_modes": torch._C._len_torch_dispatch_stack,
    "function_modes": torch._C._len_torch_function_stack, "traced": torch._C._is_tracing, "one_launch": one_launch,
    "profiler": torch.autograd.profiler,
}  # fmt: skip


@dataclass(frozen=True)
class Written:
    """The arguments of an operator (`kinds` has a letter for each of `names`), and the parameters of its kernel.

    `space` is a function of the first `primal` arguments, or None: the index space is the last argument then, and the
    kernel writes the arguments themselves. `results` are numbers of `slots`.
    """

    names: Sequence[str]
    kinds: str
    slots: Sequence[Slot]
    results: Sequence[int]
    primal: int
    space: Callable[..., Any] | None
    options: dict[str, Any]
    launch: Callable[..., Any]

    def values(self) -> Callable[..., Any]:
        """The results for tensors that nothing follows."""
        return self._function([*self._made_for_launch(), *self._launched()])

    def fakes(self) -> Callable[..., Any]:
        """The results without their values, for tensors that have none."""
        made = [f"p{n} = {self._given(n, slot)}" for n, slot in enumerate(self.slots)]
        return self._function([*made, self._returned()], number=lambda tensor: tensor)

    def direct(self) -> Callable[..., Any]:
        """The results, or `MISSED`."""
        made, launched = (
            [f"    {line}" for line in lines]
            for lines in (self._made_for_launch(is_direct=True), self._launched())
        )
        return self._function(
            [
                *self._checks(),
                "try:", *made, "except (KernelTypeError, RuntimeError):", "    return MISSED",
                "try:", *launched, "except KernelTypeError:", "    return MISSED",
            ]
        )  # fmt: skip

    def _function(self, lines: Sequence[str], number: Callable[..., Any] = number_of) -> Callable[..., Any]:
        names = _NAMES | {
            "number": number,
            "launch": self.launch,
            "space": self.space,
            "options": self.options,
            "known": [((), ())],
        }
        names |= {f"rule_{n}": slot.rule for n, slot in enumerate(self.slots)}
        body = "".join(f"    {line}\n" for line in lines)
        exec(f"def written({', '.join(self._arguments)}):\n{body}", names)
        return names["written"]

    @property
    def _arguments(self) -> list[str]:
        return [f"a{n}" for n in range(len(self.kinds))]

    def _checks(self) -> list[str]:
        """A subclass, a number in place of a tensor, or whatever follows the call, is not direct."""
        tensors = [f"a{n}" for n, kind in enumerate(self.kinds) if kind == "T"]
        others = [f"a{n}" for n, kind in enumerate(self.kinds) if kind == "N"]
        types = [f"type({a}) is not Tensor and type({a}) is not Parameter" for a in tensors]
        types += [f"type({a}) is not float and isinstance({a}, Tensor)" for a in others]
        states = "forward_ad._current_level >= 0 or profiler._is_profiler_enabled or transformed()"
        modes = "dispatch_modes() or function_modes() or traced()"
        lines = [f"if {test}: return MISSED" for test in (*types, states, modes)]
        if tensors:
            lines += [
                f"if {' or '.join(f'{a}.requires_grad' for a in tensors)}:",
                "    if followed(): return MISSED",
                f"    {', '.join(tensors)}, = {', '.join(f'{a}.detach()' for a in tensors)},",
            ]
        return lines

    def _made_for_launch(self, is_direct: bool = False) -> list[str]:
        """The index space and the parameters; those that a launch over `at` fills need no zeros."""
        arguments = self._arguments
        at = arguments[-1] if self.space is None else f"space({', '.join(arguments[: self.primal])})"
        if self._shape_at:
            at = f"{self._shape_at}.shape"
        checks = ["shape, steps = known[0]", "if shape != at: shape, steps = known[0] = dense(at)"]
        if not self._shape_at:
            checks = ["if type(at) is list: one_launch()"]
        elif not self._has_quick(is_direct):
            checks = []
        return [
            f"at = {at}",
            *checks,
            *(f"p{n} = {self._given(n, slot, slot.filled, is_direct)}" for n, slot in enumerate(self.slots)),
        ]

    def _given(self, n: int, slot: Slot, filled: int = 0, is_direct: bool = False) -> str:
        """What a parameter is given, as an expression."""
        argument = f"a{slot.argument}"
        if slot.rule is not None:
            found = self._by_rule(n, slot.rule, filled, is_direct)
            return f"zeros_like({found})" if slot.kind == "rule zeros" else found
        if slot.kind == "copy" and self.space is not None:
            return f"{argument}.clone()"
        if slot.kind == "zeros":
            return f"zeros_like({argument}, requires_grad=False)"
        return f"number({argument})" if slot.kind == "number" else argument

    def _by_rule(self, n: int, rule: Any, filled: int, is_direct: bool) -> str:
        primal = self._arguments[: self.primal]
        if not isinstance(rule, Like):
            return f"checked(rule_{n}({', '.join(primal)}))"
        if rule.name not in self.names or self.kinds[self.names.index(rule.name)] == "N":
            return f"rule_{n}.none({list(self.names[: self.primal])})"
        like = f"a{self.names.index(rule.name)}"
        dtype = "" if rule.dtype is None else f", dtype=rule_{n}.dtype"
        zeros = f"zeros_like({like}{dtype})"
        if not filled:
            return zeros
        is_whole = "" if self._shape_at == like else f"at == {like}.shape and "
        empty = f"empty_like({like}{dtype})"
        if self._has_quick(is_direct) and self._shape_at == like:
            quick = f"empty_strided(shape, steps, {f'rule_{n}' if dtype else like}.dtype)"
            empty = f"{quick} if {like}.is_cpu and {like}.is_contiguous() else {empty}"
        return f"({empty}) if {is_whole}len(at) == {filled} else {zeros}"

    def _has_quick(self, is_direct: bool) -> bool:
        """Whether memory of dense results comes without PyTorch's dispatcher, by lengths and steps that the call
        before left in `known`: the text of a direct call over an argument's shape alone."""
        return (
            is_direct
            and bool(self._shape_at)
            and any(slot.filled for slot in self.slots)
            and empty_strided is not None
        )

    @cached_property
    def _shape_at(self) -> str:
        """The argument whose shape is the index space, where the rule is ``lambda x, ...: x.shape``; else nothing."""
        arguments = self._arguments[: self.primal]
        found = (a for n, a in enumerate(arguments) if _gives_shape_of(self.space, n, len(arguments)))
        return next(found, "")

    def _launched(self) -> list[str]:
        given = [f"p{n}" for n in range(len(self.slots))]
        options = [f"{name}=options[{name!r}]" for name in self.options]
        return [f"launch({', '.join((*given, 'ndrange=at', *options))})", self._returned()]

    def _returned(self) -> str:
        if self.space is None:
            return "return None"
        return f"return {', '.join(f'p{n}' for n in self.results)}"


def _gives_shape_of(rule: Callable[..., Any] | None, number: int, count: int) -> bool:
    """Whether a rule for index spaces does no more than to take the shape of the argument of that number."""
    code = getattr(rule, "__code__", None)
    if (
        code is None
        or getattr(rule, "__defaults__", None)
        or code.co_argcount != count
        or code.co_kwonlyargcount
    ):
        return False
    names = code.co_varnames
    if len(names) != count or code.co_flags & (CO_VARARGS | CO_VARKEYWORDS):
        return False
    same = eval(f"lambda {', '.join(names)}: {names[number]}.shape").__code__
    return (code.co_code, code.co_names) == (same.co_code, same.co_names)

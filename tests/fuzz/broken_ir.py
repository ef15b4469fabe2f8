"""MLIR text with something wrong, or strange, in it: characters, tokens, values, lines, nesting.

Comes in: texts of modules and a random generator. Goes out: a text that was changed in a few places. Most still parse
where only values, types, operands or attributes were changed; the other changes test how text is read.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable

NUMBERS = (
    "-1", "0", "1", "2", "3", "7", "8", "33", "-128", "255", "65536", "2147483647", "2147483648", "-2147483649",
    "4611686018427387904", "9223372036854775807", "9223372036854775808", "-9223372036854775808",
    "18446744073709551616", "99999999999999999999999999999999", "0x7FC00000", "1.0", "-0.0", "1.0e+400",
)  # fmt: skip
TYPES = (
    "i1", "i7", "i8", "i16", "i32", "i64", "i65", "i128", "ui32", "si32", "f16", "bf16", "f32", "f64", "f80", "f128",
    "f8E4M3FN", "index", "none", "complex<f32>", "tuple<i32>", "vector<4xf32>", "vector<[4]xf32>", "vector<f32>",
    "memref<?xf32>", "memref<0xf32>", "memref<f32>", "memref<*xf32>", "memref<4x?xf32, strided<[?, 2], offset: ?>>",
    "tensor<4xf32>", "tensor<?x0xf32>", "tensor<*xf32>", "!llvm.ptr", "() -> ()",
)  # fmt: skip
VALUES = (
    "1 : i64", "-1 : i64", "7", "0 : i1", "3 : i129", "1 : index", "1.5 : f32", "true", "unit", '"x"', '""', '"all"',
    '"{}"', "@f", "@f::@g", "[]", "[1, 2]", '["memory"]', "[@f, @g]", "{}", "{rows = 1 : i64}", "f32", "() -> ()",
    "array<i64>", "array<i64: 0>", "array<i64: 1, 2>", "array<i64: -1>", "array<i64: 9223372036854775807, 2>",
    "array<i32: 4>", "array<i64: 1, 1, 1, 1, 1, 1, 1, 1, 1>", "dense<1> : tensor<2xi64>",
    "affine_map<(d0) -> (d0)>", "[affine_map<(d0) -> (d0)>]",
)  # fmt: skip
NAMES = (
    "kernel", "program", "plain", "noalias", "name", "rank", "ndrange", "workgroup", "updated", "donated",
    "result_tree", "helper", "custom", "gradients", "cuda", "sequential", "in_vectors", "rows", "nest", "repeats",
    "strided", "raised", "report", "shared_bytes", "arguments", "tape", "tape_slots", "tape_state",
    "result_arguments", "launches", "writes", "schedule", "attention", "maps", "lengths", "unshifted", "written",
    "cache_bytes", "items", "ends", "kept_row", "piece", "site", "range", "checkpoint", "trips_at_most", "needed",
    "part", "tile", "dot", "launch",
)  # fmt: skip
_NUMBER = re.compile(r"(?<![\w.%#@!^])-?\d+(?:\.\d+(?:e[+-]?\d+)?)?(?![\w.])")
_LENGTH = re.compile(r"(?<=[<x])(?:\d+|\?)(?=x)")
_TYPE = re.compile(r"\b(?:[su]?i\d+|f\d+|bf16|index)\b|\b(?:memref|vector|tensor)<[^<>]*>")
_OPERAND = re.compile(r"%[\w#]+")
_OP = re.compile(r"(?<![\w.@!#$])[a-z_]+\.[a-z_][\w.]*")
_KERN = re.compile(r"kern\.\w+( = (?:\"[^\"]*\"|[^,{}\[\]<>()]+(?:<[^<>]*>)?|\[[^\]]*\]))?(?=[,}])")
_FUNCTION = re.compile(r"(?:^|\n)([ \t]*func\.func[^\n]*?)( attributes \{)?([^\n{]*)\{\n")
_SIGNS = "()[]{}<>=,:;%@#!^\"'\\/*-+.?xe0\0\t\n\r \u00e9\u2028\ufeff\U0001f600"

Mutation = Callable[[str, random.Random, list[str]], str]


def broken(text: str, texts: list[str], rng: random.Random) -> str:
    """The text, changed in one to four places; `texts` are others, parts of which go into it."""
    for _ in range(rng.choice((1, 1, 1, 2, 2, 4))):
        text = rng.choices(*_CHOICES)[0](text, rng, texts)
    return text


def _at(
    pattern: re.Pattern[str], with_what: Callable[[re.Match[str], random.Random, list[str]], str]
) -> Mutation:
    """Put something in the place of one match, or of all that read the same."""

    def mutate(text: str, rng: random.Random, texts: list[str]) -> str:
        found = list(pattern.finditer(text))
        if not found:
            return text
        one = rng.choice(found)
        new = with_what(one, rng, texts)
        if rng.random() < 0.3:
            return pattern.sub(lambda m: new if m[0] == one[0] else m[0], text)
        return text[: one.start()] + new + text[one.end() :]

    return mutate


def _characters(text: str, rng: random.Random, texts: list[str]) -> str:
    start = rng.randrange(len(text) + 1)
    end = start + rng.choice((0, 0, 1, 1, 2, 20))
    return text[:start] + "".join(rng.choices(_SIGNS, k=rng.choice((0, 1, 1, 3)))) + text[end:]


def _lines(text: str, rng: random.Random, texts: list[str]) -> str:
    lines = text.split("\n")
    a, b = rng.randrange(len(lines)), rng.randrange(len(lines))
    match rng.randrange(5):
        case 0:
            del lines[a]
        case 1:
            lines.insert(b, lines[a])
        case 2:
            lines[a], lines[b] = lines[b], lines[a]
        case 3:
            del lines[min(a, b) : max(a, b)]
        case _:
            lines.insert(a, rng.choice(rng.choice(texts).split("\n")))
    return "\n".join(lines)


def _truncated(text: str, rng: random.Random, texts: list[str]) -> str:
    return text[: rng.randrange(len(text) + 1)]


def _together(text: str, rng: random.Random, texts: list[str]) -> str:
    return text + "\n" + rng.choice(texts)


def _nested(text: str, rng: random.Random, texts: list[str]) -> str:
    depth = rng.choice((3, 40, 500, 6_000))
    opening, closing = rng.choice(
        (("{", "}"), ("(", ")"), ("[", "]"), ("<", ">"), ("scf.if %true {\n", "}\n"))
    )
    place = rng.choice([m.start() for m in re.finditer("\n", text)] or [0])
    return text[:place] + opening * depth + closing * depth + text[place:]


def _attribute(text: str, rng: random.Random, texts: list[str]) -> str:
    """Another `kern.*` attribute on a function."""
    found = list(_FUNCTION.finditer(text))
    if not found:
        return text
    one = rng.choice(found)
    made = f"kern.{rng.choice(NAMES)}" + (f" = {rng.choice(VALUES)}" if rng.random() < 0.7 else "")
    if one[2]:
        return text[: one.end(2)] + made + ", " + text[one.end(2) :]
    return text[: one.end(3)] + f" attributes {{{made}}} " + text[one.end(3) :]


def _kern_value(match: re.Match[str], rng: random.Random, texts: list[str]) -> str:
    name = match[0].split(" ")[0] if rng.random() < 0.8 else f"kern.{rng.choice(NAMES)}"
    return rng.choice((name, f"{name} = {rng.choice(VALUES)}", f"{name} = {rng.choice(VALUES)}"))


def _other(pattern: re.Pattern[str]) -> Callable[[re.Match[str], random.Random, list[str]], str]:
    """What stands in such a place elsewhere."""

    def choose(match: re.Match[str], rng: random.Random, texts: list[str]) -> str:
        text = match.string if pattern is _OPERAND or rng.random() < 0.5 else rng.choice(texts)
        found = pattern.findall(text)
        return rng.choice(found) if found else match[0]

    return choose


_MUTATIONS: dict[Mutation, int] = {
    _at(_NUMBER, lambda m, rng, texts: rng.choice(NUMBERS)): 8,
    _at(_LENGTH, lambda m, rng, texts: rng.choice((*NUMBERS[:12], "?"))): 6,
    _at(_TYPE, lambda m, rng, texts: rng.choice(TYPES)): 8,
    _at(_TYPE, _other(_TYPE)): 4,
    _at(_OPERAND, _other(_OPERAND)): 8,
    _at(_OP, _other(_OP)): 4,
    _at(_KERN, _kern_value): 12,
    _attribute: 8,
    _lines: 12,
    _characters: 4,
    _truncated: 1,
    _together: 2,
    _nested: 1,
}
_CHOICES = list(_MUTATIONS), list(_MUTATIONS.values())

"""Rules of products of matrices by a wave (MFMA, WMMA): D = A B + C.

The wave's registers become whole matrices, A and B term after term, and the result's rows go back. Products are exact;
sums begin with C and go by rising terms, each rounded once. The order that hardware takes is unspecified. EXEC takes no
part.
"""

from __future__ import annotations

from pykern.runtime.emulator.amd.assembly import UnknownAssembly
from pykern.runtime.emulator.amd.body import FLOATS
from pykern.runtime.emulator.amd.matrix_forms import MatrixForm, form_of, names
from pykern.runtime.emulator.amd.opcodes import rule
from pykern.runtime.emulator.amd.short_floats import widened
from pykern.runtime.emulator.amd.values import SHORT, Values

_SMALLEST = {"f16": 2.0**-14, "bf16": 2.0**-126}
"""Normal numbers."""


@rule(names())
def multiply(t: Values, name: str) -> None:
    """``result, a, b, c``."""
    form = form_of(name, t.operand(1).count, t.lanes)
    if form is None or t.operand(2).count != form.words:
        raise UnknownAssembly(f"{name} of {t.operand(1).count} registers in waves of {t.lanes}")
    kind = FLOATS.get(form.held, form.held)
    nbytes = 8 if form.held == "f64" else 4
    cells = form.side * form.depth
    left, right = (t.local(f"[{cells * form.copies} x {kind}]") for _ in range(2))
    sums = t.local(f"[{form.side * form.side} x {kind}]")
    flags = (t.modifier("neg_lo") or "[0,0]").strip("[]").split(",") if form.kind == "iu8" else ["1", "1"]
    for number, memory in ((1, left), (2, right)):
        signed = flags[number - 1] == "1"
        for element, value in enumerate(_elements(t, form, number, signed)):
            for group in range(form.groups):
                copy = group if form.copies > 1 else 0
                at = copy * cells + form.term(group, element) * form.side
                t.store(_row_type(form), _part(t, form, value, group), t.offset(memory, at * nbytes))
    for number in range(form.sums):
        value = _held(t, form, 3, number)
        for group in range(form.groups):
            at = form.row(group, number) * form.side
            t.store(_row_type(form), _part(t, form, value, group), t.offset(sums, at * nbytes))
    _sum(t, form, left, right, sums)
    _give(t, form, sums)


def _row_type(form: MatrixForm) -> str:
    return f"<{form.side} x {FLOATS.get(form.held, form.held)}>"


def _part(t: Values, form: MatrixForm, value: str, group: int) -> str:
    """What a group of lanes has of a value."""
    kind = t.type(form.held)
    indices = ", ".join(f"i32 {group * form.side + n}" for n in range(form.side))
    return t.value(f"shufflevector {kind} {value}, {kind} poison, <{form.side} x i32> <{indices}>")


def _elements(t: Values, form: MatrixForm, number: int, signed: bool) -> list[str]:
    """The elements of a factor, one after the other, in every lane."""
    if form.bits == 64:
        return [_held(t, form, number, at) for at in range(form.words // 2)]
    words = [t.load(t.type("i32"), t.place(number, "i32", part)) for part in range(form.words)]
    found = []
    for word in words:
        for shift in range(0, 32, form.bits):
            moved = t.op("lshr", "i32", word, shift) if shift else word
            if form.bits == 32:
                found.append(t.cast("bitcast", moved, "i32", "f32"))
            elif form.bits == 16:
                value = widened(t, t.resize(moved, 32, 16), form.kind)
                found.append(_flushed(t, form, value) if form.flushes else value)
            else:
                found.append(t.resize(t.resize(moved, 32, 8), 8, 32, signed))
    return found


def _flushed(t: Values, form: MatrixForm, value: str) -> str:
    assert form.kind in SHORT
    size = t.intrinsic("fabs", "f32", value)
    return t.select(t.compare("olt", "f32", size, _SMALLEST[form.kind]), "f32", 0.0, value)


def _held(t: Values, form: MatrixForm, number: int, at: int) -> str:
    """An element of a register, or of two, as products are summed; or a number, the same in every lane."""
    wide = form.held == "f64"
    if not t.operand(number).is_vector:
        bits = t.register(number, form.held)
    elif wide:
        low, high = (t.load(t.type("i32"), t.place(number, "i32", 2 * at + part)) for part in (0, 1))
        high = t.op("shl", "i64", t.cast("zext", high, "i32", "i64"), 32)
        bits = t.op("or", "i64", t.cast("zext", low, "i32", "i64"), high)
    else:
        bits = t.load(t.type("i32"), t.place(number, "i32", at))
    return bits if form.held == "i32" else t.cast("bitcast", bits, "i64" if wide else "i32", form.held)


def _sum(t: Values, form: MatrixForm, left: str, right: str, sums: str) -> None:
    """Row after row, all columns at once."""
    kind, row_type = FLOATS.get(form.held, form.held), _row_type(form)
    nbytes = 8 if form.held == "f64" else 4
    with t.loop(str(form.side)) as row:
        place = t.offset(sums, t.value(f"mul i64 {row}, {form.side * nbytes}"))
        copy = t.value(f"mul i64 {t.value(f'urem i64 {row}, {form.copies}')}, {form.side * form.depth}")
        with t.loop(str(form.depth)) as term:
            line = t.value(f"add i64 {copy}, {t.value(f'mul i64 {term}, {form.side}')}")
            at = t.value(f"mul i64 {t.value(f'add i64 {line}, {row}')}, {nbytes}")
            one = t.load(kind, t.offset(left, at))
            vector = t.value(f"insertelement {row_type} poison, {kind} {one}, i32 0")
            spread = f"<{form.side} x i32> zeroinitializer"
            vector = t.value(f"shufflevector {row_type} {vector}, {row_type} poison, {spread}")
            many = t.load(row_type, t.offset(right, t.value(f"mul i64 {line}, {nbytes}")))
            held = t.load(row_type, place)
            if form.held == "i32":
                product = t.value(f"mul {row_type} {vector}, {many}")
                total = t.value(f"add {row_type} {held}, {product}")
            else:
                total = t.call(
                    row_type,
                    f"llvm.fma.v{form.side}{form.held}",
                    *((row_type, v) for v in (vector, many, held)),
                )
            t.store(row_type, total, place)


def _give(t: Values, form: MatrixForm, sums: str) -> None:
    """Write the result's registers, in all lanes."""
    wide = form.held == "f64"
    nbytes, word = (8, f"<{form.side} x i64>") if wide else (4, f"<{form.side} x i32>")
    for number in range(form.sums):
        for group in range(form.groups):
            value = t.load(word, t.offset(sums, form.row(group, number) * form.side * nbytes))
            for part in range(nbytes // 4):
                text = value
                if wide:
                    by = ", ".join([f"i64 {32 * part}"] * form.side)
                    moved = t.value(f"lshr {word} {value}, <{by}>")
                    text = t.value(f"trunc {word} {moved} to <{form.side} x i32>")
                place = t.offset(t.place(0, "result", number * (nbytes // 4) + part), 4 * group * form.side)
                t.store(f"<{form.side} x i32>", text, place)

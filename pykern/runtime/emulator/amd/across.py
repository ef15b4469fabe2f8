"""Rules of instructions that move values between lanes, or between vector and scalar registers."""

from __future__ import annotations

from pykern.runtime.emulator.amd.opcodes import rule
from pykern.runtime.emulator.amd.values import Values


@rule("v_readfirstlane_b32")
def first_lane(t: Values, name: str) -> None:
    """Of the first active lane; lane 0 where there is none."""
    lanes = t.exec()
    kind = t.mask_kind
    first = t.call(kind, f"llvm.cttz.{kind}", (kind, lanes), ("i1", "false"))
    first = t.resized(t.value(f"and {kind} {first}, {t.wave_lanes - 1}"), t.wave_lanes, 64)
    t.store("i32", t.load("i32", t.lane_place(1, first)), t.place(0, "result"))


@rule("v_readlane_b32")
def read_lane(t: Values, name: str) -> None:
    t.store("i32", t.load("i32", t.lane_place(1, _lane(t))), t.place(0, "result"))


@rule("v_writelane_b32")
def write_lane(t: Values, name: str) -> None:
    """EXEC takes no part."""
    value = t.load("i32", t.place(1))
    at = t.offset(t.place(0, "result"), t.value(f"mul i64 {_lane(t)}, 4"))
    t.store("i32", value, at)


def _lane(t: Values) -> str:
    number = t.load("i32", t.place(2))
    return t.value(f"zext i32 {t.value(f'and i32 {number}, {t.wave_lanes - 1}')} to i64")


@rule("ds_bpermute_b32")
def take(t: Values, name: str) -> None:
    """Each lane takes from the lane that it names, in bytes; what is not active gives 0."""
    held = _published(t, 2)
    taken = t.local(t.type("i32"))
    t.store(t.type("i32"), t.constant(0, "i32"), taken)
    with t.each_lane() as lane:
        source = _addressed(t, lane, 1)
        value = t.load("i32", t.cell(t.value(f"ptrtoint ptr {held} to i64"), source, 4))
        t.store("i32", value, t.cell(t.value(f"ptrtoint ptr {taken} to i64"), lane, 4))
    t.set_register(0, t.load(t.type("i32"), taken), 32)


@rule("ds_permute_b32")
def give(t: Values, name: str) -> None:
    """Each lane gives to the lane that it names; who is given nothing gets 0."""
    held = _published(t, 2)
    taken = t.local(t.type("i32"))
    t.store(t.type("i32"), t.constant(0, "i32"), taken)
    with t.each_lane() as lane:
        to = _addressed(t, lane, 1)
        value = t.load("i32", t.cell(t.value(f"ptrtoint ptr {held} to i64"), lane, 4))
        t.store("i32", value, t.cell(t.value(f"ptrtoint ptr {taken} to i64"), to, 4))
    t.set_register(0, t.load(t.type("i32"), taken), 32)


def _published(t: Values, number: int) -> str:
    """A register of all lanes in memory, 0 in lanes that are not active."""
    held = t.local(t.type("i32"))
    active = t.lanes_of_bits(t.exec())
    t.store(t.type("i32"), t.select(active, "i32", t.source(number, "i32"), 0), held)
    return held


def _addressed(t: Values, lane: str, number: int) -> str:
    address = t.value(f"add i32 {t.load('i32', t.lane_place(number, lane))}, {_offset(t)}")
    chosen = t.value(f"and i32 {t.value(f'lshr i32 {address}, 2')}, {t.wave_lanes - 1}")
    return t.value(f"zext i32 {chosen} to i64")


def _offset(t: Values) -> str:
    return t.value(f"trunc i64 {t.added()} to i32")


@rule("ds_swizzle_b32")
def swizzle(t: Values, name: str) -> None:
    """By a pattern in the offset: of four lanes, or masks of a lane's number within 32."""
    sources = swizzled(t.modifier("offset") or "0", t.lanes)
    kind = t.type("i32")
    value = t.source(1, "i32")
    active = t.lanes_of_bits(t.exec())
    value = t.select(active, "i32", value, 0)
    indices = t.vector("i32", sources)
    t.set_register(
        0, t.value(f"shufflevector {kind} {value}, {kind} poison, <{t.lanes} x i32> {indices}"), 32
    )


def swizzled(text: str, lanes: int) -> list[int]:
    """The lane that each lane takes from. LLVM, "Syntax of AMDGPU Instruction Modifiers", swizzle."""
    name, *rest = [part.strip() for part in text.removeprefix("swizzle(").rstrip(")").split(",")]
    number = int(name, 0) if not rest else -1
    if not rest and number & 0x8000:
        rest, name = [str(number >> 2 * n & 3) for n in range(4)], "QUAD_PERM"
    elif not rest:
        name, rest = "MASKS", [str(number & 31), str(number >> 5 & 31), str(number >> 10 & 31)]
    if name == "QUAD_PERM":
        return [lane - lane % 4 + int(rest[lane % 4]) for lane in range(lanes)]
    if name == "BROADCAST":
        group, at = int(rest[0]), int(rest[1])
        masks = 32 - group & 31, at, 0
    elif name == "SWAP":
        masks = 31, 0, int(rest[0])
    elif name == "REVERSE":
        masks = 31, 0, int(rest[0]) - 1
    elif name == "BITMASK_PERM":
        masks = _written_masks(rest[0].strip('"'))
    else:
        masks = int(rest[0]), int(rest[1]), int(rest[2])
    keep, one, flip = masks
    return [lane - lane % 32 + ((lane % 32 & keep | one) ^ flip) for lane in range(lanes)]


def _written_masks(text: str) -> tuple[int, int, int]:
    """Five letters: a bit is kept ("p"), turned ("i"), 0 or 1."""
    keep = one = flip = 0
    for letter in text:
        keep, one, flip = 2 * keep + (letter in "pi"), 2 * one + (letter == "1"), 2 * flip + (letter == "i")
    return keep, one, flip


@rule("v_permlane16_b32 v_permlanex16_b32")
def permute_in_row(t: Values, name: str) -> None:
    """Lanes of a row of 16 take from it, or from its neighbour ("x"), by 16 numbers of 4 bits in scalar registers."""
    for flag in ("op_sel",):
        t.modifier(flag)
    held = _published(t, 1)
    selectors = [t.resized(t.load("i32", t.place(number)), 32, 64) for number in (2, 3)]
    whole = t.value(f"or i64 {selectors[0]}, {t.value(f'shl i64 {selectors[1]}, 32')}")
    taken = t.local(t.type("i32"))
    t.store(t.type("i32"), t.constant(0, "i32"), taken)
    with t.each_lane() as lane:
        within = t.value(f"and i64 {lane}, 15")
        chosen = t.value(f"and i64 {t.value(f'lshr i64 {whole}, ' + t.value(f'shl i64 {within}, 2'))}, 15")
        row = t.value(f"and i64 {lane}, {~15}")
        if "x16" in name:
            row = t.value(f"xor i64 {row}, 16")
        source = t.value(f"or i64 {row}, {chosen}")
        value = t.load("i32", t.cell(t.value(f"ptrtoint ptr {held} to i64"), source, 4))
        t.store("i32", value, t.cell(t.value(f"ptrtoint ptr {taken} to i64"), lane, 4))
    t.set_register(0, t.load(t.type("i32"), taken), 32)


@rule("v_permlane64_b32")
def swap_halves(t: Values, name: str) -> None:
    indices = t.vector("i32", [(lane + 32) % t.lanes for lane in range(t.lanes)])
    kind = t.type("i32")
    value = t.source(1, "i32")
    t.set_register(
        0, t.value(f"shufflevector {kind} {value}, {kind} poison, <{t.lanes} x i32> {indices}"), 32
    )


@rule("v_permlane32_swap_b32 v_permlane16_swap_b32")
def swap_rows(t: Values, name: str) -> None:
    """Odd rows (of 16 or 32 lanes) of the first register change places with even rows of the second."""
    row = 32 if "32_swap" in name else 16
    first, second = (t.source(number, "i32", 1) for number in (0, 1))
    kind, lanes = t.type("i32"), t.lanes
    new_first = [lane if lane // row % 2 == 0 else lanes + lane - row for lane in range(lanes)]
    new_second = [lane + row if lane // row % 2 == 0 else lanes + lane for lane in range(lanes)]
    for number, indices in ((0, new_first), (1, new_second)):
        chosen = t.vector("i32", indices)
        t.set_register(
            number, t.value(f"shufflevector {kind} {first}, {kind} {second}, <{lanes} x i32> {chosen}"), 32
        )

"""What an exploration shows, in three sentences or so: what it costs, what became of it, what was proved.

Comes in: an `Exploration`. Goes out: sentences, for the page and for the terminal. Every number is counted.
"""

from __future__ import annotations

from collections.abc import Iterator

from pykern.data.costs import Costs, least_bytes, total
from pykern.data.target import parse
from pykern.explorer.data import Exploration, lineage_of
from pykern.explorer.roof import Roof

PROVED = (
    "bounds check", "not raised", "the kernel can be raised", "the launch of", "kept a copy", "scratch memory",
    "the tape of",
)  # fmt: skip
"""How remarks begin that belong into a summary."""
ALWAYS_MEMORY, ALWAYS_COMPUTE = 1.0, 60.0
"""Flops for a byte below and above which no processor of today leaves the question open."""


def summary(data: Exploration) -> tuple[str, ...]:
    """Sentences, the most telling first."""
    return tuple(_sentences(data))


def _sentences(data: Exploration) -> Iterator[str]:
    if data.error:
        yield f"It did not compile: {data.error.splitlines()[0]}"
        reached = data.reached
        yield f"{len(data.stages) - 1} stages were reached, {reached.name} the last; {data.stages[-1].name} failed."
        return
    if data.costs is not None:
        yield from _costs(data.costs, data.roof)
    yield from _machine(data)
    yield from _proved(data)


def intensity(costs: Costs) -> tuple[float, float]:
    """Flops for a byte: where every access goes to memory, and where each array is moved once. 0 for no flops."""
    loops = costs.loops
    read, written, flops = total(costs, loops)
    least = least_bytes(costs, loops)
    return flops / (read + written) if read + written else 0.0, flops / least if least else 0.0


def _costs(costs: Costs, roof: Roof | None) -> Iterator[str]:
    loops = costs.loops
    read, written, flops = total(costs, loops)
    loads = sum(
        a.executions.times for a in costs.accesses if a.executions.loops == loops and a.kind != "store"
    )
    stores = sum(
        a.executions.times for a in costs.accesses if a.executions.loops == loops and a.kind != "load"
    )
    whole = costs.rank == 0
    who = (
        f"Each iteration of the loop at line {loops[-1]}"
        if loops
        else "Each call"
        if whole
        else "Each work-item"
    )
    accesses = " and ".join(
        part
        for part in (_many(loads, "load") if loads else "", _many(stores, "store") if stores else "")
        if part
    )
    if not accesses:
        yield f"{who} touches no memory and computes {_many(flops, 'flop')}."
        return
    said = f"{who} makes {accesses}, {read + written} bytes, for {_many(flops, 'flop')}"
    if whole:
        said = f"{who} reads at least {read} bytes and writes {written}, for {_many(flops, 'flop')}"
    most, least = intensity(costs)
    if flops:
        said += f": {most:.2f} flop/byte"
        if least > most * 1.01:
            said += f", {least:.2f} where caches keep what neighbours share"
        said += f"; {_bound(costs, roof)}"
    yield said + "."


def _bound(costs: Costs, roof: Roof | None) -> str:
    most, least = intensity(costs)
    low, high = ALWAYS_MEMORY, ALWAYS_COMPUTE
    if roof is not None:
        kinds = [w.dtype for w in costs.work if w.dtype in roof.gflop_per_s]
        peak = roof.gflop_per_s[kinds[0]] if kinds else max(roof.gflop_per_s.values())
        low = high = peak / roof.gb_per_s
    if max(most, least) < low:
        return "memory bound"
    if most > high:
        return "compute bound"
    return "caches decide whether memory or arithmetic bounds it"


def _machine(data: Exploration) -> Iterator[str]:
    known = data.resources
    family = parse(data.target).family
    mapped = 100 * lineage_of(data.reached).mapped()
    end = f"{mapped:.0f} % of the last stage's operations know their line of Python"
    if "registers" in known or "vgprs" in known:
        registers = known.get("registers", known.get("vgprs"))
        spills = int(str(known.get("spill_bytes", known.get("vgpr_spills", 0))))
        kept = (
            "and spills nothing"
            if not spills
            else f"and spills {spills} {'bytes' if 'spill_bytes' in known else 'of them'}"
        )
        share = f"; occupancy {100 * float(str(known['occupancy'])):.0f} %" if "occupancy" in known else ""
        limit = f", limited by {known['occupancy_limit']}" if _is_limited(known) else ""
        yield f"It takes {registers} registers a work-item {kept}{share}{limit}; {end}."
    elif family == "llvm" and known.get("vector_bits"):
        bits, count = known["vector_bits"], known.get("instructions", "?")
        yield f"It became {count} instructions with vectors of {bits} bits; {end}."
    elif family == "spirv":
        yield f"It is {known.get('binary_bytes', '?')} bytes of SPIR-V, of which the driver makes code; {end}."
    else:
        yield f"The last stage is {data.reached.name}; {end}."


def _is_limited(known: dict[str, object]) -> bool:
    return "occupancy_limit" in known and known.get("occupancy") != 1


def _proved(data: Exploration) -> Iterator[str]:
    said = []
    for start in PROVED:
        rows = [r for r in data.remarks if r.text.startswith(start)]
        for text in dict.fromkeys(r.text for r in rows):
            lines = sorted({r.line for r in rows if r.text == text and r.line})
            where = (
                f" ({'line' if len(lines) == 1 else 'lines'} {', '.join(map(str, lines))})" if lines else ""
            )
            said.append(text + where)
    if said:
        sentence = "; ".join(said)
        yield f"{sentence[0].upper()}{sentence[1:]}."


def _many(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"

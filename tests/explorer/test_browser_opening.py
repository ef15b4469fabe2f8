"""How a page opens, searches and draws rooflines in a real browser: the hot loop, from stage to stage, labels apart."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

import pykern as pk
from pykern.explorer.explore import look
from pykern.explorer.roof import Roof, Run
from tests.explorer.samples import MATRIX, SAMPLES, matmul

pytestmark = pytest.mark.slow


def in_sight(tab, pane: int) -> tuple[int, int]:
    """First and last line of a pane that can be seen."""
    return tuple(
        tab.page.evaluate(
            """n => {
            const pane = explorer.panes[n], top = pane.scroll.scrollTop, rows = pane.rows;
            const first = Math.ceil(top / 18), last = Math.floor((top + pane.scroll.clientHeight) / 18) - 1;
            return [rows[first].line, rows[Math.min(last, rows.length - 1)].line];
        }""",
            pane,
        )
    )


def jumps_back(text: str) -> list[tuple[int, int]]:
    """Loops of assembly, by labels and the jumps to them, as numbers of lines."""
    labels, found = {}, []
    for number, line in enumerate(text.splitlines(), 1):
        label = re.match(r"(\S+):", line)
        if label:
            labels[label[1]] = number
        found += [
            (labels[word], number) for word in re.findall(r"[.$]L\w+", line) if word in labels and not label
        ]
    return found


@pytest.mark.parametrize("name", ["matmul", "heat", "saxpy"])
def test_a_page_opens_at_the_hot_loop(opened, name):
    data = SAMPLES[name].look("llvm")
    tab = opened(data)
    text = {"matmul": "total += a[i, k] * b[k, j]", "heat": "t", "saxpy": "z[i] ="}[name]
    (line,) = tab.lit("python")
    assert text in data.sources[0].lines[line - data.sources[0].first]
    last = len(data.stages) - 1
    first_seen, last_seen = in_sight(tab, 2)
    lit = [
        n for n in tab.page.evaluate("explorer.lit(explorer.state.pin)")[last] if first_seen <= n <= last_seen
    ]
    loops = jumps_back(data.stages[last].text)
    assert any(from_ <= n <= to for n in lit for from_, to in loops), (lit, loops)
    # a click on what is selected keeps it, Escape lets go, and a link keeps that
    tab.click_line(line)
    assert tab.lit("python") == [line]
    tab.press("Escape")
    assert tab.lit("python") == []
    tab.page.reload()
    tab.page.wait_for_function("document.documentElement.dataset.ready === '1'")
    assert tab.lit("python") == []
    tab.requests.clear()
    tab.requests.append("file:")


def test_search_goes_on_in_the_next_stage(opened):
    data = SAMPLES["saxpy"].look("llvm")
    tab = opened(data)
    tab.press("/")
    tab.page.keyboard.type("mulf")
    expected = [
        (number, line)
        for number, stage in enumerate(data.stages)
        if data.changed(number)
        for line, text in enumerate(stage.text.splitlines(), 1)
        if "mulf" in text
    ]
    assert len({n for n, _ in expected}) > 3
    here = "[explorer.state.b, explorer.panes[2].rows[explorer.panes[2].cursor].line]"
    found = []
    for _ in expected:
        tab.press("Enter")
        found.append(tuple(tab.page.evaluate(here)))
        first_seen, last_seen = in_sight(tab, 2)
        assert first_seen <= found[-1][1] <= last_seen
    assert found == expected
    tab.press("Enter")
    assert tuple(tab.page.evaluate(here)) == expected[0]  # around
    tab.press("Shift+Enter")
    assert tuple(tab.page.evaluate(here)) == expected[-1]
    assert re.search(
        rf"hit \d+ of \d+ in {re.escape(data.stages[expected[-1][0]].name)}", tab.page.inner_text("#said")
    )
    assert tab.page.locator(".hit[aria-current]").count() == 1
    assert (
        tab.page.get_attribute(".hit", "aria-label")
        == f"{data.stages[expected[0][0]].name}: {plural(expected)}"
    )


def plural(expected) -> str:
    count = sum(n == expected[0][0] for n, _ in expected)
    return f"{count} hit{'' if count == 1 else 's'}"


def test_search_finds_lines_of_python_too(opened):
    data = SAMPLES["saxpy"].look("llvm")
    tab = opened(data)
    tab.press("/")
    tab.page.keyboard.type("a * x[i]")
    tab.press("Enter")
    row = next(n for n, text in enumerate(data.sources[0].lines) if "a * x[i]" in text)
    assert (
        tab.page.evaluate("explorer.panes[0].rows[explorer.panes[0].cursor].line")
        == data.sources[0].first + row
    )


LABELS = """() => [...document.querySelectorAll('.chart text')].map(t => {
    const box = t.getBoundingClientRect();
    return [t.textContent, box.left, box.top, box.right, box.bottom];
})"""


@pytest.mark.parametrize("points", [0, 1, 5, 30])
@pytest.mark.parametrize("roofs", [1, 2, 6])
def test_labels_of_a_roofline_stand_apart(opened, points, roofs):
    names = ("f32", "f64", "f16", "bf16", "i8", "f8")
    peaks = (1000.0, 990.0, 1010.0, 2000.0, 505.0, 500.0)
    data = replace(
        SAMPLES["saxpy"].look("llvm"),
        roof=Roof("test", 100.0, dict(zip(names[:roofs], peaks, strict=False))),
        runs=tuple(Run(1_000_000, 1e-3 * (1 + n % 7 * 0.01) * 3 ** (n % 3), 5) for n in range(points)),
    )
    tab = opened(data, hash="#drawer=roofline")
    boxes = tab.page.evaluate(LABELS)
    assert sum(text.startswith("measured") for text, *_ in boxes) == points
    assert all(any(text.startswith(name + " ") for text, *_ in boxes) for name in names[:roofs])
    over = [
        (one[0], other[0])
        for n, one in enumerate(boxes)
        for other in boxes[:n]
        if one[1] < other[3] - 0.5
        and other[1] < one[3] - 0.5
        and one[2] < other[4] - 1.5
        and other[2] < one[4] - 1.5
    ]
    assert over == []
    chart = tab.page.evaluate(
        "(b => [b.left, b.right])(document.querySelector('.chart').getBoundingClientRect())"
    )
    assert all(chart[0] <= left and right <= chart[1] for _, left, _, right, _ in boxes)
    assert "nominal" in tab.page.inner_text("figcaption")


def test_gradients_say_what_they_are_and_tell_their_parts_apart(opened):
    shadowed = [pk.Dup(MATRIX, MATRIX)] * 3
    (data,) = look(pk.autodiff(matmul, level="direct"), *shadowed, pk.i64, ndrange=("n", "m")).subjects
    tab = opened(data)
    assert tab.page.title().startswith("gradient of matmul")
    assert tab.page.inner_text("h1").startswith("gradient of matmul(")
    last = data.stages[-1]
    assert last.lineage is not None
    for letter, key in (("f", "g"), ("b", "g")):
        tab.press(key)
        marked = tab.page.eval_on_selector_all(
            f"#b .row.part-{letter} .n", "rows => rows.map(r => +r.textContent)"
        )
        assert marked
        assert all(last.lineage.parts[n - 1] == letter for n in marked)
        assert tab.page.locator(f"#b .row.operation:not(.aside):not(.part-{letter})").count() == 0
    tab.press("g")
    assert tab.page.locator("#b .row.aside").count() == 0
    names = tab.page.eval_on_selector_all("#python .chip", "chips => chips.map(c => c.textContent)")
    assert names == ["forward", "backward"]
    row = next(n for n, text in enumerate(data.sources[0].lines) if "total +=" in text)
    counts = tab.page.eval_on_selector_all(
        '#python .row[aria-rowindex] .weight[class*="part-"]', "all => all.length"
    )
    assert counts >= 2
    line = data.sources[0].first + row
    places = [
        part
        for part, kind, place in zip(last.lineage.parts, last.lineage.kinds, last.lineage.places, strict=True)
        if kind == "o" and place is not None and place.line == line
    ]
    shown = tab.page.evaluate(
        """line => Object.fromEntries([...document.querySelectorAll('#python .row')]
            .filter(r => r.querySelector('.n') && +r.querySelector('.n').textContent === line)
            .flatMap(r => [...r.querySelectorAll('.weight')].map(w => [w.className.slice(-1), +w.textContent])))""",
        line,
    )
    assert shown == {part: places.count(part) for part in set(places)}

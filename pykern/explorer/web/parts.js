// Parts of a derivative: which rows belong to the function itself, which to the reverse sweep, which are tangents.
const PARTS = {f: "forward", b: "backward", t: "tangent"};
const partsIn = stages => Object.keys(PARTS).filter(part => stages.some(s => s.parts.includes(part)));
const partOf = (stage, line) => stage.parts ? stage.parts[line - 1] : "";
const KNOWN_PARTS = partsIn(STAGES);  // none where nothing is differentiated
const partNames = () => Object.fromEntries(KNOWN_PARTS.map(part => [part, part === "f" && !KNOWN_PARTS.includes("b") ? "primal" : PARTS[part]]));

function partChips() {  // above stage B: a legend, and what is not chosen is dimmed
  const names = partNames();
  return KNOWN_PARTS.map(part => `<button class="chip part-${part} ${S.part === part ? "on" : ""}" data-part="${part}" tabindex="-1" aria-pressed="${S.part === part}" title="${names[part]} part: click to see it alone (key g)">${names[part]}</button>`).join("");
}

function nextPart() {
  if (!KNOWN_PARTS.length) return say("nothing is differentiated here");
  const order = ["", ...KNOWN_PARTS];
  choosePart(order[(order.indexOf(S.part) + 1) % order.length]);
}

function choosePart(part) {
  S.part = S.part === part ? "" : part;
  show(false);
  const rows = paneB.rows, first = rows.findIndex(r => r.line !== undefined && r.stage !== PYTHON && STAGES[r.stage].kinds[r.line - 1] === "o" && partOf(STAGES[r.stage], r.line) === S.part);
  if (S.part && first >= 0) paneB.reveal(first);
}

function countsByPart(subject) {  // instructions of the last stage: for each line of Python, those of each part
  const last = [...subject.stages].reverse().find(s => s.kind !== "failed"), found = new Map();
  last.src.forEach((place, row) => {
    if (!place || last.kinds[row] !== "o") return;
    const key = `${place[0]}:${place[1]}`, sums = found.get(key) || {};
    const part = partOf(last, row + 1) || "f";
    sums[part] = (sums[part] || 0) + 1;
    found.set(key, sums);
  });
  return found;
}

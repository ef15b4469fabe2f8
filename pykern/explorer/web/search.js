// Search in the Python and in all stages: a list "stage: hits", and from hit to hit, from stage to stage.
const HOW = "press / and type; Enter goes to the next hit, and on to the next stage with hits; Shift Enter back";
let foundHtml = "";
const searchPanel = () => `<div class="hits">${foundHtml || none(HOW)}</div>`;
const LONGEST_LIST = 60;
let hitStages = [];  // stages with hits, by number, and their lines; the Python first

function search(text, regex) {
  S.find = null;
  hitStages = [];
  byId("search").classList.remove("wrong");
  if (text) {
    try { S.find = new RegExp(regex ? text : text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"), "i"); }
    catch { byId("search").classList.add("wrong"); }
  }
  if (S.find) {
    const rows = python.rows.flatMap((r, n) => r.text !== undefined && S.find.test(r.text) ? [n] : []);
    const inStages = STAGES.map(s => [s.id, s.changed ? s.lines.flatMap((l, n) => S.find.test(l) ? [n + 1] : []) : []]);
    hitStages = [[PYTHON, rows], ...inStages].filter(([, lines]) => lines.length);
  }
  drawHits();
  panes.forEach(p => p.draw());
  open("search");
}

function drawHits() {
  const total = hitStages.reduce((sum, [, lines]) => sum + lines.length, 0);
  const name = id => id === PYTHON ? "Python" : MANY ? `${label(STAGES[id].subject)}: ${STAGES[id].name}` : STAGES[id].name;
  const buttons = hitStages.slice(0, LONGEST_LIST).map(([id, lines]) =>
    `<button class="hit" data-hit="${id}" ${id === S.b ? 'aria-current="true"' : ""} aria-label="${escape(name(id))}: ${plural(lines.length, "hit")}"><span>${escape(name(id))}</span><b>${lines.length}</b></button>`).join("");
  if (!S.find) foundHtml = none(byId("search").classList.contains("wrong") ? "this is no regular expression" : HOW);
  else foundHtml = buttons ? `<p class="hint">${plural(total, "hit")} in ${hitStages[0] && hitStages[0][0] === PYTHON ? `the Python and ${plural(hitStages.length - 1, "stage")}` : plural(hitStages.length, "stage")}</p>${buttons}` : none("found nowhere");
}

function nextFound(step) {  // the next hit of stage B; behind its last one the first of the next stage that has any
  if (!hitStages.length) return S.find && say("found nowhere");
  const at = hitStages.findIndex(([id]) => id === S.b), isPlain = !S.follow && !S.diff;
  if (S.hitInPython) return goToHit((step > 0 ? 1 : hitStages.length - 1) % hitStages.length, step);
  if (at >= 0 && isPlain) {
    const here = paneB.rows[paneB.cursor], line = S.hitLine && here && here.line === S.hitLine ? S.hitLine : step > 0 ? 0 : Infinity;
    const [, lines] = hitStages[at], next = step > 0 ? lines.find(l => l > line) : [...lines].reverse().find(l => l < line);
    if (next !== undefined) return showHit(at, next);
    return goToHit((at + step + hitStages.length) % hitStages.length, step);
  }
  const behind = hitStages.findIndex(([id]) => id > S.b);
  goToHit(step > 0 ? Math.max(0, behind) : (Math.max(0, behind) - 1 + hitStages.length) % hitStages.length, step);
}

const goToHit = (k, step) => showHit(k, hitStages[k][1][step > 0 ? 0 : hitStages[k][1].length - 1]);

function showHit(k, line) {  // `line` of a stage, or a row of the Python
  const [id, lines] = hitStages[k], pane = id === PYTHON ? python : paneB;
  S.hitInPython = id === PYTHON;
  if (id !== PYTHON && (S.b !== id || S.diff || S.follow)) { S.diff = ""; go("b", id); }
  S.hitLine = id === PYTHON ? 0 : line;
  if (id !== PYTHON && S.folded.has(id)) { S.folded.delete(id); show(false); }
  pane.cursor = id === PYTHON ? line : pane.rows.findIndex(r => r.line === line);
  turnTo(pane.el.id);
  pane.reveal(pane.cursor);
  pane.mark();
  panes.forEach(p => p.el.classList.toggle("at-hit", p === pane));
  say(`hit ${lines.indexOf(line) + 1} of ${lines.length} in ${id === PYTHON ? "Python" : STAGES[id].name}, ${k + 1} of ${hitStages.length} with hits`);
  drawHits();
  if (S.drawer === "search") drawDrawer();
}

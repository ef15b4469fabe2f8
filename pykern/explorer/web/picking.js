// Picking lines and values, and what follows from it.
SUBJECTS.forEach(subject => {
  subject.said = new Map();
  SUBJECTS.forEach((other, k) => {  // of one source all that is said, with a name where not all say it
    if (other !== subject && !SAME_SOURCE) return;
    other.remarks.forEach(r => {
      const key = `${r.file}:${r.line}`, is = x => x.file === r.file && x.line === r.line && x.text === r.text;
      const text = !MANY || !SAME_SOURCE || SUBJECTS.every(s => s.remarks.some(is)) ? r.text : `${label(k)}: ${r.text}`;
      if (!subject.said.has(key)) subject.said.set(key, []);
      if (!subject.said.get(key).includes(text)) subject.said.get(key).push(text);
    });
  });
  subject.work = new Map();  // loads, stores, atomics and flops of a work-item, for each line of Python
  const add = (x, what, n) => {
    const key = `${x.file}:${x.line}`, sums = subject.work.get(key) || {};
    sums[what] = (sums[what] || 0) + n * x.times;
    subject.work.set(key, sums);
  };
  if (subject.costs) {
    subject.costs.accesses.forEach(x => add(x, x.kind, 1));
    subject.costs.work.forEach(x => add(x, "flop", x.flops));
  }
  subject.weight = countsByPart(subject);
  subject.heaviest = Math.max(1, ...[...subject.weight.values()].flatMap(Object.values));
});

let lit = litLines(null), lit2 = litLines(null), hovered = null, hoverLit = null;
const python = new Pane("python", "Python"), paneA = new Pane("a", "stage A"), paneB = new Pane("b", "stage B");
const panes = [python, paneA, paneB];

const asPin = row => row.stage === PYTHON
  ? {stage: PYTHON, subject: row.subject, file: row.file, line: row.line} : {stage: row.stage, line: row.line};
const samePin = (p, q) => p && q && p.stage === q.stage && p.line === q.line && p.file === q.file && p.subject === q.subject;

function pin(row, from, second = false) {
  if (row.line === undefined) return;
  const name = second && S.pin ? "second" : "pin", made = asPin(row);
  S[name] = samePin(S[name], made) && !(name === "pin" && S.suggested) ? null : made;
  S.suggested = false;
  relight();
  panes.forEach(p => {
    const hits = p.hits();
    if (p !== from && hits.length && !second && !hits.some(n => isInSight(p, n))) p.revealHit();
  });
}

const isInSight = (pane, n) => n * ROW >= pane.scroll.scrollTop && (n + 1) * ROW <= pane.scroll.scrollTop + pane.scroll.clientHeight;

function relight() {
  lit = litLines(S.pin);
  lit2 = litLines(S.second);
  if (S.follow) paneB.set(followRows());
  panes.forEach(p => { p.mark(); p.drawRuler(); });
  drawStages();
  drawSwitch();
  remember();
}

function suggest() {  // what a page opens with that was not told: the costliest line
  const k = STAGES[S.b].subject, hot = SUBJECTS[k].hot;
  if (!hot) return;
  S.pin = {stage: PYTHON, subject: SAME_SOURCE ? 0 : k, file: hot[0], line: hot[1]};
  S.suggested = true;
}

let pointed = null, drawn = null, waiting = false;
function pointAt(row) {
  pointed = row && row.line !== undefined ? row : null;
  if (waiting || pointed === drawn) return;
  waiting = true;
  requestAnimationFrame(() => {
    waiting = false;
    drawn = pointed;
    hovered = drawn && asPin(drawn);
    hoverLit = litLines(hovered);
    panes.forEach(p => p.mark());
  });
}

function pickValue(row, name) {  // within the function that the row stands in: names are its own
  const lines = STAGES[row.stage].lines, isHead = t => /^\s*(?:llvm\.func|func\.func|gpu\.func|spirv\.func|define|"?\w+"?\.func)\b/.test(t);
  let from = row.line, to = row.line;
  while (from > 1 && !isHead(lines[from - 1])) from--;
  while (to < lines.length && !isHead(lines[to])) to++;
  S.value = {stage: row.stage, name, from, to};
  const word = new RegExp(`${name.replace(/[.$]/g, "\\$&")}(?![\\w.$])`);
  const where = lines.slice(from - 1, to).flatMap((t, n) => word.test(t) ? [from + n] : []);
  say(`${name}: ${where.length ? `line ${where[0]}` : ""}${where.length > 1 ? `, and lines ${where.slice(1, 9).join(", ")}${where.length > 9 ? " …" : ""}` : ", not used again"}`);
}

function valueOf(row) {  // the value that the line defines
  const m = row.stage === PYTHON || row.text === undefined ? null : /[%$][\w.$]+/.exec(row.text);
  if (!m) return;
  if (S.value && S.value.stage === row.stage && S.value.name === m[0]) S.value = null;
  else pickValue(row, m[0]);
  panes.forEach(p => p.mark());
}

function nextHit(step) {
  panes.forEach(p => {
    const hits = p.hits();
    if (!hits.length) return;
    const at = hits.indexOf(p.cursor);
    p.cursor = at < 0 ? hits[step > 0 ? 0 : hits.length - 1] : hits[(at + step + hits.length) % hits.length];
    p.reveal(p.cursor);
    p.mark();
  });
}

// -- folds ----------------------------------------------------------------------------------------

function fold(id, row, close) {
  if (!S.folded.has(id)) S.folded.set(id, new Set());
  S.folded.get(id)[close ? "add" : "delete"](row);
  show(false);
}

function foldAt(row, close) {  // the region that begins at a row, or the one around it
  if (row.stage === PYTHON || row.line === undefined) return;
  const folds = foldsOf(STAGES[row.stage]);
  let at = row.line - 1;
  while (at >= 0 && !(folds.has(at) && (at === row.line - 1 || folds.get(at) >= row.line - 1))) at--;
  if (at < 0) return;
  fold(row.stage, at, close);
  panes.forEach(p => { const n = p.rows.findIndex(r => r.stage === row.stage && r.line === at + 1); if (n >= 0) { p.cursor = n; p.mark(); } });
}

function foldAll() {
  const closed = [S.a, S.b].some(id => (S.folded.get(id) || NONE).size);
  [S.a, S.b].forEach(id => S.folded.set(id, new Set(closed ? [] : [...foldsOf(STAGES[id]).keys()].filter(row => /^\s{4,}/.test(STAGES[id].lines[row])))));
  show(false);
}

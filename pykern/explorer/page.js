// The explorer in the browser. `D` is the data (pykern/explorer/data.py), `S` the state, which the hash
// of the address repeats. Only rows in sight are in the document. Everything of a user goes through `escape`.
"use strict";
(async () => {
const ROW = 18, MARGIN = 20, PYTHON = -1;
const byId = id => document.getElementById(id);
const escape = text => text.replace(/[&<>"']/g, c => `&#${c.charCodeAt(0)};`);

async function unpack() {
  const bytes = Uint8Array.from(atob(byId("data").textContent), c => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return JSON.parse(await new Response(stream).text());
}

const D = await unpack();
D.stages.forEach((stage, n) => { stage.lines = stage.lines || D.stages[n - 1].lines; });
const LAST = D.stages.length - 1;
const PY = D.source.flatMap((s, k) => [
  ...(k ? [{head: s.name}] : []),
  ...s.lines.map((text, n) => ({text, stage: PYTHON, file: s.file, line: s.first + n})),
]);
const S = {a: 0, b: LAST, pin: null, diff: false, plumbing: false, follow: false, all: false, drawer: "summary"};

// -- lineage: the same rules as Exploration.lit ------------------------------------------------

const shown = kind => kind === "o" || (S.plumbing && kind === "p");

function childrenOf(stage) {
  if (!stage.children) {
    stage.children = new Map();
    stage.parents.forEach((parents, row) => parents.forEach(p => {
      if (!stage.children.has(p)) stage.children.set(p, []);
      stage.children.get(p).push(row + 1);
    }));
  }
  return stage.children;
}

function relatives(stage, line) {
  const found = D.stages.map(() => new Set());
  found[stage].add(line);
  for (let n = stage; n > 0; n--)
    found[n].forEach(l => D.stages[n].parents[l - 1].forEach(p => found[n - 1].add(p)));
  for (let n = stage + 1; n <= LAST; n++)
    found[n - 1].forEach(l => (childrenOf(D.stages[n]).get(l) || []).forEach(c => found[n].add(c)));
  return found;
}

function litLines(pin) {
  if (!pin) return D.stages.map(() => new Set());
  if (pin.stage === PYTHON)
    return D.stages.map(s => new Set(s.src.flatMap((place, row) =>
      place && place[0] === pin.file && place[1] === pin.line && shown(s.kinds[row]) ? [row + 1] : [])));
  return relatives(pin.stage, pin.line).map((lines, n) => new Set([...lines].filter(l =>
    (n === pin.stage && l === pin.line) || shown(D.stages[n].kinds[l - 1]))));
}

function pythonOf(pin) {
  if (!pin) return null;
  if (pin.stage === PYTHON) return [pin.file, pin.line];
  return D.stages[pin.stage].src[pin.line - 1] || null;
}

// -- what a row looks like ----------------------------------------------------------------------

const WORDS = /(\/\/.*|;.*$|#(?=[^\w]).*$)|("(?:[^"\\]|\\.)*")|([%$][\w.#$]+)|([@^][\w.$]+)|(!?[a-z_]\w*)(\.[a-z_][\w.]*)|\b(0x[0-9a-fA-F]+|-?\d[\d.e+-]*)\b/g;
const PYTHON_WORDS = /(#.*)|("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')|\b(and|as|assert|break|class|continue|def|elif|else|False|for|from|global|if|import|in|is|lambda|None|not|or|pass|return|True|while|with|yield)\b|\b(\d[\w.]*)\b/g;
const DIALECTS = new Set(["kern", "arith", "math", "memref", "tensor", "scf", "cf", "linalg", "vector", "gpu", "nvvm", "rocdl", "spirv", "llvm", "func"]);
const MOST = 2000;  // characters of a row that are coloured

function coloured(text, words, classes) {
  let html = "", from = 0;
  for (const m of text.slice(0, MOST).matchAll(words)) {
    html += escape(text.slice(from, m.index)) + classes(m);
    from = m.index + m[0].length;
  }
  return html + escape(text.slice(from));
}

const span = (kind, text) => `<span class="${kind}">${escape(text)}</span>`;

function irWord(m) {
  if (m[1]) return span("comment", m[0]);
  if (m[2]) {
    const dialect = /^"([a-z]+)\./.exec(m[0]);
    return span(dialect && DIALECTS.has(dialect[1]) ? `op d-${dialect[1]}` : "string", m[0]);
  }
  if (m[3]) return span("value", m[0]);
  if (m[4]) return span("symbol", m[0]);
  if (m[5]) return DIALECTS.has(m[5]) ? span(`op d-${m[5]}`, m[0]) : escape(m[0]);
  return span("number", m[0]);
}

const pythonWord = m => span(m[1] ? "comment" : m[2] ? "string" : m[3] ? "keyword" : "number", m[0]);
const irText = text => coloured(text, WORDS, irWord);
const pythonText = text => coloured(text, PYTHON_WORDS, pythonWord);

// -- difference of two stages: Myers' shortest edit script ---------------------------------------

const plainValues = text => text.replace(/%[\w#]+/g, "%");  // numbers of values change for nothing

const LONGEST_DIFF = 6000;  // differing lines; above, all of one is shown as removed, all of the other as added

function difference(a, b) {
  const x = a.map(plainValues), y = b.map(plainValues);
  let low = 0, endX = x.length, endY = y.length;
  while (low < endX && low < endY && x[low] === y[low]) low++;
  while (endX > low && endY > low && x[endX - 1] === y[endY - 1]) { endX--; endY--; }
  const same = (from, to, shift) => Array.from({length: to - from}, (_, r) => [" ", from + r + 1, from + r + 1 + shift]);
  return [...same(0, low, 0), ...shortestEdit(x, y, low, endX, endY), ...same(endX, x.length, endY - endX)];
}

function shortestEdit(x, y, low, endX, endY) {
  const n = endX - low, m = endY - low, rows = [];
  if (n + m > LONGEST_DIFF) {
    for (let i = 0; i < n; i++) rows.push(["-", low + i + 1, 0]);
    for (let j = 0; j < m; j++) rows.push(["+", 0, low + j + 1]);
    return rows;
  }
  const goesDown = (ends, k, d) => k === -d || (k !== d && ends.get(k - 1) < ends.get(k + 1));
  const trace = [], ends = new Map([[1, 0]]);
  search: for (let d = 0; d <= n + m; d++) {
    trace.push(new Map(ends));
    for (let k = -d; k <= d; k += 2) {
      let i = goesDown(ends, k, d) ? ends.get(k + 1) : ends.get(k - 1) + 1, j = i - k;
      while (i < n && j < m && x[low + i] === y[low + j]) { i++; j++; }
      ends.set(k, i);
      if (i >= n && j >= m) break search;
    }
  }
  let i = n, j = m;
  const keepTo = (i1, j1) => { while (i > i1 && j > j1) { rows.push([" ", low + i, low + j]); i--; j--; } };
  for (let d = trace.length - 1; d > 0; d--) {
    const k = i - j, down = goesDown(trace[d], k, d), k0 = down ? k + 1 : k - 1;
    const i0 = trace[d].get(k0), j0 = i0 - k0;
    keepTo(down ? i0 : i0 + 1, down ? j0 + 1 : j0);
    rows.push(down ? ["+", 0, low + j] : ["-", low + i, 0]);
    i = i0; j = j0;
  }
  keepTo(0, 0);
  return rows.reverse();
}

function diffRows() {
  const a = D.stages[S.a], b = D.stages[S.b];
  return difference(a.lines, b.lines).map(([sign, la, lb]) => ({
    sign, stage: sign === "-" ? S.a : S.b, line: sign === "-" ? la : lb,
    text: sign === "-" ? a.lines[la - 1] : b.lines[lb - 1],
  }));
}

// -- panes ------------------------------------------------------------------------------------

const stageRows = n => D.stages[n].lines.map((text, row) => ({text, stage: n, line: row + 1}));

function followRows() {  // the picked op through all stages, one under the other
  return D.stages.flatMap((stage, n) => {
    const lines = [...lit[n]].sort((x, y) => x - y);
    if (!lines.length || (n && !stage.changed)) return [];
    return [{head: stage.name}, ...lines.map(l => ({text: stage.lines[l - 1].trim(), stage: n, line: l}))];
  });
}

let lit = litLines(null), hovered = null, hoverLit = null;
const remarkOf = new Map(D.remarks.map(r => [`${r.file}:${r.line}`, []]));
D.remarks.forEach(r => remarkOf.get(`${r.file}:${r.line}`).push(r.text));
const weight = new Map();  // instructions of the last stage for each line of Python
D.stages[LAST].src.forEach((place, row) => {
  if (place && D.stages[LAST].kinds[row] === "o") {
    const key = `${place[0]}:${place[1]}`;
    weight.set(key, (weight.get(key) || 0) + 1);
  }
});

class Pane {
  constructor(id, title) {
    this.el = document.createElement("section");
    this.el.className = "pane";
    this.el.id = id;
    this.el.innerHTML = `<h2></h2><div class="scroll" role="grid" tabindex="0"><div class="rows"></div></div><canvas width="8"></canvas>`;
    [this.title, this.scroll, this.ruler] = this.el.children;
    this.rowsEl = this.scroll.firstChild;
    this.scroll.setAttribute("aria-label", title);
    this.cursor = 0;
    this.rows = [];
    this.scroll.addEventListener("scroll", () => this.draw(), {passive: true});
    this.scroll.addEventListener("click", e => this.clicked(e));
    this.scroll.addEventListener("mousemove", e => hover(this.rowAt(e)));
    this.scroll.addEventListener("mouseleave", () => hover(null));
    this.scroll.addEventListener("keydown", e => this.key(e));
    byId("main").append(this.el);
  }

  set(rows, title) {
    if (title !== undefined) this.title.textContent = title;
    this.rows = rows;
    this.cursor = Math.min(this.cursor, Math.max(0, rows.length - 1));
    this.longest = rows.reduce((most, r) => Math.max(most, (r.text || "").length), 0);
    this.rowsEl.style.height = `${rows.length * ROW}px`;
    this.rowsEl.style.minWidth = `${Math.min(this.longest, 4 * MOST) + 10}ch`;
    this.draw();
  }

  isLit(row, lines = lit, pin = S.pin) {
    if (row.head || !pin) return false;
    if (row.stage !== PYTHON) return lines[row.stage].has(row.line);
    const python = pythonOf(pin);
    return python !== null && python[0] === row.file && python[1] === row.line;
  }

  hits() { return this.rows.flatMap((row, n) => this.isLit(row) ? [n] : []); }

  draw() {
    const first = Math.max(0, Math.floor(this.scroll.scrollTop / ROW) - MARGIN);
    const last = Math.min(this.rows.length, first + Math.ceil(this.scroll.clientHeight / ROW) + 2 * MARGIN);
    let html = "";
    for (let n = first; n < last; n++) html += this.html(this.rows[n], n);
    this.rowsEl.innerHTML = html;
    this.drawRuler();
  }

  html(row, n) {
    const top = `style="top:${n * ROW}px" data-n="${n}"`;
    if (row.head) return `<div class="row head" ${top}>${escape(row.head)}</div>`;
    const isLit = this.isLit(row), classes = ["row"];
    if (isLit) classes.push("lit");
    if (hovered && this.isLit(row, hoverLit, hovered)) classes.push("hover");
    if (n === this.cursor) classes.push("cursor");
    if (row.sign === "+") classes.push("added");
    if (row.sign === "-") classes.push("removed");
    let body, after = "", dot = "";
    if (row.stage === PYTHON) {
      const key = `${row.file}:${row.line}`, said = remarkOf.get(key);
      body = pythonText(row.text);
      if (said) after += `<i class="remark" title="${escape(said.join("\n"))}">${escape(said.join(", "))}</i>`;
      if (weight.has(key)) dot = `<b class="weight" title="instructions of the last stage">${weight.get(key)}</b>`;
      else classes.push("nothing");
    } else {
      const stage = D.stages[row.stage], kind = stage.kinds[row.line - 1];
      classes.push(kind === "o" ? "operation" : kind === "p" ? "plumbing" : "other");
      body = irText(row.text);
      dot = `<b class="dot">${kind === "o" ? (stage.src[row.line - 1] ? "●" : "○") : ""}</b>`;
    }
    const sign = row.sign ? `<b class="sign">${row.sign}</b>` : "";
    return `<div class="${classes.join(" ")}" role="row" aria-selected="${isLit}" ${top}><b class="n">${row.line}</b>${dot}${sign}<span role="gridcell">${body}</span>${after}</div>`;
  }

  drawRuler() {
    const height = this.ruler.clientHeight || 1, pen = this.ruler.getContext("2d");
    this.ruler.height = height;
    pen.fillStyle = getComputedStyle(document.documentElement).getPropertyValue("--mark");
    this.hits().forEach(n => pen.fillRect(0, Math.floor(n / Math.max(1, this.rows.length) * height), 8, 3));
  }

  reveal(n) {
    const top = n * ROW, sight = this.scroll;
    if (top < sight.scrollTop || top > sight.scrollTop + sight.clientHeight - 2 * ROW)
      sight.scrollTop = Math.max(0, top - sight.clientHeight / 3);
  }

  rowAt(event) {
    const el = event.target.closest(".row");
    return el ? this.rows[+el.dataset.n] : null;
  }

  clicked(event) {
    const row = this.rowAt(event);
    if (!row || row.head) return;
    this.cursor = +event.target.closest(".row").dataset.n;
    pin(row, this);
  }

  key(event) {
    const step = {ArrowDown: 1, ArrowUp: -1, PageDown: 20, PageUp: -20, Home: -1e9, End: 1e9}[event.key];
    if (step) this.cursor = Math.max(0, Math.min(this.rows.length - 1, this.cursor + step));
    else if (event.key === "Enter" && this.rows[this.cursor]) pin(this.rows[this.cursor], this);
    else return;
    event.preventDefault();
    this.reveal(this.cursor);
    this.draw();
  }
}

const python = new Pane("python", "Python");
const paneA = new Pane("a", "stage A");
const paneB = new Pane("b", "stage B");
const panes = [python, paneA, paneB];

function pin(row, from) {
  if (row.head) return;
  const same = S.pin && S.pin.stage === row.stage && S.pin.line === row.line && S.pin.file === row.file;
  S.pin = same ? null : row.stage === PYTHON
    ? {stage: PYTHON, line: row.line, file: row.file} : {stage: row.stage, line: row.line};
  relight();
  panes.forEach(p => { if (p !== from && p.hits().length) p.reveal(p.hits()[0]); });
}

function relight() {
  lit = litLines(S.pin);
  if (S.follow) paneB.set(followRows(), title(paneB));
  panes.forEach(p => p.draw());
  remember();
}

let pointedAt = null, waiting = false;
function hover(row) {
  pointedAt = row && !row.head ? row : null;
  if (pointedAt === hovered || waiting) return;
  waiting = true;
  requestAnimationFrame(() => {
    waiting = false;
    hovered = pointedAt;
    hoverLit = litLines(hovered);
    panes.forEach(p => p.draw());
  });
}

// -- header, stages, drawer ---------------------------------------------------------------------

const label = n => `${n} ${D.stages[n].name}`;
function title(pane) {
  if (pane === paneA) return `A  ${label(S.a)}`;
  return S.follow ? "the picked line through all stages" : S.diff ? `A → B  ${label(S.a)} → ${label(S.b)}` : `B  ${label(S.b)}`;
}

function drawHead() {
  const facts = Object.entries(D.resources).map(([k, v]) => `${escape(k)} <b>${escape(String(v))}</b>`).join(" · ");
  const ms = D.stages.reduce((sum, s) => sum + s.ms, 0);
  byId("head").innerHTML = `<h1>${escape(D.kernel.name)}<small>(${escape(D.kernel.signature)})</small></h1>
    <span class="target">${escape(D.kernel.target)}</span><span class="facts">${facts} · compiled in <b>${ms.toFixed(1)} ms</b></span>
    <input id="search" type="search" placeholder="search  /" aria-label="search in all stages">
    <button id="theme" aria-label="theme">◐</button><button id="keys" aria-label="keys">?</button>`;
  byId("theme").onclick = theme;
  byId("keys").onclick = help;
  byId("search").addEventListener("input", e => search(e.target.value));
  byId("search").addEventListener("keydown", e => {
    if (e.key === "Escape") { e.target.value = ""; e.target.blur(); S.drawer = "summary"; drawDrawer(); }
    e.stopPropagation();
  });
}

function drawTimeline() {
  const most = Math.max(...D.stages.map(s => s.ms), 1e-9);
  byId("timeline").innerHTML = D.stages.map((s, n) =>
    `<button class="${n === S.b ? "b" : n === S.a ? "a" : ""} ${s.kind}" data-n="${n}" tabindex="-1" title="${escape(s.name)}: ${s.ms} ms"
      aria-label="${escape(s.name)}"><i style="height:${Math.max(4, 100 * Math.sqrt(s.ms / most))}%"></i></button>`).join("");
}

function drawStages() {
  byId("stages").innerHTML = D.stages.map((s, n) => !S.all && !s.changed && n !== S.a && n !== S.b ? "" :
    `<button class="stage ${n === S.a ? "a" : ""} ${n === S.b ? "b" : ""}" data-n="${n}" tabindex="-1" title="${escape(s.name)}">
      <i>${s.kind !== "mlir" ? "◆" : s.changed ? "●" : "○"}</i><span>${escape(s.name)}</span>
      <em>${s.changed && n ? `+${s.added} −${s.removed}` : ""}</em><u>${s.ms} ms</u></button>`).join("");
  const chosen = byId("stages").querySelector(".b");
  if (chosen) chosen.scrollIntoView({block: "nearest"});
}

const dialectOf = op => op.includes(".") ? op.split(".")[0] : "instructions";

function countsTable() {
  const rows = D.stages.map((s, n) => [n, s]).filter(([n, s]) => s.changed).map(([n, s]) => {
    const sums = {};
    Object.entries(s.ops).forEach(([op, k]) => { sums[dialectOf(op)] = (sums[dialectOf(op)] || 0) + k; });
    return [n, s, sums];
  });
  const names = [...new Set(rows.flatMap(([, , sums]) => Object.keys(sums)))];
  return `<table><tr><th>stage</th>${names.map(d => `<th class="d-${escape(d)}">${escape(d)}</th>`).join("")}</tr>` +
    rows.map(([n, s, sums]) => `<tr data-n="${n}"><td>${escape(s.name)}</td>${names.map(d => `<td>${sums[d] || ""}</td>`).join("")}</tr>`).join("") + "</table>";
}

function summary() {
  const counted = D.stages[LAST].kinds, count = kind => [...counted].filter(k => k === kind).length;
  const lines = D.stages.filter(s => s.changed).length;
  const mapped = D.stages[LAST].src.filter((p, row) => p && counted[row] === "o").length;
  return `<p>${D.stages.length} stages, ${lines} of them changed something. The last has ${count("o")} ops or instructions,
    ${mapped} of them with a line of Python. Click a line to light what it comes from and what it becomes; <kbd>?</kbd> lists the keys.</p>`;
}

function remarkList() {
  if (!D.remarks.length) return "<p>no remarks</p>";
  return `<ul>${D.remarks.map(r => `<li>${r.line ? `line ${r.line}: ` : ""}${escape(r.text)}</li>`).join("")}</ul>`;
}

const DRAWERS = {
  summary: ["Summary", summary],
  resources: ["Resources", () => `<table>${Object.entries(D.resources).map(([k, v]) => `<tr><td>${escape(k)}</td><td>${escape(String(v))}</td></tr>`).join("")}</table>`],
  counts: ["Op counts", countsTable],
  remarks: ["Remarks", remarkList],
  search: ["Search", () => found],
};

function drawDrawer() {
  byId("drawer").innerHTML = `<div class="tabs" role="tablist">${Object.entries(DRAWERS).map(([id, [name]]) =>
    `<button role="tab" data-tab="${id}" aria-selected="${id === S.drawer}">${name}</button>`).join("")}</div><div class="body">${DRAWERS[S.drawer][1]()}</div>`;
}

let found = "<p>press / and type</p>";
function search(text) {
  const wanted = text.toLowerCase(), hits = [];
  if (wanted) D.stages.forEach((s, n) => {
    const lines = s.changed ? s.lines.flatMap((l, row) => l.toLowerCase().includes(wanted) ? [row + 1] : []) : [];
    if (lines.length) hits.push([n, s, lines]);
  });
  found = hits.map(([n, s, lines]) => `<button class="found" data-n="${n}" data-line="${lines[0]}">${escape(s.name)}: ${lines.length}</button>`).join(" ") || "<p>nothing</p>";
  S.drawer = "search";
  drawDrawer();
}

// -- state ----------------------------------------------------------------------------------------

function show() {
  lit = litLines(S.pin);
  python.set(PY, "Python");
  paneA.set(stageRows(S.a), title(paneA));
  paneB.set(S.follow ? followRows() : S.diff ? diffRows() : stageRows(S.b), title(paneB));
  drawStages();
  drawTimeline();
  remember();
}

function remember() {
  const parts = [`a=${S.a}`, `b=${S.b}`];
  if (S.pin) parts.push(S.pin.stage === PYTHON ? `pin=p${S.pin.file}.${S.pin.line}` : `pin=s${S.pin.stage}.${S.pin.line}`);
  ["diff", "plumbing", "follow", "all"].forEach(flag => { if (S[flag]) parts.push(`${flag}=1`); });
  const hash = "#" + parts.join("&");
  if (location.hash !== hash) try { history.replaceState(null, "", hash); } catch { /* a frame without an address */ }
}

function recall() {
  const given = new URLSearchParams(location.hash.slice(1));
  const number = (name, other) => {
    const n = given.has(name) ? Number(given.get(name)) : other;
    return Number.isInteger(n) && n >= 0 && n <= LAST ? n : other;
  };
  S.a = number("a", 0);
  S.b = number("b", LAST);
  ["diff", "plumbing", "follow", "all"].forEach(flag => { S[flag] = given.get(flag) === "1"; });
  const m = /^([ps])(\d+)\.(\d+)$/.exec(given.get("pin") || "");
  S.pin = null;
  if (m && m[1] === "p") S.pin = {stage: PYTHON, file: +m[2], line: +m[3]};
  if (m && m[1] === "s" && +m[2] <= LAST && +m[3] >= 1 && +m[3] <= D.stages[+m[2]].lines.length) S.pin = {stage: +m[2], line: +m[3]};
}

function theme() {
  const root = document.documentElement;
  const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
  panes.forEach(p => p.draw());
}

function move(which, step) {
  let n = S[which] + step;
  while (!S.all && n > 0 && n < LAST && !D.stages[n].changed) n += step;
  S[which] = Math.max(0, Math.min(LAST, n));
  S.follow = false;
  show();
  const pane = which === "a" ? paneA : paneB, hits = pane.hits();
  if (hits.length) pane.reveal(hits[0]);
}

function nextHit(step) {
  panes.forEach(p => {
    const hits = p.hits();
    if (!hits.length) return;
    const at = hits.indexOf(p.cursor);
    p.cursor = at < 0 ? hits[step > 0 ? 0 : hits.length - 1] : hits[(at + step + hits.length) % hits.length];
    p.reveal(p.cursor);
    p.draw();
  });
}

function showFirst(wanted) {
  const n = paneB.rows.findIndex(wanted);
  if (n >= 0) paneB.reveal(n);
  paneB.draw();
}

function flip(flag) { S[flag] = !S[flag]; show(); }

const KEYS = {
  j: ["next stage in B", () => move("b", 1)], k: ["stage before in B", () => move("b", -1)],
  "]": ["next stage in A", () => move("a", 1)], "[": ["stage before in A", () => move("a", -1)],
  n: ["next lit line", () => nextHit(1)], N: ["lit line before", () => nextHit(-1)],
  d: ["difference of A and B", () => { S.follow = false; flip("diff"); showFirst(r => r.sign === "+" || r.sign === "-"); }],
  m: ["the picked line through all stages", () => { S.diff = false; flip("follow"); showFirst(() => S.follow); }],
  p: ["with constants, casts and other plumbing", () => flip("plumbing")],
  u: ["stages that changed nothing, too", () => flip("all")],
  c: ["copy stage B", () => navigator.clipboard && navigator.clipboard.writeText(D.stages[S.b].lines.join("\n"))],
  "/": ["search in all stages", () => byId("search").focus()],
  t: ["light or dark", theme], "?": ["these keys", () => help()],
  Escape: ["let go of the picked line", () => { S.pin = null; relight(); }],
};

function help() {
  const box = byId("help");
  const more = [["Tab", "next pane"], ["↑ ↓ Enter", "move in a pane, pick a line"]];
  box.innerHTML = `<h2>Keys</h2><dl>${[...Object.entries(KEYS).map(([k, [what]]) => [k, what]), ...more].map(([k, what]) =>
    `<dt><kbd>${escape(k)}</kbd></dt><dd>${what}</dd>`).join("")}</dl><form method="dialog"><button>close</button></form>`;
  box.showModal();
}

addEventListener("keydown", e => {
  if (e.ctrlKey || e.metaKey || e.altKey || byId("help").open) return;
  const action = KEYS[e.key];
  if (action) { e.preventDefault(); action[1](); }
});
addEventListener("resize", () => panes.forEach(p => p.draw()));
addEventListener("hashchange", () => { recall(); show(); });
const numberAt = (e, selector) => { const el = e.target.closest(selector); return el ? +el.dataset.n : null; };
byId("stages").addEventListener("click", e => {
  const n = numberAt(e, "[data-n]");
  if (n !== null) { S[e.shiftKey ? "a" : "b"] = n; S.follow = false; show(); }
});
byId("timeline").addEventListener("click", e => {
  const n = numberAt(e, "[data-n]");
  if (n !== null) { S.b = n; S.follow = false; show(); }
});
byId("drawer").addEventListener("click", e => {
  const tab = e.target.closest("[data-tab]"), hit = e.target.closest("[data-line]"), n = numberAt(e, "[data-n]");
  if (tab) { S.drawer = tab.dataset.tab; drawDrawer(); }
  if (n !== null) { S.b = n; S.diff = S.follow = false; show(); }
  if (hit) { paneB.cursor = +hit.dataset.line - 1; paneB.reveal(paneB.cursor); paneB.draw(); }
});

drawHead();
drawDrawer();
recall();
show();
const firstHits = panes.map(p => [p, p.hits()]);
firstHits.forEach(([p, hits]) => { if (hits.length) p.reveal(hits[0]); });
window.explorer = {data: D, state: S, lit: pin => litLines(pin).map(s => [...s].sort((x, y) => x - y)), difference, panes};
document.documentElement.dataset.ready = "1";
})();

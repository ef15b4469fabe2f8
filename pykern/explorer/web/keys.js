// Keys, the address, the theme, copies: what a user does beside picking lines.
function show(all = true) {
  lit = litLines(S.pin);
  lit2 = litLines(S.second);
  paneA.partner = paneB.partner = null;
  if (all) python.set(pythonRows()); else python.draw();
  if (S.diff === "side" && !S.follow) {
    const [left, right] = sideRows();
    paneA.set(left);
    paneB.set(right);
    paneA.partner = paneB;
    paneB.partner = paneA;
  } else {
    paneA.set(stageRows(S.a));
    paneB.set(S.follow ? followRows() : S.diff ? unifiedRows() : stageRows(S.b));
  }
  drawTitles();
  drawStages();
  drawSwitch();
  drawTimeline();
  drawHead();
  drawDrawer();
  remember();
}

const pinText = p => p.stage === PYTHON ? `p${p.subject}.${p.file}.${p.line}` : `s${p.stage}.${p.line}`;
function readPin(text) {
  const m = /^(?:p(\d+)\.(\d+)\.(\d+)|s(\d+)\.(\d+))$/.exec(text || "");
  if (!m) return null;
  if (m[1] !== undefined) return SUBJECTS[+m[1]] ? {stage: PYTHON, subject: +m[1], file: +m[2], line: +m[3]} : null;
  return STAGES[+m[4]] && +m[5] >= 1 && +m[5] <= STAGES[+m[4]].lines.length ? {stage: +m[4], line: +m[5]} : null;
}

function remember() {
  const parts = [`a=${S.a}`, `b=${S.b}`];
  if (S.pin) parts.push(`pin=${pinText(S.pin)}`);
  if (S.second) parts.push(`second=${pinText(S.second)}`);
  FLAGS.forEach(flag => { if (S[flag]) parts.push(`${flag}=1`); });
  ["diff", "only", "part", "theme"].forEach(name => { if (S[name]) parts.push(`${name}=${S[name]}`); });
  if (S.drawer !== "summary" && S.drawer !== "search") parts.push(`drawer=${S.drawer}`);
  const hash = "#" + parts.join("&");
  if (location.hash !== hash) try { history.replaceState(null, "", hash); } catch { /* a frame without an address */ }
}

function recall() {
  const given = new URLSearchParams(location.hash.slice(1));
  const stage = (name, other) => {
    const n = given.has(name) ? Number(given.get(name)) : other;
    return Number.isInteger(n) && n >= 0 && n <= LAST ? n : other;
  };
  const word = (name, known) => known.includes(given.get(name)) ? given.get(name) : "";
  S.a = stage("a", FIRST_A);
  S.b = stage("b", FIRST_B);
  FLAGS.forEach(flag => { S[flag] = given.get(flag) === "1"; });
  S.diff = word("diff", ["side", "unified"]);
  S.part = word("part", KNOWN_PARTS);
  S.only = word("only", [...new Set(Object.values(HUES))]);
  S.drawer = word("drawer", Object.keys(DRAWERS)) || "summary";
  if (given.has("drawer")) document.body.dataset.drawer = "open";
  S.pin = readPin(given.get("pin"));
  S.second = S.pin && readPin(given.get("second"));
  if (!["a", "b", "pin"].some(name => given.has(name))) suggest();
  setTheme(word("theme", ["light", "dark"]));
}

function setTheme(name) {
  S.theme = name;
  if (name) document.documentElement.dataset.theme = name; else delete document.documentElement.dataset.theme;
}

function theme() {
  const dark = S.theme ? S.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  setTheme(dark ? "light" : "dark");
  panes.forEach(p => p.drawRuler());
  remember();
}

function flip(flag) { S[flag] = !S[flag]; show(); }

function go(which, id) {
  S[which] = id;
  S.follow = false;
  S.value = null;
  S.hitLine = 0;
  S.hitInPython = false;
  show(false);
  const pane = which === "a" ? paneA : paneB, hits = pane.hits();
  if (hits.length && !hits.some(n => isInSight(pane, n))) pane.revealHit();
}

function move(which, step) {
  let n = S[which] + step;
  while (!S.all && n > 0 && n < LAST && !STAGES[n].changed) n += step;
  go(which, Math.max(0, Math.min(LAST, n)));
}

function compare(kind) {
  S.follow = false;
  S.diff = S.diff === kind ? "" : kind;
  show(false);
  const first = paneB.rows.findIndex(r => r.sign === "+" || r.sign === "-" || r.blank);
  if (S.diff && first >= 0) paneB.reveal(first);
}

function follow() {
  if (!S.pin && !S.follow) return say("pick a line first: click it, or Enter in a pane");
  S.diff = "";
  flip("follow");
}

let saying = 0;
function say(text) {
  byId("said").textContent = text;
  byId("said").classList.add("on");
  clearTimeout(saying);
  saying = setTimeout(() => byId("said").classList.remove("on"), 4000);
}

async function copy(text, what) {
  try { await navigator.clipboard.writeText(text); } catch {
    const box = document.createElement("textarea");  // frames and old browsers
    box.value = text;
    document.body.append(box);
    box.select();
    document.execCommand("copy");
    box.remove();
  }
  say(`${what} is in the clipboard`);
}

function litTest() {  // from A to B: RUN, CHECK lines to begin with, and the input
  const b = STAGES[S.b], before = S.a < S.b ? STAGES[S.a] : STAGES[Math.max(0, S.b - 1)];
  const ops = b.lines.map(l => /"?((?:\w+\.)+\w+)"?/.exec(l.replace(/^\s*[%\w:#, ]+=\s*/, ""))).filter(Boolean).map(m => m[1]).filter(op => HUES[op.split(".")[0]]);
  const passes = SUBJECTS[b.subject].stages.filter(s => s.id > before.id && s.id <= b.id && s.kind === "mlir").map(s => s.name).join(",");
  return `// RUN: pykern-opt '--pass-pipeline=builtin.module(${passes})' %s | FileCheck %s\n\n${ops.map(op => `// CHECK: ${op}`).join("\n")}\n\n${before.lines.join("\n")}\n`;
}

function save(id) {
  const stage = STAGES[id], ending = {mlir: "mlir", llvm: "ll", asm: "s", spirv: "spvasm"}[stage.kind] || "txt";
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([stage.lines.join("\n") + "\n"], {type: "text/plain"}));
  link.download = `${SUBJECTS[stage.subject].kernel.name}-${String(stage.n).padStart(2, "0")}-${stage.name.replace(/\W+/g, "-").slice(0, 40)}.${ending}`;
  link.click();
  URL.revokeObjectURL(link.href);
}

function letGo() {
  S.suggested = false;
  if (S.second) S.second = null; else if (S.pin) S.pin = null; else S.value = null;
  S.follow = S.follow && S.pin !== null;
  show(false);
}

const KEYS = {
  j: ["next stage in B", () => move("b", 1)], k: ["stage before in B", () => move("b", -1)],
  "]": ["next stage in A", () => move("a", 1)], "[": ["stage before in A", () => move("a", -1)],
  n: ["next lit line", () => nextHit(1)], N: ["lit line before", () => nextHit(-1)],
  m: ["follow the picked line through all stages", follow],
  d: ["A and B side by side as a difference", () => compare("side")], D: ["the difference in one column", () => compare("unified")],
  v: ["differences with numbers of values", () => flip("numbers")], e: ["differences with all that is the same", () => flip("context")],
  p: ["light constants, casts and other plumbing, too", () => flip("plumbing")],
  u: ["list stages that changed nothing, too", () => flip("all")],
  h: ["hide remarks under the Python", () => flip("quiet")],
  g: ["of a derivative: the forward part alone, the backward part, both", nextPart],
  z: ["fold or unfold all regions", foldAll],
  s: ["summary", () => open("summary")], r: ["resources", () => open("resources")], f: ["roofline", () => open("roofline")],
  w: ["memory", () => open("memory")], o: ["op counts", () => open("counts")], i: ["remarks", () => open("remarks")], x: ["reproduce", () => open("reproduce")],
  c: ["copy stage B", () => copy(STAGES[S.b].lines.join("\n"), STAGES[S.b].name)], y: ["copy as a lit test", () => copy(litTest(), "a lit test")],
  1: ["to Python", () => focus(python)], 2: ["to A", () => focus(paneA)], 3: ["to B", () => focus(paneB)],
  "/": ["search", () => byId("search").select()], t: ["light or dark", theme], "?": ["these keys", () => help()],
  Escape: ["let go of what is picked", letGo],
};
const IN_PANES = [["↑ ↓ PgUp PgDn", "move"], ["Enter", "pick the line"], ["Shift Enter", "pick a second line"], ["=", "uses of the line's value"], ["- +", "fold, unfold"]];

function focus(pane) {
  turnTo(pane.el.id);
  pane.scroll.focus();
}

function help() {
  const list = rows => `<dl>${rows.map(([k, what]) => `<div><dt>${k.split(" ").map(x => `<kbd>${escape(x)}</kbd>`).join(" ")}</dt><dd>${escape(what)}</dd></div>`).join("")}</dl>`;
  byId("help").innerHTML = `<h2>Keys</h2><div class="columns">${list(Object.entries(KEYS).map(([k, [what]]) => [k, what]))}<div><h3>in a pane</h3>${list(IN_PANES)}<h3>with the mouse</h3>
    <p>Click picks a line, Shift-click a second one. Click a value to see its uses. Click a bar, or a stage of the list, for B; Shift-click for A. Drag the borders of panes.</p></div></div><form method="dialog"><button class="chip">close</button></form>`;
  byId("help").showModal();
}

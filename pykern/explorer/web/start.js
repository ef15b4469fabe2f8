// Listeners, then the first view.
addEventListener("keydown", e => {
  if ((e.ctrlKey || e.metaKey) && e.key === "/") { e.preventDefault(); byId("search").select(); return; }
  if (e.ctrlKey || e.metaKey || e.altKey || byId("help").open || /^(INPUT|SELECT|TEXTAREA)$/.test(e.target.tagName)) return;
  const action = KEYS[e.key];
  if (action) { e.preventDefault(); action[1](); }
});
addEventListener("resize", () => { drawSwitch(); panes.forEach(p => p.draw()); });
addEventListener("hashchange", () => { recall(); show(); });
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => panes.forEach(p => p.drawRuler()));

const asked = () => search(byId("search").value, byId("regex").getAttribute("aria-pressed") === "true");
byId("search").addEventListener("input", asked);
byId("search").addEventListener("keydown", e => {
  if (e.key === "Enter") nextFound(e.shiftKey ? -1 : 1);
  if (e.key === "Escape") { e.target.value = ""; asked(); open("summary"); focus(paneB); }
});
byId("regex").addEventListener("click", e => {
  e.currentTarget.setAttribute("aria-pressed", e.currentTarget.getAttribute("aria-pressed") !== "true");
  asked();
});
byId("theme").addEventListener("click", theme);
byId("keys").addEventListener("click", help);
byId("switch").addEventListener("click", e => {
  const tab = e.target.closest("[data-pane]");
  if (tab) turnTo(tab.dataset.pane);
});
byId("switch").addEventListener("keydown", switchKey);

const numberAt = e => { const el = e.target.closest("[data-n]"); return el ? +el.dataset.n : null; };
["list", "timeline"].forEach(id => byId(id).addEventListener("click", e => {
  const n = numberAt(e);
  if (n === null) return;
  go(e.shiftKey ? "a" : "b", n);
  turnTo(e.shiftKey ? "a" : "b");
}));
byId("panes").addEventListener("change", e => { if (e.target.dataset.which) go(e.target.dataset.which, +e.target.value); });
byId("panes").addEventListener("click", e => {
  const chip = e.target.closest("[data-key], [data-part]");
  if (chip) chip.dataset.part ? choosePart(chip.dataset.part) : KEYS[chip.dataset.key][1]();
});

byId("drawer").addEventListener("click", e => {
  const at = name => { const el = e.target.closest(`[data-${name}]`); return el && el.dataset[name]; };
  const act = at("act"), only = at("only"), tab = at("tab"), place = at("remark"), hit = at("hit"), n = numberAt(e);
  if (tab && tab === S.drawer && LOW.matches && document.body.dataset.drawer === "open") return delete document.body.dataset.drawer;
  if (tab) return open(tab);
  if (hit) { const k = hitStages.findIndex(([id]) => id === +hit); return showHit(k, hitStages[k][1][0]); }
  if (act) return act === "copy" ? KEYS.c[1]() : act === "lit" ? KEYS.y[1]() : save(act === "save" ? S.b : S.a);
  if (only !== null && only !== undefined) { S.only = S.only === only ? "" : only; return show(false); }
  if (place) {
    const [subject, file, l] = place.split(":").map(Number);
    const row = python.rows.findIndex(r => r.line === l && r.file === file && (SAME_SOURCE || r.subject === subject));
    if (row >= 0) { python.cursor = row; S.pin = null; pin(python.rows[row], python); turnTo("python"); python.reveal(row); }
    return;
  }
  if (n !== null) { go("b", n); turnTo("b"); }
});
byId("drawer").addEventListener("keydown", e => {  // arrows move between tabs
  const step = {ArrowRight: 1, ArrowLeft: -1}[e.key], ids = Object.keys(DRAWERS);
  if (!step || e.target.getAttribute("role") !== "tab") return;
  open(ids[(ids.indexOf(S.drawer) + step + ids.length) % ids.length]);
  byId(`tab-${S.drawer}`).focus();
});

// borders of panes and of the drawer, to drag
const shares = [.95, 1.05, 1.05];
const layout = () => { byId("panes").style.gridTemplateColumns = shares.map(s => `minmax(0, ${s}fr)`).join(" "); };
function drag(handle, move) {
  handle.addEventListener("pointerdown", down => {
    handle.setPointerCapture(down.pointerId);
    const moved = e => { move(e); panes.forEach(p => p.draw()); };
    handle.addEventListener("pointermove", moved);
    handle.addEventListener("pointerup", () => handle.removeEventListener("pointermove", moved), {once: true});
  });
}
[0, 1].forEach(n => {
  const handle = document.createElement("div");
  handle.className = "handle";
  panes[n].el.append(handle);
  drag(handle, e => {
    const box = byId("panes").getBoundingClientRect(), total = shares.reduce((x, y) => x + y), left = n ? shares[0] : 0;
    const pair = shares[n] + shares[n + 1];
    shares[n] = Math.max(.15, Math.min(pair - .15, (e.clientX - box.left) / box.width * total - left));
    shares[n + 1] = pair - shares[n];
    layout();
  });
});
drag(byId("grip"), e => { byId("drawer").style.height = `${Math.max(60, Math.min(innerHeight - 240, innerHeight - e.clientY))}px`; });

if (KNOWN_PARTS.length) document.body.classList.add("derived");
layout();
recall();
show();
panes.forEach(p => p.revealHit());
const idle = window.requestIdleCallback || (work => setTimeout(work, 50));
STAGES.forEach((stage, n) => idle(() => { if (n) childrenOf(stage); rowsOf(stage, 0, 0); }));
window.explorer = {data: D, state: S, stages: STAGES, lit: pin => litLines(pin).map(s => [...s].sort((x, y) => x - y)), difference, panes, go};
performance.mark("explorer-ready");
document.documentElement.dataset.ready = "1";

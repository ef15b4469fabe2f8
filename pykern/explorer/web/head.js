// The head, the time of each stage, the list of stages.
function label(k) {  // what tells a subject from the others
  const all = SUBJECTS.map(s => s.kernel), own = all[k];
  const parts = [];
  if (new Set(all.map(x => x.title)).size > 1) parts.push(own.title);
  if (new Set(all.map(x => x.target)).size > 1) parts.push(own.target);
  return parts.join(" ") || `${own.title} ${k + 1}`;
}

const number = value => Number(value).toLocaleString("en");
const percent = value => `${Math.round(100 * value)} %`;
function facts(subject) {
  const r = subject.resources, found = [];
  const registers = r.registers ?? r.vgprs;
  if (registers !== undefined) found.push([registers, "registers"]);
  const spills = r.spill_bytes ?? r.vgpr_spills;
  if (spills !== undefined) found.push([spills, "spilled"]);
  if (r.occupancy !== undefined) found.push([percent(r.occupancy), "occupancy"]);
  if (r.instructions !== undefined) found.push([number(r.instructions), "instructions"]);
  if (r.vector_bits) found.push([r.vector_bits, "bit vectors"]);
  if (registers === undefined && r.binary_bytes) found.push([number(r.binary_bytes), "bytes"]);
  found.push([`${subject.stages.reduce((sum, s) => sum + s.ms, 0).toFixed(0)} ms`, "to compile"]);
  return found.slice(0, 4).map(([value, name]) => `<span><b>${escape(value)}</b> ${name}</span>`).join("");
}

function drawHead() {
  const k = MANY ? STAGES[S.b].subject : 0, subject = SUBJECTS[k];
  const pills = SUBJECTS.map((s, n) => `<span class="pill ${n === k ? "own" : ""} ${s.error ? "bad" : ""}">${escape(MANY ? label(n) : s.kernel.target)}</span>`).join("");
  byId("title").innerHTML = `<h1 title="${escape(`${subject.kernel.title}(${subject.kernel.signature})`)}">${escape(subject.kernel.title)}<small>(${escape(subject.kernel.signature)})</small></h1>${pills}`;
  byId("facts").innerHTML = subject.error ? `<span class="wrong"><b>did not compile</b></span>` : facts(subject);
}

function drawTimeline() {
  const rows = SUBJECTS.map(subject => {
    const most = Math.max(...subject.stages.map(s => s.ms), 1e-9), groups = [];
    subject.stages.forEach(s => {
      if (!groups.length || groups[groups.length - 1].phase !== s.phase) groups.push({phase: s.phase, stages: []});
      groups[groups.length - 1].stages.push(s);
    });
    return `<div class="track">${groups.map(g => `<div class="phase p-${g.phase}" style="flex-grow:${g.stages.length}">
      <span title="${escape(g.phase)}: ${g.stages.reduce((t, s) => t + s.ms, 0).toFixed(1)} ms">${escape(g.phase)}</span>
      <div class="bars">${g.stages.map(s => bar(s, most)).join("")}</div></div>`).join("")}</div>`;
  });
  byId("timeline").innerHTML = rows.join("");
}

function bar(s, most) {
  const total = Math.max(1, Object.values(s.ops).reduce((sum, n) => sum + n, 0));
  const mix = Object.entries(sums(s, hueOf)).map(([hue, n]) => `<i class="b-${hue}" style="flex-grow:${(n / total).toFixed(3)}"></i>`).join("");
  const name = `${s.name}: ${s.ms.toFixed(2)} ms${s.changed ? changes(s) : ", nothing changed"}`;
  return `<button class="${s.id === S.b ? "b" : ""} ${s.id === S.a ? "a" : ""} ${s.changed ? "" : "idle"}" data-n="${s.id}" tabindex="-1" title="${escape(name)}" aria-label="${escape(name)}">
    <em><u style="height:${Math.max(6, 100 * Math.sqrt(s.ms / most)).toFixed(0)}%"></u></em><span class="mix">${mix}</span></button>`;
}

function sums(stage, group = x => x) {  // ops by dialect
  const found = {};
  Object.entries(stage.ops).forEach(([op, n]) => {
    const d = group(stage.kind === "mlir" && op.includes(".") ? op.split(".")[0] : "instructions");
    found[d] = (found[d] || 0) + n;
  });
  return found;
}

function changes(stage) {  // what a stage made of the ops before it
  if (!stage.n) return "";
  const before = sums(STAGES[stage.id - 1]), now = sums(stage);
  const parts = [...new Set([...Object.keys(before), ...Object.keys(now)])]
    .map(d => [d, (now[d] || 0) - (before[d] || 0)]).filter(([, n]) => n).map(([d, n]) => `${d} ${n > 0 ? "+" : "−"}${Math.abs(n)}`);
  return parts.length ? `, ${parts.join(", ")}` : "";
}

let listed = "";
function drawStages() {
  const html = STAGES.map(s => {
    const head = MANY && s.n === 0 ? `<div class="subject" title="${escape(label(s.subject))}">${escape(label(s.subject))}</div>` : "";
    const isLast = s.id === SUBJECTS[s.subject].last;
    const divided = s.parts && !(s.n && STAGES[s.id - 1].parts) ? `<div class="divide">${s.parts.includes("b") ? "forward and backward" : "with tangents"}</div>` : "";
    if (!S.all && !s.changed && s.id !== S.a && s.id !== S.b && !isLast) return head + divided;
    const dot = s.kind === "failed" ? "✕" : s.kind !== "mlir" ? "◆" : s.changed ? "●" : "○";
    const count = S.pin && lit[s.id].size ? `<b class="count" title="lit lines">${lit[s.id].size}</b>` : "";
    const moved = s.kind === "failed" ? "failed" : s.n && s.changed ? `<ins>+${s.added}</ins> <del>−${s.removed}</del>` : s.changed ? plural(s.lines.length, "line") : "unchanged";
    return `${head}${divided}<button class="stage ${s.id === S.a ? "a" : ""} ${s.id === S.b ? "b" : ""} k-${s.kind}" data-n="${s.id}" tabindex="-1" title="${escape(s.name)}" ${s.id === S.b ? 'aria-current="true"' : ""}>
      <i>${dot}</i><span>${escape(s.name)}</span>${count}<em>${moved}</em><u>${s.kind === "failed" ? "" : `${s.ms.toFixed(s.ms < 10 ? 2 : 1)} ms`}</u></button>`;
  }).join("");
  if (listed !== html) byId("list").innerHTML = listed = html;
  requestAnimationFrame(() => {  // when all else has its height
    const chosen = byId("list").querySelector(".b");
    if (chosen) chosen.scrollIntoView({block: "nearest"});
  });
}

const options = chosen => SUBJECTS.map((subject, k) => {
  const inside = subject.stages.map(s => `<option value="${s.id}" ${s.id === chosen ? "selected" : ""}>${s.n} ${escape(s.name.slice(0, 70))}</option>`).join("");
  return MANY ? `<optgroup label="${escape(label(k))}">${inside}</optgroup>` : inside;
}).join("");

function drawTitles() {
  python.title.innerHTML = `<span class="what">Python</span><span class="where">${escape(SUBJECTS[0].files[0] || "").split("/").pop()}</span><span class="chips">${partChips()}</span>`;
  const select = (id, which) => `<select data-which="${which}" aria-label="stage ${id}" tabindex="-1">${options(S[which])}</select>`;
  const mark = id => MANY ? `<span class="whose" title="${escape(label(STAGES[id].subject))}">${escape(label(STAGES[id].subject))}</span>` : "";
  paneA.title.innerHTML = `<span class="key">A</span>${select("A", "a")}${mark(S.a)}`;
  const chip = (key, name, on) => `<button class="chip ${on ? "on" : ""}" data-key="${key}" tabindex="-1" aria-pressed="${on}" title="key ${key}">${name}</button>`;
  const chips = chip("d", "diff", S.diff === "side") + chip("D", "unified", S.diff === "unified") + chip("m", "follow", S.follow);
  paneB.title.innerHTML = `<span class="key">B</span>${select("B", "b")}${mark(S.b)}<span class="chips">${chips}</span>`;
}

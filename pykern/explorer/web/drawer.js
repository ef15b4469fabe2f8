// The drawer: a summary in words, and what stands behind each of its sentences.
const many = render => SUBJECTS.map((subject, k) => `<section>${MANY ? `<h3>${escape(label(k))}</h3>` : ""}${render(subject, k)}</section>`).join("");
const none = text => `<p class="none">${text}</p>`;
const row = (name, value, hint = "") => `<tr title="${escape(hint)}"><th>${escape(name)}</th><td>${value}</td></tr>`;

function summaryPanel() {
  return many(s => s.error
    ? `<pre class="error">${escape(s.error)}</pre>${s.summary.slice(1).map(t => `<p>${escape(t)}</p>`).join("")}`
    : `<div class="summary">${s.summary.map(t => `<p>${escape(t)}</p>`).join("")}</div>`)
    + `<p class="hint">Click a line to light what it comes from and what it becomes. <kbd>m</kbd> follows it through all stages, <kbd>d</kbd> compares A and B, <kbd>?</kbd> lists all keys.</p>`;
}

// -- resources ---------------------------------------------------------------------------------

const NAMES = {
  registers: "registers a work-item", vgprs: "vector registers a work-item", agprs: "accumulation registers", sgprs: "scalar registers",
  spill_bytes: "spilled bytes", vgpr_spills: "spilled vector registers", sgpr_spills: "spilled scalar registers", stack_bytes: "stack bytes",
  shared_bytes: "shared memory of a group", max_dynamic_shared: "shared memory a launch may add", binary_bytes: "bytes of code object",
  object_bytes: "bytes of object code", resident_groups: "groups side by side", occupancy: "occupancy", occupancy_limit: "occupancy is limited by",
  vector_bits: "widest vectors (bits)", instructions: "instructions", argument_bytes: "bytes of arguments", subgroup_size: "subgroup",
};
function meter(name, value, most, text, warn = false) {
  const share = Math.min(1, most ? value / most : 0);
  return `<div class="meter ${warn ? "warn" : ""}"><span>${escape(name)}</span><svg viewBox="0 0 100 8" preserveAspectRatio="none" role="img" aria-label="${escape(`${name}: ${text}`)}"><rect class="ground" width="100" height="8" rx="2"/><rect class="fill" width="${(100 * share).toFixed(1)}" height="8" rx="2"/></svg><b>${escape(text)}</b></div>`;
}

function resourcesPanel() {
  return many(s => {
    const r = s.resources, meters = [];
    if (r.registers !== undefined) meters.push(meter("registers", r.registers, 255, `${r.registers} of 255`));
    if (r.vgprs !== undefined) meters.push(meter("vector registers", r.vgprs, 256, `${r.vgprs} of 256`, r.vgprs > 256));
    if (r.occupancy !== undefined) meters.push(meter("occupancy", r.occupancy, 1, percent(r.occupancy) + (r.occupancy_limit && r.occupancy < 1 ? `, limited by ${r.occupancy_limit}` : "")));
    const spills = r.spill_bytes ?? r.vgpr_spills;
    if (spills !== undefined) meters.push(meter("spills", spills ? 1 : 0, 1, spills ? `${spills}` : "none", spills > 0));
    if (r.shared_bytes !== undefined) meters.push(meter("shared memory", r.shared_bytes, r.shared_bytes + (r.max_dynamic_shared || 0), `${number(r.shared_bytes)} ${r.max_dynamic_shared === undefined ? "" : `of ${number(r.shared_bytes + r.max_dynamic_shared)} `}bytes`));
    if (r.vector_bits !== undefined) meters.push(meter("vectors", r.vector_bits, 512, `${r.vector_bits} bits`));
    const facts = {...r}, shownAbove = ["registers", "vgprs", "occupancy", "occupancy_limit", "shared_bytes", "vector_bits", "spill_bytes", "vgpr_spills"];
    shownAbove.forEach(k => delete facts[k]);
    const rows = Object.entries(facts).map(([k, v]) => row(NAMES[k] || k.replace(/_/g, " "), typeof v === "number" ? number(v) : escape(v)));
    if (s.facts.workgroup) rows.unshift(row("group", escape(Array.isArray(s.facts.workgroup) ? s.facts.workgroup.join(" × ") : s.facts.workgroup)));
    if (s.facts.ndrange) rows.unshift(row("index space", escape(s.facts.ndrange)));
    if (!meters.length && !rows.length) return none("nothing is known of the code's resources");
    return `<div class="columns"><div class="meters">${meters.join("")}</div><table class="facts">${rows.join("")}</table></div>`;
  });
}

// -- op counts ---------------------------------------------------------------------------------

function spark(values) {
  const most = Math.max(1, ...values), step = 44 / Math.max(1, values.length - 1);
  const points = values.map((v, n) => `${(n * step + 1).toFixed(1)},${(12 - 11 * v / most).toFixed(1)}`).join(" ");
  return `<svg class="spark" viewBox="0 0 46 13" width="46" height="13" aria-hidden="true"><polyline points="${points}"/></svg>`;
}

function countsPanel() {
  return many(s => {
    const stages = s.stages.filter(x => x.changed && x.kind !== "failed"), rows = stages.map(x => sums(x));
    const names = [...new Set(rows.flatMap(Object.keys))];
    const head = names.map(d => `<th><button class="d-${hueOf(d)}" data-only="${hueOf(d)}" aria-pressed="${S.only === hueOf(d)}">${escape(d)}</button></th>`).join("");
    const sparks = names.map(d => `<td class="d-${hueOf(d)}">${spark(rows.map(r => r[d] || 0))}</td>`).join("");
    const cell = (n, d) => {
      const now = rows[n][d] || 0, moved = n ? now - (rows[n - 1][d] || 0) : 0;
      return `<td>${now || ""}${moved ? `<small class="${moved > 0 ? "more" : "less"}">${moved > 0 ? "+" : "−"}${Math.abs(moved)}</small>` : ""}</td>`;
    };
    const body = stages.map((x, n) => `<tr data-n="${x.id}" class="${x.id === S.b ? "chosen" : ""}"><th title="${escape(x.name)}">${escape(x.name)}</th>${names.map(d => cell(n, d)).join("")}</tr>`).join("");
    return `<table class="counts"><thead><tr><th>stage</th>${head}</tr><tr><td></td>${sparks}</tr></thead><tbody>${body}</tbody></table>`;
  });
}

// -- remarks, reproduce, search ------------------------------------------------------------------

function remarksPanel() {
  return many((s, k) => s.remarks.length
    ? `<ul class="remarks">${s.remarks.map(r => `<li>${r.line ? `<button data-remark="${k}:${r.file}:${r.line}">line ${r.line}</button>` : "<b>kernel</b>"}<span>${escape(r.text)}</span></li>`).join("")}</ul>`
    : none("no remarks"));
}

function reproducePanel() {
  const a = STAGES[S.a], b = STAGES[S.b], s = SUBJECTS[b.subject];
  const own = SUBJECTS[b.subject].stages.slice(1).filter(x => x.kind === "mlir" && x.id <= b.id && x.id > (a.subject === b.subject ? a.id : -1) && /^[\w.(){}=,\s-]+$/.test(x.name));
  const passes = own.map(x => x.name).join(",");
  const from = a.subject === b.subject && a.id < b.id ? a.name : s.stages[0].name;
  const command = passes ? `pykern-opt '--pass-pipeline=builtin.module(${passes})' ${from.replace(/\W+/g, "-").slice(0, 40)}.mlir` : "";
  const known = Object.entries(s.facts).filter(([, v]) => v !== "" && v !== null && v !== false).map(([k, v]) => row(k, `<code>${escape(Array.isArray(v) ? v.join(" × ") : v).replace(/\n/g, "<br>")}</code>`)).join("");
  return `<div class="columns"><div>
    <p>${command ? `From ${escape(from)} to ${escape(b.name)}:` : "A and B are one stage apart from nothing: choose another pair with <kbd>[</kbd> <kbd>]</kbd> <kbd>j</kbd> <kbd>k</kbd>."}</p>
    ${command ? `<pre class="command">${escape(command)}</pre>` : ""}
    <p><button class="chip" data-act="copy">copy B</button> <button class="chip" data-act="lit">copy B as a lit test</button> <button class="chip" data-act="save">download B</button> <button class="chip" data-act="save-a">download A</button></p>
    <p class="hint">Every stage of every kernel of a program: <code>PYKERN_DUMP=folder</code>, with a page for each; in this process, for a debugger: <code>PYKERN_COMPILER=inprocess</code>.</p></div>
    <table class="facts">${row("pykern", escape(D.pykern))}${row("kernel", `<code>${escape(s.kernel.name)}(${escape(s.kernel.signature)})</code>`)}${row("target", `<code>${escape(s.kernel.target)}</code>`)}${known}</table></div>`;
}

const DRAWERS = {
  summary: ["Summary", summaryPanel, "s"], resources: ["Resources", resourcesPanel, "r"], roofline: ["Roofline", () => many(roofline), "f"],
  memory: ["Memory", () => many(memoryPanel), "w"], counts: ["Op counts", countsPanel, "o"], remarks: ["Remarks", remarksPanel, "i"],
  reproduce: ["Reproduce", reproducePanel, "x"], search: ["Search", searchPanel, "/"],
};

function drawDrawer() {
  const tabs = Object.entries(DRAWERS).map(([id, [name, , key]]) => {
    const count = id === "remarks" ? SUBJECTS.reduce((sum, s) => sum + s.remarks.length, 0) : 0;
    return `<button role="tab" id="tab-${id}" data-tab="${id}" aria-selected="${id === S.drawer}" aria-controls="body" title="key ${key}" tabindex="${id === S.drawer ? 0 : -1}">${name}${count ? `<small>${count}</small>` : ""}</button>`;
  }).join("");
  const hues = {};
  Object.entries(sums(STAGES[S.b])).forEach(([d, n]) => { const h = hueOf(d); hues[h] = [...(hues[h] || []), `${d} ${n}`]; });
  const legend = Object.entries(hues).map(([h, names]) => `<button class="legend d-${h} ${S.only === h ? "on" : ""}" data-only="${h}" aria-pressed="${S.only === h}" tabindex="-1" title="${escape(names.join(", "))}: click to see these alone">${escape(names[0].split(" ")[0])}</button>`).join("");
  byId("tabs").innerHTML = `<div role="tablist" aria-label="details">${tabs}</div><div class="legends">${legend}</div>`;
  byId("body").innerHTML = DRAWERS[S.drawer][1]();
  byId("body").className = MANY && ["summary", "resources"].includes(S.drawer) ? "beside" : "";
  byId("body").setAttribute("aria-labelledby", `tab-${S.drawer}`);
}

function open(drawer) {
  S.drawer = drawer;
  document.body.dataset.drawer = "open";
  drawDrawer();
  turnTo("drawer");
  remember();
}

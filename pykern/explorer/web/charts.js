// The roofline: flops for a byte against GFLOP/s, both logarithmic, as SVG of our own.
const SIZE = {w: 560, h: 150, left: 54, right: 150, top: 12, bottom: 28};

function roofline(subject) {
  const c = subject.costs, roof = subject.roof;
  if (!c) return none("nothing was counted: launches of kernels inside of a program stay launches here");
  const [low, high] = c.intensity, per = c.loops.length ? `a turn of the loop at line ${c.loops[c.loops.length - 1]}` : c.of;
  if (!low) return none(`${per} computes nothing in floating point: there is no point to draw`);
  const known = c.work.map(w => w.dtype).filter(d => roof && roof.gflop_per_s[d]);
  const dtype = known[0] || (roof ? Object.keys(roof.gflop_per_s)[0] : "");
  const runs = roof && !c.loops.length ? subject.runs.map(r => measuredRun(c, r)) : [];
  const how = roof ? `${escape(roof.name)}${roof.measured ? ", measured" : ""}: ${number(+roof.gb_per_s.toPrecision(3))} GB/s` : "";
  const notes = [`<p><b>${low.toFixed(2)}</b>${high > low * 1.01 ? ` to <b>${high.toFixed(2)}</b>` : ""} flop/byte in ${per}: ${c.of === "a call" ? "where arguments and results are moved once, and nothing between them" : "the first where every access goes to memory, the other where each array is moved once"}.</p>`];
  if (!roof) notes.push(`<p class="hint">No ceilings are known for ${escape(subject.kernel.target)}. <code>pk.explore(…, measure=True)</code> measures this processor, <code>roof={"GB/s": …, "f32": …}</code> gives them.</p>`);
  runs.forEach(r => notes.push(`<p>Measured: <b>${r.gflops.toPrecision(3)} GFLOP/s</b>, ${r.gbs.toPrecision(3)} GB/s moved at least, ${(r.seconds * 1e3).toPrecision(3)} ms for ${c.of === "a call" ? c.of : `${number(r.items)} work-items`}.${r.above ? ' <b class="warn">Above the roof: the data came from a cache, or the units are wrong.</b>' : ""}</p>`));
  return `<div class="columns"><figure>${roof ? drawing(roof, dtype, low, high, runs) : strip(low, high)}<figcaption>${how}</figcaption></figure><div class="notes">${notes.join("")}</div></div>`;

  function measuredRun(costs, run) {
    const flops = costs.work.reduce((sum, w) => sum + w.flops * w.times, 0) * run.items;
    const x = high, gflops = flops / run.seconds / 1e9;
    return {x, gflops, gbs: gflops / high, ...run, above: gflops > 1.05 * Math.min(roof.gflop_per_s[dtype], roof.gb_per_s * x)};
  }
}

function scales(xs, ys) {
  const [x0, x1, y0, y1] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)].map(Math.log10);
  const w = SIZE.w - SIZE.left - SIZE.right, h = SIZE.h - SIZE.top - SIZE.bottom;
  return {x0, x1, y0, y1,
    x: v => SIZE.left + w * (Math.log10(v) - x0) / (x1 - x0), y: v => SIZE.top + h * (1 - (Math.log10(v) - y0) / (y1 - y0))};
}

function drawing(roof, dtype, low, high, runs) {
  const peak = roof.gflop_per_s[dtype], ridge = peak / roof.gb_per_s;
  const s = scales([Math.min(.03, low / 2), Math.max(ridge * 4, high * 4)], [...runs.map(r => r.gflops / 2), Math.min(roof.gb_per_s * .03, peak / 100), peak * 1.8]);
  const left = 10 ** s.x0, right = 10 ** s.x1, bottom = SIZE.h - SIZE.bottom, parts = [];
  for (let e = Math.ceil(s.x0); e <= s.x1; e++) parts.push(`<line class="grid" x1="${s.x(10 ** e)}" x2="${s.x(10 ** e)}" y1="${SIZE.top}" y2="${bottom}"/><text x="${s.x(10 ** e)}" y="${bottom + 13}" text-anchor="middle">${10 ** e < 1 ? (10 ** e).toPrecision(1) : 10 ** e}</text>`);
  for (let e = Math.ceil(s.y0); e <= s.y1; e++) parts.push(`<line class="grid" x1="${SIZE.left}" x2="${SIZE.w - SIZE.right}" y1="${s.y(10 ** e)}" y2="${s.y(10 ** e)}"/><text x="${SIZE.left - 6}" y="${s.y(10 ** e) + 3.5}" text-anchor="end">${number(+(10 ** e).toPrecision(1))}</text>`);
  parts.push(`<text x="${SIZE.w - SIZE.right}" y="${SIZE.h - 3}" text-anchor="end">flop/byte</text><text x="4" y="9">GFLOP/s</text>`);
  const startY = Math.max(roof.gb_per_s * left, 10 ** s.y0), startX = startY / roof.gb_per_s;
  parts.push(`<rect class="band" x="${s.x(low)}" width="${Math.max(2, s.x(high) - s.x(low))}" y="${SIZE.top}" height="${bottom - SIZE.top}"/>`);
  Object.entries(roof.gflop_per_s).forEach(([name, top], n) => {
    const corner = top / roof.gb_per_s;
    parts.push(`<polyline class="roof ${name === dtype ? "own" : ""}" points="${s.x(startX)},${s.y(startY)} ${s.x(corner)},${s.y(top)} ${s.x(right)},${s.y(top)}"/>`);
    parts.push(`<text class="name" x="${SIZE.w - SIZE.right + 6}" y="${s.y(top) + 3.5}">${escape(name)} ${number(+top.toPrecision(3))}</text>`);
  });
  const limit = v => Math.min(peak, roof.gb_per_s * v);
  [low, ...(high > low * 1.01 ? [high] : [])].forEach(v => parts.push(`<circle class="static" cx="${s.x(v)}" cy="${s.y(limit(v))}" r="3.5"><title>${v.toFixed(2)} flop/byte: at most ${limit(v).toPrecision(3)} GFLOP/s</title></circle>`));
  runs.forEach(r => parts.push(`<circle class="run ${r.above ? "above" : ""}" cx="${s.x(r.x)}" cy="${s.y(r.gflops)}" r="4.5"><title>measured: ${r.gflops.toPrecision(3)} GFLOP/s</title></circle><text class="name" x="${s.x(r.x) + 8}" y="${s.y(r.gflops) + 4}">measured</text>`));
  return `<svg class="chart" viewBox="0 0 ${SIZE.w} ${SIZE.h}" width="${SIZE.w}" height="${SIZE.h}" role="img" aria-label="roofline: ${low.toFixed(2)} to ${high.toFixed(2)} flop/byte below ${peak.toPrecision(3)} GFLOP/s">${parts.join("")}</svg>`;
}

function strip(low, high) {  // without ceilings: where it stands on the scale alone
  const h = 54, s = scales([.01, 1000], [1, 10]), parts = [];
  for (let e = -2; e <= 3; e++) parts.push(`<line class="grid" x1="${s.x(10 ** e)}" x2="${s.x(10 ** e)}" y1="6" y2="32"/><text x="${s.x(10 ** e)}" y="45" text-anchor="middle">${10 ** e < 1 ? (10 ** e).toPrecision(1) : 10 ** e}</text>`);
  parts.push(`<rect class="band" x="${s.x(low)}" width="${Math.max(3, s.x(high) - s.x(low))}" y="6" height="26"/><text x="${SIZE.w - SIZE.right + 8}" y="45">flop/byte</text>`);
  return `<svg class="chart" viewBox="0 0 ${SIZE.w} ${h}" width="${SIZE.w}" height="${h}" role="img" aria-label="${low.toFixed(2)} to ${high.toFixed(2)} flop/byte">${parts.join("")}</svg>`;
}

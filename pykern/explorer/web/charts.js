// The roofline: flops for a byte against GFLOP/s, both logarithmic, as SVG of our own.
const SIZE = {w: 560, h: 164, left: 54, right: 136, top: 20, bottom: 30};

function roofline(subject) {
  const c = subject.costs, roof = subject.roof;
  if (!c) return none("nothing was counted: launches of kernels inside of a program stay launches here");
  const [low, high] = c.intensity, per = c.loops.length ? `an iteration of the loop at line ${c.loops[c.loops.length - 1]}` : c.of;
  if (!low) return none(`${per} computes nothing in floating point: there is no point to draw`);
  const known = c.work.map(w => w.dtype).filter(d => roof && roof.gflop_per_s[d]);
  const dtype = known[0] || (roof ? Object.keys(roof.gflop_per_s)[0] : "");
  const runs = roof && !c.loops.length ? subject.runs.map(r => measuredRun(c, r)) : [];
  const how = roof ? `${escape(roof.name)}, ${roof.measured ? "measured on this machine" : "nominal"}: ${number(+roof.gb_per_s.toPrecision(3))} GB/s` : "";
  const notes = [`<p><b>${low.toFixed(2)}</b>${high > low * 1.01 ? ` to <b>${high.toFixed(2)}</b>` : ""} flop/byte in ${per}: ${c.of === "a call" ? "where arguments and results are moved once, and nothing between them" : "the first where every access goes to memory, the other where each array is moved once"}.</p>`];
  if (!roof) notes.push(`<p class="hint">No ceilings are known for ${escape(subject.kernel.target)}. <code>roof={"GB/s": …, "f32": …}</code> gives them.</p>`);
  runs.forEach(r => notes.push(`<p>Measured: <b>${r.gflops.toPrecision(3)} GFLOP/s</b>, ${r.gbs.toPrecision(3)} GB/s moved at least, ${(r.seconds * 1e3).toPrecision(3)} ms for ${c.of === "a call" ? c.of : `${number(r.items)} work-items`}.${r.above ? ' <b class="warn">Above the roof: the data came from a cache, or the units are wrong.</b>' : ""}</p>`));
  return `<div class="columns"><figure>${roof ? drawing(roof, dtype, low, high, runs) : strip(low, high)}<figcaption>${how}</figcaption></figure><div class="notes">${notes.join("")}</div></div>`;

  function measuredRun(costs, run) {
    const flops = costs.work.reduce((sum, w) => sum + w.flops * w.times, 0) * run.items;
    const x = high, gflops = flops / run.seconds / 1e9;
    return {x, gflops, gbs: gflops / high, ...run, above: gflops > 1.05 * Math.min(roof.gflop_per_s[dtype], roof.gb_per_s * x)};
  }
}

function scales(xs, ys, h) {
  const [x0, x1, y0, y1] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)].map(Math.log10);
  const wide = SIZE.w - SIZE.left - SIZE.right, high = h - SIZE.top - SIZE.bottom;
  return {x0, x1, y0, y1,
    x: v => SIZE.left + wide * (Math.log10(v) - x0) / (x1 - x0), y: v => SIZE.top + high * (1 - (Math.log10(v) - y0) / (y1 - y0))};
}

// Labels stand in a column right of the chart, in the order of what they name, pushed apart; lines lead to them.
const LABEL_ROW = 13;
function spread(places, top, bottom) {  // rising places, each at least a row behind the one before
  const rows = [...places];
  for (let n = 0; n < rows.length; n++) rows[n] = Math.max(rows[n], n ? rows[n - 1] + LABEL_ROW : top);
  for (let n = rows.length - 1, most = bottom; n >= 0; n--, most -= LABEL_ROW) rows[n] = Math.min(rows[n], most);
  return rows;
}

const short = value => value >= 1e6 ? `${+(value / 1e6).toPrecision(3)}M` : value >= 1e4 ? `${+(value / 1e3).toPrecision(3)}k` : value < 1 ? `${+value.toPrecision(1)}` : number(+value.toPrecision(3));
function decades(from, to, least, room) {  // exponents of the ticks, so that each has `least` pixels
  const step = Math.max(1, Math.ceil(least / (room / Math.max(to - from, 1e-9)))), first = Math.ceil(from), found = [];
  for (let e = first; e <= to; e += step) found.push(e);
  return found;
}

function drawing(roof, dtype, low, high, runs) {
  const peak = roof.gflop_per_s[dtype], ridge = peak / roof.gb_per_s, limit = v => Math.min(peak, roof.gb_per_s * v);
  const roofs = Object.entries(roof.gflop_per_s), static_ = [low, ...(high > low * 1.01 ? [high] : [])];
  const h = Math.max(SIZE.h, SIZE.top + SIZE.bottom + LABEL_ROW * (roofs.length + static_.length + runs.length));
  const tops = roofs.map(([, top]) => top), s = scales([Math.min(.03, low / 2), Math.max(ridge * 4, high * 4)], [...runs.map(r => r.gflops / 2), ...static_.map(v => limit(v) / 2), Math.min(roof.gb_per_s * .03, peak / 100), Math.max(...tops, ...runs.map(r => r.gflops)) * 1.5], h);
  const left = 10 ** s.x0, right = 10 ** s.x1, bottom = h - SIZE.bottom, edge = SIZE.w - SIZE.right, parts = [], labels = [];
  decades(s.x0, s.x1, 34, edge - SIZE.left).forEach(e => parts.push(`<line class="grid" x1="${s.x(10 ** e)}" x2="${s.x(10 ** e)}" y1="${SIZE.top}" y2="${bottom}"/><text class="tick" x="${s.x(10 ** e)}" y="${bottom + 13}" text-anchor="middle">${short(10 ** e)}</text>`));
  decades(s.y0, s.y1, LABEL_ROW, bottom - SIZE.top).forEach(e => parts.push(`<line class="grid" x1="${SIZE.left}" x2="${edge}" y1="${s.y(10 ** e)}" y2="${s.y(10 ** e)}"/><text class="tick" x="${SIZE.left - 6}" y="${s.y(10 ** e) + 3.5}" text-anchor="end">${short(10 ** e)}</text>`));
  parts.push(`<text class="axis" x="${(SIZE.left + edge) / 2}" y="${h - 2}" text-anchor="middle">flop/byte</text><text class="axis" x="4" y="10">GFLOP/s</text>`);
  const startY = Math.max(roof.gb_per_s * left, 10 ** s.y0), startX = startY / roof.gb_per_s;
  parts.push(`<rect class="band" x="${s.x(low)}" width="${Math.max(2, s.x(high) - s.x(low))}" y="${SIZE.top}" height="${bottom - SIZE.top}"/>`);
  roofs.forEach(([name, top]) => {
    const corner = top / roof.gb_per_s;
    parts.push(`<polyline class="roof ${name === dtype ? "own" : ""} ${roof.measured ? "" : "nominal"}" points="${s.x(startX)},${s.y(startY)} ${s.x(corner)},${s.y(top)} ${s.x(right)},${s.y(top)}"/>`);
    labels.push({x: edge, y: s.y(top), text: `${name} ${short(top)}`, kind: name === dtype ? "own" : ""});
  });
  static_.forEach((v, n) => {
    parts.push(`<circle class="static" cx="${s.x(v)}" cy="${s.y(limit(v))}" r="3.5"><title>${v.toFixed(2)} flop/byte: at most ${limit(v).toPrecision(3)} GFLOP/s</title></circle>`);
    labels.push({x: s.x(v), y: s.y(limit(v)), text: `≤ ${short(limit(v))}${static_.length < 2 ? "" : n ? " from cache" : " from memory"}`, kind: "bound"});
  });
  runs.forEach(r => {
    parts.push(`<circle class="run ${r.above ? "above" : ""}" cx="${s.x(r.x)}" cy="${s.y(r.gflops)}" r="4.5"><title>measured: ${r.gflops.toPrecision(3)} GFLOP/s</title></circle>`);
    labels.push({x: s.x(r.x), y: s.y(r.gflops), text: `measured ${short(r.gflops)}`, kind: r.above ? "above" : "reached"});
  });
  labels.sort((x, y) => x.y - y.y);
  spread(labels.map(l => l.y), SIZE.top, bottom).forEach((y, n) => {
    const l = labels[n];
    parts.push(`<polyline class="lead" points="${l.x + (l.x < edge ? 5 : 0)},${l.y} ${edge + 4},${l.y === y || l.x >= edge ? l.y : y} ${edge + 12},${y}"/><text class="name ${l.kind}" x="${edge + 15}" y="${y + 3.5}">${escape(l.text)}</text>`);
  });
  return `<svg class="chart" viewBox="0 0 ${SIZE.w} ${h}" width="${SIZE.w}" height="${h}" role="img" aria-label="roofline: ${low.toFixed(2)} to ${high.toFixed(2)} flop/byte below ${peak.toPrecision(3)} GFLOP/s">${parts.join("")}</svg>`;
}

function strip(low, high) {  // without ceilings: where it stands on the scale alone
  const h = 54, s = scales([.01, 1000], [1, 10], h), parts = [];
  for (let e = -2; e <= 3; e++) parts.push(`<line class="grid" x1="${s.x(10 ** e)}" x2="${s.x(10 ** e)}" y1="6" y2="32"/><text x="${s.x(10 ** e)}" y="45" text-anchor="middle">${10 ** e < 1 ? (10 ** e).toPrecision(1) : 10 ** e}</text>`);
  parts.push(`<rect class="band" x="${s.x(low)}" width="${Math.max(3, s.x(high) - s.x(low))}" y="6" height="26"/><text x="${SIZE.w - SIZE.right + 8}" y="45">flop/byte</text>`);
  return `<svg class="chart" viewBox="0 0 ${SIZE.w} ${h}" width="${SIZE.w}" height="${h}" role="img" aria-label="${low.toFixed(2)} to ${high.toFixed(2)} flop/byte">${parts.join("")}</svg>`;
}

// The memory panel: what each access moves, and what work-items beside each other touch.
const PATTERNS = {
  neighbours: ["side by side", "good", [0, 1, 2, 3]], same: ["one element for all", "good", [0]],
  strided: ["a fixed step apart", "poor", [0, 3, 6, 9]], scattered: ["wherever values say", "poor", [0, 4, 5, 9]],
};

function cells(pattern) {
  const [, grade, touched] = PATTERNS[pattern];
  const squares = Array.from({length: 10}, (_, n) => `<rect class="${touched.includes(n) ? grade : "ground"}" x="${n * 8}" width="6" height="9" rx="1"/>`).join("");
  return `<svg class="cells" viewBox="0 0 78 9" width="78" height="9" aria-hidden="true">${squares}</svg>`;
}

function memoryPanel(subject, k) {
  const c = subject.costs;
  if (!c) return none("nothing was counted: launches of kernels inside of a program stay launches here");
  if (!c.accesses.length) return none("the kernel touches no memory");
  const groups = new Map();
  c.accesses.forEach(a => {
    const key = [a.array, a.kind, a.line, a.pattern, a.times, a.loops].join();
    groups.set(key, {...a, count: (groups.get(key) || {count: 0}).count + 1});
  });
  const order = [...groups.values()].sort((x, y) => x.array.localeCompare(y.array) || x.line - y.line);
  const rows = order.map(a => {
    const [words, grade] = PATTERNS[a.pattern];
    const step = a.step > 1 ? ` (${a.step} elements)` : "";
    const executions = a.loops.length ? `${a.times > 1 ? `${a.times} ` : ""}each iteration of line ${a.loops[a.loops.length - 1]}` : a.times > 1 ? `${a.times} times` : "once";
    return `<tr><th>${escape(a.array)}</th><td>${a.count > 1 ? `${a.count} ${a.kind}s` : a.kind}</td><td><button data-remark="${k}:${a.file}:${a.line}">line ${a.line}</button></td>
      <td>${a.count * a.size} bytes, ${executions}</td><td>${cells(a.pattern)}</td><td class="${grade}">${words}${step}</td></tr>`;
  });
  return `<table class="memory"><thead><tr><th>array</th><th>access</th><th>where</th><th>${c.of} moves</th><th colspan="2">work-items beside each other</th></tr></thead><tbody>${rows.join("")}</tbody></table>`;
}

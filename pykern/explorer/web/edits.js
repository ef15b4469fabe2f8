// Differences: Myers' shortest edit script over lines, and over the words of two lines.
const plainValues = text => text.replace(/%[\w#]+/g, "%");  // numbers of values change for nothing
const LONGEST_DIFF = 6000;  // differing lines; above, all of one is shown as removed, all of the other as added

function difference(a, b, exact = false) {
  const x = exact ? a : a.map(plainValues), y = exact ? b : b.map(plainValues);
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

const LONGEST_LINE = 600;
function changedWords(text, other) {  // `text` again, with marks where it is not `other`; colours lie above it
  if (text.length > LONGEST_LINE || other.length > LONGEST_LINE) return "";
  const words = t => t.match(/%?[\w.]+|\s+|./g) || [];
  const x = words(text), y = words(other);
  const kept = new Set(difference(x, y).filter(r => r[0] === " ").map(r => r[1] - 1));
  const told = x.map((word, n) => [word, n]).filter(([word]) => /[\w%]/.test(word));
  if (told.filter(([, n]) => kept.has(n)).length < .4 * told.length) return "";  // another line altogether
  return x.map((word, n) => kept.has(n) || /^\s+$/.test(word) ? escape(word) : `<mark>${escape(word)}</mark>`).join("");
}

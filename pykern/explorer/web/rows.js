// What stands in the panes: rows of Python with remarks, of a stage with folds, of differences, of the picked line.
function pythonRows() {
  const rows = [];
  SUBJECTS.slice(0, SAME_SOURCE ? 1 : undefined).forEach((subject, k) => {
    subject.source.forEach((s, n) => {
      if (n || (MANY && !SAME_SOURCE)) rows.push({head: MANY && !SAME_SOURCE && label(k) !== s.name ? `${label(k)}  ${s.name}` : s.name});
      s.lines.forEach((text, row) => {
        const line = s.first + row, said = subject.said.get(`${s.file}:${line}`);
        rows.push({text, stage: PYTHON, subject: k, file: s.file, line});
        if (said && !S.quiet) said.forEach(remark => rows.push({remark, indent: /^\s*/.exec(text)[0].length}));
      });
    });
  });
  return rows;
}

function foldsOf(stage) {  // where a region begins, and where it ends
  if (stage.folds) return stage.folds;
  stage.folds = new Map();
  const open = [];
  stage.lines.forEach((text, row) => {
    const bare = text.trim();
    if (bare.startsWith("}") && open.length) {
      const from = open.pop();
      if (row > from + 1) stage.folds.set(from, row);
    }
    if (bare.endsWith("{")) open.push(row);
  });
  return stage.folds;
}

function stageRows(id) {
  const stage = STAGES[id], folds = foldsOf(stage), closed = S.folded.get(id);
  if (stage.rows && !(closed && closed.size)) return stage.rows;
  const rows = [];
  for (let row = 0; row < stage.lines.length; row++) {
    const end = folds.get(row), isClosed = end !== undefined && closed && closed.has(row);
    rows.push({text: stage.lines[row], stage: id, line: row + 1, fold: end === undefined ? "" : isClosed ? "closed" : "open", hides: isClosed ? end - row - 1 : 0});
    if (isClosed) row = end - 1;
  }
  if (!(closed && closed.size)) stage.rows = rows;
  return rows;
}

function followRows() {  // the picked line through all stages, one under the other
  return STAGES.flatMap((stage, id) => {
    const lines = [...lit[id]].sort((x, y) => x - y);
    if (!lines.length || (stage.n && !stage.changed)) return [];
    const head = MANY ? `${label(stage.subject)}  ${stage.name}` : stage.name;
    return [{head}, ...lines.map(l => ({text: stage.lines[l - 1].trim(), stage: id, line: l, followed: true}))];
  });
}

const CONTEXT = 3;
function withGaps(rows) {  // long runs of equal lines become one row
  if (S.context) return rows;
  const kept = [];
  for (let n = 0; n < rows.length;) {
    let end = n;
    while (end < rows.length && rows[end][0] === " ") end++;
    const from = n === 0 ? n : n + CONTEXT, to = end === rows.length ? end : end - CONTEXT;
    if (to - from > 2) {
      kept.push(...rows.slice(n, from), ["gap", to - from], ...rows.slice(to, end));
    } else kept.push(...rows.slice(n, end));
    n = end;
    while (n < rows.length && rows[n][0] !== " ") kept.push(rows[n++]);
  }
  return kept;
}

function comesFrom() {  // whether a line of B was made from a line of A, by lineage; null where B does not follow A
  const a = STAGES[S.a], b = STAGES[S.b];
  if (a.subject !== b.subject || a.id >= b.id) return null;
  const known = new Map();
  return (lb, la) => {
    if (!known.has(lb)) {
      let lines = new Set([lb]);
      for (let id = b.id; id > a.id && lines.size; id--) lines = new Set([...lines].flatMap(l => parentsOf(STAGES[id], l)));
      known.set(lb, lines);
    }
    return known.get(lb).has(la);
  };
}

const LARGEST_HUNK = 400;
const opIn = text => { const m = /([a-z]\w*\.[\w.]+)/.exec(text.replace(/^\s*[%\w:#, ]+=\s*/, "")); return m ? m[1] : text.trim().slice(0, 8); };
function paired(gone, made) {  // lines of a replaced hunk side by side: what was made from what, in order
  const from = comesFrom(), rows = [];
  let at = 0;
  if (from && gone.length <= LARGEST_HUNK && made.length <= LARGEST_HUNK) made.forEach(m => {
    const text = STAGES[S.b].lines[m[2] - 1];
    const hit = gone.findIndex((g, n) => n >= at && from(m[2], g[1]) && opIn(STAGES[S.a].lines[g[1] - 1]) === opIn(text));
    if (hit < 0) return rows.push(m);
    rows.push(...gone.slice(at, hit));
    rows.push(["-", gone[hit][1], m[2]], ["+", gone[hit][1], m[2]]);
    at = hit + 1;
  });
  else made.forEach(m => {
    if (at < gone.length) { rows.push(["-", gone[at][1], m[2]], ["+", gone[at][1], m[2]]); at++; } else rows.push(m);
  });
  return [...rows, ...gone.slice(at)];
}

function diffPairs() {  // [sign, line in A, line in B]: both lines for those that replace each other
  const rows = withGaps(difference(STAGES[S.a].lines, STAGES[S.b].lines, S.numbers)), found = [];
  for (let n = 0; n < rows.length;) {
    let end = n;
    while (end < rows.length && (rows[end][0] === "-" || rows[end][0] === "+")) end++;
    if (end === n) found.push(rows[n++]);
    else {
      const hunk = rows.slice(n, end);
      found.push(...paired(hunk.filter(r => r[0] === "-"), hunk.filter(r => r[0] === "+")));
      n = end;
    }
  }
  return found;
}

const side = (id, line, sign, partner) => ({sign, stage: id, line, text: STAGES[id].lines[line - 1], partner});
const gap = count => ({gap: `${plural(count, "line")} the same`});

function unifiedRows() {
  return diffPairs().map(([sign, la, lb]) => {
    if (sign === "gap") return gap(la);
    if (sign === " ") return side(S.b, lb, " ");
    return sign === "-" ? side(S.a, la, "-", lb && STAGES[S.b].lines[lb - 1]) : side(S.b, lb, "+", la && STAGES[S.a].lines[la - 1]);
  });
}

function sideRows() {  // for A and for B, equally long
  const left = [], right = [];
  const level = () => { while (left.length < right.length) left.push({blank: true}); while (right.length < left.length) right.push({blank: true}); };
  diffPairs().forEach(([sign, la, lb]) => {
    if (sign === "gap") { level(); left.push(gap(la)); right.push(gap(la)); }
    else if (sign === " ") { level(); left.push(side(S.a, la, " ")); right.push(side(S.b, lb, " ")); }
    else if (sign === "-") { if (lb) level(); left.push(side(S.a, la, "-", lb && STAGES[S.b].lines[lb - 1])); }
    else right.push(side(S.b, lb, "+", la && STAGES[S.a].lines[la - 1]));
  });
  level();
  return [left, right];
}

function trips(text) {  // iterations of a loop whose bounds stand in their names
  const m = /scf\.for %\w+ = %c(-?\d+)\w* to %c(-?\d+)\w* step %c(\d+)/.exec(text);
  return m ? Math.max(0, Math.ceil((m[2] - m[1]) / m[3])) : null;
}

// What stands in the panes: rows of Python with remarks, of a stage with folds, of differences, of the picked line.
function pythonRows() {
  const rows = [];
  SUBJECTS.slice(0, SAME_SOURCE ? 1 : undefined).forEach((subject, k) => {
    subject.source.forEach((s, n) => {
      if (n || (MANY && !SAME_SOURCE)) rows.push({head: MANY && !SAME_SOURCE ? `${label(k)}  ${s.name}` : s.name});
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

function diffPairs() {  // [sign, line in A, line in B] with the partner of each replaced line
  const a = STAGES[S.a], b = STAGES[S.b];
  const rows = withGaps(difference(a.lines, b.lines, S.numbers)).map(r => [...r]);
  for (let n = 0; n < rows.length;) {
    if (rows[n][0] !== "-" && rows[n][0] !== "+") { n++; continue; }
    let end = n;
    while (end < rows.length && (rows[end][0] === "-" || rows[end][0] === "+")) end++;
    const gone = rows.slice(n, end).filter(r => r[0] === "-"), made = rows.slice(n, end).filter(r => r[0] === "+");
    for (let k = 0; k < Math.min(gone.length, made.length); k++) { gone[k][2] = made[k][2]; made[k][1] = gone[k][1]; }
    n = end;
  }
  return rows;
}

const side = (id, line, sign, partner) => ({sign, stage: id, line, text: STAGES[id].lines[line - 1], partner});
const gap = count => ({gap: `${plural(count, "line")} the same`});

function unifiedRows() {
  return diffPairs().map(([sign, la, lb]) => {
    if (sign === "gap") return gap(la);
    const partner = sign === " " || !la || !lb ? null : sign === "-" ? STAGES[S.b].lines[lb - 1] : STAGES[S.a].lines[la - 1];
    return sign === "-" ? side(S.a, la, "-", partner) : side(S.b, lb, sign, partner);
  });
}

function sideRows() {  // for A and for B, equally long
  const left = [], right = [];
  const level = () => { while (left.length < right.length) left.push({blank: true}); while (right.length < left.length) right.push({blank: true}); };
  diffPairs().forEach(([sign, la, lb]) => {
    if (sign === "gap") { level(); left.push(gap(la)); right.push(gap(la)); }
    else if (sign === " ") { level(); left.push(side(S.a, la, " ")); right.push(side(S.b, lb, " ")); }
    else if (sign === "-") left.push(side(S.a, la, "-", lb ? STAGES[S.b].lines[lb - 1] : null));
    else right.push(side(S.b, lb, "+", la ? STAGES[S.a].lines[la - 1] : null));
  });
  level();
  return [left, right];
}

function trips(text) {  // iterations of a loop whose bounds stand in their names
  const m = /scf\.for %\w+ = %c(-?\d+)\w* to %c(-?\d+)\w* step %c(\d+)/.exec(text);
  return m ? Math.max(0, Math.ceil((m[2] - m[1]) / m[3])) : null;
}

// Loops of a stage, whatever it is written in, and the hit that a pane is scrolled to: in the innermost loop, where
// most of the work is, not among constants or in what runs once before it.
const LOOP_OP = /(?:^|=)\s*"?(?:scf\.(?:for|while|parallel|forall)|affine\.(?:for|parallel)|linalg\.\w+)\b/;
const LABEL = /^\s*(\^\w+)\s*(?:\(.*\))?:|^([\w.$@-]+):|^\s*%(\S+) = OpLabel/;
const JUMP = /^\s*(?:@!?%?\w+\s+)?"?(?:cf\.\w+|llvm\.\w*br|br|bra\S*|BRA\S*|j[a-z]+|b\.?\w{0,2}|cbn?z|tbn?z|s_c?branch\S*|OpBranch\S*|switch)\s/;
const FUNCTION = /^\s*"?(?:\w+\.)?func\b|^define\b|= OpFunction\b/;

function loopsOf(stage) {  // first and last row of each loop: regions of loop ops, and jumps back to a label
  if (stage.loops) return stage.loops;
  const found = [];
  let labels = new Map();
  foldsOf(stage).forEach((end, row) => { if (LOOP_OP.test(stage.lines[row])) found.push([row, end]); });
  stage.lines.forEach((text, row) => {
    if (FUNCTION.test(text)) labels = new Map();
    const label = LABEL.exec(text);
    if (label) labels.set(label[1] || label[2] || label[3], row);
    else if (JUMP.test(text)) for (const [word] of text.matchAll(/[\w.$@^-]+/g)) if (labels.has(word)) found.push([labels.get(word), row]);
  });
  found.sort((x, y) => (y[1] - y[0]) - (x[1] - x[0]));
  return stage.loops = found;
}

function loopAround(stage, line) {  // the innermost, how deep it lies, and its rows; the whole stage where there is none
  const around = loopsOf(stage).filter(([from, to]) => from < line - 1 && line - 1 <= to);
  return {depth: around.length, range: around[around.length - 1] || [0, stage.lines.length]};
}

const NEAR = 24;  // rows that are looked at together
function busiest(rows) {  // of rising numbers the one with most others close behind
  let best = 0, most = 0;
  for (let i = 0, j = 0; i < rows.length; i++) {
    while (j < rows.length && rows[j] - rows[i] < NEAR) j++;
    if (j - i > most) { most = j - i; best = i; }
  }
  return rows[best];
}

function bestHit(rows, hits) {  // [row of the hit, row from which it is shown]
  const groups = new Map();
  for (const n of hits) {
    const row = rows[n];
    if (row.stage === PYTHON || row.sign) return [hits[0], hits[0]];
    const {depth, range} = loopAround(STAGES[row.stage], row.line), key = range.join();
    if (!groups.has(key)) groups.set(key, {depth, from: range[0] + 1, hits: []});
    groups.get(key).hits.push(n);
  }
  const [best] = [...groups.values()].sort((x, y) => y.depth - x.depth || y.hits.length - x.hits.length);
  const hit = busiest(best.hits), head = rows.findIndex(r => r.line === best.from);
  return [hit, best.depth && head >= 0 ? head : hit];
}

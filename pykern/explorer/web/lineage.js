// Which lines light up: the same rules as Exploration.lit and Comparison.lit, which tests compare.
const NONE = new Set();
const shown = kind => kind === "o" || (S.plumbing && kind === "p");
const parentsOf = (stage, line) => {
  const given = stage.parents[line - 1];
  return given === 0 ? [] : typeof given === "number" ? [given] : given;
};

function childrenOf(stage) {  // edges in two arrays: the first child of a line, and the next one of each edge
  if (stage.children) return stage.children;
  let most = 0, count = 0;
  for (let n = 1; n <= stage.lines.length; n++) parentsOf(stage, n).forEach(p => { most = Math.max(most, p); count++; });
  const first = new Int32Array(most + 1).fill(-1), next = new Int32Array(count), child = new Int32Array(count);
  let edge = 0;
  for (let n = stage.lines.length; n >= 1; n--) parentsOf(stage, n).forEach(p => {
    child[edge] = n;
    next[edge] = first[p];
    first[p] = edge++;
  });
  return stage.children = {first, next, child};
}

function rowsOf(stage, file, line) {  // the lines of a stage that come from a line of Python
  if (!stage.places) {
    stage.places = new Map();
    stage.src.forEach((place, row) => {
      if (!place) return;
      const key = `${place[0]}:${place[1]}`, rows = stage.places.get(key);
      if (rows) rows.push(row + 1); else stage.places.set(key, [row + 1]);
    });
  }
  return stage.places.get(`${file}:${line}`) || [];
}

function relatives(found, pin) {
  const {base, last} = SUBJECTS[STAGES[pin.stage].subject];
  found[pin.stage] = new Set([pin.line]);
  for (let n = pin.stage; n > base; n--) {
    found[n - 1] = new Set();
    found[n].forEach(l => parentsOf(STAGES[n], l).forEach(p => found[n - 1].add(p)));
  }
  for (let n = pin.stage + 1; n <= last; n++) {
    const {first, next, child} = childrenOf(STAGES[n]);
    found[n] = new Set();
    found[n - 1].forEach(l => {
      for (let e = l < first.length ? first[l] : -1; e >= 0; e = next[e]) found[n].add(child[e]);
    });
  }
  for (let n = base; n <= last; n++)
    found[n].forEach(l => { if (!(n === pin.stage && l === pin.line) && !shown(STAGES[n].kinds[l - 1])) found[n].delete(l); });
}

const subjectOf = pin => pin.stage === PYTHON ? pin.subject : STAGES[pin.stage].subject;

function pythonOf(pin) {
  if (!pin) return null;
  return pin.stage === PYTHON ? [pin.file, pin.line] : STAGES[pin.stage].src[pin.line - 1] || null;
}

function inSubject(pin, other) {  // the line of Python of a pin, as a line of another subject
  const python = pythonOf(pin), own = subjectOf(pin);
  if (!python || own === other) return python;
  return SAME.get(`${own}>${other}`).get(`${python[0]}:${python[1]}`) || null;
}

function litLines(pin) {
  const found = STAGES.map(() => NONE);
  if (!pin) return found;
  SUBJECTS.forEach((subject, k) => {
    if (pin.stage !== PYTHON && k === subjectOf(pin)) return relatives(found, pin);
    const there = inSubject(pin, k);
    if (there) subject.stages.forEach(stage => {
      found[stage.id] = new Set(rowsOf(stage, there[0], there[1]).filter(l => shown(stage.kinds[l - 1])));
    });
  });
  return found;
}

// The data (pykern/explorer/packing.py) and the state, which the hash of the address repeats. The scripts of
// this folder run in one scope, in the order of page.py. Everything of a user goes through `escape`.
const ROW = 18, MARGIN = 20, PYTHON = -1;
const byId = id => document.getElementById(id);
const escape = text => String(text).replace(/[&<>"']/g, c => `&#${c.charCodeAt(0)};`);
const plural = (n, what) => `${n.toLocaleString("en")} ${what}${n === 1 ? "" : "s"}`;

async function unpack() {
  const text = atob(byId("data").textContent), bytes = new Uint8Array(text.length);
  for (let n = 0; n < text.length; n++) bytes[n] = text.charCodeAt(n);  // from(…, function) takes ten times as long
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return JSON.parse(await new Response(stream).text());
}

const D = await unpack();
const SUBJECTS = D.subjects, MANY = SUBJECTS.length > 1;
const STAGES = [];  // of all subjects, one behind the other: a stage is named by its place here
SUBJECTS.forEach((subject, k) => {
  subject.base = STAGES.length;
  subject.stages.forEach((stage, n) => {
    stage.src = stage.src.map(n => n && subject.places[n - 1]);
    stage.lines = stage.lines || subject.stages[n - 1].lines;
    Object.assign(stage, {subject: k, n, id: STAGES.length});
    STAGES.push(stage);
  });
  subject.last = STAGES.length - 1;
});
const LAST = STAGES.length - 1;
const SAME_SOURCE = SUBJECTS.every(s => JSON.stringify(s.source) === JSON.stringify(SUBJECTS[0].source));

const SAME = new Map();  // "i>j" to a map of "file:line" to [file, line]: one line of Python in another version
{
  let pair = 0;
  for (let i = 0; i < SUBJECTS.length; i++) for (let j = i + 1; j < SUBJECTS.length; j++) {
    const there = new Map(), back = new Map();
    D.same[pair++].forEach(([f, l, g, m]) => { there.set(`${f}:${l}`, [g, m]); back.set(`${g}:${m}`, [f, l]); });
    SAME.set(`${i}>${j}`, there);
    SAME.set(`${j}>${i}`, back);
  }
}

const failed = SUBJECTS.findIndex(s => s.error);
const FIRST_A = failed >= 0 ? SUBJECTS[failed].last - 1 : MANY ? SUBJECTS[0].last : 0;
const FIRST_B = failed >= 0 ? SUBJECTS[failed].last : LAST;
const S = {
  a: FIRST_A, b: FIRST_B, pin: null, second: null, diff: "", follow: false, plumbing: false, all: false,
  numbers: false, context: false, quiet: false, only: "", part: "", drawer: "summary", theme: "", value: null,
  folded: new Map(), find: null, hitLine: 0, hitInPython: false, suggested: false,
};
const FLAGS = ["follow", "plumbing", "all", "numbers", "context", "quiet"];

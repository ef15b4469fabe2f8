// Colours of words, made for the rows in sight only. One hue a dialect; names stay readable without it.
const WORDS = /(\/\/.*|;.*$|#(?=[^\w]).*$)|("(?:[^"\\]|\\.)*")|([%$][\w.#$]+)|([@^][\w.$]+)|(!?[a-z_]\w*)(\.[A-Za-z_][\w.]*)|\b(0x[0-9a-fA-F]+|-?\d[\d.e+-]*)\b/g;
const PYTHON_WORDS = /(#.*)|("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')|\b(and|as|assert|break|class|continue|def|elif|else|False|for|from|global|if|import|in|is|lambda|None|not|or|pass|return|True|while|with|yield)\b|(@[\w.]+)|\b(\d[\w.]*)\b/g;
const HUES = {
  kern: "kern", arith: "arith", math: "arith", index: "arith", memref: "memref", tensor: "memref", bufferization: "memref",
  scf: "scf", cf: "scf", linalg: "linalg", vector: "linalg", affine: "scf", gpu: "gpu", nvvm: "gpu", rocdl: "gpu",
  spirv: "gpu", llvm: "llvm", func: "func",
};
const hueOf = dialect => HUES[dialect] || (dialect === "instructions" ? "llvm" : "other");
const MOST = 2000;  // characters of a row that are coloured
const CUT = 20000;  // characters of a row that are shown

function coloured(text, words, classes) {
  let html = "", from = 0;
  for (const m of text.slice(0, MOST).matchAll(words)) {
    html += escape(text.slice(from, m.index)) + classes(m);
    from = m.index + m[0].length;
  }
  return html + escape(text.slice(from, CUT)) + (text.length > CUT ? "…" : "");
}

const span = (kind, text) => `<span class="${kind}">${escape(text)}</span>`;

function irWord(m) {
  if (m[1]) return span("comment", m[0]);
  if (m[2]) {
    const dialect = /^"([a-z]+)\./.exec(m[0]);
    return span(dialect && HUES[dialect[1]] ? `op d-${HUES[dialect[1]]}` : "string", m[0]);
  }
  if (m[3]) return `<span class="value" data-v="${escape(m[0])}">${escape(m[0])}</span>`;
  if (m[4]) return span("symbol", m[0]);
  if (m[5]) return HUES[m[5]] ? span(`op d-${HUES[m[5]]}`, m[0]) : escape(m[0]);
  return span("number", m[0]);
}

// instructions: the mnemonic, then operands
const ASM = /^(\s*)(@!?%?\w+\s+)?([A-Za-z][\w.]*)/;
function asmText(text) {
  const m = ASM.exec(text);
  if (!m || /^\s*[.#/;]/.test(text)) return coloured(text, WORDS, irWord);
  const rest = text.slice(m[0].length);
  return escape(m[1]) + (m[2] ? span("value", m[2]) : "") + span("op d-llvm", m[3]) + coloured(rest, WORDS, irWord);
}

const SPIRV = /^(\s*)(%\S+)?( = )?(Op\w+)/;
function spirvText(text) {
  const m = SPIRV.exec(text);
  if (!m) return escape(text);
  const value = m[2] ? `<span class="value" data-v="${escape(m[2])}">${escape(m[2])}</span>` : "";
  return `${m[1]}${value}${m[3] || ""}${span("op d-gpu", m[4])}${coloured(text.slice(m[0].length), WORDS, irWord)}`;
}

const pythonWord = m => span(m[1] ? "comment" : m[2] ? "string" : m[3] ? "keyword" : m[4] ? "symbol" : "number", m[0]);
const pythonText = text => coloured(text, PYTHON_WORDS, pythonWord);
const textOf = (stage, text) => stage.kind === "asm" ? asmText(text) : stage.kind === "spirv" ? spirvText(text) : stage.kind === "failed" ? escape(text) : coloured(text, WORDS, irWord);

const OP = /^\s*(?:[%\w:#, ]+=\s*)?"?([a-z]\w*)\.[A-Za-z_]/;
const hueOfLine = (stage, text) => stage.kind === "mlir" ? hueOf(dialectOfLine(text)) : hueOf("instructions");
const dialectOfLine = text => { const m = OP.exec(text); return m ? m[1] : ""; };

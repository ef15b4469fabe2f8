// A pane: rows of which only those in sight are in the document. Pointing at a row changes classes, never rows,
// so that a press and its release meet the same element.
class Pane {
  constructor(id, name) {
    this.el = document.createElement("section");
    this.el.className = "pane";
    this.el.id = id;
    this.el.innerHTML = `<h2></h2><div class="scroll" role="grid" tabindex="0"><div class="rows" role="presentation"></div></div><canvas width="10" aria-hidden="true"></canvas>`;
    [this.title, this.scroll, this.ruler] = this.el.children;
    this.sheet = this.scroll.firstChild;
    this.scroll.setAttribute("aria-label", name);
    this.cursor = 0;
    this.rows = [];
    this.scroll.addEventListener("scroll", () => this.scrolled(), {passive: true});
    this.scroll.addEventListener("click", e => this.clicked(e));
    this.scroll.addEventListener("mousemove", e => pointAt(this.rowAt(e)));
    this.scroll.addEventListener("mouseleave", () => pointAt(null));
    this.scroll.addEventListener("keydown", e => this.key(e));
    this.scroll.addEventListener("focus", () => { this.mark(); });
    byId("panes").append(this.el);
  }

  set(rows) {
    this.rows = rows;
    this.cursor = Math.min(this.cursor, Math.max(0, rows.length - 1));
    const longest = rows.reduce((most, r) => Math.max(most, (r.text || r.remark || "").length), 0);
    this.sheet.style.height = `${rows.length * ROW + 8}px`;
    this.sheet.style.minWidth = `calc(${Math.min(longest, CUT) + 4}ch + 66px)`;
    this.scroll.setAttribute("aria-rowcount", rows.length);
    this.draw();
  }

  scrolled() {
    this.drawRows();
    if (this.partner && !this.partner.busy) {
      this.busy = true;
      this.partner.scroll.scrollTop = this.scroll.scrollTop;
      requestAnimationFrame(() => { this.busy = false; });
    }
  }

  isLit(row, lines = lit, pin = S.pin) {
    if (!pin || row.line === undefined || row.followed) return false;
    if (row.stage !== PYTHON) return lines[row.stage].has(row.line);
    const python = inSubject(pin, row.subject);
    return python !== null && python[0] === row.file && python[1] === row.line;
  }

  hits() { return this.rows.flatMap((row, n) => this.isLit(row) ? [n] : []); }

  draw() {
    this.drawRows();
    this.drawRuler();
  }

  drawRows() {
    const first = Math.max(0, Math.floor(this.scroll.scrollTop / ROW) - MARGIN);
    const last = Math.min(this.rows.length, first + Math.ceil(this.scroll.clientHeight / ROW) + 2 * MARGIN);
    let html = "";
    for (let n = first; n < last; n++) html += this.html(this.rows[n], n);
    this.sheet.innerHTML = html;
    this.first = first;
    this.mark();
  }

  html(row, n) {
    const top = `style="top:${n * ROW}px" aria-rowindex="${n + 1}" data-n="${n}"`;
    if (row.head !== undefined) return `<div class="row head" role="row" ${top}><span role="rowheader">${escape(row.head)}</span></div>`;
    if (row.blank) return `<div class="row blank" role="row" ${top}></div>`;
    if (row.gap) return `<div class="row gap" role="row" ${top}><span role="gridcell">⋯ ${escape(row.gap)}</span></div>`;
    if (row.remark !== undefined) return `<div class="row remark" role="row" ${top} title="${escape(row.remark)}"><span role="gridcell" style="margin-left:${row.indent}ch">${escape(row.remark)}</span></div>`;
    const classes = ["row"], isLit = this.isLit(row);
    if (row.sign === "+") classes.push("added");
    if (row.sign === "-") classes.push("removed");
    if (S.find && S.find.test(row.text)) classes.push("found");
    const sign = row.sign && row.sign !== " " ? `<b class="sign">${row.sign === "-" ? "−" : "+"}</b>` : "";
    const body = row.stage === PYTHON ? this.pythonBody(row, classes) : this.stageBody(row, classes);
    return `<div class="${classes.join(" ")}" role="row" aria-selected="${isLit}" ${top}><b class="n">${row.line}</b>${sign}${body}</div>`;
  }

  pythonBody(row) {
    const subject = SUBJECTS[SAME_SOURCE ? STAGES[S.b].subject : row.subject];
    const parts = subject.weight.get(`${row.file}:${row.line}`) || {}, count = Object.values(parts).reduce((x, y) => x + y, 0);
    const work = Object.entries(subject.work.get(`${row.file}:${row.line}`) || {}).map(([what, n]) => plural(n, what)).join(", ");
    const names = partNames(), split = KNOWN_PARTS.map(part => `${parts[part] || 0} ${names[part]}`).join(", ");
    const told = `${plural(count, "instruction")} of the last stage${split ? ` (${split})` : ""}${work ? `; ${work} ${subject.costs.of}` : ""}`;
    const heat = (KNOWN_PARTS.length ? KNOWN_PARTS : ["f"]).map((part, n) => parts[part]
      ? `<b class="weight ${KNOWN_PARTS.length ? `part-${part}` : ""}" title="${escape(told)}" style="--at:${n};--share:${Math.max(.12, parts[part] / subject.heaviest).toFixed(2)}">${parts[part]}</b>` : "").join("");
    return `${heat}<span role="gridcell">${pythonText(row.text)}</span>`;
  }

  stageBody(row, classes) {
    const stage = STAGES[row.stage], kind = stage.kinds[row.line - 1];
    classes.push(kind === "o" || stage.kind === "failed" ? "operation" : kind === "p" ? "plumbing" : "other");
    const part = kind === "o" ? partOf(stage, row.line) : "";
    if (part) classes.push(`part-${part}`);
    if (S.part && part !== S.part) classes.push("aside");
    if (S.only && hueOfLine(stage, row.text) !== S.only) classes.push("aside");
    const dot = kind === "o" ? `<b class="dot ${stage.src[row.line - 1] ? "" : "hollow"}"></b>` : "";
    const fold = row.fold ? `<b class="fold" title="fold (- +)">${row.fold === "closed" ? "▸" : "▾"}</b>` : "";
    const count = row.fold ? trips(row.text) : null;
    const after = (row.hides ? `<i class="note">⋯ ${plural(row.hides, "line")}</i>` : "") + (count === null ? "" : `<i class="note">× ${count}</i>`);
    const words = row.partner ? changedWords(row.text, row.partner) : "";
    const under = words ? `<span class="under" aria-hidden="true">${words}</span>` : "";
    return `${dot}${fold}${under}<span role="gridcell">${textOf(stage, row.text)}</span>${after}`;
  }

  mark() {  // classes of what is in the document, without making rows anew
    for (const el of this.sheet.children) {
      const n = +el.dataset.n, row = this.rows[n];
      const isLit = this.isLit(row), two = S.second !== null && this.isLit(row, lit2, S.second);
      el.classList.toggle("lit", isLit);
      el.classList.toggle("lit2", two);
      el.classList.toggle("hover", hovered !== null && this.isLit(row, hoverLit, hovered));
      el.classList.toggle("cursor", n === this.cursor);
      if (el.hasAttribute("aria-selected")) el.setAttribute("aria-selected", isLit || two);
      if (S.value || el.dataset.values) this.markValue(el, row);
    }
  }

  markValue(el, row) {
    const v = S.value, on = v && row.stage === v.stage && row.line >= v.from && row.line <= v.to;
    let any = false;
    el.querySelectorAll(".value").forEach(word => {
      const same = on && word.dataset.v.split("#")[0] === v.name;
      word.classList.toggle("same", same);
      any = any || same;
    });
    if (any) el.dataset.values = "1"; else delete el.dataset.values;
  }

  drawRuler() {
    const height = this.ruler.clientHeight || 1, pen = this.ruler.getContext("2d");
    const style = getComputedStyle(document.documentElement), total = Math.max(1, this.rows.length);
    this.ruler.height = height;
    const bar = (n, colour, left, width) => { pen.fillStyle = colour; pen.fillRect(left, Math.floor(n / total * height), width, 3); };
    const mark = style.getPropertyValue("--mark"), mark2 = style.getPropertyValue("--mark2"), found = style.getPropertyValue("--accent");
    this.rows.forEach((row, n) => {
      if (this.isLit(row)) bar(n, mark, 2, 8);
      if (S.second && this.isLit(row, lit2, S.second)) bar(n, mark2, 2, 8);
      if (S.find && row.text && S.find.test(row.text)) bar(n, found, 0, 3);
      if (row.sign === "+" || row.sign === "-") bar(n, style.getPropertyValue(row.sign === "+" ? "--good" : "--bad"), 0, 3);
    });
  }

  reveal(n, from = n) {  // `from` is to be seen too, where both have room
    const top = n * ROW, sight = this.scroll, both = from < n && (n - from) * ROW < sight.clientHeight * .7;
    if (top < sight.scrollTop || top > sight.scrollTop + sight.clientHeight - 2 * ROW || (both && from * ROW < sight.scrollTop))
      sight.scrollTop = Math.max(0, both ? from * ROW - 2 * ROW : top - sight.clientHeight / 3);
  }

  revealHit() {
    const hits = this.hits();
    if (hits.length) this.reveal(...bestHit(this.rows, hits));
  }

  numberAt(event) {
    const n = Math.floor((event.clientY - this.sheet.getBoundingClientRect().top) / ROW);
    return n >= 0 && n < this.rows.length ? n : -1;
  }

  rowAt(event) {
    const n = this.numberAt(event);
    return n < 0 ? null : this.rows[n];
  }

  clicked(event) {
    const n = this.numberAt(event), row = this.rows[n];
    if (!row || !getSelection().isCollapsed) return;
    this.cursor = n;
    if (row.gap) return flip("context");
    if (event.target.closest(".fold")) return fold(row.stage, row.line - 1, row.fold === "open");
    const word = event.target.closest(".value");
    if (word && row.stage !== PYTHON) pickValue(row, word.dataset.v.split("#")[0]); else S.value = null;
    pin(row, this, event.shiftKey);
  }

  stepped(step) {  // the row so far away, or the next that can be picked
    const last = this.rows.length - 1, canBe = n => this.rows[n].line !== undefined || this.rows[n].gap;
    let n = Math.max(0, Math.min(last, this.cursor + step));
    while (n > 0 && n < last && !canBe(n)) n += Math.sign(step);
    return this.rows[n] && canBe(n) ? n : this.cursor;
  }

  key(event) {
    const page = Math.max(1, Math.floor(this.scroll.clientHeight / ROW) - 2);
    const step = {ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -1e9, End: 1e9}[event.key];
    const row = this.rows[this.cursor];
    if (step && !event.ctrlKey) this.cursor = this.stepped(step);
    else if (event.key === "Enter" && row) { if (row.gap) flip("context"); else pin(row, this, event.shiftKey); }
    else if ((event.key === "-" || event.key === "+") && row) foldAt(row, event.key === "-");
    else if (event.key === "=" && row) valueOf(row);
    else return;
    event.preventDefault();
    event.stopPropagation();
    this.reveal(this.cursor);
    this.mark();
  }
}

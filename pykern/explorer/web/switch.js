// Narrow windows and frames: panes as tabs. Up to 640 pixels one at a time, Python first; up to 1000 the Python stays
// beside the one that is chosen. Low frames hide the details until one of their tabs is chosen.
const NARROW = matchMedia("(max-width: 640px)"), MIDDLE = matchMedia("(max-width: 1000px)"), LOW = matchMedia("(max-height: 620px)");
const TABS = {python: "Python", a: "A", b: "B", stages: "Stages", drawer: "Details"};
const isTabbed = () => MIDDLE.matches;
const chosenTab = () => document.body.dataset.tab === "python" && !NARROW.matches ? "b" : document.body.dataset.tab;

function drawSwitch() {
  const names = Object.keys(TABS).filter(id => NARROW.matches || id !== "python"), hits = {python: python.hits(), a: paneA.hits(), b: paneB.hits()};
  byId("switch").innerHTML = names.map(id => {
    const count = id !== "python" && hits[id] && hits[id].length;
    return `<button role="tab" data-pane="${id}" aria-selected="${id === chosenTab()}" tabindex="${id === chosenTab() ? 0 : -1}" aria-controls="${id}">${TABS[id]}${count ? `<small title="lit lines">${count}</small>` : ""}</button>`;
  }).join("");
}

function turnTo(id) {  // to a pane, where panes are tabs
  document.body.dataset.tab = id;
  if (!isTabbed()) return;
  drawSwitch();
  panes.forEach(p => {
    p.draw();
    const hits = p.hits();  // a pane that was not to be seen had no height to scroll in
    if (p.el.id === id && hits.length && !hits.some(n => isInSight(p, n))) p.revealHit();
  });
}

function switchKey(event) {
  const step = {ArrowRight: 1, ArrowLeft: -1}[event.key];
  if (!step) return;
  const tabs = [...byId("switch").children], at = tabs.findIndex(t => t.dataset.pane === chosenTab());
  turnTo(tabs[(at + step + tabs.length) % tabs.length].dataset.pane);
  byId("switch").querySelector('[aria-selected="true"]').focus();
  event.preventDefault();
}

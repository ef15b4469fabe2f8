// The scores of Sphinx's own search, and a better name for what an entry of the index leads to: `pk.shared`, not "API".
var Scorer = {
  score: result => {
    const name = /^#about-(.+)$/.exec(result[2]);
    if (name) result[1] = "pk." + name[1].replace(/-/g, "_");
    return result[4];
  },
  objNameMatch: 11, objPartialMatch: 6, objPrio: {0: 15, 1: 5, 2: -5}, objPrioDefault: 0,
  title: 15, partialTitle: 7, term: 5, partialTerm: 2,
};

// Which cases are listed, and in which order. Filters read the index; a search for text also unpacks the blocks, one by one.

// Filters by a property of the case.
const PROPERTIES = ["origin", "scenario", "variant", "block_kind", "language"];
const FILTERS = ["engine", "outcome", "other", "pair", "sort", ...PROPERTIES];

const FAILURES = ["timeout", "cancelled", "error"];
const OUTCOME_FILTERS = {
  exact: (outcomes) => outcomes.some((outcome) => outcome.name === "exact"),
  wrong: (outcomes) => outcomes.some((outcome) => outcome.name === "wrong"),
  silent: (outcomes) => outcomes.some((outcome) => outcome.status === "silent" || outcome.status === "gated"),
  failed: (outcomes) => outcomes.some((outcome) => FAILURES.includes(outcome.name)),
  disagree: (outcomes) => new Set(outcomes.map((outcome) => outcome.name === "exact")).size > 1,
};

// Relations of the values of two engines, as the verdict counts them.
const PAIR_FILTERS = {
  better: (one, other) => one > other,
  worse: (one, other) => one < other,
  both: (one, other) => one === other && one > 0,
  neither: (one, other) => one === 0 && other === 0,
};

// Returns whether a case passes all filters but the search; `chosen` has their values by name.
function passes(data, item, chosen, shownEngines) {
  if (!PROPERTIES.every((name) => !chosen[name] || item[name] === chosen[name])) return false;
  const engines = chosen.engine === "" ? shownEngines : [Number(chosen.engine)];
  const outcomes = engines.flatMap((engine) => data.outcomes(item, engine));
  if (chosen.engine !== "" && outcomes.length === 0) return false;
  const accepts = OUTCOME_FILTERS[chosen.outcome];
  if (accepts && !accepts(outcomes)) return false;
  const pair = pairOf(chosen);
  if (!pair) return true;
  const [one, other] = pair.map((engine) => data.value(item, engine));
  const relation = PAIR_FILTERS[chosen.pair];
  return !relation || (one != null && other != null && relation(one, other));
}

// Returns the two engines to compare, if two are chosen.
function pairOf(chosen) {
  const pair = [chosen.engine, chosen.other];
  return pair.includes("") || chosen.engine === chosen.other ? null : pair.map(Number);
}

// Returns the cases in the chosen order; those without a value come last.
function sorted(data, items, chosen) {
  const pair = pairOf(chosen);
  const nearness = (item, engine) => data.similarity(item, engine) ?? data.value(item, engine) ?? 0;
  const engine = chosen.engine === "" ? null : Number(chosen.engine);
  const keys = {
    gap: pair && ((item) => -Math.abs(nearness(item, pair[0]) - nearness(item, pair[1]))),
    worst: engine !== null && ((item) => data.outcome(item, engine)?.name === "exact" ? 2 : nearness(item, engine)),
  };
  const key = keys[chosen.sort];
  if (chosen.sort === "path") return items.toSorted((a, b) => a.place - b.place);
  return key ? items.map((item) => ({ item, key: key(item) })).sort((a, b) => a.key - b.key).map(({ item }) => item) : items;
}

// Finds cases with a text. Calls `found(items, isDone)` with what it has so far; stops if `isStale()`.
async function searchTexts(data, items, query, isStale, found) {
  const matches = new Set(items.filter((item) => `${item.path}\n${item.id}`.toLowerCase().includes(query)));
  const inOrder = (done) => found(items.filter((item) => matches.has(item)), done);
  const rest = items.filter((item) => !matches.has(item)).sort((a, b) => a.place - b.place);
  inOrder(rest.length === 0);
  let reported = performance.now();
  for (const [number, item] of rest.entries()) {
    const details = data.details(item);
    const full = details instanceof Promise ? await details : details;
    if (isStale()) return;
    if (hasText(full, query)) matches.add(item);
    const isLast = number === rest.length - 1;
    if (!isLast && performance.now() - reported < SEARCH_REPORT_MS) continue;
    inOrder(isLast);
    await new Promise((resume) => setTimeout(resume));
    reported = performance.now();
  }
}

// Milliseconds between two displays of a running search.
const SEARCH_REPORT_MS = 150;

function hasText(item, query) {
  const texts = [item.before.text, item.truth, item.after.text, ...item.answers.map((answer) => answer.text)];
  return texts.some((text) => text.toLowerCase().includes(query));
}

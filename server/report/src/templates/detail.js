// One case in full: its position, the code around the cursor, every answer next to the truth, and its context.

// Lines displayed on either side of the cursor initially.
const LINES_BEFORE = 12;
const LINES_AFTER = 8;

// Total lines of context that are open initially: more would move the answers out of view.
const OPEN_CONTEXT_LINES = 16;

// Returns a case in full as nodes. `twins` are the cases of its hole, including itself; `open(id)` displays another one; `pair` are
// two engines to compare, or null.
function caseDetail(item, data, { pair, selection, twins, open }) {
  const { engines } = data;
  const answers = item.answers.filter((answer) => pair ? pair.includes(answer.engine) : selection.has(answer.engine));
  if (pair) answers.sort((a, b) => pair.indexOf(a.engine) - pair.indexOf(b.engine));
  return [
    detailHead(item, data, selection, twins, open),
    surroundings(item, answers, data),
    pair && pairPanel(answers, pair, engines),
    item.context.length > 0 && contextPanel(item.context),
    answers.length > 0 ? diffLegend() : element("p", { class: "dim" }, item.answers.length > 0 ? "No shown engine was asked." : "No engine was asked."),
    ...answerPanels(item, answers, engines),
    provenance(item),
  ].filter(Boolean);
}

function detailHead(item, data, selection, twins, open) {
  const labels = [...situation(item), item.origin, `id ${item.id.slice(0, 12)}`];
  return element(
    "header", null,
    element("h3", null, ...visible(`${item.path}:${item.line + 1}:${item.character + 1}`)),
    element("div", { class: "labels" }, labels.map((label) => element("span", null, ...visible(label)))),
    twins.length > 1 && element("nav", { class: "twins", "aria-label": "Cases of the same hole" }, "Same hole:", twins.map((twin) => twinLink(twin, item, data, selection, open))),
  );
}

// Returns a link to another case of the hole, with its kind of context and the outcomes of the shown engines.
function twinLink(twin, item, data, selection, open) {
  const shown = selection.numbers();
  const outcomes = shown.map((number) => data.outcome(twin, number));
  const right = outcomes.filter((outcome) => outcome?.name === "exact").length;
  const signs = outcomes.map((outcome) => outcome ? OUTCOMES[outcome.name].sign : "\u00a0").join(" ");
  const words = outcomes.map((outcome, at) => `${data.engines[shown[at]].name}: ${outcome ? OUTCOMES[outcome.name].word : "not asked"}`).join(", ");
  const name = `${twin.variant || twin.scenario} ${shown.length > WIDE_ENGINES ? `${right} of ${shown.length} exact` : signs}`;
  if (twin.id === item.id) return element("b", { title: words, "aria-current": "true" }, name);
  const follow = (event) => { event.preventDefault(); open(twin.id); };
  return element("a", { href: `#case=${twin.id}`, title: words, onclick: follow }, name);
}

// Compares the first answers of two engines with each other; the panels below compare each with the truth.
function pairPanel(answers, pair, engines) {
  const [one, other] = pair.map((engine) => answers.find((answer) => answer.engine === engine));
  if (!one || !other) return null;
  const title = (answer) => ["Answer of ", engineLetter(engines[answer.engine]), ` ${engines[answer.engine].name}`];
  const head = element("div", { class: "bar-line" }, element("h4", null, "The two answers"), element("span", { class: "dim" }, "dotted: only in the first; underlined: only in the second"));
  if (one.text === other.text) return element("section", { class: "panel" }, head, element("p", { class: "equal-texts" }, one.text === "" ? "Both engines gave no text." : "Both engines gave the same text."));
  const [left, right] = [words(one.text), words(other.text)];
  const { missing, extra } = differences(left, right);
  return element(
    "section", { class: "panel", "aria-label": "The two answers" }, head,
    element("div", { class: "pair" }, side(title(one), "no text", marked(left, missing, "del")), side(title(other), "no text", marked(right, extra, "ins"))),
  );
}

// Returns the code around the cursor with the truth or an answer inserted.
function surroundings(item, answers, { engines, linesKept }) {
  const code = element("pre", { class: "code", tabindex: "0", role: "region", "aria-label": "Code around the cursor" });
  const state = { inserted: item.truth, before: LINES_BEFORE, after: LINES_AFTER };
  const draw = () => code.replaceChildren(...codeRows(item, state, linesKept, draw));
  const choice = (label, text, checked) => {
    const input = element("input", { type: "radio", name: "inserted", checked, onchange: () => { state.inserted = text; draw(); } });
    return element("label", null, input, ...visible(label));
  };
  draw();
  const texts = [...Map.groupBy(answers.filter((answer) => answer.text !== "" && answer.text !== item.truth), (answer) => answer.text).entries()];
  const named = (of) => of.length > 3 ? `${of.length} engines` : of.map((answer) => answerName(answer, engines[answer.engine])).join(", ");
  return element(
    "div", { class: "panel" },
    element(
      "div", { class: "bar-line", role: "group", "aria-label": "Text at the cursor" },
      element("h4", null, "At the cursor"),
      choice("truth", item.truth, true),
      choice("nothing", "", false),
      texts.map(([text, of]) => choice(named(of), text, false)),
    ),
    code,
  );
}

function codeRows(item, state, linesKept, redraw) {
  const before = item.before.text.split("\n");
  const after = item.after.text.split("\n");
  const hiddenBefore = Math.max(0, before.length - 1 - state.before);
  const hiddenAfter = Math.max(0, after.length - 1 - state.after);
  const head = before.slice(hiddenBefore).join("\n");
  const tail = after.slice(0, after.length - hiddenAfter).join("\n");
  const firstLine = item.before.first_line + hiddenBefore;
  // After an inserted text other than the truth, or after a cut, line numbers differ from the file's.
  const numbersHold = state.inserted === item.truth && !item.scenario.startsWith("incomplete_suffix");
  const numbered = numbersHold ? Infinity : head.split("\n").length;
  const lines = rowsOf([[head, null], [state.inserted, "mark"], [tail, null]], firstLine, numbered);
  const more = (count, side) => element(
    "button", { class: "more", type: "button", "data-more": side, onclick: () => { state[side] = Infinity; redraw(); } },
    `Show ${count} more ${count === 1 ? "line" : "lines"}`,
  );
  const trimmed = (count, where) => element("div", { class: "stop" }, `${count} lines ${where} are not in this report; it keeps ${linesKept} on either side`);
  return [
    hiddenBefore > 0 ? more(hiddenBefore, "before") : item.before.hidden_lines > 0 && trimmed(item.before.hidden_lines, "above"),
    ...lines,
    hiddenAfter > 0 ? more(hiddenAfter, "after") : item.after.hidden_lines > 0 && trimmed(item.after.hidden_lines, "below"),
  ].filter(Boolean);
}

// Splits consecutive pieces of text into rows, the first ones `numbered`. A piece with a tag is wrapped in it, line by line.
function rowsOf(pieces, firstLine, numbered) {
  let source = element("span", { class: "src" });
  const rows = [];
  const finish = () => {
    const number = rows.length < numbered ? firstLine + rows.length + 1 : "";
    rows.push(element("span", { class: "row" }, element("span", { class: "no", "data-no": number }), source));
    source = element("span", { class: "src" });
  };
  for (const [text, tag] of pieces) {
    if (tag) source.append(element("span", { class: "caret", title: "cursor" }));
    text.split("\n").forEach((line, index) => {
      if (index > 0) finish();
      const nodes = visible(line.replace(/\r$/, ""));
      if (nodes.length > 0) source.append(...(tag ? [element(tag, null, ...nodes)] : nodes));
    });
  }
  finish();
  return rows;
}

function diffLegend() {
  return element(
    "p", { class: "legend" }, "Word by word: ",
    element("span", { class: "text" }, element("del", null, "dotted")), " is in the truth only, ",
    element("span", { class: "text" }, element("ins", null, "underlined")), " in the answer only.",
  );
}

function answerName(answer, engine) {
  return answer.repetition > 0 ? `${engine.name}, repetition ${answer.repetition + 1}` : engine.name;
}

// Returns a panel for each answer. Further answers with the same text have a line each.
function answerPanels(item, answers, engines) {
  const groups = [...Map.groupBy(answers, (answer) => JSON.stringify([answer.outcome, answer.text, answer.spans ?? []])).values()];
  return groups.map(([answer, ...same]) => element(
    "section", { class: "panel answer", "aria-label": `Answer of ${answerName(answer, engines[answer.engine])}` },
    answerLine(answer, engines[answer.engine]),
    ...same.map((other) => answerLine(other, engines[other.engine])),
    comparison(item.truth, answer),
    originList(answer),
    answer.tests && testsPanel(answer.tests),
    answerMetrics(answer),
    answer.raw != null && element("details", null, element("summary", null, "Raw answer"), plainText(answer.raw)),
  ));
}

// Returns the verdict of the unit tests, with those that did not pass and the end of their output.
function testsPanel({ verdict, not_passed, further, output }) {
  const names = not_passed.flatMap((name, number) => [number > 0 && ", ", element("code", null, ...visible(name))]).filter(Boolean);
  const line = [`Unit tests: ${verdict.replaceAll("_", " ")}`, names.length > 0 && ": ", ...names, further > 0 && ` and ${further} more`].filter(Boolean);
  if (output === "") return element("p", null, ...line);
  return element("details", null, element("summary", null, ...line), plainText(output));
}

function answerLine(answer, engine) {
  return element(
    "div", { class: "bar-line" },
    element("h4", null, engineLetter(engine), " ", ...visible(answerName(answer, engine))),
    element("span", { class: `verdict ${answer.outcome}` }, verdict(answer)),
    answer.reason && element("span", null, ...visible(answer.reason)),
    element("span", { class: "grow dim" }, timings(answer)),
  );
}

function verdict(answer) {
  const { sign, word } = OUTCOMES[answer.outcome];
  return sign.length === 1 ? `${sign} ${word}` : word;
}

function timings(answer) {
  const [gather, first, total] = answer.ms;
  const parts = [`context ${duration(gather)}`, first != null && `first text ${duration(first)}`, `total ${duration(total)}`];
  if (answer.tokens) parts.push(`${answer.tokens.in} + ${answer.tokens.out} tokens`);
  parts.push(`finish ${answer.finish}`);
  return parts.filter(Boolean).join(", ");
}

function duration(ms) {
  if (ms >= 10_000) return `${(ms / 1000).toFixed(1)} s`;
  return ms < 10 ? `${ms.toFixed(1)} ms` : `${Math.round(ms)} ms`;
}

function comparison(truth, answer) {
  const text = answer.text;
  const spans = answer.spans ?? [];
  if (truth === text) {
    const note = truth === "" ? "The truth is empty, and so is the answer." : "Equal to the truth, character by character";
    return element("div", { class: "pair alone" }, element("div", null, element("h5", null, note), truth !== "" && sourcedText(words(text), spans)));
  }
  const [left, right] = [words(truth), words(text)];
  const { missing, extra } = differences(left, right);
  return element(
    "div", { class: "pair" },
    side("Truth", "nothing to write", marked(left, missing, "del")),
    side("Answer", "no text", answerNodes(right, extra, spans)),
  );
}

// Returns one side of a comparison.
function side(title, empty, nodes) {
  return element("div", null, element("h5", null, title), element("pre", { class: "text" }, nodes.length > 0 ? nodes : element("span", { class: "void" }, empty)));
}

// Returns an answer without marks, with its parts in separate elements.
function sourcedText(parts, spans) {
  return element("pre", { class: "text" }, answerNodes(parts, parts.map(() => false), spans));
}

function plainText(text) {
  return element("pre", { class: "text" }, ...visible(text));
}

function answerMetrics(answer) {
  const entries = Object.entries(answer.metrics);
  if (entries.length === 0) return null;
  return element(
    "dl", { class: "metrics" },
    entries.map(([name, metric]) => element("div", null, element("dt", null, name.replaceAll("_", " ")), element("dd", null, metricText(metric)))),
  );
}

function metricText(metric) {
  const value = share(metric);
  if (value === null) return "\u2013";
  const counts = typeof metric === "number" || metric.den === 1 ? "" : ` (${round(metric.num)} of ${round(metric.den)})`;
  return `${round(value)} %${counts}`;
}

function round(value) {
  return String(Math.round(value * 10) / 10);
}

// Returns the context of the request. Small items are open, up to a limit for all open items together.
function contextPanel(items) {
  const strategies = [...new Set(items.map((item) => item.strategy))].join(", ");
  let room = OPEN_CONTEXT_LINES;
  const opens = items.map((item) => {
    const lines = item.text.split("\n").length;
    if (lines > room) return false;
    room -= lines;
    return true;
  });
  return element(
    "section", { class: "panel context", "aria-label": "Context" },
    element("div", { class: "bar-line" }, element("h4", null, `Context: ${items.length} ${items.length === 1 ? "item" : "items"}`),
      element("span", { class: "dim" }, ...visible(strategies)),
      strategies === "hybrid" && element("span", { class: "dim" }, "scores of definitions and uses are probabilities, those of the windows after them weights of shared names")),
    items.map((item, index) => contextItem(item, opens[index])),
  );
}

function contextItem(item, isOpen) {
  const last = item.end_line > item.start_line + 1 ? `\u2013${item.end_line}` : "";
  const place = `${item.path}:${item.start_line + 1}${last}`;
  return element(
    "details", { open: isOpen && "" },
    element("summary", null, element("code", null, ...visible(place)),
      element("small", null, "  ", `score ${item.score.toPrecision(3)}`)),
    plainText(item.text),
    item.hidden_lines > 0 && element("div", { class: "stop" }, `${item.hidden_lines} more lines are not in this report`),
  );
}

function provenance(item) {
  const tags = Object.entries(item.tags).map(([name, value]) => [name, name === "defined" ? linesFromOne(value) : value]);
  const facts = [["id", item.id], ["hole", item.hole], ...Object.entries(item.provenance), ...tags];
  return element(
    "details", { class: "panel" },
    element("summary", null, "Origin of the case"),
    element("dl", { class: "metrics" }, facts.map(([name, value]) =>
      element("div", null, element("dt", null, ...visible(name.replaceAll("_", " "))), element("dd", { class: "mono" }, ...visible(String(value)))))),
  );
}

// Converts positions to lines counted from 1: files count from 0.
function linesFromOne(places) {
  return places.replace(/:(\d+)(?= |$)/g, (_, line) => `:${Number(line) + 1}`);
}

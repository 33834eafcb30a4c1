// The origin of an answer: its parts, each with the location it is copied from.

// Lists with more parts are closed initially.
const OPEN_PARTS = 6;

// Relation of a location to the case, if its path does not show it.
const SOURCES = { before: "this file, above", after: "this file, below", context: "context", file: "" };

// Returns the words of an answer as nodes, with differences marked and each part in an element that names its location.
function answerNodes(parts, marks, spans) {
  const nodes = [];
  let [offset, next] = [0, 0];
  for (let start = 0, end; start < parts.length; start = end) {
    while (next < spans.length && spans[next].range[1] <= offset) next++;
    const span = spans[next];
    const isInside = span && span.range[0] <= offset;
    const limit = !span ? Infinity : isInside ? span.range[1] : span.range[0];
    for (end = start; end < parts.length && (end === start || offset < limit); end++) offset += parts[end].length;
    const run = marked(parts.slice(start, end), marks.slice(start, end), "ins");
    nodes.push(...(isInside ? [element("span", { class: "from", title: originWords(span), "data-part": next }, run)] : run));
  }
  return nodes;
}

function place(span) {
  const line = span.line == null ? "" : `:${span.line + 1}:${(span.character ?? 0) + 1}`;
  return `${span.path}${line}`;
}

function renamings(span) {
  return span.renamed.map(({ there, here }) => `${there} \u2192 ${here}`).join(", ");
}

function originWords(span) {
  const words = [
    [place(span), SOURCES[span.from]].filter(Boolean).join(", "),
    `${span.same} tokens before it are the same, ${span.alike} alike`,
    `least likely token ${round(span.probability * 100)} %`,
    renamings(span),
  ];
  return words.filter(Boolean).join("\n");
}

// Returns a row for each part. Hovering over a row highlights the part in the answer above.
function originList(answer) {
  const spans = answer.spans ?? [];
  if (spans.length === 0) return null;
  const places = new Set(spans.map((span) => span.path)).size;
  const title = `Copied from ${places === 1 ? "one file" : `${places} files`}, in ${spans.length === 1 ? "one part" : `${spans.length} parts`}`;
  const rows = spans.map((span, index) => {
    const point = (isLit) => (event) => {
      const panel = event.currentTarget.closest(".answer");
      panel.querySelectorAll(`[data-part="${index}"]`).forEach((part) => part.classList.toggle("lit", isLit));
    };
    const text = answer.text.slice(...span.range);
    return element(
      "tr", { onpointerenter: point(true), onpointerleave: point(false) },
      element("td", { class: "part" }, ...visible(text.split("\n")[0]), text.includes("\n") && "\u2026"),
      element("td", { class: "mono" }, ...visible(place(span))),
      element("td", null, SOURCES[span.from]),
      element("td", { class: "num" }, String(span.same)),
      element("td", { class: "num" }, String(span.alike)),
      element("td", { class: "num" }, `${round(span.probability * 100)} %`),
      element("td", null, ...visible(renamings(span))),
    );
  });
  const head = ["part", "taken from", "", "same", "alike", "sure", "renamed"].map((name, column) =>
    element("th", { scope: "col", class: column > 2 && column < 6 && "num", title: ORIGIN_TITLES[name] }, name));
  return element(
    "details", { class: "origins", open: spans.length <= OPEN_PARTS && "" },
    element("summary", null, title),
    element("table", null, element("thead", null, element("tr", null, head)), element("tbody", null, rows)),
  );
}

const ORIGIN_TITLES = {
  same: "tokens before the part that are equal at both places",
  alike: "the same, ignoring names, strings and numbers",
  sure: "probability of the least likely token",
};

// The list of cases: only visible rows exist, so that thousands of rows scroll smoothly.

// Height of a row in CSS pixels, as in the style sheet.
const ROW_HEIGHT = 46;
// Rows kept above and below the view, so that scrolling shows no gap.
const OVERSCAN = 12;
// With more engines, outcomes are small squares on a line of their own.
const WIDE_ENGINES = 6;

const OUTCOMES = {
  exact: { sign: "\u2713", word: "exact" },
  wrong: { sign: "\u2717", word: "wrong" },
  unscored: { sign: "?", word: "not scored" },
  silent: { sign: "\u2205", word: "silent" },
  gated: { sign: "gate", word: "gated" },
  timeout: { sign: "time", word: "timeout" },
  cancelled: { sign: "stop", word: "cancelled" },
  error: { sign: "err", word: "error" },
};

// Creates a list in `box` that calls `choose(index)` when a row is clicked.
function caseList(box, data, selection, choose) {
  const room = box.appendChild(element("div", { class: "room" }));
  const drawn = new Map();
  let [rows, chosen, marked, queued] = [[], -1, -1, false];

  // Adds the rows that came into view and removes those that left it.
  function draw() {
    queued = false;
    const [top, bottom] = [box.scrollTop, box.scrollTop + box.clientHeight].map((place) => place / ROW_HEIGHT);
    const isVisible = (index) => index >= Math.floor(top) && index < bottom;
    // After a leap, the rows that are not visible have time until the next frame.
    const leaps = drawn.size > 0 && ![...drawn.keys()].some(isVisible);
    const around = leaps ? 0 : OVERSCAN;
    const first = Math.max(0, Math.floor(top) - around);
    const last = Math.min(rows.length, Math.ceil(bottom) + around);
    for (const [index, row] of drawn) {
      if (index >= first && index < last) continue;
      row.remove();
      drawn.delete(index);
    }
    const added = [];
    for (let index = first; index < last; index++) {
      if (drawn.has(index)) continue;
      const row = listRow(rows[index], index, rows.length, data, selection);
      drawn.set(index, row);
      added.push(row);
    }
    room.append(...added);
    mark();
    if (leaps) drawSoon();
  }

  function drawSoon() {
    if (!queued) requestAnimationFrame(draw);
    queued = true;
  }

  // Marks the chosen row. Changes no other attribute: each of them would be styled again at every step of scrolling.
  function mark() {
    if (marked !== chosen) drawn.get(marked)?.setAttribute("aria-selected", "false");
    marked = chosen;
    const row = drawn.get(chosen);
    if (row) row.setAttribute("aria-selected", "true");
    if (!row) box.removeAttribute("aria-activedescendant");
    else if (box.getAttribute("aria-activedescendant") !== row.id) box.setAttribute("aria-activedescendant", row.id);
  }

  // Scrolls a row next to the visible ones to the edge, and a distant one to the middle.
  function reveal() {
    const [top, room] = [chosen * ROW_HEIGHT, box.clientHeight];
    const [above, below] = [box.scrollTop - top, top + ROW_HEIGHT - (box.scrollTop + room)];
    if (Math.max(above, below) > ROW_HEIGHT) box.scrollTop = top - (room - ROW_HEIGHT) / 2;
    else if (above > 0) box.scrollTop = top;
    else if (below > 0) box.scrollTop += below;
  }

  box.addEventListener("scroll", drawSoon);
  new ResizeObserver(draw).observe(box);
  room.addEventListener("click", (event) => {
    const row = event.target.closest("[role=option]");
    if (row) choose(Number(row.dataset.index));
  });

  return {
    // Shows other cases, or the same ones with other engines.
    fill(cases) {
      rows = cases;
      drawn.clear();
      room.replaceChildren();
      room.style.height = `${rows.length * ROW_HEIGHT}px`;
      box.parentElement.classList.toggle("many", selection.numbers().length > WIDE_ENGINES);
    },
    choose(index) {
      chosen = index;
      if (chosen >= 0) reveal();
      draw();
    },
  };
}

function listRow(item, index, count, data, selection) {
  const place = `${item.path}:${item.line + 1}`;
  const kind = situation(item).join(" \u00b7 ");
  const row = element(
    "div",
    {
      role: "option", id: `row-${index}`, "data-index": index, "aria-selected": "false",
      "aria-posinset": index + 1, "aria-setsize": count, title: `${place}\n${kind}`,
    },
    element("div", { class: "place" }, ...placeParts(item)),
    element("div", { class: "kind" }, ...visible(kind)),
    element("div", { class: "chips" }, selection.numbers().map((engine) => chip(item, engine, data))),
  );
  row.style.top = `${index * ROW_HEIGHT}px`;
  return row;
}

// Puts the file name first: the end of a path is more important than its start, and the row may be cut.
function placeParts(item) {
  const slash = item.path.lastIndexOf("/");
  const folder = item.path.slice(0, Math.max(slash, 0));
  return [
    element("b", null, ...visible(item.path.slice(slash + 1)), `:${item.line + 1}`),
    element("small", null, " ", ...visible(folder)),
  ];
}

function situation(item) {
  const variant = item.scenario.split("/").includes(item.variant) ? null : item.variant;
  return [item.scenario, variant, item.block_kind, item.language].filter(Boolean);
}

function chip(item, number, data) {
  const engine = data.engines[number];
  const outcome = data.outcome(item, number);
  if (!outcome) return element("span", { class: "chip", title: `${engine.name}: not asked` }, "\u00a0");
  const { sign, word } = OUTCOMES[outcome.name];
  const similarity = outcome.name === "wrong" ? data.similarity(item, number) : null;
  const shown = similarity === null ? sign : percent(similarity);
  const meaning = `${engine.name}: ${similarity === null ? word : `${word}, edit similarity ${shown}`}`;
  const shade = similarity === null ? "" : `near-${Math.min(9, Math.floor(similarity * 10))}`;
  return element("span", { class: `chip ${outcome.name} ${shade}`, title: meaning, role: "img", "aria-label": meaning }, shown);
}

// Returns a metric's share in percent; `null` if there was nothing to measure.
function share(metric) {
  if (typeof metric === "number") return metric * 100;
  return metric.den === 0 ? null : (metric.num / metric.den) * 100;
}

function percent(metric) {
  const value = share(metric);
  return value === null ? "\u2013" : String(Math.round(value));
}

// The list of cases: only visible rows exist, so that thousands of rows scroll smoothly.

// Height of a row in CSS pixels, as in the style sheet.
const ROW_HEIGHT = 46;
// Rows kept above and below the view, so that scrolling shows no gap.
const OVERSCAN = 8;

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
function caseList(box, engines, choose) {
  const room = box.appendChild(element("div", { class: "room" }));
  let [rows, chosen, queued] = [[], -1, false];

  function draw() {
    queued = false;
    const first = Math.max(0, Math.floor(box.scrollTop / ROW_HEIGHT) - OVERSCAN);
    const last = Math.min(rows.length, Math.ceil((box.scrollTop + box.clientHeight) / ROW_HEIGHT) + OVERSCAN);
    const nodes = [];
    for (let index = first; index < last; index++) nodes.push(listRow(rows[index], index, rows.length, index === chosen, engines));
    room.replaceChildren(...nodes);
    if (chosen >= first && chosen < last) box.setAttribute("aria-activedescendant", `row-${chosen}`);
    else box.removeAttribute("aria-activedescendant");
  }

  // Scrolls a row next to the visible ones to the edge, and a distant one to the middle.
  function reveal() {
    const [top, room] = [chosen * ROW_HEIGHT, box.clientHeight];
    const [above, below] = [box.scrollTop - top, top + ROW_HEIGHT - (box.scrollTop + room)];
    if (Math.max(above, below) > ROW_HEIGHT) box.scrollTop = top - (room - ROW_HEIGHT) / 2;
    else if (above > 0) box.scrollTop = top;
    else if (below > 0) box.scrollTop += below;
  }

  box.addEventListener("scroll", () => {
    if (!queued) requestAnimationFrame(draw);
    queued = true;
  });
  new ResizeObserver(draw).observe(box);
  room.addEventListener("click", (event) => {
    const row = event.target.closest("[role=option]");
    if (row) choose(Number(row.dataset.index));
  });

  return {
    show(cases, index) {
      [rows, chosen] = [cases, index];
      room.style.height = `${rows.length * ROW_HEIGHT}px`;
      if (chosen >= 0) reveal();
      draw();
    },
  };
}

function listRow(item, index, count, isChosen, engines) {
  const place = `${item.path}:${item.line + 1}`;
  const row = element(
    "div",
    {
      role: "option", id: `row-${index}`, "data-index": index, "aria-selected": isChosen,
      "aria-posinset": index + 1, "aria-setsize": count, title: place,
    },
    element("div", { class: "place" }, ...placeParts(item)),
    element("div", { class: "kind" }, ...visible(situation(item).join(" \u00b7 "))),
    element("div", { class: "chips" }, engines.map((engine, number) => chip(item, engine, number))),
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

function chip(item, engine, number) {
  const answer = item.answers.find((candidate) => candidate.engine === number);
  if (!answer) return element("span", { class: "chip", title: `${engine.name}: not asked` }, "\u00a0");
  const { sign, word } = OUTCOMES[answer.outcome];
  const similarity = answer.outcome === "wrong" ? answer.metrics.edit_similarity : undefined;
  const shown = similarity === undefined ? sign : percent(similarity);
  const meaning = similarity === undefined ? word : `${word}, edit similarity ${shown}`;
  return element(
    "span",
    { class: `chip ${answer.outcome}`, title: `${engine.name}: ${meaning}` },
    element("span", { "aria-hidden": "true" }, shown),
    element("span", { class: "unseen" }, `${engine.name}: ${meaning}`),
  );
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

// Sortable tables, and the choice of a metric in the tables by block kind. Both change what the page shows, never a number.

function startTables() {
  for (const table of document.querySelectorAll("table.sortable")) makeSortable(table);
  for (const matrix of document.querySelectorAll(".matrix")) makeSwitchable(matrix);
}

function makeSortable(table) {
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => {
    const button = element("button", { type: "button", class: "sort" });
    button.append(...head.childNodes);
    head.replaceChildren(button);
    button.addEventListener("click", () => {
      const isDescending = head.getAttribute("aria-sort") === "descending" || (column === 0 && !head.hasAttribute("aria-sort"));
      for (const other of heads) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", isDescending ? "ascending" : "descending");
      sortRows(table.tBodies[0], column, isDescending ? 1 : -1);
    });
  });
}

// Sorts engines; the rows of an engine's copies stay below it. Rows without a value come last.
function sortRows(body, column, direction) {
  const groups = [];
  for (const row of body.rows) {
    if (row.classList.contains("copy") && groups.length > 0) groups.at(-1).push(row);
    else groups.push([row]);
  }
  const keyed = groups.map((rows) => ({ rows, key: sortKey(rows[0].cells[column]) }));
  keyed.sort((a, b) => {
    if (a.key === null || b.key === null) return (a.key === null) - (b.key === null);
    const order = typeof a.key === "string" ? a.key.localeCompare(String(b.key)) : a.key - b.key;
    return direction * order;
  });
  body.append(...keyed.flatMap(({ rows }) => rows));
}

function sortKey(cell) {
  if (!cell) return null;
  if (cell.dataset.key !== undefined) return Number(cell.dataset.key);
  if (cell.tagName === "TH") return cell.querySelector(".engine-name > span:last-child")?.textContent ?? cell.textContent;
  const text = cell.textContent.trim();
  if (/^[+-]?\d/.test(text)) return Number.parseFloat(text);
  return text === "" || text === "\u2013" ? null : text;
}

// Cells hold their values for every metric; the chosen one is displayed.
function makeSwitchable(matrix) {
  const choices = matrix.querySelector("fieldset");
  choices.hidden = false;
  choices.addEventListener("change", (event) => {
    for (const cell of matrix.querySelectorAll("a[data-values]")) {
      const [text, interval, cases, heat] = cell.dataset.values.split(";")[event.target.value].split("|");
      cell.className = cell.className.replace(/few|heat-\d/, heat === "" ? "few" : `heat-${heat}`);
      cell.title = interval === "" ? "" : `${interval} %, ${cases} cases`;
      cell.replaceChildren(element("b", null, text), " ", element("small", null, `n ${cases}`));
    }
  });
}

// The case browser: filters, the chosen case, keyboard, theme. The address's hash holds all of its state.

const FILTERS = ["origin", "engine", "outcome", "scenario", "variant", "block_kind", "language"];
// Milliseconds without a change before the address is updated.
const ADDRESS_DELAY = 150;
const OUTCOME_FILTERS = {
  exact: (answers) => answers.some((answer) => answer.outcome === "exact"),
  wrong: (answers) => answers.some((answer) => answer.outcome === "wrong"),
  silent: (answers) => answers.some((answer) => answer.status === "silent" || answer.status === "gated"),
  failed: (answers) => answers.some((answer) => ["timeout", "cancelled", "error"].includes(answer.outcome)),
  disagree: (answers) => new Set(answers.map((answer) => answer.outcome === "exact")).size > 1,
};

function startBrowser(data) {
  const section = document.getElementById("cases");
  const controls = Object.fromEntries(FILTERS.map((name) => [name, document.getElementById(`filter-${name}`)]));
  const search = document.getElementById("filter-text");
  const box = document.getElementById("case-list");
  const detail = document.getElementById("case-detail");
  const counter = document.getElementById("case-count");
  const help = document.getElementById("help");
  const haystacks = new Map();
  const holes = Map.groupBy(data.cases, (item) => item.hole);
  let [shown, index, openId, pending] = [[], -1, null, 0];

  section.hidden = false;
  fillFilters();
  const list = caseList(box, data.engines, (row) => { choose(row); box.focus(); });

  function fillFilters() {
    for (const name of ["origin", "scenario", "variant", "block_kind", "language"]) {
      const values = [...new Set(data.cases.map((item) => valueOf(item, name)).filter(Boolean))].sort();
      controls[name].append(...values.map((value) => element("option", { value }, value)));
      controls[name].closest("label").hidden = values.length < 2;
    }
    controls.engine.append(...data.engines.map((engine, number) => element("option", { value: number }, `${letter(number)} ${engine.name}`)));
    controls.engine.closest("label").hidden = data.engines.length < 2;
    document.getElementById("list-engines").append(
      ...data.engines.map((engine, number) => element("span", { class: `chip head e${number % 6}`, title: engine.name }, letter(number))));
  }

  function matches(item) {
    const plain = ["origin", "scenario", "variant", "block_kind", "language"];
    if (!plain.every((name) => !controls[name].value || valueOf(item, name) === controls[name].value)) return false;
    const engine = controls.engine.value;
    const answers = engine === "" ? item.answers : item.answers.filter((answer) => answer.engine === Number(engine));
    if (engine !== "" && answers.length === 0) return false;
    const accepts = OUTCOME_FILTERS[controls.outcome.value];
    if (accepts && !accepts(answers)) return false;
    const query = search.value.trim().toLowerCase();
    return query === "" || haystack(item).includes(query);
  }

  // Computed at the first search: lowering the case of all code is slow for a large run.
  function haystack(item) {
    if (!haystacks.has(item)) {
      const texts = [item.path, item.id, item.before.text, item.truth, item.after.text, ...item.answers.map((answer) => answer.text)];
      haystacks.set(item, texts.join("\n").toLowerCase());
    }
    return haystacks.get(item);
  }

  function refilter(wanted) {
    shown = data.cases.filter(matches);
    counter.textContent = shown.length === data.cases.length ? `${shown.length} cases` : `${shown.length} of ${data.cases.length} cases`;
    index = Math.max(shown.findIndex((item) => item.id === wanted), shown.length > 0 ? 0 : -1);
    redraw();
  }

  // Opens a case, and clears the filters if they hide it.
  function open(id) {
    if (!shown.some((item) => item.id === id)) clearFilters();
    refilter(id);
  }

  function choose(row) {
    if (shown.length === 0) return;
    index = Math.min(Math.max(row, 0), shown.length - 1);
    redraw();
  }

  function redraw() {
    list.show(shown, index);
    const item = shown[index];
    if (item?.id !== openId || !item) {
      openId = item?.id ?? null;
      detail.replaceChildren(...(item ? caseDetail(item, data.engines, data.lines_kept, holes.get(item.hole), open) : [element("p", { class: "none" }, "No case matches these filters.")]));
      detail.scrollTop = 0;
    }
    remember();
  }

  // Delayed, because browsers reject an address that changes at every repetition of a held key.
  function remember() {
    clearTimeout(pending);
    pending = setTimeout(writeAddress, ADDRESS_DELAY);
  }

  function writeAddress() {
    const hash = new URLSearchParams();
    if (openId) hash.set("case", openId);
    for (const name of FILTERS) if (controls[name].value) hash.set(name, controls[name].value);
    if (search.value) hash.set("q", search.value);
    history.replaceState(null, "", `#${hash}`);
  }

  function recall() {
    const hash = new URLSearchParams(location.hash.slice(1));
    for (const name of FILTERS) {
      controls[name].value = hash.get(name) ?? "";
      if (controls[name].selectedIndex < 0) controls[name].value = "";
    }
    search.value = hash.get("q") ?? "";
    refilter(hash.get("case"));
    return hash.size > 0;
  }

  function step(by) {
    choose(index + by);
    section.scrollIntoView({ block: "nearest" });
  }

  function leave() {
    if (document.activeElement === search && search.value !== "") search.value = "";
    else if (document.activeElement === search) return box.focus();
    else clearFilters();
    refilter(openId);
  }

  function clearFilters() {
    for (const control of Object.values(controls)) control.value = "";
    search.value = "";
  }

  function expandCode() {
    for (const button of detail.querySelectorAll(".more")) button.click();
    for (const button of detail.querySelectorAll(".more")) button.click();
  }

  function onKey(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || help.open) return;
    const inSearch = event.target === search;
    if (event.target instanceof HTMLSelectElement || (event.target instanceof HTMLInputElement && !inSearch && event.key.startsWith("Arrow"))) return;
    const inBrowser = section.contains(event.target) && !event.target.closest(".code");
    const action = keyAction(event.key, inSearch, inBrowser || event.target === document.body);
    if (!action) return;
    event.preventDefault();
    action();
  }

  function keyAction(key, inSearch, takesArrows) {
    if (takesArrows && key === "ArrowDown") return () => step(1);
    if (takesArrows && key === "ArrowUp") return () => step(-1);
    if (key === "Escape") return leave;
    if (inSearch) return key === "Enter" ? () => box.focus() : undefined;
    const actions = {
      j: () => step(1), k: () => step(-1), e: expandCode, "?": () => help.showModal(),
      "/": () => { search.focus(); search.select(); },
      Home: takesArrows && document.activeElement === box && (() => choose(0)),
      End: takesArrows && document.activeElement === box && (() => choose(shown.length - 1)),
    };
    return actions[key];
  }

  for (const control of Object.values(controls)) control.addEventListener("change", () => refilter(openId));
  search.addEventListener("input", () => refilter(openId));
  document.getElementById("clear-filters").addEventListener("click", () => { clearFilters(); refilter(openId); });
  document.getElementById("show-help").addEventListener("click", () => help.showModal());
  search.form.addEventListener("submit", (event) => event.preventDefault());
  document.addEventListener("keydown", onKey);
  addEventListener("hashchange", () => recall() && section.scrollIntoView());
  if (recall()) section.scrollIntoView();
}

// Cases with a shown suggestion have their own origin, as in the tables.
function valueOf(item, name) {
  if (name !== "origin") return item[name];
  const { kind, exposure } = item.origin;
  return exposure === "none" ? kind : `${kind}/${exposure}`;
}

// Follows the system's theme until the reader chooses one; the choice is stored if the browser allows it.
function startTheme() {
  const button = document.getElementById("theme");
  const themes = ["auto", "light", "dark"];
  let theme = "auto";
  const apply = () => {
    if (theme === "auto") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme;
    button.textContent = `Theme: ${theme}`;
  };
  try { theme = localStorage.getItem("ghostbench-theme") ?? theme; } catch { /* Browsers may forbid storage for local files. */ }
  button.addEventListener("click", () => {
    theme = themes[(themes.indexOf(theme) + 1) % themes.length];
    try { localStorage.setItem("ghostbench-theme", theme); } catch { /* The choice is then lost with the page. */ }
    apply();
  });
  button.hidden = false;
  apply();
}

startTheme();
readData().then(startBrowser, () => { document.getElementById("unreadable").hidden = false; });

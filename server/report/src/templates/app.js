// The case browser: the chosen case, keyboard, address, theme. The address's hash holds all of its state.

// Milliseconds without a change before the address is updated.
const ADDRESS_DELAY = 150;
// Milliseconds without a key before the texts are searched.
const SEARCH_DELAY = 200;

function startBrowser(data) {
  const section = document.getElementById("cases");
  const controls = Object.fromEntries(FILTERS.map((name) => [name, document.getElementById(`filter-${name}`)]));
  const search = document.getElementById("filter-text");
  const box = document.getElementById("case-list");
  const detail = document.getElementById("case-detail");
  const counter = document.getElementById("case-count");
  const help = document.getElementById("help");
  const holes = Map.groupBy(data.cases, (item) => item.hole);
  let [shown, index, openKey, pending, searches] = [[], -1, null, 0, 0];
  // The hash as it was read or written last.
  let known = "";

  section.hidden = false;
  const selection = engineSelection(data.engines, () => { nameEngines(); refilter(openId()); });
  fillFilters();
  const list = caseList(box, data, selection, (row) => { choose(row); box.focus(); });

  function fillFilters() {
    for (const name of PROPERTIES) {
      const values = [...new Set(data.cases.map((item) => item[name]).filter(Boolean))].sort();
      controls[name].append(...values.map((value) => element("option", { value }, value)));
      controls[name].closest("label").hidden = values.length < 2;
    }
    for (const name of ["engine", "other"]) {
      controls[name].append(...data.engines.map((engine, number) => element("option", { value: number }, `${engine.letter} ${engine.name}`)));
      controls[name].closest("label").hidden = data.engines.length < 2;
    }
  }

  // Writes the letters of the engines above the list, and the names of a chosen pair into the choices.
  function nameEngines() {
    document.getElementById("list-engines").replaceChildren(...selection.numbers().map((number) => engineLetter(data.engines[number])));
    const pair = pairOf(chosen());
    const isIncomplete = pair === null;
    for (const name of ["pair", "sort"]) controls[name].closest("label").hidden = name === "pair" && isIncomplete;
    controls.sort.querySelector("[value=gap]").disabled = isIncomplete;
    controls.sort.querySelector("[value=worst]").disabled = controls.engine.value === "";
    if (isIncomplete) return;
    const [one, other] = pair.map((number) => data.engines[number].letter);
    const words = { "": "any", better: `${one} better than ${other}`, worse: `${other} better than ${one}`, both: "both right", neither: "both wrong" };
    for (const option of controls.pair.options) option.textContent = words[option.value];
  }

  function chosen() {
    return Object.fromEntries(FILTERS.map((name) => [name, controls[name].value]));
  }

  function openId() {
    return shown[index]?.id;
  }

  // Lists the cases of the filters, and opens the wanted one if it is among them.
  function refilter(wanted) {
    const number = ++searches;
    const filters = chosen();
    const query = search.value.trim().toLowerCase();
    const passing = sorted(data, data.cases.filter((item) => passes(data, item, filters, selection.numbers())), filters);
    if (query === "") return display(passing, wanted, true);
    const isStale = () => number !== searches;
    const found = (items, isDone) => display(items, wanted ?? openId(), isDone);
    setTimeout(() => isStale() || searchTexts(data, passing, query, isStale, found), SEARCH_DELAY);
  }

  function display(items, wanted, isDone) {
    shown = items;
    const count = shown.length === data.cases.length ? `${shown.length} cases` : `${shown.length} of ${data.cases.length} cases`;
    counter.textContent = isDone ? count : `${count}, searching\u2026`;
    index = Math.max(shown.findIndex((item) => item.id === wanted), shown.length > 0 ? 0 : -1);
    list.fill(shown);
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
    list.choose(index);
    const item = shown[index];
    const pair = pairOf(chosen());
    const key = item ? [item.id, selection.text(), pair].join() : null;
    if (key !== openKey || !item) {
      openKey = key;
      if (item) openDetails(item, pair, key);
      else detail.replaceChildren(element("p", { class: "none" }, "No case matches these filters."));
    }
    remember();
  }

  // The block of a case may still be packed; meanwhile another case may be chosen.
  function openDetails(item, pair, key) {
    const show = (full) => {
      if (key !== openKey) return;
      detail.replaceChildren(...caseDetail(full, data, { pair, selection, twins: holes.get(item.hole), open }));
      detail.scrollTop = 0;
    };
    const details = data.details(item);
    if (details instanceof Promise) details.then(show);
    else show(details);
  }

  // Delayed, because browsers reject an address that changes at every repetition of a held key.
  function remember() {
    clearTimeout(pending);
    pending = setTimeout(writeAddress, ADDRESS_DELAY);
  }

  function writeAddress() {
    // A link was followed, whose event comes after this timer.
    if (location.hash !== known) return;
    const hash = new URLSearchParams();
    if (openId()) hash.set("case", openId());
    for (const name of FILTERS) if (controls[name].value) hash.set(name, controls[name].value);
    if (search.value) hash.set("q", search.value);
    if (selection.text()) hash.set("shown", selection.text());
    history.replaceState(null, "", `#${hash}`);
    known = location.hash;
  }

  // Reads the address. A link to cases names no engines: the shown ones stay.
  function recall(isFirst) {
    known = location.hash;
    const hash = new URLSearchParams(location.hash.slice(1));
    for (const name of FILTERS) {
      controls[name].value = hash.get(name) ?? "";
      if (controls[name].selectedIndex < 0) controls[name].value = "";
    }
    search.value = hash.get("q") ?? "";
    if (isFirst || hash.has("shown")) selection.recall(hash.get("shown"));
    nameEngines();
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
    refilter(openId());
  }

  function clearFilters() {
    for (const control of Object.values(controls)) control.value = "";
    search.value = "";
    nameEngines();
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

  for (const control of Object.values(controls)) control.addEventListener("change", () => { nameEngines(); refilter(openId()); });
  search.addEventListener("input", () => refilter(openId()));
  document.getElementById("clear-filters").addEventListener("click", () => { clearFilters(); refilter(openId()); });
  document.getElementById("show-help").addEventListener("click", () => help.showModal());
  search.form.addEventListener("submit", (event) => event.preventDefault());
  document.addEventListener("keydown", onKey);
  addEventListener("hashchange", () => recall(false) && section.scrollIntoView());
  if (recall(true) && [...new URLSearchParams(location.hash.slice(1)).keys()].some((key) => key !== "shown")) section.scrollIntoView();
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
startTables();
startTitles();
readData().then(startBrowser).catch((error) => {
  document.getElementById("unreadable").hidden = false;
  console.error(error);
});

// Which engines are shown. Hidden ones disappear from tables, plots and the list of cases; numbers never change by it.

// Creates the selection; `changed` is called after every change, but not for the initial one.
function engineSelection(engines, changed) {
  const panel = document.getElementById("arms");
  const boxes = panel ? [...panel.querySelectorAll("input")] : [];
  const numbers = engines.map((_, number) => number);
  const sets = {
    all: numbers,
    none: [],
    default: numbers.filter((number) => engines[number].copy_of == null),
  };
  let shown = new Set(sets.default);

  function apply() {
    for (const node of document.querySelectorAll("[data-engine]")) {
      // Marks in plots have no property `hidden`.
      node.toggleAttribute("hidden", !shown.has(Number(node.dataset.engine)));
    }
    for (const box of boxes) box.checked = shown.has(Number(box.value));
    for (const button of document.querySelectorAll("button.fold")) {
      const isOpen = copiesOf(Number(button.value)).some((copy) => shown.has(copy));
      button.setAttribute("aria-expanded", isOpen);
    }
    const count = document.getElementById("arms-count");
    if (count) count.textContent = `${shown.size} of ${engines.length} shown`;
  }

  function show(wanted) {
    shown = new Set(wanted);
    apply();
    changed();
  }

  function toggled(wanted, isShown) {
    const next = new Set(shown);
    for (const number of wanted) isShown ? next.add(number) : next.delete(number);
    return next;
  }

  function copiesOf(engine) {
    return numbers.filter((number) => engines[number].copy_of === engine);
  }

  // Puts a button that shows an engine's copies into its rows, where the copies have rows of their own.
  function addFoldButtons() {
    for (const row of document.querySelectorAll("tr[data-engine]:not(.copy)")) {
      const engine = Number(row.dataset.engine);
      const copies = copiesOf(engine);
      if (!copies.some((copy) => row.parentElement.querySelector(`tr.copy[data-engine="${copy}"]`))) continue;
      const title = "the same engine without files that hold a near-copy of the case's own";
      const fold = element("button", { class: "fold", type: "button", value: engine, title }, "without near-copies");
      fold.addEventListener("click", () => show(toggled(copies, fold.getAttribute("aria-expanded") !== "true")));
      row.querySelector("th").append(fold);
    }
  }

  if (panel) {
    panel.hidden = false;
    panel.addEventListener("change", (event) => show(toggled([Number(event.target.value)], event.target.checked)));
    panel.addEventListener("click", (event) => {
      const set = sets[event.target.dataset?.arms];
      if (set) show(set);
    });
  }
  addFoldButtons();
  apply();

  return {
    has: (engine) => shown.has(engine),
    // Numbers of the shown engines, in the order of the run.
    numbers: () => numbers.filter((number) => shown.has(number)),
    // In the address: empty for the initial choice.
    text() {
      const isDefault = shown.size === sets.default.length && sets.default.every((number) => shown.has(number));
      return isDefault ? "" : [...shown].sort((a, b) => a - b).join(".") || "none";
    },
    // Reads the address, without calling `changed`.
    recall(text) {
      const wanted = (text ?? "").split(".").filter((part) => part !== "").map(Number).filter((number) => number in engines);
      shown = new Set(!text ? sets.default : wanted);
      apply();
    },
  };
}

// Returns the letter of an engine in its colour.
function engineLetter(engine, extra) {
  return element("span", { class: `chip head ${engine.class} ${extra ?? ""}`, title: engine.name }, engine.letter);
}

// Titles for readers without a mouse. With the keyboard: the title of the focused element, or of the term in a focused cell or heading.
// With a finger or a pen: the title of what was tapped. Both are displayed next to the element.

function startTitles() {
  const box = document.body.appendChild(element("div", { class: "title-box", role: "tooltip", id: "title-box", hidden: true }));
  let owner = null;
  let pointer = "mouse";

  function hide() {
    owner?.removeAttribute("aria-describedby");
    owner = null;
    box.hidden = true;
  }

  function show(described, text) {
    hide();
    owner = described;
    owner.setAttribute("aria-describedby", box.id);
    box.textContent = text;
    box.hidden = false;
    place();
  }

  // Puts the box next to its element. Focus scrolls an element into view only after it has been announced, so that the box must follow.
  function place() {
    const { left, top, bottom } = owner.getBoundingClientRect();
    box.style.left = `${Math.max(4, Math.min(left, innerWidth - box.offsetWidth - 4))}px`;
    const below = bottom + 4;
    box.style.top = `${below + box.offsetHeight > innerHeight ? top - box.offsetHeight - 4 : below}px`;
  }

  document.addEventListener("focusin", ({ target }) => {
    hide();
    if (!target.matches(":focus-visible")) return;
    const text = target.title || (target.closest("table") && titleInside(target));
    if (text) show(target, text);
  });
  document.addEventListener("focusout", hide);
  document.addEventListener("pointerdown", (event) => { pointer = event.pointerType; });
  // A tap gives the focus before it is a click. A key is a click of no pointer.
  document.addEventListener("click", ({ target, detail }) => {
    if (pointer === "mouse" || detail === 0) return;
    const titled = target.closest("[title], button.sort, svg [data-engine]");
    // The title of a whole case repeats what its row shows.
    const text = titled && !titled.matches("[role=option]") && (titled.title || titleInside(titled));
    if (text) show(titled, text);
    else hide();
  });
  addEventListener("scroll", () => owner && place(), { capture: true, passive: true });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || box.hidden) return;
    hide();
    event.stopPropagation();
  }, { capture: true });
  for (const term of document.querySelectorAll("abbr[title]")) {
    if (!term.closest("button")) term.tabIndex = 0;
  }
}

// Returns the title of an element's content: of a term in a heading, or of a mark in a plot.
function titleInside(node) {
  return node.querySelector("[title]")?.title ?? node.querySelector(":scope > title")?.textContent;
}

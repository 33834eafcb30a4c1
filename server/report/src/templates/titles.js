// Titles of cells for readers without a mouse: the title of the focused element, or of the abbreviation in it, below the element.

function startTitles() {
  const box = document.body.appendChild(element("div", { class: "title-box", role: "tooltip", id: "title-box", hidden: true }));
  let owner = null;

  function hide() {
    owner?.removeAttribute("aria-describedby");
    owner = null;
    box.hidden = true;
  }

  function show(focused, titled) {
    owner = focused;
    owner.setAttribute("aria-describedby", box.id);
    box.textContent = titled.title;
    box.hidden = false;
    const place = focused.getBoundingClientRect();
    box.style.left = `${Math.max(4, Math.min(place.left, innerWidth - box.offsetWidth - 4))}px`;
    const below = place.bottom + 4;
    box.style.top = `${below + box.offsetHeight > innerHeight ? place.top - box.offsetHeight - 4 : below}px`;
  }

  document.addEventListener("focusin", ({ target }) => {
    hide();
    if (!target.closest("table") || !target.matches(":focus-visible")) return;
    const titled = target.title ? target : target.querySelector("[title]");
    if (titled?.title) show(target, titled);
  });
  document.addEventListener("focusout", hide);
  addEventListener("scroll", hide, { capture: true, passive: true });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || box.hidden) return;
    hide();
    event.stopPropagation();
  }, { capture: true });
}


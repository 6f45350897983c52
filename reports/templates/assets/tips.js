// A term shows its definition on hover and on focus, and a column of a chart what it is; the title attribute of a term
// does so without this script, on hover only.
{
  const tip = document.getElementById("tip");
  const margin = 8;
  let shown = null;

  const place = () => {
    if (!shown) return;
    const at = shown.getBoundingClientRect();
    const above = at.top - tip.offsetHeight - margin;
    const right = document.documentElement.clientWidth - tip.offsetWidth - margin;
    tip.style.left = `${Math.max(margin, Math.min(at.left, right))}px`;
    tip.style.top = `${above > margin ? above : at.bottom + margin}px`;
  };
  const hide = () => {
    shown?.removeAttribute("aria-describedby");
    shown = null;
    tip.hidden = true;
  };
  const show = (term) => {
    hide();
    shown = term;
    term.setAttribute("aria-describedby", "tip");
    tip.textContent = term.dataset.tip;
    tip.hidden = false;
    place();
  };

  for (const term of document.querySelectorAll(".term, .columns .place")) {
    term.dataset.tip = term.getAttribute("title") ?? term.getAttribute("aria-label");
    term.removeAttribute("title");
    for (const event of ["mouseenter", "focus"]) term.addEventListener(event, () => show(term));
    // the first tap shows, the next one leads there
    let touched = false;
    term.addEventListener("pointerdown", ({ pointerType }) => {
      touched = pointerType === "touch" && shown !== term;
    });
    term.addEventListener("click", (event) => {
      if (touched) event.preventDefault();
      touched = false;
    });
    for (const event of ["mouseleave", "blur"]) term.addEventListener(event, hide);
  }
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") hide();
  });
  document.addEventListener("scroll", place, { capture: true, passive: true });
}

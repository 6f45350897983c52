// The name of a part or cause lights it in every chart, as long as the mouse or the focus is on it.
{
  const light = (fills) => {
    document.documentElement.classList.toggle("lighting", fills !== null);
    const names = fills === null ? [] : fills.split(" ");
    for (const lit of document.querySelectorAll("svg .lit")) lit.classList.remove("lit");
    for (const name of names) for (const shape of document.getElementsByClassName(name)) shape.classList.add("lit");
    document.dispatchEvent(new CustomEvent("light", { detail: fills === null ? null : names }));
  };
  for (const name of document.querySelectorAll("[data-lights]")) {
    for (const event of ["mouseenter", "focus"]) name.addEventListener(event, () => light(name.dataset.lights));
    for (const event of ["mouseleave", "blur"]) name.addEventListener(event, () => light(null));
  }
}

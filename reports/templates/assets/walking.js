// Tab goes from group to group, arrow keys walk within one: the controls of a table, a legend, a chart or the stories.
// Without this script each of them is a stop of its own.
{
  const groups = ".table, .legend, .timeline-keys, .columns, .figures, .stories";
  const controls = "a, button, summary";

  const middle = (control) => {
    const { left, right, top, bottom } = control.getBoundingClientRect();
    return [(left + right) / 2, (top + bottom) / 2];
  };

  // Above or below: the nearest row that way, and in it what is least to the side.
  const beyond = (from, others, direction) => {
    const [x, y] = middle(from);
    const ahead = others.map((control) => [control, ...middle(control)]).filter(([, , other]) => direction * (other - y) > 3);
    const nearest = Math.min(...ahead.map(([, , other]) => Math.abs(other - y)));
    const row = ahead.filter(([, , other]) => Math.abs(other - y) < nearest + 3);
    return row.sort(([, one], [, other]) => Math.abs(one - x) - Math.abs(other - x))[0]?.[0];
  };

  for (const group of document.querySelectorAll(groups)) {
    const all = [...group.querySelectorAll(controls)];
    let current = null;
    const isShown = (control) => control.checkVisibility();
    const make = (next) => {
      if (current) current.tabIndex = -1;
      current = next;
      if (!current) return;
      current.tabIndex = 0;
      // a table with a stop inside of it scrolls to that: its frame needs none
      current.closest(".scroll")?.removeAttribute("tabindex");
    };
    const renew = () => (!current || !isShown(current)) && make(all.find(isShown) ?? null);
    const steps = {
      ArrowRight: (shown, at) => shown[at + 1],
      ArrowLeft: (shown, at) => shown[at - 1],
      ArrowDown: (shown, at) => beyond(shown[at], shown, 1),
      ArrowUp: (shown, at) => beyond(shown[at], shown, -1),
      Home: (shown) => shown[0],
      End: (shown) => shown[shown.length - 1],
    };
    for (const control of all) control.tabIndex = -1;
    renew();
    group.addEventListener("focusin", ({ target }) => all.includes(target) && make(target));
    // a row that a search hides must not take the stop with it, and what is unfolded gets one
    group.addEventListener("rows", renew);
    group.closest("details")?.addEventListener("toggle", renew);
    group.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.shiftKey || !steps[event.key]) return;
      const shown = all.filter(isShown);
      const next = steps[event.key](shown, shown.indexOf(document.activeElement));
      if (!shown.includes(document.activeElement)) return;
      event.preventDefault();
      next?.focus();
    });
  }
}

// The timeline of the page, where there is one. Without this script its figure stays hidden and its table tells.

// The places that tables lead to: on the clock of their GPU.
function timelinePlaces(kind) {
  const links = document.querySelectorAll(kind ? `a.place[data-kind="${kind}"]` : "a.place");
  return [...links].map((link) => ({
    link,
    gpu: link.dataset.gpu,
    start: Number(link.dataset.start),
    end: Number(link.dataset.end),
  }));
}

for (const figure of document.querySelectorAll("[data-timeline]")) {
  figure.hidden = false;
  const view = new TimelineView(figure, new TimelineModel(JSON.parse(figure.dataset.timeline)));
  const find = (name) => figure.querySelector(`.timeline-${name}`);
  const [canvas, note, reading, spoken] = ["lanes", "note", "reading", "spoken"].map(find);

  const tip = {
    show(x, y, thing) {
      note.hidden = !thing;
      if (!thing) return;
      const { start, end, title } = thing;
      const begins = timelineFigures.moment(start - (thing.shift ?? view.current.shift));
      note.querySelector("b").textContent = title;
      const length = `${begins}, ${timelineFigures.duration(end - start)}`;
      note.querySelector("span").textContent = thing.note ? `${length}, ${thing.note}` : length;
      const right = figure.clientWidth - note.offsetWidth;
      note.style.left = `${Math.max(Math.min(x + 12, right), 0)}px`;
      note.style.top = `${canvas.offsetTop + y + 18}px`;
      speak(`${title}, ${note.querySelector("span").textContent}`);
    },
    hide() {
      note.hidden = true;
    },
  };

  let speaking = 0;
  function speak(text) {
    clearTimeout(speaking);
    speaking = setTimeout(() => {
      spoken.textContent = text;
    }, 500);
  }

  // The line below, and the figures of the legend: always of what is selected, else of what is in view.
  function read() {
    const { row, label, shift } = view.current;
    const { start, end } = view.stretch;
    const times = row.lane.between(start, end);
    const inside = view.model.fills.reduce((sum, fill, column) => (fill ? sum + times[column] : sum), 0);
    const what = view.stretch === view.view ? "In view" : "Selected";
    const aggregated = `in pieces of up to ${timelineFigures.duration(row.lane.mixedLength)}, each shared out evenly`;
    const detail = view.model.isExact(view.choice, start, end) ? "exact" : aggregated;
    reading.textContent = `${what}: ${timelineFigures.duration(end - start)} from ${timelineFigures.moment(start - shift)}, ${label}, ${detail}`;
    for (const entry of figure.querySelectorAll("[data-column]")) {
      const time = times[view.model.fills.indexOf(entry.dataset.column)];
      entry.textContent = inside ? timelineFigures.share(time, inside) : "no window";
      entry.nextElementSibling.textContent = inside ? timelineFigures.duration(Math.round(time)) : "";
    }
    if (note.hidden) speak(reading.textContent);
  }
  view.listeners.push(read);

  const hands = new TimelineHands(view, canvas, find("strip"), tip);
  const acts = { whole: () => view.whole(), in: () => view.zoom(0.5), out: () => view.zoom(2), gap: () => gap() };
  for (const button of figure.querySelectorAll("button[data-act]")) button.addEventListener("click", () => acts[button.dataset.act]());

  function lead(place) {
    const choice = view.model.choiceOf(place.gpu);
    if (choice < 0) return;
    view.choose(choice);
    const { shift } = view.current;
    view.select(place.start + shift, place.end + shift);
    view.moveAround(place.start + shift, place.end + shift);
  }
  function gap() {
    const [longest] = timelinePlaces("gap");
    if (longest) lead(longest);
  }
  for (const place of timelinePlaces(null)) {
    place.link.addEventListener("click", () => {
      lead(place);
      canvas.focus({ preventScroll: true });
    });
  }
  figure.querySelector('[data-act="gap"]').hidden = !timelinePlaces("gap").length;

  // The picture follows the width and the theme; on paper it is light and shows the whole window.
  const redraw = () => {
    view.picture.readTheme();
    view.picture.measure();
    view.drawNow();
  };
  new ResizeObserver(() => {
    if (figure.clientWidth !== view.picture.width) redraw();
  }).observe(figure);
  new MutationObserver(redraw).observe(document.documentElement, { attributeFilter: ["data-theme"] });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
  let kept = null;
  const print = (starts) => {
    if (starts && !kept) {
      kept = { view: view.view, selection: view.selection };
      Object.assign(view, { view: { start: view.model.start, end: view.model.end }, selection: null });
    } else if (!starts && kept) {
      Object.assign(view, kept);
      kept = null;
    }
    redraw();
  };
  addEventListener("beforeprint", () => print(true));
  addEventListener("afterprint", () => print(false));
  matchMedia("print").addEventListener("change", ({ matches }) => print(matches));

  view.choice = view.model.choices.length > 1 ? 1 : 0;
  view.drawNow();
}

// The timeline of the page, where there is one. Without this script its figure stays hidden and its table tells.

// The places that tables lead to, of one kind or of all: on the clock of their GPU.
function timelinePlaces(kind) {
  const links = document.querySelectorAll(kind ? `a.place[data-kind="${kind}"]` : "a.place");
  return [...links].map((link) => ({
    link,
    gpu: link.dataset.gpu,
    start: Number(link.dataset.start),
    end: Number(link.dataset.end),
  }));
}

// Links of the page's tables, and the buttons above the picture.
function connectTimelinePlaces(figure, view) {
  const lead = ({ gpu, start, end }) => {
    const choice = view.model.choiceOf(gpu);
    if (choice < 0) return;
    view.choose(choice);
    const { shift } = view.current;
    view.select(start + shift, end + shift);
    view.moveAround(start + shift, end + shift);
  };
  for (const place of timelinePlaces(null)) {
    place.link.addEventListener("click", () => {
      lead(place);
      view.picture.canvas.focus({ preventScroll: true });
    });
  }
  const [longest] = timelinePlaces("gap");
  const acts = { whole: () => view.whole(), gap: () => lead(longest), out: () => view.zoom(2), in: () => view.zoom(0.5) };
  for (const button of figure.querySelectorAll("[data-act]")) {
    button.hidden = button.dataset.act === "gap" && !longest;
    button.addEventListener("click", acts[button.dataset.act]);
  }
}

// The picture follows the width and the theme; on paper it is light and shows the whole window.
function keepTimelineDrawn(figure, view) {
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
    if (starts) {
      kept ??= { view: view.view, selection: view.selection };
      Object.assign(view, { view: { start: view.model.start, end: view.model.end }, selection: null });
    } else if (kept) {
      Object.assign(view, kept);
      kept = null;
    }
    redraw();
  };
  addEventListener("beforeprint", () => print(true));
  addEventListener("afterprint", () => print(false));
  matchMedia("print").addEventListener("change", ({ matches }) => print(matches));
}

for (const figure of document.querySelectorAll("[data-timeline]")) {
  figure.hidden = false;
  try {
    const view = new TimelineView(figure, new TimelineModel(JSON.parse(figure.dataset.timeline)));
    const reading = new TimelineReading(figure, view);
    new TimelineHands(view, figure.querySelector(".timeline-strip"), reading);
    connectTimelinePlaces(figure, view);
    keepTimelineDrawn(figure, view);
    // the first GPU, beside the lane of all
    view.choose(view.model.choices.length > 1 ? 1 : 0);
    view.drawNow();
  } catch (error) {
    const sentence = document.createElement("p");
    sentence.className = "missing";
    sentence.textContent = `The timeline's data cannot be read: ${error.message}`;
    figure.replaceChildren(sentence);
  }
}

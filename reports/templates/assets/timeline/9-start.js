// The timeline of the page, where there is one. Without this script its figure stays hidden and its table tells.

// A place of the page: on the clock of its GPU.
function timelinePlace(link) {
  return { link, gpu: link.dataset.gpu, start: Number(link.dataset.start), end: Number(link.dataset.end) };
}

// The places that tables lead to, of one kind.
function timelinePlaces(kind) {
  return [...document.querySelectorAll(`a.place[data-kind="${kind}"]`)].map(timelinePlace);
}

// Selects a place and moves there.
function leadTo(view, { gpu, start, end }) {
  if (view.model.choiceOf(gpu) < 0) view.showLanes(view.model.first);
  const choice = view.model.choiceOf(gpu);
  if (choice < 0) return;
  view.choose(choice);
  const { shift } = view.current;
  view.select(start + shift, end + shift);
  view.moveAround(start + shift, end + shift);
}

// Links to places bring the picture into sight and the focus into it; going back in the history brings it back to them.
function connectTimelineLinks(figure, view) {
  const section = figure.closest("section");
  const own = `#${section.id}`;
  let left = null;
  for (const link of document.querySelectorAll("a.place")) {
    link.addEventListener("click", (event) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      if (location.hash !== own) history.pushState(null, "", own);
      left = link;
      section.scrollIntoView();
      leadTo(view, timelinePlace(link));
      view.picture.canvas.focus({ preventScroll: true });
    });
  }
  addEventListener("popstate", () => {
    if (location.hash !== own) left?.focus();
  });
}

// The buttons above the picture; what those with a place do, in order.
function connectTimelineButtons(figure, view) {
  const acts = { whole: () => view.whole(), out: () => view.zoom(2), in: () => view.zoom(0.5) };
  for (const button of figure.querySelectorAll("[data-act]")) button.addEventListener("click", acts[button.dataset.act]);
  return [...figure.querySelectorAll("button[data-start]")].map((button) => {
    const lead = () => leadTo(view, timelinePlace(button));
    button.addEventListener("click", lead);
    return lead;
  });
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
    connectTimelineLinks(figure, view);
    const leads = connectTimelineButtons(figure, view);
    new TimelineHands(view, figure.querySelector(".timeline-strip"), reading, leads);
    for (const form of figure.querySelectorAll(".timeline-picker")) new TimelinePicker(form, view);
    document.addEventListener("light", ({ detail }) => view.light(detail));
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

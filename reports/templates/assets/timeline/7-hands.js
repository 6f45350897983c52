// How the timeline is moved: mouse, wheel, touch and keyboard. The page keeps its own scrolling.
class TimelineHands {
  constructor(view, strip, tip) {
    const { canvas } = view.picture;
    Object.assign(this, { view, canvas, strip, tip });
    this.pointers = new Map();
    this.drag = null;
    canvas.addEventListener("pointerdown", (event) => this.press(event));
    canvas.addEventListener("pointermove", (event) => this.move(event));
    for (const name of ["pointerup", "pointercancel"]) canvas.addEventListener(name, (event) => this.release(event));
    canvas.addEventListener("pointerleave", () => tip.hide());
    // the note of a mouse that hovers goes away without moving it
    document.addEventListener("keydown", ({ key }) => key === "Escape" && tip.hide());
    canvas.addEventListener("blur", () => tip.hide());
    canvas.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    canvas.addEventListener("keydown", (event) => this.key(event));
    for (const name of ["pointerdown", "pointermove"]) strip.addEventListener(name, (event) => this.moveStrip(event));
  }

  spot(event) {
    const box = this.canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  }

  press(event) {
    if (event.button) return;
    const [x, y] = this.spot(event);
    this.canvas.setPointerCapture(event.pointerId);
    this.pointers.set(event.pointerId, x);
    const measures = event.shiftKey || y < this.view.picture.rulerHeight;
    this.drag = { x, y, from: this.view.timeAt(x), measures, moved: false, view: this.view.view };
    if (this.pointers.size === 2) this.drag = { pinch: this.pinch(), view: this.view.view, moved: true };
  }

  move(event) {
    const [x, y] = this.spot(event);
    if (!this.pointers.has(event.pointerId)) {
      if (event.pointerType === "mouse") this.tip.show(x, y, this.view.at(x, y).thing);
      return;
    }
    this.pointers.set(event.pointerId, x);
    this.tip.hide();
    if (this.drag.pinch) this.movePinch();
    else if (this.pointers.size === 1) this.moveDrag(x);
  }

  moveDrag(x) {
    const { drag, view } = this;
    drag.moved ||= Math.abs(x - drag.x) > 3;
    if (!drag.moved) return;
    if (drag.measures) {
      view.select(drag.from, view.timeAt(x));
      return;
    }
    const scale = (drag.view.end - drag.view.start) / view.picture.plot;
    view.view = drag.view;
    view.pan((drag.x - x) * scale);
  }

  pinch() {
    const [one, other] = [...this.pointers.values()];
    return { middle: (one + other) / 2, width: Math.max(Math.abs(one - other), 10) };
  }

  movePinch() {
    const { view, drag } = this;
    const now = this.pinch();
    const { margin, plot } = view.picture;
    const length = (drag.view.end - drag.view.start) * (drag.pinch.width / now.width);
    const held = drag.view.start + ((drag.pinch.middle - margin) / plot) * (drag.view.end - drag.view.start);
    const start = held - ((now.middle - margin) / plot) * length;
    view.show(start, start + length);
  }

  // A press that did not move chooses the lane under it, and shows what is there.
  release(event) {
    const [x, y] = this.spot(event);
    if (this.drag && !this.drag.moved && event.type === "pointerup") {
      const { row, thing } = this.view.at(x, y);
      if (row && row.choice !== null && row.choice !== undefined) this.view.choose(row.choice);
      this.tip.show(x, y, thing);
    }
    this.pointers.delete(event.pointerId);
    if (!this.pointers.size) this.drag = null;
    else this.drag = { moved: true, measures: false, x: [...this.pointers.values()][0], view: this.view.view };
  }

  // Without a modifier the wheel scrolls the page, until the timeline has the focus.
  wheel(event) {
    const sideways = Math.abs(event.deltaX) > Math.abs(event.deltaY);
    const wanted = sideways || event.ctrlKey || event.metaKey || document.activeElement === this.canvas;
    if (!wanted) return;
    event.preventDefault();
    const pixels = event.deltaMode ? 16 : 1;
    const { start, end } = this.view.view;
    this.tip.hide();
    if (sideways) this.view.pan(((event.deltaX * pixels) / this.view.picture.plot) * (end - start));
    else this.view.zoom(Math.exp(Math.min(Math.max(event.deltaY * pixels, -240), 240) / 400), this.view.timeAt(this.spot(event)[0]));
  }

  moveStrip(event) {
    if (!(event.buttons & 1)) return;
    if (event.type === "pointerdown") this.strip.setPointerCapture(event.pointerId);
    const { view } = this;
    const share = (event.clientX - this.strip.getBoundingClientRect().left - view.picture.margin) / view.picture.plot;
    const middle = view.model.start + share * (view.model.end - view.model.start);
    view.pan(middle - (view.view.start + view.view.end) / 2);
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const act = this.keys[`${event.shiftKey && event.key.startsWith("Arrow") ? "Shift+" : ""}${event.key}`];
    if (!act) return;
    event.preventDefault();
    this.tip.hide();
    act();
  }

  get keys() {
    const { view } = this;
    const length = view.view.end - view.view.start;
    return {
      ArrowLeft: () => view.pan(-length / 10),
      ArrowRight: () => view.pan(length / 10),
      "Shift+ArrowLeft": () => view.stretchSelection(-1),
      "Shift+ArrowRight": () => view.stretchSelection(1),
      ArrowUp: () => view.choose(view.choice - 1),
      ArrowDown: () => view.choose(view.choice + 1),
      "+": () => view.zoom(0.5),
      "=": () => view.zoom(0.5),
      "-": () => view.zoom(2),
      Home: () => view.pan(-Infinity),
      End: () => view.pan(Infinity),
      0: () => view.whole(),
      Enter: () => view.selection && view.moveTo(view.selection.start, view.selection.end),
      Escape: () => view.clear(),
      "[": () => this.step(-1, this.gapsOfChoice()),
      "]": () => this.step(1, this.gapsOfChoice()),
      ",": () => this.step(-1, this.activitiesOfChoice()),
      ".": () => this.step(1, this.activitiesOfChoice()),
    };
  }

  // The gaps the page lists for the GPU chosen, as stretches of the axis.
  gapsOfChoice() {
    const { id, shift } = this.view.current;
    return timelinePlaces("gap")
      .filter(({ gpu }) => id === null || gpu === id)
      .map(({ start, end }) => [start + shift, end + shift, null]);
  }

  activitiesOfChoice() {
    return this.view.current.streams
      .flatMap(({ items }) => items.starts.map((start, place) => [start, items.ends[place], [items, place]]))
      .sort((one, other) => one[0] - other[0]);
  }

  // The next stretch in time after the selection, or after the begin of the view, is selected and shown.
  step(direction, stretches) {
    const { view } = this;
    const from = view.selection?.start ?? view.view.start;
    const ordered = [...stretches].sort((one, other) => direction * (one[0] - other[0]));
    const next = ordered.find(([start]) => direction * (start - from) > 0);
    if (!next) return;
    const [start, end, item] = next;
    view.select(start, end);
    view.moveAround(start, end);
    const thing = item ? item[0].describe(item[1], view.model.names) : null;
    this.tip.show(view.picture.margin + view.picture.plot / 2, view.picture.rulerHeight, thing);
  }
}

// How the timeline is moved: mouse, wheel, touch and keyboard. The page keeps its own scrolling.
class TimelineHands {
  constructor(view, strip, tip, leads) {
    const { canvas } = view.picture;
    Object.assign(this, { view, canvas, strip, tip, leads });
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
      if (row?.selects && thing) this.view.select(thing.start, thing.end);
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
      "[": () => this.step(-1, this.gapsOfChoice(), "gap in the table"),
      "]": () => this.step(1, this.gapsOfChoice(), "gap in the table"),
      ",": () => this.step(-1, this.activitiesOfChoice(), "kernel shown by itself"),
      ".": () => this.step(1, this.activitiesOfChoice(), "kernel shown by itself"),
      ...Object.fromEntries(this.leads.map((lead, place) => [String(place + 1), lead])),
    };
  }

  // The GPUs whose things the keys walk: the one chosen, or all of them.
  get walked() {
    const { model, current } = this.view;
    return current.id === null ? model.choices.filter(({ id }) => id !== null) : [current];
  }

  // The gaps the page lists, as stretches of the axis.
  gapsOfChoice() {
    const places = timelinePlaces("gap");
    return this.walked.flatMap((gpu) =>
      places.filter((place) => place.gpu === gpu.id).map(({ start, end }) => ({ gpu, start: start + gpu.shift, end: end + gpu.shift })),
    );
  }

  activitiesOfChoice() {
    return this.walked.flatMap((gpu) =>
      gpu.streams.flatMap((row) => row.items.starts.map((start, place) => ({ gpu, start, end: row.items.ends[place], row, place }))),
    );
  }

  // The next stretch in time after the selection, or after the begin of the view, is selected and shown on its GPU.
  step(direction, stretches, noun) {
    const { view } = this;
    const from = view.selection?.start ?? view.view.start;
    const ahead = stretches.filter(({ start }) => direction * (start - from) > 0);
    if (!ahead.length) {
      const which = direction > 0 ? "later" : "earlier";
      this.tip.say(`There is no ${which} ${noun} on ${this.walked.length > 1 ? "any GPU" : this.walked[0].id}.`);
      return;
    }
    const { gpu, start, end, row, place } = ahead.reduce((best, each) => (direction * (each.start - best.start) < 0 ? each : best));
    view.choose(view.model.choices.indexOf(gpu));
    view.select(start, end);
    const seen = view.moveAround(start, end);
    if (!row) return;
    const { y } = view.picture.rows(view.choice).find((placed) => placed.row === row);
    const thing = { ...row.items.describe(place, view.model.names), shift: gpu.shift };
    this.tip.show(view.picture.x(Math.max(start, seen.start), seen), y, thing);
  }
}

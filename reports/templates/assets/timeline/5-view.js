// What is in view and what is selected; every change draws once, with the next frame.
class TimelineView {
  constructor(figure, model) {
    this.model = model;
    this.picture = new TimelinePicture(figure, model);
    this.view = { start: model.start, end: model.end };
    this.selection = null;
    this.choice = 0;
    this.pending = false;
    this.listeners = [];
    this.still = matchMedia("(prefers-reduced-motion: reduce)");
  }

  changed() {
    if (this.pending) return;
    this.pending = true;
    requestAnimationFrame(() => this.drawNow());
  }

  drawNow() {
    this.pending = false;
    this.picture.draw(this.view, this.choice, this.selection);
    for (const listener of this.listeners) listener();
  }

  // A stretch cut to the window, and no shorter than what a pixel can tell apart.
  cut(start, end) {
    const { model } = this;
    const whole = model.end - model.start;
    const length = Math.min(Math.max(end - start, Math.min(100, whole)), whole);
    const from = Math.min(Math.max((start + end - length) / 2, model.start), model.end - length);
    return { start: from, end: from + length };
  }

  show(start, end) {
    this.view = this.cut(start, end);
    this.changed();
  }

  // The same by way of a short move, unless the reader wants none.
  moveTo(start, end) {
    cancelAnimationFrame(this.moving);
    if (this.still.matches) {
      this.show(start, end);
      return;
    }
    const from = this.view;
    const began = performance.now();
    const step = (now) => {
      const passed = Math.min(Math.max((now - began) / 260, 0), 1);
      const eased = 1 - (1 - passed) ** 3;
      this.show(from.start + (start - from.start) * eased, from.end + (end - from.end) * eased);
      if (passed < 1) this.moving = requestAnimationFrame(step);
    };
    this.moving = requestAnimationFrame(step);
  }

  // Around a stretch, with as much again on either side; what will be in view then.
  moveAround(start, end) {
    const length = Math.max(end - start, 50);
    this.moveTo(start - length, end + length);
    return this.cut(start - length, end + length);
  }

  // A part or cause is lit by its name: the other fills are pale; null lights all.
  light(fills) {
    this.picture.colours.light(fills && new Set(fills));
    this.changed();
  }

  zoom(factor, around = (this.view.start + this.view.end) / 2) {
    const { start, end } = this.view;
    const whole = this.model.end - this.model.start;
    const length = Math.min(Math.max((end - start) * factor, Math.min(100, whole)), whole);
    const from = around - ((around - start) / (end - start)) * length;
    this.show(from, from + length);
  }

  pan(time) {
    const { start, end } = this.view;
    const by = Math.min(Math.max(time, this.model.start - start), this.model.end - end);
    this.show(start + by, end + by);
  }

  whole() {
    this.moveTo(this.model.start, this.model.end);
  }

  choose(choice) {
    this.choice = Math.min(Math.max(choice, 0), this.model.choices.length - 1);
    this.changed();
  }

  // Other lanes side by side, the first of them chosen.
  showLanes(lanes) {
    this.model.show(lanes);
    this.choice = this.model.choices.length - lanes.length;
    this.picture.measure();
    this.changed();
  }

  select(one, other) {
    const inside = (time) => Math.min(Math.max(time, this.model.start), this.model.end);
    this.selection = { start: inside(Math.min(one, other)), end: inside(Math.max(one, other)), fixed: one };
    this.changed();
  }

  // With the keyboard: one end moves, the other stays; without a selection it begins in the middle of the view.
  stretchSelection(direction) {
    const { start, end } = this.view;
    const fixed = this.selection?.fixed ?? (start + end) / 2;
    const other = this.selection ? this.selection.start + this.selection.end - Math.min(Math.max(fixed, this.model.start), this.model.end) : fixed;
    this.select(fixed, other + (direction * (end - start)) / 40);
  }

  clear() {
    this.selection = null;
    this.changed();
  }

  get current() {
    return this.model.choices[this.choice];
  }

  get stretch() {
    return this.selection && this.selection.end > this.selection.start ? this.selection : this.view;
  }

  timeAt(x) {
    const { margin, plot } = this.picture;
    return this.view.start + ((x - margin) / plot) * (this.view.end - this.view.start);
  }

  // What lies under a point of the picture.
  at(x, y) {
    const { picture } = this;
    const found = picture.rows(this.choice).find((placed) => y >= placed.y && y < placed.y + placed.row.height);
    const row = found?.row ?? null;
    const thing = row && x >= picture.margin ? row.describe(this.timeAt(x), this.model.names) : null;
    const { shift } = this.model.choices[row?.choice ?? this.choice];
    return { row, thing: thing && { ...thing, shift } };
  }
}

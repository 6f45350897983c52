// The picture: a ruler, the rows one under the other, and the strip above that always shows the whole window.
class TimelinePicture {
  constructor(figure, model) {
    this.model = model;
    this.canvas = figure.querySelector(".timeline-lanes");
    this.strip = figure.querySelector(".timeline-strip");
    this.figure = figure;
    this.rulerHeight = 24;
    this.readTheme();
    this.measure();
  }

  readTheme() {
    this.colours = new TimelineColours(this.figure, this.model.paints);
    this.font = `12px ${getComputedStyle(this.figure).fontFamily}`;
  }

  // Room for the rows of whichever GPU has most, so that choosing another moves nothing.
  measure() {
    const height = (rows) => rows.reduce((sum, row) => sum + row.height, 0);
    const { choices } = this.model;
    this.threadsHeight = Math.max(...choices.map(({ threads, steps }) => height(steps) + height(threads)));
    const streamsHeight = Math.max(...choices.map(({ streams }) => height(streams)));
    this.ratio = window.devicePixelRatio || 1;
    this.width = this.figure.clientWidth;
    this.margin = this.width < 600 ? 58 : 84;
    this.plot = Math.max(this.width - this.margin, 50);
    this.height = this.rulerHeight + this.threadsHeight + height(choices.map(({ row }) => row)) + 10 + streamsHeight;
    for (const [canvas, tall] of [[this.canvas, this.height], [this.strip, 22]]) {
      canvas.width = Math.round(this.width * this.ratio);
      canvas.height = Math.round(tall * this.ratio);
      canvas.style.height = `${tall}px`;
    }
  }

  // The rows with the place of each, for the GPU chosen.
  rows(choice) {
    const { choices } = this.model;
    const placed = [];
    let y = this.rulerHeight;
    const place = (rows) => {
      for (const row of rows) {
        placed.push({ row, y });
        y += row.height;
      }
    };
    place(choices[choice].steps);
    place(choices[choice].threads);
    y = this.rulerHeight + this.threadsHeight;
    place(choices.map(({ row }) => row));
    y += 10;
    place(choices[choice].streams);
    return placed;
  }

  x(time, view) {
    return this.margin + ((time - view.start) / (view.end - view.start)) * this.plot;
  }

  draw(view, choice, selection) {
    const context = this.canvas.getContext("2d");
    context.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    context.clearRect(0, 0, this.width, this.height);
    context.font = this.font;
    context.textBaseline = "middle";
    const rows = this.rows(choice);
    for (const { row, y } of rows) if (row.lane) this.drawLane(context, row, y, view);
    for (const { row, y } of rows) if (row.bundles) this.drawBundles(context, row, y, view);
    for (const { row, y } of rows) if (row.items) this.drawItems(context, row, y, view);
    this.drawRuler(context, view, this.model.choices[choice].shift);
    if (selection) this.drawSelection(context, view, selection);
    context.clearRect(0, 0, this.margin - 2, this.height);
    for (const { row, y } of rows) this.drawLabel(context, row, y, row.choice === choice);
    this.drawStrip(view, choice, selection);
  }

  drawLane(context, row, y, view) {
    const { ratio } = this;
    const width = Math.round(this.plot * ratio);
    const height = Math.round((row.workHeight + row.idleHeight) * ratio);
    if (row.image?.width !== width || row.image.height !== height) row.image = new ImageData(width, height);
    row.paint(row.image, view, this.colours, ratio);
    context.putImageData(row.image, Math.round(this.margin * ratio), Math.round(y * ratio));
    context.fillStyle = this.colours.text[row.idleHeight ? "outline" : "hairline"];
    context.fillRect(this.margin, y + row.workHeight, this.plot, 1 / ratio);
  }

  // Boxes with names where they are wide enough; narrow ones are left to the lane below, or drawn a pixel wide.
  drawItems(context, row, y, view) {
    const height = row.lane ? row.workHeight : row.itemHeight;
    const smallest = row.lane ? 6 : 0;
    let drawnTo = -1;
    for (let place = row.items.firstAfter(view.start); place < row.items.starts.length; place += 1) {
      if (row.items.starts[place] >= view.end) break;
      const left = Math.max(this.x(row.items.starts[place], view), this.margin);
      const right = Math.min(this.x(row.items.ends[place], view), this.width);
      if (right - left < smallest || right <= drawnTo) continue;
      this.drawBox(context, { left, right, y, height }, row.items.nameOf(place, this.model.names), row.items.kinds[place]);
      drawnTo = Math.max(right, left + 1 / this.ratio);
    }
  }

  // Low bars without edges: things too many to be drawn each.
  drawBundles(context, { bundles, itemHeight }, y, view) {
    context.fillStyle = this.colours.text.hairline;
    for (let place = bundles.firstAfter(view.start); place < bundles.starts.length; place += 1) {
      if (bundles.starts[place] >= view.end) break;
      const left = Math.max(this.x(bundles.starts[place], view), this.margin);
      const right = Math.min(this.x(bundles.ends[place], view), this.width);
      context.fillRect(left, y + itemHeight / 2, Math.max(right - left, 1 / this.ratio), itemHeight / 2);
    }
  }

  drawBox(context, { left, right, y, height }, name, kind) {
    const width = Math.max(right - left - (right - left > 3 ? 1 : 0), 1 / this.ratio);
    context.fillStyle = this.colours.fill(kind);
    // hatched kinds keep the hatch of the lane below
    context.globalAlpha = kind !== "range" && this.colours.isDim(kind) ? 0.2 : 1;
    if (!this.colours.isStriped(kind)) context.fillRect(left, y, width, height);
    context.globalAlpha = 1;
    context.fillStyle = this.colours.text[kind === "range" ? "outline" : "page"];
    if (width > 2) context.fillRect(kind === "range" ? left : left + width, y, 1, height);
    if (width > 44 && name) {
      context.save();
      context.beginPath();
      context.rect(left + 3, y, width - 5, height);
      context.clip();
      context.fillStyle = this.colours.ink(kind);
      // no character is narrower than 3 px, and shaping a long name takes time
      context.fillText(name.slice(0, width / 3), left + 5, y + height / 2 + 1);
      context.restore();
    }
  }

  // Ticks at round times of the session, as many as have room for their label.
  drawRuler(context, view, shift) {
    const length = view.end - view.start;
    const least = (length / this.plot) * (this.width < 600 ? 92 : 120);
    const magnitude = 10 ** Math.floor(Math.log10(least));
    const step = Math.max([1, 2, 5, 10].find((factor) => factor * magnitude >= least) * magnitude, 1);
    const decimals = Math.min(Math.max(9 - Math.floor(Math.log10(step) + 1e-9), 0), 9);
    context.textAlign = "left";
    for (let index = Math.ceil((view.start - shift) / step); index * step + shift <= view.end; index += 1) {
      const x = this.x(index * step + shift, view);
      context.fillStyle = this.colours.text.outline;
      context.fillRect(x, this.rulerHeight - 8, 1, 5);
      context.fillStyle = this.colours.text["ink-2"];
      const label = pageFigures.moment(index * step, decimals);
      if (x + 6 + context.measureText(label).width < this.width) context.fillText(label, x + 4, 8);
      context.fillRect(x, 3, 1, this.rulerHeight - 6);
    }
  }

  drawSelection(context, view, selection) {
    const [left, right] = [selection.start, selection.end].map((time) => this.x(time, view));
    context.fillStyle = this.colours.text.ink;
    context.globalAlpha = 0.1;
    context.fillRect(left, 0, right - left, this.height);
    context.globalAlpha = 1;
    for (const edge of [left, right]) context.fillRect(edge, 0, 1, this.height);
  }

  drawLabel(context, row, y, chosen) {
    context.fillStyle = this.colours.text[chosen ? "ink" : "ink-2"];
    context.font = chosen ? `600 ${this.font}` : this.font;
    // where the margin is narrow there is room for the GPU alone
    const label = this.width < 600 ? row.label.split(",")[0] : row.label;
    context.fillText(label, 0, y + (row.workHeight ?? row.itemHeight) / 2 + 1, this.margin - 12);
    if (chosen) context.fillRect(this.margin - 7, y, 3, row.workHeight);
  }

  drawStrip(view, choice, selection) {
    const context = this.strip.getContext("2d");
    const { row, id } = this.model.choices[choice];
    const whole = { start: this.model.start, end: this.model.end };
    context.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    context.clearRect(0, 0, this.width, 22);
    const lit = this.colours.lit ? [...this.colours.lit].join(" ") : "";
    const key = [id, this.plot, this.ratio, this.colours.text.page, lit].join();
    if (this.stripKey !== key) {
      this.stripKey = key;
      this.stripImage = new ImageData(Math.round(this.plot * this.ratio), Math.round(16 * this.ratio));
      const thin = new TimelineLaneRow({ ...row, workHeight: 16, idleHeight: 0, gap: 0 });
      thin.paint(this.stripImage, whole, this.colours, this.ratio);
    }
    context.putImageData(this.stripImage, Math.round(this.margin * this.ratio), Math.round(3 * this.ratio));
    context.fillStyle = this.colours.text.page;
    context.globalAlpha = 0.72;
    const [left, right] = [this.x(view.start, whole), this.x(view.end, whole)];
    context.fillRect(this.margin, 3, left - this.margin, 16);
    context.fillRect(right, 3, this.width - right, 16);
    context.globalAlpha = 1;
    context.strokeStyle = this.colours.text.ink;
    context.lineWidth = 1.5;
    context.strokeRect(Math.min(left, this.width - 4) + 0.75, 1.75, Math.max(right - left - 1.5, 2.5), 18.5);
    context.font = this.font;
    context.textBaseline = "middle";
    context.fillStyle = this.colours.text["ink-2"];
    context.fillText(pageFigures.duration(whole.end - whole.start), 0, 11, this.margin - 10);
  }
}

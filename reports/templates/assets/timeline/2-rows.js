// Rows of the timeline: each draws itself into a strip of pixels and says what is at a moment.

// How stripes run over pixels; as the patterns of the page's other charts do.
const timelineShapes = {
  rising: (x, y) => (x + y) % 6 < 2,
  falling: (x, y) => (x - y + 6000) % 6 < 2,
  wide: (x, y) => (x + y) % 8 < 3,
  upright: (x) => x % 5 < 2,
  level: (_, y) => y % 5 < 2,
  dotted: (x, y) => x % 5 < 2 && y % 5 < 2,
  crossed: (x, y) => x % 5 < 2 || y % 5 < 2,
};

// The colours of the page's theme, by the name of a fill: as text for shapes, as numbers for single pixels.
class TimelineColours {
  constructor(element, paints) {
    const probe = document.createElement("i");
    element.append(probe);
    const resolve = (name) => {
      probe.style.color = `var(--${name})`;
      return getComputedStyle(probe).color;
    };
    const own = ["page", "ink", "ink-2", "ink-3", "hairline", "outline"];
    const names = new Set([...own, ...Object.values(paints).flatMap(({ colour, second }) => [colour, second ?? colour])]);
    this.text = Object.fromEntries([...names].map((name) => [name, resolve(name)]));
    this.paints = new Map(Object.entries({ ...paints, outline: { colour: "outline", second: null } }));
    this.lit = null;
    this.pixels = new Map();
    probe.remove();
  }

  // Transparent where another part or cause is lit.
  static pixelOf(color, alpha) {
    const [red, green, blue] = color.match(/[\d.]+/g).map(Number);
    return ((alpha << 24) | (blue << 16) | (green << 8) | red) >>> 0;
  }

  light(fills) {
    this.lit = fills;
    this.pixels.clear();
  }

  isDim(fill) {
    return this.lit !== null && !this.lit.has(fill);
  }

  // Colours the pixels of a canvas' stretch from one row to another; some fills are striped.
  static paint({ pixels, width, ratio, left, right }, { solid, striped, shape }, top, bottom) {
    const isLong = !shape && right - left > 8;
    for (let row = top; row < bottom; row += 1) {
      const begin = row * width;
      if (isLong) {
        pixels.fill(solid, begin + left, begin + right);
      } else if (shape) {
        const down = (row / ratio) | 0;
        for (let x = left; x < right; x += 1) pixels[begin + x] = shape((x / ratio) | 0, down) ? striped : solid;
      } else {
        for (let x = left; x < right; x += 1) pixels[begin + x] = solid;
      }
    }
  }

  pixelsOf(fill) {
    let found = this.pixels.get(fill);
    if (!found) {
      const { colour, second, shape } = this.paints.get(fill);
      const alpha = this.isDim(fill) ? 48 : 255;
      const pixel = (name) => TimelineColours.pixelOf(this.text[name], alpha);
      found = { solid: pixel(colour), striped: pixel(second ?? colour), shape: timelineShapes[shape] };
      this.pixels.set(fill, found);
    }
    return found;
  }

  fill(fill) {
    return this.text[fill === "range" ? "hairline" : this.paints.get(fill).colour];
  }

  isStriped(fill) {
    return Boolean(this.paints.get(fill)?.shape);
  }

  // Ink or page, whichever stands out more from a fill.
  ink(fill) {
    const lightness = (color) => {
      const [red, green, blue] = color.match(/[\d.]+/g).map((part) => (Number(part) / 255) ** 2.2);
      return 0.2126 * red + 0.7152 * green + 0.0722 * blue + 0.05;
    };
    const contrast = (one, other) => Math.max(one / other, other / one);
    const behind = lightness(this.fill(fill));
    const [ink, page] = ["ink", "page"].map((name) => contrast(lightness(this.text[name]), behind));
    return this.text[ink > page ? "ink" : "page"];
  }
}

// A lane: work stands on a line, split by the shares of each pixel; idle hangs below it.
class TimelineLaneRow {
  constructor({ label, lane, fills, idleHeight, workHeight, gap, titles }) {
    Object.assign(this, { label, lane, fills, idleHeight, workHeight, titles, choice: null });
    this.height = workHeight + idleHeight + gap;
    this.firstIdle = fills.indexOf("idle");
    this.items = null;
  }

  // The pixels of a view. Within a piece all are alike, so that a long one is drawn at once.
  paint(image, view, colours, ratio) {
    const { lane } = this;
    const { edges } = lane;
    const { width } = image;
    const inks = this.fills.map((fill) => fill && colours.pixelsOf(fill));
    const outline = colours.pixelsOf("outline");
    const canvas = { pixels: new Uint32Array(image.data.buffer), width, ratio, left: 0, right: 0, inks, outline };
    const step = (view.end - view.start) / width;
    // finer than this nobody sees
    const least = Math.max(Math.round(ratio), 1);
    let piece = lane.pieceAt(view.start);
    let last = lane.before(view.start, piece, lane.noSums());
    let next = lane.noSums();
    canvas.pixels.fill(0);
    for (let x = 0; x < width && view.start + x * step < lane.end; x = canvas.right) {
      const whole = edges[piece] <= view.start + x * step ? Math.floor((edges[piece + 1] - view.start) / step) : 0;
      canvas.left = x;
      canvas.right = Math.min(Math.max(whole, x + least), width);
      const time = view.start + canvas.right * step;
      while (piece < edges.length - 2 && edges[piece + 1] <= time) piece += 1;
      lane.before(time, piece, next);
      this.stack(canvas, last, next, (canvas.right - x) * step * lane.gpuCount);
      [last, next] = [next, last];
    }
  }

  // Work from the line up and idle time from the line down, by the share of each column.
  stack(canvas, last, next, length) {
    const { present } = this.lane;
    const { inks } = canvas;
    let whole = 0;
    for (let at = 0; at < present.length; at += 1) whole += next[present[at]] - last[present[at]];
    if (whole <= 0) return;
    // a pixel at the window's edge is as full as the window reaches into it
    const full = Math.max(whole, length);
    const line = Math.round(this.workHeight * canvas.ratio);
    const below = Math.round(this.idleHeight * canvas.ratio);
    let up = 0;
    let down = 0;
    for (let at = 0; at < present.length; at += 1) {
      const column = present[at];
      const share = (next[column] - last[column]) / full;
      if (share <= 0) continue;
      if (column < this.firstIdle) {
        const bottom = line - Math.round(up);
        up += share * line;
        TimelineColours.paint(canvas, inks[column], line - Math.round(up), bottom);
      } else if (below && inks[column]) {
        const top = line + Math.round(down);
        down += share * below;
        TimelineColours.paint(canvas, inks[column], top, line + Math.round(down));
        if (this.fills[column] === "idle") this.outline(canvas, top, line + Math.round(down));
      }
    }
  }

  // Idle time without a cause is outlined.
  outline(canvas, top, bottom) {
    TimelineColours.paint(canvas, canvas.outline, Math.max(bottom - Math.ceil(canvas.ratio), top), bottom);
  }

  describe(time, names, clock) {
    const { lane } = this;
    if (time < lane.start || time >= lane.end) return null;
    const place = this.items?.at(time) ?? null;
    if (place !== null) return this.items.describe(place, names, clock);
    const piece = lane.pieceAt(time);
    const [start, end] = [lane.edges[piece], lane.edges[piece + 1]];
    const shares = lane.between(start, end).map((share, column) => [share, this.titles[column]]);
    const present = shares.filter(([share], column) => share > 0 && this.fills[column]);
    const whole = present.reduce((sum, [share]) => sum + share, 0);
    const parts = present.map(([share, title]) => (present.length > 1 ? `${title} ${pageFigures.share(share, whole)}` : title));
    return { title: parts.join(", ") || "outside the window", start, end, note: present.length > 1 ? "aggregated" : null };
  }
}

TimelineItems.prototype.describe = function describe(place, names) {
  const title = this.nameOf(place, names) ?? "a name there was no room for";
  return { title, start: this.starts[place], end: this.ends[place], note: null };
};

// The name of an item, which stands in the table of names unless it brings its own; null where there was no room.
TimelineItems.prototype.nameOf = function nameOf(place, names) {
  const name = this.names[place];
  return typeof name === "string" ? name : name ? names[name - 1] : null;
};

// A row of named things alone: steps, or ranges of one depth. A click on a thing of a row that selects selects it.
// Bundles stand for things for which there is no room, and are drawn low.
class TimelineItemRow {
  constructor({ label, items, height, gap, bundles = null, selects = false }) {
    Object.assign(this, { label, items, bundles, selects, height: height + gap, itemHeight: height });
    this.lane = null;
  }

  describe(time, names) {
    const place = this.items.at(time);
    if (place !== null) return this.items.describe(place, names);
    const bundle = this.bundles?.at(time) ?? null;
    return bundle === null ? null : { ...this.bundles.describe(bundle, names), note: "aggregated" };
  }
}

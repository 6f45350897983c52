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

  // Colours one pixel of a column from a row up to another; some fills are striped.
  paint(pixels, width, fill, x, from, to, ratio) {
    const { solid, striped, shape } = this.pixelsOf(fill);
    if (!shape) {
      for (let row = from; row > to; row -= 1) pixels[(row - 1) * width + x] = solid;
      return;
    }
    const across = Math.floor(x / ratio);
    for (let row = from; row > to; row -= 1) {
      pixels[(row - 1) * width + x] = shape(across, Math.floor(row / ratio)) ? striped : solid;
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
  constructor({ label, lane, fills, idleColumns, idleHeight, workHeight, gap, titles, choice }) {
    Object.assign(this, { label, lane, fills, idleColumns, idleHeight, workHeight, titles, choice });
    this.height = workHeight + idleHeight + gap;
    this.items = null;
  }

  // The pixels of a view, ``width`` by the row's height times ``ratio``.
  paint(image, view, colours, ratio) {
    const pixels = new Uint32Array(image.data.buffer);
    const { width } = image;
    const work = Math.round(this.workHeight * ratio);
    const below = Math.round(this.idleHeight * ratio);
    const idle = this.fills.indexOf("idle");
    const step = (view.end - view.start) / width;
    const { lane, fills } = this;
    let piece = lane.pieceAt(view.start);
    let last = lane.before(view.start, piece, []);
    let next = [];
    pixels.fill(0);
    for (let x = 0; x < width; x += 1) {
      const time = view.start + (x + 1) * step;
      while (piece < lane.edges.length - 2 && lane.edges[piece + 1] <= time) piece += 1;
      lane.before(time, piece, next);
      let whole = 0;
      for (let column = 0; column < fills.length; column += 1) whole += next[column] - last[column];
      // a pixel at the window's edge is as full as the window reaches into it
      const full = Math.max(whole, step * lane.gpuCount);
      let height = 0;
      let row = work;
      for (let column = 0; column < idle && whole > 0; column += 1) {
        if (next[column] === last[column]) continue;
        height += ((next[column] - last[column]) / full) * work;
        const top = work - Math.round(height);
        colours.paint(pixels, width, fills[column], x, row, top, ratio);
        row = top;
      }
      if (below && whole > 0) {
        this.hang(pixels, width, x, { last, next, full, work, below }, colours, ratio);
      }
      [last, next] = [next, last];
    }
  }

  // The idle time of a pixel below the line, by cause; what has none is outlined.
  hang(pixels, width, x, { last, next, full, work, below }, colours, ratio) {
    let height = 0;
    let row = work;
    for (const column of this.idleColumns) {
      if (next[column] === last[column]) continue;
      height += ((next[column] - last[column]) / full) * below;
      const bottom = work + Math.round(height);
      colours.paint(pixels, width, this.fills[column], x, bottom, row, ratio);
      if (this.fills[column] === "idle") colours.paint(pixels, width, "outline", x, bottom, Math.max(bottom - Math.ceil(ratio), row), ratio);
      row = bottom;
    }
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
class TimelineItemRow {
  constructor({ label, items, height, gap, selects = false }) {
    Object.assign(this, { label, items, selects, height: height + gap, itemHeight: height });
    this.lane = null;
  }

  describe(time, names) {
    const place = this.items.at(time);
    return place === null ? null : this.items.describe(place, names);
  }
}

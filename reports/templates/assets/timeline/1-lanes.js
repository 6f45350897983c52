// What the page holds of the timeline, unpacked: lanes whose sums are found between any two moments, and single items.

// Numbers of seven bits a byte, the lowest first; the highest bit of a byte says that more follow.
function unpackNumbers(packed) {
  const bytes = atob(packed);
  const numbers = [];
  let number = 0;
  let scale = 1;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes.charCodeAt(at);
    number += (byte & 127) * scale;
    scale *= 128;
    if (byte < 128) {
      numbers.push(number);
      number = 0;
      scale = 1;
    }
  }
  return numbers;
}

// The last place whose value is at most the one sought, or 0.
function placeBefore(values, sought) {
  let [low, high] = [0, values.length - 1];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (values[middle] <= sought) low = middle;
    else high = middle - 1;
  }
  return low;
}

// Pieces one after the other. Before each edge the sums of the columns are known, so that any stretch is a difference.
class TimelineLane {
  constructor(edges, columnCount, gpuCount, mixedLength) {
    Object.assign(this, { edges, gpuCount, mixedLength });
    // most columns of a lane are empty: they share one
    this.nothing = new Float64Array(edges.length);
    this.sums = Array.from({ length: columnCount }, () => this.nothing);
    this.mixed = new Uint32Array(edges.length);
  }

  // The sums of a column that is about to have some.
  filled(column) {
    if (this.sums[column] === this.nothing) this.sums[column] = new Float64Array(this.edges.length);
    return this.sums[column];
  }

  static unpacked(packed, columnCount, shift) {
    const numbers = unpackNumbers(packed.pieces);
    const count = packed.piece_count;
    const lane = new TimelineLane(new Float64Array(count + 1), columnCount, packed.gpu_count, packed.mixed_ns);
    const { edges, mixed } = lane;
    edges[0] = packed.start_ns + shift;
    for (let piece = 0, at = 0; piece < count; piece += 1) {
      const length = numbers[at];
      const mask = numbers[at + 1];
      at += 2;
      edges[piece + 1] = edges[piece] + length;
      let rest = length * packed.gpu_count;
      const last = 31 - Math.clz32(mask);
      for (let column = 0; column < columnCount; column += 1) {
        const present = (mask >> column) & 1;
        const share = !present ? 0 : column === last ? rest : numbers[at];
        if (present && column !== last) at += 1;
        rest -= share;
        const sums = present ? lane.filled(column) : lane.sums[column];
        if (sums !== lane.nothing) sums[piece + 1] = sums[piece] + share;
      }
      mixed[piece + 1] = mixed[piece] + (mask & (mask - 1) ? 1 : 0);
    }
    return lane;
  }

  // Several lanes as one: its pieces end wherever one of theirs does, so that it is as exact as they are.
  static summed(lanes, columnCount) {
    const ends = lanes.map(({ edges }) => edges);
    const all = new Float64Array(ends.reduce((sum, { length }) => sum + length, 0));
    ends.reduce((at, edges) => (all.set(edges, at), at + edges.length), 0);
    const edges = all.sort().filter((edge, place) => !place || edge !== all[place - 1]);
    const longest = Math.max(...lanes.map(({ mixedLength }) => mixedLength));
    const whole = new TimelineLane(edges, columnCount, lanes.length, longest);
    const isMixed = new Uint8Array(edges.length);
    for (const lane of lanes) whole.add(lane, isMixed);
    for (let place = 1; place < edges.length; place += 1) whole.mixed[place] = whole.mixed[place - 1] + isMixed[place];
    return whole;
  }

  // Adds the sums of a lane, and marks the pieces that lie in one of its mixed ones.
  add(lane, isMixed) {
    const columns = lane.present;
    const into = columns.map((column) => this.filled(column));
    for (let place = 0, piece = 0; place < this.edges.length; place += 1) {
      const time = this.edges[place];
      while (piece < lane.edges.length - 2 && lane.edges[piece + 1] < time) piece += 1;
      const [from, to] = [lane.edges[piece], lane.edges[piece + 1]];
      const inside = Math.min(Math.max((time - from) / (to - from), 0), 1);
      for (let at = 0; at < columns.length; at += 1) {
        const sums = lane.sums[columns[at]];
        into[at][place] += sums[piece] + inside * (sums[piece + 1] - sums[piece]);
      }
      if (from < time && time <= to && lane.mixed[piece + 1] > lane.mixed[piece]) isMixed[place] = 1;
    }
  }

  get start() {
    return this.edges[0];
  }

  get end() {
    return this.edges[this.edges.length - 1];
  }

  // The piece that holds a moment.
  pieceAt(time) {
    return Math.min(placeBefore(this.edges, time), this.edges.length - 2);
  }

  // The columns that have anything, found once.
  get present() {
    this.found ??= [...this.sums.keys()].filter((column) => this.sums[column] !== this.nothing);
    return this.found;
  }

  noSums() {
    return new Float64Array(this.sums.length);
  }

  // The sum of each column before a moment inside a piece, where a mixed one is shared out evenly.
  before(time, piece, into) {
    const from = this.edges[piece];
    const inside = Math.min(Math.max((time - from) / (this.edges[piece + 1] - from), 0), 1);
    const { present } = this;
    for (let at = 0; at < present.length; at += 1) {
      const column = present[at];
      const sums = this.sums[column];
      into[column] = sums[piece] + inside * (sums[piece + 1] - sums[piece]);
    }
    return into;
  }

  between(start, end) {
    const first = this.before(start, this.pieceAt(start), this.noSums());
    const last = this.before(end, this.pieceAt(end), this.noSums());
    return Array.from(last, (sum, column) => sum - first[column]);
  }

  // Whether some piece of a stretch holds several columns, so that their order in it is not known.
  isMixed(start, end) {
    if (start >= end) return false;
    return this.mixed[this.pieceAt(end) + 1] > this.mixed[this.pieceAt(start)];
  }
}

// Things with a name, a begin and an end, in order of begin.
class TimelineItems {
  constructor() {
    this.starts = [];
    this.ends = [];
    this.names = [];
    this.kinds = [];
  }

  add(start, length, name, kind) {
    this.starts.push(start);
    this.ends.push(start + length);
    this.names.push(name);
    this.kinds.push(kind);
  }

  static activities(stream, kinds, shift) {
    const items = new TimelineItems();
    const numbers = unpackNumbers(stream.activities);
    let start = shift;
    for (let at = 0; at < numbers.length; at += 3) {
      start += numbers[at];
      items.add(start, numbers[at + 1], Math.floor(numbers[at + 2] / kinds.length), kinds[numbers[at + 2] % kinds.length]);
    }
    return items;
  }

  // Steps by their number, and by what marks them.
  static steps(packed, markers, shift) {
    const items = new TimelineItems();
    const numbers = unpackNumbers(packed.steps);
    let start = packed.start_ns + shift;
    for (let at = 0; at < numbers.length; at += 3) {
      const [number, marker] = [at / 3 + 1, markers[numbers[at + 2]]];
      start += numbers[at];
      items.add(start, numbers[at + 1], marker === null ? `step ${number}` : `${number}: ${marker}`, "range");
    }
    return items;
  }

  // The ranges of a thread, a list for each depth.
  static ranges(thread, origin) {
    const rows = [];
    const numbers = unpackNumbers(thread.ranges);
    let start = origin;
    for (let at = 0; at < numbers.length; at += 4) {
      start += numbers[at];
      const depth = numbers[at + 3];
      while (rows.length <= depth) rows.push(new TimelineItems());
      rows[depth].add(start, numbers[at + 1], numbers[at + 2], "range");
    }
    return rows;
  }

  // The stretches that hold the ranges of a thread for which there was no room, a list for each depth.
  static bundles(thread, origin) {
    const rows = [];
    const numbers = unpackNumbers(thread.bundles ?? "");
    let start = origin;
    for (let at = 0; at < numbers.length; at += 4) {
      start += numbers[at];
      const [length, count, depth] = numbers.slice(at + 1, at + 4);
      while (rows.length <= depth) rows.push(new TimelineItems());
      rows[depth].add(start, length, `${count.toLocaleString("en-US")} ${count === 1 ? "short range" : "short ranges"}`, "range");
    }
    return rows;
  }

  // Where the first item that may reach beyond a moment stands; items of one row seldom overlap.
  firstAfter(time) {
    let place = placeBefore(this.starts, time);
    while (place > 0 && this.ends[place - 1] > time) place -= 1;
    return place;
  }

  at(time) {
    for (let place = this.firstAfter(time); place < this.starts.length && this.starts[place] <= time; place += 1) {
      if (this.ends[place] > time) return place;
    }
    return null;
  }
}

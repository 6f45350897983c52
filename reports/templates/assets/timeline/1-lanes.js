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
  constructor(lane, columnCount, shift) {
    const numbers = unpackNumbers(lane.pieces);
    const count = lane.piece_count;
    this.mixedLength = lane.mixed_ns;
    this.gpuCount = lane.gpu_count;
    this.edges = new Float64Array(count + 1);
    // most columns of a lane are empty: they share one
    const nothing = new Float64Array(count + 1);
    this.sums = Array.from({ length: columnCount }, () => nothing);
    this.mixed = new Uint32Array(count + 1);
    this.edges[0] = lane.start_ns + shift;
    for (let piece = 0, at = 0; piece < count; piece += 1) {
      const length = numbers[at];
      const mask = numbers[at + 1];
      at += 2;
      this.edges[piece + 1] = this.edges[piece] + length;
      let rest = length * lane.gpu_count;
      const last = 31 - Math.clz32(mask);
      for (let column = 0; column < columnCount; column += 1) {
        const present = (mask >> column) & 1;
        const share = !present ? 0 : column === last ? rest : numbers[at];
        if (present && column !== last) at += 1;
        rest -= share;
        if (present && this.sums[column] === nothing) this.sums[column] = new Float64Array(count + 1);
        if (this.sums[column] !== nothing) this.sums[column][piece + 1] = this.sums[column][piece] + share;
      }
      this.mixed[piece + 1] = this.mixed[piece] + (mask & (mask - 1) ? 1 : 0);
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

  // The sum of each column before a moment inside a piece, where a mixed one is shared out evenly.
  before(time, piece, into) {
    const from = this.edges[piece];
    const inside = Math.min(Math.max((time - from) / (this.edges[piece + 1] - from), 0), 1);
    for (let column = 0; column < this.sums.length; column += 1) {
      const sums = this.sums[column];
      into[column] = sums[piece] + inside * (sums[piece + 1] - sums[piece]);
    }
    return into;
  }

  between(start, end) {
    const first = this.before(start, this.pieceAt(start), []);
    const last = this.before(end, this.pieceAt(end), []);
    return last.map((sum, column) => sum - first[column]);
  }

  // Whether some piece of a stretch holds several columns, so that their order in it is not known.
  isMixed(start, end) {
    return this.mixed[this.pieceAt(end) + 1] > this.mixed[this.pieceAt(start)];
  }
}

// Things with a name, a begin and an end, in order of begin.
class TimelineItems {
  constructor(origin) {
    this.origin = origin;
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
    const items = new TimelineItems(0);
    const numbers = unpackNumbers(stream.activities);
    let start = shift;
    for (let at = 0; at < numbers.length; at += 3) {
      start += numbers[at];
      items.add(start, numbers[at + 1], Math.floor(numbers[at + 2] / kinds.length), kinds[numbers[at + 2] % kinds.length]);
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
      while (rows.length <= depth) rows.push(new TimelineItems(origin));
      rows[depth].add(start, numbers[at + 1], numbers[at + 2], "range");
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

// The timeline's content by GPU: one lane each, and for the GPU that is chosen its threads' ranges and its streams.
class TimelineModel {
  constructor(data) {
    const { fills } = data;
    const idleColumns = fills.map((_, column) => column).filter((column) => fills[column] && column >= data.columns.indexOf("idle"));
    const words = (column) => column.replaceAll("_", " ");
    const size = data.lanes.length > 8 ? { workHeight: 15, idleHeight: 6, gap: 4 } : { workHeight: 20, idleHeight: 7, gap: 6 };
    const titles = data.columns.map(words);
    const laneRow = (label, lane) => new TimelineLaneRow({ ...size, label, lane, fills, titles });
    this.fills = fills;
    this.columns = data.columns;
    this.idleColumns = idleColumns;
    this.names = data.names;
    this.start = data.start_ns;
    this.end = data.end_ns;
    this.paints = data.paints;
    this.gpuCount = data.gpu_count;
    const unpacked = data.lanes.map((gpu) => TimelineLane.unpacked(gpu.lane, fills.length, gpu.shift_ns));
    this.laneRow = laneRow;
    this.others = data.other_lanes;
    this.first = data.lanes.map((gpu, place) => ({
      ...this.laneOf(gpu, unpacked[place]),
      exact: gpu.exact.map(([start, end]) => [start + gpu.shift_ns, end + gpu.shift_ns]),
      steps: gpu.steps ? [TimelineModel.stepRow(gpu, data.markers)] : [],
      threads: gpu.threads.flatMap((thread) => TimelineModel.threadRows(thread, gpu)),
      streams: gpu.streams.map((stream) => TimelineModel.streamRow(stream, gpu, fills)),
    }));
    this.all = data.gpu_count > 1 ? [this.allGpus(data, unpacked, laneRow)] : [];
    this.show(this.first);
  }

  // These lanes are there to choose from, below that of all GPUs.
  show(lanes) {
    this.choices = [...this.all, ...lanes];
    for (const [place, { row }] of this.choices.entries()) row.choice = place;
  }

  // A GPU's lane by itself.
  laneOf(gpu, lane) {
    return {
      id: gpu.id,
      rank: gpu.rank,
      label: gpu.has_own_clock ? `${gpu.id} on a clock of its own` : gpu.id,
      shift: gpu.shift_ns,
      exact: [],
      row: this.laneRow(TimelineModel.nameOf(gpu), lane),
      steps: [],
      threads: [],
      streams: [],
    };
  }

  // The lane of a rank or GPU, which is unpacked once somebody asks for it.
  numbered(number, noun) {
    const isMeant = ({ id, rank }) => (noun === "ranks" ? rank === number : id === `gpu${number}`);
    const known = this.first.find(isMeant);
    if (known) return known;
    const gpu = this.others.find(isMeant);
    if (!gpu) throw new RangeError(`There is no ${noun === "ranks" ? "rank" : "GPU"} ${number} here.`);
    return this.laneOf(gpu, TimelineLane.unpacked(gpu.lane, this.fills.length, gpu.shift_ns));
  }

  // Ranks lie side by side on one clock, so each says which it is.
  static nameOf(gpu) {
    const id = gpu.has_own_clock ? `${gpu.id} *` : gpu.id;
    return gpu.rank == null ? id : `${id}, rank ${gpu.rank}`;
  }

  // The lane of all GPUs: the sum of theirs where each has one, else as the page holds it.
  allGpus(data, unpacked, laneRow) {
    const columnCount = this.fills.length;
    const lane = data.all_gpus ? TimelineLane.unpacked(data.all_gpus, columnCount, 0) : TimelineLane.summed(unpacked, columnCount);
    const label = `summed over all ${data.gpu_count.toLocaleString("en-US")} GPUs`;
    const row = laneRow(data.all_gpus ? "all, approx." : "all GPUs", lane);
    return { id: null, label, shift: 0, exact: [], row, steps: [], threads: [], streams: [], isSum: !data.all_gpus };
  }

  static stepRow(gpu, markers) {
    return new TimelineItemRow({ label: "steps", items: TimelineItems.steps(gpu.steps, markers, gpu.shift_ns), height: 15, gap: 6, selects: true });
  }

  static threadRows(thread, gpu) {
    const origin = gpu.lane.start_ns + gpu.shift_ns;
    const [rows, bundled] = [TimelineItems.ranges(thread, origin), TimelineItems.bundles(thread, origin)];
    const depthCount = Math.max(rows.length, bundled.length);
    return Array.from({ length: depthCount }, (_, depth) => {
      const label = depth ? "" : `thread ${thread.tid}`;
      const items = rows[depth] ?? new TimelineItems();
      return new TimelineItemRow({ label, items, bundles: bundled[depth], height: 15, gap: depth === depthCount - 1 ? 8 : 2 });
    });
  }

  // Within one stream the parts are kinds of work: there is nothing that could hide or expose them.
  static streamRow(stream, gpu, fills) {
    const kinds = ["compute_only", "exposed_communication", "fused", "opaque_graph", "exposed_copy"];
    const titles = ["compute", "compute and communication", "fused", "graph", "communication", "copy", "nothing runs", ""];
    const pids = new Set(gpu.streams.map(({ pid }) => pid));
    const number = stream.stream_id ?? "not recorded";
    const row = new TimelineLaneRow({
      label: pids.size > 1 ? `${stream.pid ?? "?"}/${number}` : `stream ${number}`,
      lane: TimelineLane.unpacked(stream.lane, fills.length, gpu.shift_ns),
      fills,
      titles,
      workHeight: 15,
      idleHeight: 0,
      gap: 3,
    });
    row.items = TimelineItems.activities(stream, kinds, gpu.shift_ns);
    return row;
  }

  // Whether every piece and activity of a stretch is shown by itself.
  isExact(choice, start, end) {
    const { row, exact, isSum } = this.choices[choice];
    if (isSum) return this.choices.every(({ id }, each) => id === null || this.isExact(each, start, end));
    if (exact.some(([from, to]) => from <= start && end <= to)) return true;
    return !row.lane.isMixed(Math.max(start, row.lane.start), Math.min(end, row.lane.end));
  }

  choiceOf(gpu) {
    return this.choices.findIndex(({ id }) => id === gpu);
  }
}

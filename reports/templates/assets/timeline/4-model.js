// The timeline's content by GPU: one lane each, and for the GPU that is chosen its threads' ranges and its streams.
class TimelineModel {
  constructor(data) {
    const { fills } = data;
    const idleColumns = fills.map((_, column) => column).filter((column) => fills[column] && column >= data.columns.indexOf("idle"));
    const words = (column) => column.replaceAll("_", " ");
    const size = data.lanes.length > 8 ? { workHeight: 15, idleHeight: 6, gap: 4 } : { workHeight: 20, idleHeight: 7, gap: 6 };
    const laneRow = (label, lane, shift, choice) =>
      new TimelineLaneRow({
        ...size,
        label,
        lane: new TimelineLane(lane, fills.length, shift),
        fills,
        idleColumns,
        titles: data.columns.map(words),
        choice,
      });
    this.fills = fills;
    this.columns = data.columns;
    this.idleColumns = idleColumns;
    this.names = data.names;
    this.start = data.start_ns;
    this.end = data.end_ns;
    const all = data.all_gpus ? [{ id: null, shift: 0, exact: [], threads: [], streams: [], lane: data.all_gpus }] : [];
    const gpus = data.lanes.map((gpu) => ({ ...gpu, shift: gpu.shift_ns }));
    this.choices = [...all, ...gpus].map((gpu, choice) => ({
      id: gpu.id,
      label: gpu.id ?? `all ${data.gpu_count.toLocaleString("en-US")}`,
      shift: gpu.shift,
      exact: gpu.exact.map(([start, end]) => [start + gpu.shift, end + gpu.shift]),
      row: laneRow(gpu.id ?? "all GPUs", gpu.lane, gpu.shift, choice),
      threads: gpu.threads.flatMap((thread) => TimelineModel.threadRows(thread, gpu)),
      streams: gpu.streams.map((stream) => TimelineModel.streamRow(stream, gpu, fills)),
    }));
  }

  static threadRows(thread, gpu) {
    const rows = TimelineItems.ranges(thread, gpu.lane.start_ns + gpu.shift);
    return rows.map((items, depth) => {
      const label = depth ? "" : `thread ${thread.tid}`;
      return new TimelineItemRow({ label, items, height: 15, gap: depth === rows.length - 1 ? 8 : 2 });
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
      lane: new TimelineLane(stream.lane, fills.length, gpu.shift),
      fills,
      idleColumns: [],
      titles,
      workHeight: 15,
      idleHeight: 0,
      gap: 3,
      choice: null,
    });
    row.items = TimelineItems.activities(stream, kinds, gpu.shift);
    return row;
  }

  // Whether every piece and activity of a stretch is shown by itself.
  isExact(choice, start, end) {
    const { row, exact } = this.choices[choice];
    if (exact.some(([from, to]) => from <= start && end <= to)) return true;
    return !row.lane.isMixed(Math.max(start, row.lane.start), Math.min(end, row.lane.end));
  }

  choiceOf(gpu) {
    return this.choices.findIndex(({ id }) => id === gpu);
  }
}

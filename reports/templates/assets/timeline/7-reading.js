// What the timeline says in words: the line and the figures below it, the note at the mouse, and both for screen readers.
class TimelineReading {
  constructor(figure, view) {
    const find = (name) => figure.querySelector(`.timeline-${name}`);
    Object.assign(this, { figure, view, note: find("note"), line: find("reading"), spoken: find("spoken") });
    this.entries = [...figure.querySelectorAll("[data-column]")];
    view.listeners.push(() => this.read());
  }

  // Always of what is selected, else of what is in view, on the GPU chosen.
  read() {
    const { view } = this;
    const { row, label, shift } = view.current;
    const { start, end } = view.stretch;
    const what = view.stretch === view.view ? "In view" : "Selected";
    const longest = pageFigures.duration(row.lane.mixedLength);
    const mixed = `approximate: in pieces of up to ${longest}, each shared out evenly`;
    const detail = view.model.isExact(view.choice, start, end) ? "exact" : mixed;
    const stretch = `${pageFigures.duration(end - start)} from ${pageFigures.moment(start - shift)}`;
    this.line.textContent = `${what}: ${stretch}, ${label}, ${detail}`;
    this.fill(row.lane.between(start, end));
    if (this.note.hidden) this.speak(this.line.textContent);
  }

  fill(times) {
    const { fills, columns, idleColumns } = this.view.model;
    const idle = idleColumns.reduce((sum, column) => sum + times[column], 0);
    const inside = fills.reduce((sum, fill, column) => (fill ? sum + times[column] : sum), 0);
    for (const entry of this.entries) {
      const { column } = entry.dataset;
      const time = column === "idle" ? idle : times[columns.indexOf(column)];
      entry.textContent = inside ? pageFigures.share(time, inside) : "no window";
      entry.nextElementSibling.textContent = inside ? pageFigures.duration(Math.round(time)) : "";
    }
  }

  // The note at a point: what is there, when it begins as profilers' own viewers show it, and how long it lasts.
  show(x, y, thing) {
    this.note.hidden = !thing;
    if (!thing) return;
    const { start, end, title, shift = this.view.current.shift } = thing;
    const length = `${pageFigures.moment(start - shift)}, ${pageFigures.duration(end - start)}`;
    const text = thing.note ? `${length}, ${thing.note}` : length;
    this.note.querySelector("b").textContent = title;
    this.note.querySelector("span").textContent = text;
    const right = this.figure.clientWidth - this.note.offsetWidth;
    this.note.style.left = `${Math.max(Math.min(x + 12, right), 0)}px`;
    this.note.style.top = `${this.view.picture.canvas.offsetTop + y + 18}px`;
    this.speak(`${title}, ${text}`);
  }

  // A sentence in place of a note, where a key finds nothing to lead to.
  say(sentence) {
    const { margin, rulerHeight } = this.view.picture;
    this.note.hidden = false;
    this.note.querySelector("b").textContent = sentence;
    this.note.querySelector("span").textContent = "";
    this.note.style.left = `${margin}px`;
    this.note.style.top = `${this.view.picture.canvas.offsetTop + rulerHeight}px`;
    this.speak(sentence);
  }

  hide() {
    this.note.hidden = true;
  }

  // Not every step of a movement: only where it comes to rest.
  speak(text) {
    clearTimeout(this.speaking);
    this.speaking = setTimeout(() => {
      this.spoken.textContent = text;
    }, 500);
  }
}

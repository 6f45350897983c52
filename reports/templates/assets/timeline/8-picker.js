// Which lanes lie side by side where there is no room for all: the reader writes their ranks.
class TimelinePicker {
  static most = 32;

  constructor(form, view) {
    Object.assign(this, { view, noun: form.dataset.picked, input: form.elements.numbers, status: form.querySelector("[role=status]") });
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.pick();
    });
    form.addEventListener("reset", () => this.showAtFirst());
  }

  showAtFirst() {
    this.status.textContent = "";
    this.view.showLanes(this.view.model.first);
  }

  // Shows what is written, in that order, or says why it cannot.
  pick() {
    const { view } = this;
    try {
      const numbers = this.numbers();
      view.showLanes(numbers.map((number) => view.model.numbered(number, this.noun)));
      this.status.textContent = `${numbers.length} shown`;
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      this.status.textContent = error.message;
    }
  }

  // The numbers written: single ones, and first and last of several.
  numbers() {
    const found = new Set();
    for (const piece of this.input.value.split(/[\s,;]+/).filter(Boolean)) {
      const written = /^(\d{1,7})(?:-(\d{1,7}))?$/.exec(piece);
      if (!written) throw new RangeError(`Write ${this.noun} as 0, 7, 512-515.`);
      const [first, last] = [Number(written[1]), Number(written[2] ?? written[1])];
      for (let number = first; number <= last && found.size <= TimelinePicker.most; number += 1) found.add(number);
    }
    if (found.size > TimelinePicker.most) throw new RangeError(`There is room for ${TimelinePicker.most} at once.`);
    if (!found.size) throw new RangeError(`Write ${this.noun} as 0, 7, 512-515.`);
    return [...found];
  }
}

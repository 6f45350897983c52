// Figures as the rest of the page writes them.
const pageFigures = {
  units: [
    [1e9, "s"],
    [1e6, "ms"],
    [1e3, "µs"],
  ],
  whole: new Intl.NumberFormat("en-US", { maximumFractionDigits: 1 }),
  scaled: new Intl.NumberFormat("en-US", { minimumFractionDigits: 3, maximumFractionDigits: 3 }),

  duration(length) {
    const unit = this.units.find(([size]) => length >= size * 0.9999995);
    return unit ? `${this.scaled.format(length / unit[0])}\u00a0${unit[1]}` : `${this.whole.format(length)}\u00a0ns`;
  },

  // A moment of the session as profilers' own viewers write it.
  moment(time, decimals = 9) {
    const rounded = Math.round(time);
    if (rounded < 0) return `-${this.moment(-rounded, decimals)}`;
    const seconds = Math.floor(rounded / 1e9);
    const digits = String(rounded - seconds * 1e9).padStart(9, "0");
    return decimals ? `${seconds}.${digits.slice(0, decimals)}s` : `${seconds}s`;
  },

  share(part, whole) {
    return `${((100 * part) / whole).toFixed(1)}\u00a0%`;
  },
};

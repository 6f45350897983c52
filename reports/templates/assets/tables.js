// Tables are sorted, searched where they have a field for it, and copied as CSV; long ones begin with their first rows.
// Without this script they are plain tables.

// A field of CSV. What a spreadsheet would take for a formula is made text; our own figures are numbers as they are.
function csvField(text) {
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return `"${safe.replaceAll('"', '""')}"`;
}

async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    // an older browser, or one that keeps its clipboard from files
    const area = document.createElement("textarea");
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
}

// A sum as the cells above it are written.
function figure(value, unit) {
  if (unit === "ns") return pageFigures.duration(value);
  return unit === "fraction" ? pageFigures.share(value, 1) : value.toLocaleString("en-US");
}

for (const table of document.querySelectorAll("main table")) {
  const shownAtFirst = 10;
  const body = table.tBodies[0];
  const rows = [...body.rows];
  const heads = [...table.tHead.rows[0].cells];
  const labels = heads.map((head) => head.textContent.trim());
  const field = document.getElementById(table.dataset.search);
  const acts = document.createElement("p");
  const status = document.createElement("span");
  const summed = field ? [...heads.keys()].filter((column) => "sums" in heads[column].dataset) : [];
  const total = summed.length ? (table.tFoot ?? table.createTFoot()).insertRow(0) : null;
  let limit = shownAtFirst;
  let found = rows;

  const button = (name, className, act) => {
    const made = document.createElement("button");
    made.type = "button";
    made.className = className;
    made.textContent = name;
    made.addEventListener("click", act);
    return made;
  };

  const show = () => {
    const words = (field?.value ?? "").toLowerCase().split(/\s+/);
    found = rows.filter((row) => {
      const text = row.textContent.toLowerCase();
      return words.every((word) => text.includes(word));
    });
    const shown = new Set(found.slice(0, limit));
    const matches = new Set(found);
    // what is only beyond the first rows is there in print
    rows.forEach((row) => {
      row.hidden = !matches.has(row);
      row.classList.toggle("beyond", !shown.has(row));
    });
    if (field) field.parentElement.querySelector("[role=status]").textContent = `${found.length} of ${rows.length} rows`;
    more.textContent = `Show all ${found.length} rows`;
    more.hidden = shown.size === found.length;
    sum();
    table.dispatchEvent(new CustomEvent("rows", { bubbles: true }));
  };

  // While a search leaves rows out, what adds up is summed over those found.
  const sum = () => {
    if (!summed.length) return;
    total.hidden = found.length === rows.length;
    total.cells[0].textContent = `${found.length} ${found.length === 1 ? "row" : "rows"} found`;
    for (const column of summed) {
      const values = found.map((row) => Number(row.cells[column].dataset.value ?? 0));
      const value = values.reduce((one, other) => one + other, 0);
      total.cells[column].textContent = figure(value, heads[column].dataset.unit);
    }
  };

  // Figures by their value, those unknown below all others; names as people count them, gpu2 before gpu10.
  const names = new Intl.Collator("en", { numeric: true });
  const compare = (column) => (one, other) => {
    const [a, b] = [one.cells[column], other.cells[column]];
    if (!rows.some((row) => row.cells[column].dataset.value)) return names.compare(a.textContent, b.textContent);
    return Number(a.dataset.value ?? -Number.MAX_VALUE) - Number(b.dataset.value ?? -Number.MAX_VALUE);
  };

  const sort = (column) => {
    const head = heads[column];
    const first = head.classList.contains("number") ? "descending" : "ascending";
    const second = first === "ascending" ? "descending" : "ascending";
    const order = head.getAttribute("aria-sort") === first ? second : first;
    heads.forEach((each) => each.removeAttribute("aria-sort"));
    head.setAttribute("aria-sort", order);
    const sign = order === "ascending" ? 1 : -1;
    const ascending = compare(column);
    body.append(...rows.sort((one, other) => sign * ascending(one, other)));
    show();
  };

  // The fields of a column: figures as they are, else text; what is written below it is a field of its own.
  const copied = (column) => {
    const { unit, notes } = heads[column].dataset;
    const isFigure = unit || heads[column].classList.contains("number");
    const text = (cell, isNote) => [...cell.childNodes].filter(({ nodeName }) => (nodeName === "SMALL") === isNote).map(({ textContent }) => textContent);
    const field = (isNote) => (row) => csvField(text(row.cells[column], isNote).join("").trim());
    const value = (row) => (isFigure && row.cells[column].dataset.value) || field(false)(row);
    const main = { name: unit ? `${labels[column]} (${unit})` : labels[column], value };
    return notes ? [main, { name: notes, value: field(true) }] : [main];
  };

  const csv = () => {
    const fields = [...heads.keys()].filter((column) => !heads[column].classList.contains("bar-cell")).flatMap(copied);
    const lines = [fields.map(({ name }) => csvField(name)), ...found.map((row) => fields.map(({ value }) => value(row)))];
    return lines.map((line) => `${line.join(",")}\r\n`).join("");
  };

  const more = button("", "act", () => {
    limit = Infinity;
    show();
  });
  const copy = button("Copy as CSV", "act", async () => {
    await copyText(csv());
    status.textContent = `${found.length} ${found.length === 1 ? "row" : "rows"} copied`;
  });
  copy.setAttribute("aria-label", `Copy as CSV: ${table.caption.textContent.trim()}`);
  status.setAttribute("role", "status");
  if (total) {
    total.hidden = true;
    heads.forEach((head, column) => {
      const cell = column ? total.insertCell() : total.appendChild(document.createElement("th"));
      cell.className = head.classList.contains("number") ? "number" : "";
      cell.hidden = head.hidden;
      if (!column) cell.scope = "row";
    });
  }
  acts.className = "acts";
  acts.append(more, copy, status);
  table.closest(".table").querySelector(".below").prepend(acts);
  if (rows.length > 1 && !("ordered" in table.dataset)) {
    heads.forEach((head, column) => {
      if (head.hidden || head.classList.contains("bar-cell")) return;
      const sorter = button("", "sort", () => sort(column));
      sorter.setAttribute("aria-label", `Sort by ${labels[column]}`);
      head.append(sorter);
    });
  }
  if (field) {
    field.addEventListener("input", show);
    field.parentElement.hidden = false;
  }
  show();
}

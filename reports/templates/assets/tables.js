// Tables with a search field are searched and sorted, and begin with their first rows. Without this script they are
// plain tables.
for (const table of document.querySelectorAll("table[data-search]")) {
  const shownAtFirst = 25;
  const body = table.tBodies[0];
  const rows = [...body.rows];
  const heads = [...table.tHead.rows[0].cells];
  const field = document.getElementById(table.dataset.search);
  const status = field.parentElement.querySelector("[role=status]");
  const more = document.createElement("button");
  let limit = shownAtFirst;

  const show = () => {
    const words = field.value.toLowerCase().split(/\s+/);
    const found = rows.filter((row) => {
      const text = row.textContent.toLowerCase();
      return words.every((word) => text.includes(word));
    });
    const shown = new Set(found.slice(0, limit));
    rows.forEach((row) => {
      row.hidden = !shown.has(row);
    });
    status.textContent = `${found.length} of ${rows.length} rows`;
    more.textContent = `Show all ${found.length} rows`;
    more.hidden = shown.size === found.length;
  };

  const compare = (column) => (one, other) => {
    const [a, b] = [one.cells[column], other.cells[column]];
    if (!heads[column].classList.contains("number")) return a.textContent.localeCompare(b.textContent);
    return Number(a.dataset.value ?? -Infinity) - Number(b.dataset.value ?? -Infinity);
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

  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "sort";
    button.setAttribute("aria-label", `Sort by ${head.textContent.trim()}`);
    button.addEventListener("click", () => sort(column));
    head.append(button);
  });
  more.type = "button";
  more.className = "more";
  more.addEventListener("click", () => {
    limit = Infinity;
    show();
  });
  table.closest(".scroll").after(more);
  field.addEventListener("input", show);
  field.parentElement.hidden = false;
  show();
}

"use strict";
// Makes every column heading a button that sorts its table. Without this script the tables stand
// in the order the report was made in.
(() => {
  const compare = new Intl.Collator("en", { numeric: true }).compare;

  const key = (row, column) => {
    const cell = row.cells[column];
    const sort = cell.dataset.sort;
    return sort === undefined ? cell.textContent.trim() : Number(sort);
  };

  // Cells without a value stay at the end in both directions.
  const missing = (value) => value === "" || value === "–";

  const order = (a, b, sign) => {
    if (missing(a) || missing(b)) return missing(a) - missing(b);
    if (typeof a === "number" && typeof b === "number") return sign * (a - b);
    return sign * compare(String(a), String(b));
  };

  const sort = (table, heading) => {
    const descending = heading.getAttribute("aria-sort") === "ascending";
    for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
    heading.setAttribute("aria-sort", descending ? "descending" : "ascending");
    const body = table.tBodies[0];
    const column = heading.cellIndex;
    const rows = Array.from(body.rows, (row) => [key(row, column), row]);
    rows.sort(([a], [b]) => order(a, b, descending ? -1 : 1));
    body.append(...rows.map(([, row]) => row));
  };

  for (const table of document.querySelectorAll("table")) {
    if (table.tBodies[0].rows.length < 2) continue;
    for (const heading of table.tHead.rows[0].cells) {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...heading.childNodes);
      button.addEventListener("click", () => sort(table, heading));
      heading.append(button);
    }
  }
})();

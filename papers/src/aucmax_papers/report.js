// SPDX-License-Identifier: BSD-3-Clause
"use strict";

// Sort by a column: up, down, then as in the paper. Rows without a value stay last.
function setUpSorting(table) {
  const body = table.tBodies[0];
  const original = Array.from(body.rows);
  const heads = Array.from(table.tHead.rows[0].cells);
  const next = { none: "ascending", ascending: "descending", descending: "none" };

  function compare(a, b, isNumber) {
    return isNumber ? Number(a) - Number(b) : a.localeCompare(b, "en", { numeric: true });
  }

  heads.forEach((head, column) => {
    const button = head.querySelector("button");
    if (!button) return;
    button.addEventListener("click", () => {
      const way = next[head.getAttribute("aria-sort") || "none"];
      heads.forEach((other) => other.querySelector("button") && other.setAttribute("aria-sort", "none"));
      head.setAttribute("aria-sort", way);
      const value = (row) => row.cells[column].dataset.value ?? "";
      const isNumber = head.dataset.kind === "number";
      const sign = way === "descending" ? -1 : 1;
      const rows = original.slice();
      if (way !== "none") {
        rows.sort((a, b) => {
          const x = value(a), y = value(b);
          if (x === "" || y === "") return (x === "") - (y === "");
          return sign * compare(x, y, isNumber);
        });
      }
      body.append(...rows);
    });
  });
}

// Keep the cells of which set, method, metric and verdict together hold all words.
function setUpFilter(box) {
  const tables = Array.from(document.getElementById(box.dataset.of).querySelectorAll("table.sortable"));
  const said = document.getElementById(box.getAttribute("aria-describedby"));

  function holds(text, words) {
    const low = text.toLowerCase();
    return words.every((word) => low.includes(word));
  }

  // Of a grid, rows and columns with such a cell stay; others in them are dimmed.
  function filterGrid(table, words) {
    const names = Array.from(table.tHead.rows[0].cells).slice(1).map((head) => head.dataset.name);
    const rows = Array.from(table.tBodies[0].rows);
    const isKept = rows.map((row) => names.map((name, i) =>
      holds(`${row.dataset.set} ${name} ${row.cells[i + 1].dataset.words}`, words)));
    rows.forEach((row, i) => {
      row.hidden = !isKept[i].includes(true);
      names.forEach((_, j) => row.cells[j + 1].classList.toggle("dim", !isKept[i][j]));
    });
    names.forEach((_, j) => {
      const isHidden = !isKept.some((row) => row[j]);
      for (const row of table.rows) row.cells[j + 1].hidden = isHidden;
    });
  }

  function filterList(table, words) {
    const rows = Array.from(table.tBodies[0].rows);
    for (const row of rows) row.hidden = !holds(row.dataset.words, words);
    return [rows.filter((row) => !row.hidden).length, rows.length];
  }

  box.addEventListener("input", () => {
    const words = box.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const table of tables) {
      if (table.classList.contains("grid")) {
        filterGrid(table, words);
      } else {
        const [shown, all] = filterList(table, words);
        said.textContent = words.length ? `${shown} of ${all} cells` : "";
      }
    }
  });
}

document.querySelectorAll("table.sortable").forEach(setUpSorting);
document.querySelectorAll("input[data-of]").forEach(setUpFilter);

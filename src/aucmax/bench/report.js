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

// Keep sets or methods whose name holds the words: of a grid, rows and columns.
function setUpFilter(box) {
  const tables = Array.from(document.getElementById(box.dataset.of).querySelectorAll("table.sortable"));
  const said = document.getElementById(box.getAttribute("aria-describedby"));
  const holds = (name, words) => name.toLowerCase().includes(words);

  function filterGrid(table, words) {
    const heads = Array.from(table.tHead.rows[0].cells).slice(1);
    const rows = Array.from(table.tBodies[0].rows);
    const ofMethods = heads.map((head) => holds(head.dataset.name, words));
    const ofSets = rows.map((row) => holds(row.dataset.set, words));
    // Words that are in no method's name are about sets, and the other way round.
    const anyMethod = ofMethods.includes(true), anySet = ofSets.includes(true);
    const showColumn = ofMethods.map((is) => is || (anySet && !anyMethod));
    const showRow = ofSets.map((is) => is || (anyMethod && !anySet));
    if (anyMethod && anySet) {
      showColumn.fill(true);
      showRow.fill(true);
    }
    rows.forEach((row, i) => { row.hidden = !showRow[i]; });
    for (const row of table.rows) {
      Array.from(row.cells).slice(1).forEach((cell, i) => { cell.hidden = !showColumn[i]; });
    }
  }

  function filterList(table, words) {
    const rows = Array.from(table.tBodies[0].rows);
    for (const row of rows) {
      row.hidden = !holds(row.dataset.set, words) && !holds(row.dataset.method, words);
    }
    return [rows.filter((row) => !row.hidden).length, rows.length];
  }

  box.addEventListener("input", () => {
    const words = box.value.trim().toLowerCase();
    for (const table of tables) {
      if (table.classList.contains("grid")) {
        filterGrid(table, words);
      } else {
        const [shown, all] = filterList(table, words);
        said.textContent = words ? `${shown} of ${all} cells` : "";
      }
    }
  });
}

document.querySelectorAll("table.sortable").forEach(setUpSorting);
document.querySelectorAll("input[data-of]").forEach(setUpFilter);

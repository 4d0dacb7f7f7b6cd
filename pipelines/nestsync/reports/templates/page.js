"use strict";
(() => {
  const root = document.documentElement;
  root.classList.add("js");
  const all = (selector, from) => Array.from((from || document).querySelectorAll(selector));
  const number = (value) => value.toLocaleString("en");

  // Rows and chips are laid out on their own, so what they are is said to assistive technology here.
  const roles = { table: "table", thead: "rowgroup", tbody: "rowgroup", tr: "row", th: "columnheader", td: "cell" };
  for (const [tag, role] of Object.entries(roles)) for (const element of all(tag)) element.setAttribute("role", role);
  for (const name of all(".n")) {
    name.setAttribute("role", "list");
    for (const level of name.children) level.setAttribute("role", "listitem");
  }

  // Copying a command: the text as it stands in the page.
  for (const button of all("button.copy")) {
    button.addEventListener("click", async () => {
      const source = button.parentElement.querySelector("pre");
      try {
        await navigator.clipboard.writeText(source.textContent);
        button.textContent = "Copied";
      } catch {
        getSelection().selectAllChildren(source);
        button.textContent = "Selected";
      }
      setTimeout(() => { button.textContent = "Copy"; }, 1600);
    });
  }

  // A cell of a CSV file: levels and names as JSON, so that they come back exactly, which their chips do not give back;
  // a sentence never as a spreadsheet's formula.
  const cell = (part) => {
    if (!part) return "";
    if (part.dataset.json !== undefined) return part.dataset.json;
    const text = part.textContent.trim();
    return /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  };
  const quoted = (text) => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  const download = (lines, name) => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([lines.join("\r\n") + "\r\n"], { type: "text/csv" }));
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60000);
  };

  // A table's filter: words that all have to be in a row, and what it has to be, where that is pressed.
  for (const tools of all("[data-table]")) {
    const table = document.getElementById(tools.dataset.table + "-table");
    const body = table.tBodies[0];
    const rows = Array.from(body.rows, (row) => ({ row, text: row.textContent.toLowerCase(), is: row.cells[0].querySelector(".tag")?.textContent }));
    const input = tools.querySelector("input");
    const output = tools.querySelector("output");
    const chips = all("button[data-only]", tools);
    const filter = () => {
      const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
      const pressed = new Set(chips.filter((chip) => chip.getAttribute("aria-pressed") === "true").map((chip) => chip.dataset.only));
      let shown = 0;
      for (const { row, text, is } of rows) {
        const fits = (!pressed.size || pressed.has(is)) && words.every((word) => text.includes(word));
        if (row.hidden === fits) row.hidden = !fits;
        shown += fits;
      }
      output.textContent = shown === rows.length ? "" : `${number(shown)} of ${number(rows.length)} shown`;
    };
    input.addEventListener("input", filter);
    for (const chip of chips) {
      chip.addEventListener("click", () => {
        chip.setAttribute("aria-pressed", String(chip.getAttribute("aria-pressed") !== "true"));
        filter();
      });
    }
    const csv = tools.querySelector("button.csv");
    if (csv) {
      const columns = Object.entries(JSON.parse(csv.dataset.columns));
      csv.addEventListener("click", () => {
        const shown = Array.from(body.rows).filter((row) => !row.hidden);
        const values = (row) => columns.map(([, selector]) => quoted(cell(row.querySelector(selector)))).join(",");
        download([columns.map(([name]) => name).join(","), ...shown.map(values)], csv.dataset.file);
      });
    }
    const heads = Array.from(table.tHead.rows[0].cells);
    const ranks = { blocking: "0", warning: "1", info: "2" };
    heads.forEach((head, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => {
        const down = head.getAttribute("aria-sort") === "ascending";
        for (const other of heads) other.removeAttribute("aria-sort");
        head.setAttribute("aria-sort", down ? "descending" : "ascending");
        const keyed = rows.map((entry) => {
          const text = entry.row.cells[column].textContent.trim();
          return { entry, key: ranks[text] || text };
        });
        const order = new Intl.Collator("en", { numeric: true }).compare;
        keyed.sort((a, b) => (down ? order(b.key, a.key) : order(a.key, b.key)));
        body.append(...keyed.map(({ entry }) => entry.row));
      });
    });
  }

  // The tree: finding a namespace shows it with its parents and everything below it.
  const tools = document.querySelector("[data-tree]");
  if (tools) {
    const tree = document.querySelector(".tree");
    const input = tools.querySelector("input");
    const output = tools.querySelector("output");
    const folders = all("details", tree);
    const lines = all("li", tree);
    const texts = new Map(lines.map((line) => [line, line.querySelector(".line").textContent.toLowerCase()]));
    const initially = folders.map((folder) => folder.open);
    for (const button of all("button", tools)) {
      button.addEventListener("click", () => { for (const folder of folders) folder.open = Boolean(button.dataset.open); });
    }
    input.addEventListener("input", () => {
      const wanted = input.value.toLowerCase().trim();
      const kept = new Set();
      const below = new Set();
      let found = 0;
      if (wanted) {
        for (const line of lines) {
          const parent = line.parentElement.closest("li");
          const fits = texts.get(line).includes(wanted);
          if (fits || below.has(parent)) {
            kept.add(line);
            below.add(line);
          }
          if (!fits) continue;
          found += 1;
          for (let up = parent; up && !kept.has(up); up = up.parentElement.closest("li")) kept.add(up);
        }
      }
      for (const line of lines) line.hidden = Boolean(wanted) && !kept.has(line);
      folders.forEach((folder, index) => { folder.open = wanted ? true : initially[index]; });
      output.textContent = wanted ? `${number(found)} found` : "";
    });
  }

  addEventListener("beforeprint", () => { for (const folder of all("details")) folder.open = true; });
})();

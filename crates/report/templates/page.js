"use strict";
(() => {
  const byId = id => document.getElementById(id);
  const data = JSON.parse(byId("data").textContent);
  const blocks = data.sections.flatMap(section => section.blocks);
  const UNITS = { s: 1, ms: 1e-3, "µs": 1e-6, ns: 1e-9 };
  const state = { filter: "", unit: "", metric: "", sort: {}, picked: [] };

  // Numbers of a cell: value and bounds, and whether it is a time whose unit can be chosen.
  const figure = cell => {
    if (!cell || cell.kind !== "number") return null;
    const { value, low, high, method, unit, form } = cell.value;
    const brief = form === "brief" || form === "bracketed";
    return { value, low, high, form, time: unit === "seconds", shown: unit === "seconds" && !brief,
      bounded: !brief && (low !== null || high !== null), method: method === "point_only" ? null : method };
  };
  const digits = number => {
    const n = Math.abs(number);
    return number.toFixed(n >= 99.95 ? 0 : n >= 9.995 ? 1 : n >= 0.9995 ? 2 : 3);
  };
  const suited = seconds => {
    const s = Math.abs(seconds);
    return s >= 0.9995 ? "s" : s >= 0.9995e-3 ? "ms" : s >= 0.9995e-6 ? "µs" : "ns";
  };
  const time = (f, unit) => {
    if (f.value === 0) return "0 s";
    const u = unit || suited(f.value);
    const n = x => x === null ? "?" : unit ? String(Number((x / UNITS[u]).toPrecision(4))) : digits(x / UNITS[u]);
    const bounds = f.bounded ? ` (${n(f.low)}–${n(f.high)})` : "";
    const sign = f.form === "at_most" ? "< " : "";
    return `${sign}${n(f.value)} ${u}${bounds}`;
  };

  // Each table of the page with its rows' numbers; the data's tables are numbered alike.
  const tables = [];
  blocks.filter(block => block.block === "table").forEach((held, number) => {
    const element = document.querySelector(`table[data-table="${number}"]`);
    if (!element) return;
    const names = held.columns.map(column => column.name);
    const rows = [...element.tBodies[0].rows].map((tr, index) => {
      const words = [...tr.cells].map(td => td.textContent);
      const own = name => names.includes(name) ? words[names.indexOf(name)] : "";
      return { tr, index, table: number, words, figures: held.rows[index].map(figure),
        device: own("device"), provenance: own("provenance") };
    });
    const main = names.some((name, column) => name.includes("interval") && rows.some(row => row.figures[column]?.time));
    tables.push({ number, element, rows, main, names });
  });
  const find = key => {
    const [number, index] = key.split(".").map(Number);
    const table = tables.find(table => table.number === number);
    return table && table.main ? table.rows[index] : undefined;
  };
  const keyOf = row => `${row.table}.${row.index}`;
  const tableOf = row => tables.find(table => table.number === row.table);
  const named = row => row.words.slice(0, row.figures.findIndex(f => f !== null)).join(" ");

  // What is shown is not shown again: a page may have a thousand rows.
  const shown = { unit: "" };
  const anew = (what, key, show) => { if (shown[what] !== key) { shown[what] = key; show(); } };
  const showUnit = () => tables.forEach(({ rows }) => rows.forEach(row => row.figures.forEach((f, column) => {
    if (f && f.shown) row.tr.cells[column + row.shift].textContent = state.unit ? time(f, state.unit) : row.words[column];
  })));
  const showFilter = () => {
    const wanted = state.filter.toLowerCase().split(/\s+/).filter(word => word);
    let shown = 0, all = 0;
    tables.forEach(({ rows }) => rows.forEach(row => {
      const text = row.words.join(" ").toLowerCase();
      row.tr.hidden = !wanted.every(word => text.includes(word));
      all += 1;
      shown += row.tr.hidden ? 0 : 1;
    }));
    document.querySelectorAll("g[data-case]").forEach(mark =>
      mark.classList.toggle("out", !wanted.every(word => mark.dataset.case.toLowerCase().includes(word))));
    byId("shown").textContent = wanted.length ? `${shown} of ${all} rows` : `${all} rows`;
  };
  const showSort = table => {
    const [column, down] = state.sort[table.number] || [-1, false];
    const value = row => row.figures[column] ? row.figures[column].value : null;
    const compare = (a, b) => {
      const [x, y] = [value(a), value(b)];
      // What is not known stays at the end.
      if ((x === null) !== (y === null)) return x === null ? 1 : -1;
      const order = x !== null ? x - y : a.words[column].localeCompare(b.words[column], "en", { numeric: true });
      return (down ? -order : order) || a.index - b.index;
    };
    const sorted = column < 0 ? table.rows : [...table.rows].sort(compare);
    table.element.tBodies[0].append(...sorted.map(row => row.tr));
    [...table.element.tHead.rows[0].cells].forEach((th, place) => {
      if (place - table.shift === column) th.setAttribute("aria-sort", down ? "descending" : "ascending");
      else th.removeAttribute("aria-sort");
    });
  };

  const svg = (name, attributes, parent) => {
    const element = document.createElementNS("http://www.w3.org/2000/svg", name);
    Object.entries(attributes).forEach(([key, value]) => element.setAttribute(key, value));
    if (parent) parent.append(element);
    return element;
  };
  // A dot with its interval on a logarithmic axis that all selected cases share.
  const bar = (f, [low, high], label, hollow) => {
    const at = value => 8 + 240 * (high > low ? (Math.log(value) - low) / (high - low) : 0.5);
    const picture = svg("svg", { viewBox: "0 0 256 27", role: "img", "aria-label": label });
    svg("line", { class: "axis", x1: 0, x2: 256, y1: 13.5, y2: 13.5 }, picture);
    if (f.low > 0 && f.high > 0) svg("line", { x1: at(f.low), x2: at(f.high), y1: 13.5, y2: 13.5 }, picture);
    svg("circle", { cx: at(f.value), cy: 13.5, r: 5, class: hollow ? "hollow" : "" }, picture);
    return picture;
  };
  const cell = (tr, name, text, kind) => {
    const element = document.createElement(name);
    if (name === "th") element.scope = tr.parentNode.nodeName === "THEAD" ? "col" : "row";
    if (kind) element.className = kind;
    element.textContent = text;
    tr.append(element);
    return element;
  };
  const showCompared = () => {
    const rows = state.picked.map(find).filter(row => row);
    tables.forEach(table => table.main && table.rows.forEach(row => {
      row.box.checked = state.picked.includes(keyOf(row));
      row.tr.classList.toggle("picked", row.box.checked);
    }));
    byId("compared").hidden = rows.length === 0;
    byId("clear").disabled = rows.length === 0;
    const of = row => row.figures[tableOf(row).names.indexOf(state.metric)] || null;
    const ends = rows.map(of).filter(f => f && f.value > 0)
      .flatMap(f => [f.value, f.low, f.high]).filter(x => x > 0).map(Math.log);
    const range = [Math.min(...ends), Math.max(...ends)];
    byId("compared-caption").textContent = `By ${state.metric}, on a logarithmic axis; hollow where not measured`;
    const [head, body] = [byId("compared-table").tHead, byId("compared-table").tBodies[0]];
    head.replaceChildren(document.createElement("tr"));
    ["case", state.metric, "times the first", "", "provenance"].forEach((name, place) =>
      cell(head.rows[0], name ? "th" : "td", name, place === 1 || place === 2 ? "n" : ""));
    body.replaceChildren();
    rows.forEach(row => {
      const [tr, f, first] = [document.createElement("tr"), of(row), of(rows[0])];
      body.append(tr);
      const column = tableOf(row).names.indexOf(state.metric);
      const words = !f ? "-" : f.time ? time(f, state.unit) : row.words[column];
      cell(tr, "th", named(row));
      cell(tr, "td", words, "n");
      cell(tr, "td", f && first && first.value ? `×${digits(f.value / first.value)}` : "-", "n");
      const picture = cell(tr, "td", "", "bar");
      if (f && f.value > 0) picture.append(bar(f, range, `${named(row)}: ${words}`, row.provenance !== "measured"));
      cell(tr, "td", row.provenance);
    });
  };

  // The state is in the address behind '#', so that it can be shared.
  const remember = () => {
    const hash = new URLSearchParams();
    if (state.filter) hash.set("rows", state.filter);
    if (state.unit) hash.set("unit", state.unit);
    if (state.metric !== metrics[0]) hash.set("by", state.metric);
    Object.entries(state.sort).forEach(([table, [column, down]]) => hash.append("sort", `${table}.${column}.${down ? "down" : "up"}`));
    if (state.picked.length) hash.set("cases", state.picked.join(","));
    history.replaceState(null, "", `#${hash}`);
  };
  const unfold = () => document.querySelectorAll("details.every").forEach(fold => { fold.open = true; });
  const recall = () => {
    if (location.hash.length > 1) unfold();
    const hash = new URLSearchParams(location.hash.slice(1));
    state.filter = hash.get("rows") || "";
    state.unit = hash.get("unit") in UNITS ? hash.get("unit") : "";
    state.metric = metrics.includes(hash.get("by")) ? hash.get("by") : metrics[0];
    state.sort = {};
    hash.getAll("sort").forEach(text => {
      const [table, column, way] = text.split(".");
      const known = tables.find(known => known.number === Number(table));
      if (known && Number(column) < known.names.length) state.sort[table] = [Number(column), way === "down"];
    });
    state.picked = (hash.get("cases") || "").split(",").filter(find);
    [byId("filter").value, byId("unit").value, byId("metric").value] = [state.filter, state.unit, state.metric];
    showAll();
  };
  const showAll = () => {
    anew("unit", state.unit, showUnit);
    anew("filter", state.filter, showFilter);
    tables.forEach(table => anew(`sort ${table.number}`, String(state.sort[table.number]), () => showSort(table)));
    anew("compared", [state.unit, state.metric, ...state.picked].join(" "), showCompared);
  };
  const changed = change => { change(); showAll(); remember(); };

  const tip = byId("tip");
  const tell = (text, near) => {
    const box = near.getBoundingClientRect();
    tip.textContent = text;
    tip.hidden = !text;
    tip.style.left = `${Math.max(4, Math.min(box.left, innerWidth - tip.offsetWidth - 8))}px`;
    tip.style.top = `${box.bottom + tip.offsetHeight + 8 > innerHeight ? box.top - tip.offsetHeight - 6 : box.bottom + 6}px`;
  };
  const hush = () => { tip.hidden = true; };
  const exact = (name, f) => {
    const n = x => x === null ? "?" : `${Number(x.toPrecision(6))}`;
    const bounds = f.method ? ` (${n(f.low)} to ${n(f.high)}, ${f.method.replaceAll("_", " ")})` : "";
    return `${name}: ${n(f.value)}${f.time ? " s" : ""}${bounds}`;
  };
  const describe = (row, column) => {
    const { names } = tableOf(row);
    const told = row.figures.map((f, place) => f && (column === undefined || column === place) ? exact(names[place], f) : null);
    return [named(row) || row.words[0], ...told, [row.device, row.provenance].filter(word => word).join(", ")].filter(line => line).join("\n");
  };

  tables.forEach(table => {
    table.shift = table.main ? 1 : 0;
    const heads = [...table.element.tHead.rows[0].cells];
    heads.forEach((th, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = th.textContent;
      button.addEventListener("click", () => changed(() => {
        const [last, down] = state.sort[table.number] || [-1, false];
        if (last === column && down) delete state.sort[table.number];
        else state.sort[table.number] = [column, last === column];
      }));
      th.replaceChildren(button);
    });
    if (table.main) cell(table.element.tHead.rows[0], "th", "compare", "pick").parentNode.prepend(table.element.tHead.rows[0].lastChild);
    table.rows.forEach(row => {
      row.shift = table.shift;
      if (table.main) {
        row.box = document.createElement("input");
        row.box.type = "checkbox";
        row.box.setAttribute("aria-label", `compare ${named(row)}`);
        row.box.addEventListener("change", () => changed(() => {
          const key = keyOf(row);
          state.picked = row.box.checked ? [...state.picked, key] : state.picked.filter(other => other !== key);
        }));
        row.box.addEventListener("focus", () => {
          if (row.box.matches(":focus-visible")) { row.box.setAttribute("aria-describedby", "tip"); tell(describe(row), row.box); }
        });
        row.box.addEventListener("blur", () => { row.box.removeAttribute("aria-describedby"); hush(); });
        const td = document.createElement("td");
        td.className = "pick";
        td.append(row.box);
        row.tr.prepend(td);
      }
    });
    const rowOf = new Map(table.rows.map(row => [row.tr, row]));
    table.element.tBodies[0].addEventListener("mouseover", event => {
      const td = event.target.closest("td, th");
      const row = td && rowOf.get(td.parentNode);
      const column = td ? td.cellIndex - table.shift : -1;
      if (row && row.figures[column]) tell(describe(row, column), td);
      else hush();
    });
    table.element.addEventListener("mouseleave", hush);
  });
  // Pictures' marks: what they say is told here, and not a second time by the browser.
  document.querySelectorAll("g[data-mark] > title").forEach(title => {
    title.parentNode.dataset.tip = title.textContent;
    title.remove();
  });
  document.querySelectorAll("figure").forEach(figure => {
    figure.addEventListener("mouseover", event => {
      const mark = event.target.closest("[data-tip]");
      if (mark) tell(mark.dataset.tip, mark);
      else hush();
    });
    figure.addEventListener("mouseleave", hush);
  });
  tables.forEach(table => { shown[`sort ${table.number}`] = "undefined"; });
  const main = tables.filter(table => table.main);
  const metrics = [...new Set(main.flatMap(table => table.names.filter((name, column) => table.rows.some(row => row.figures[column]))))];
  if (!metrics.length) metrics.push("");
  byId("metric").append(...metrics.map(name => new Option(name, name)));
  byId("metric").closest("p").hidden = byId("clear").closest("p").hidden = !main.length;
  addEventListener("keydown", event => { if (event.key === "Escape") hush(); });
  addEventListener("scroll", hush, true);
  byId("filter").addEventListener("focus", unfold);
  byId("filter").addEventListener("input", event => changed(() => { state.filter = event.target.value; }));
  byId("unit").addEventListener("change", event => changed(() => { state.unit = event.target.value; }));
  byId("metric").addEventListener("change", event => changed(() => { state.metric = event.target.value; }));
  byId("clear").addEventListener("click", () => changed(() => { state.picked = []; }));
  addEventListener("hashchange", recall);
  byId("download").hidden = false;
  byId("download").addEventListener("click", event => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([byId("data").textContent], { type: "application/json" }));
    link.download = event.target.dataset.name;
    link.click();
    URL.revokeObjectURL(link.href);
  });
  byId("tools").hidden = tables.length === 0;
  recall();
  document.documentElement.dataset.ready = "yes";
})();

"use strict";
(() => {
  const byId = id => document.getElementById(id);
  const state = { rows: "", family: "", level: "", kind: "" };
  const fields = { rows: byId("words"), family: byId("family"), level: byId("level"), kind: byId("kind") };
  // What can be chosen away: rows of the list of devices, or a device's sections. Each says which families and levels it has.
  const entries = [...document.querySelectorAll("[data-keys]")].map(element => ({
    element,
    kind: element.dataset.kind || "",
    keys: element.dataset.keys.split(" ").map(key => key.split("/")),
    text: element.textContent.toLowerCase(),
  }));
  const ways = [...document.querySelectorAll("a[data-keeps]")].map(link => ({ link, href: link.getAttribute("href") }));

  const show = () => {
    const wanted = state.rows.toLowerCase().split(/\s+/).filter(word => word);
    const fits = ([family, level]) => (!state.family || family === state.family) && (!state.level || level === state.level);
    let shown = 0;
    entries.forEach(({ element, kind, keys, text }) => {
      element.hidden = !(keys.some(fits) && (!state.kind || kind === state.kind) && wanted.every(word => text.includes(word)));
      shown += element.hidden ? 0 : 1;
    });
    // What leads to a section goes with it.
    document.querySelectorAll("[data-with]").forEach(way => { way.hidden = byId(way.dataset.with).hidden; });
    byId("shown").textContent = `${shown} of ${entries.length} ${byId("shown").dataset.what}`;
  };
  // The state is in the address behind '#', and goes along to pages that have the same filters.
  const hash = () => {
    const chosen = new URLSearchParams(Object.entries(state).filter(([, value]) => value));
    return String(chosen) && `#${chosen}`;
  };
  const keep = () => {
    const { rows, kind, ...keys } = state;
    const along = String(new URLSearchParams(Object.entries(keys).filter(([, value]) => value)));
    ways.forEach(({ link, href }) => link.setAttribute("href", along ? `${href}#${along}` : href));
  };
  const recall = () => {
    // A place on the page, such as '#rsa2048-decrypt', chooses nothing.
    if (location.hash.length > 1 && !location.hash.includes("=")) return;
    const chosen = new URLSearchParams(location.hash.slice(1));
    Object.entries(fields).forEach(([name, field]) => {
      const value = (field && chosen.get(name)) || "";
      const known = field && (field.tagName === "INPUT" || [...field.options].some(option => option.value === value));
      state[name] = known ? value : "";
      if (field) field.value = state[name];
    });
    show();
    keep();
  };
  Object.entries(fields).forEach(([name, field]) => field && field.addEventListener("input", () => {
    state[name] = field.value;
    show();
    keep();
    history.replaceState(null, "", hash() || location.pathname);
  }));
  addEventListener("hashchange", recall);
  byId("tools").hidden = false;
  show();
  recall();
  document.documentElement.dataset.ready = "yes";
})();

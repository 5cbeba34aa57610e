// ---- keys, colours ----

document.querySelectorAll("[data-view]").forEach((b) => b.addEventListener("click", () => show(b.dataset.view)));

function dark(on) {
  document.documentElement.classList.toggle("dark", on);
}

byId("dark").addEventListener("click", () => dark(!document.documentElement.classList.contains("dark")));
dark(matchMedia("(prefers-color-scheme: dark)").matches);

function step(by) {
  const { rows, at } = panes[active];
  const next = Math.min(rows.length - 1, Math.max(0, at + by));
  keep(active, next);
}

function beside(by) {
  const visible = panes.map((pane, i) => (pane.box.hidden ? -1 : i)).filter((i) => i >= 0);
  const next = visible[(visible.indexOf(active) + by + visible.length) % visible.length];
  if (next === undefined) return;
  // The line that is marked there, if one is.
  const marked = panes[next].rows.findIndex((row) => row.classList.contains("marked"));
  if (marked >= 0) panes[next].at = marked;
  activate(next);
  panes[next].text.focus();
}

function values() {
  wantsValues = !wantsValues;
  if (kept) valuesOf(...kept);
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches("select, input[type=checkbox]")) return;
  const slide = (by) => {
    byId("slider").value = Number(byId("slider").value) + by;
    showPass();
  };
  const everywhere = {
    c: () => show("code"), p: () => show("passes"), m: () => show("memory"), l: () => show("loops"), o: () => show("occupancy"),
    t: () => show("time"), x: () => show("compare"), d: () => byId("dark").click(), s: () => choose((data.sides.indexOf(side) + 1) % data.sides.length),
  };
  const ofView = {
    code: {
      ArrowUp: () => step(-1), ArrowDown: () => step(1), k: () => step(-1), j: () => step(1), ArrowLeft: () => beside(-1),
      ArrowRight: () => beside(1), Enter: () => keep(active, panes[active].at), Escape: letGo, v: values,
    },
    passes: { ArrowLeft: () => slide(-1), ArrowRight: () => slide(1) },
  };
  const digit = Number(event.key);
  const isPane = view === "code" && digit >= 1 && digit <= panes.length;
  const act = isPane ? () => toggle(digit - 1) : ofView[view]?.[event.key] ?? everywhere[event.key];
  if (!act) return;
  event.preventDefault();
  act();
});

function describe() {
  byId("title").textContent = `${data.kernel} · ${side.arch}`;
  byId("facts").textContent = side.facts.map(([name, value]) => `${value} ${name}`).join(" · ");
  byId("facts").title = byId("facts").textContent;
  document.title = `${data.kernel} for ${data.sides.map((one) => one.arch).join(" and ")}`;
}

describe();
activate(0);
show("code");

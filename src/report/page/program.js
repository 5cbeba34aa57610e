"use strict";
// Shows what stands in the element `data`: stages side by side with their lines linked, the module after each pass,
// times. There is nothing to load and nobody to ask.

const data = JSON.parse(document.getElementById("data").textContent);
const byId = (id) => document.getElementById(id);
const element = (name, properties = {}, ...children) => {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
};

// ---- panes: the source, then a pane a stage ----

const panes = [];

/** The rows of a pane: texts with the places that each leads to. */
function fill(pane, lines, placesOf) {
  pane.places = lines.map((_, i) => placesOf(i));
  pane.rows = lines.map((text, i) => {
    const row = element("div", { className: "row" }, element("i", { textContent: i + 1 }), element("span", { textContent: text }));
    if (pane.places[i].length > 0) row.classList.add("linked");
    return row;
  });
  pane.text.replaceChildren(...pane.rows);
}

function pane(name, lines, placesOf) {
  const title = element("h2", { textContent: name });
  const text = element("div", { className: "text", tabIndex: 0 });
  const made = { name, title, text, rows: [], places: [], at: 0 };
  made.box = element("div", { className: "pane" }, title, text);
  fill(made, lines, placesOf);
  const index = panes.length;
  const rowOf = (event) => made.rows.indexOf(event.target.closest(".row"));
  text.addEventListener("mouseover", (event) => {
    const row = rowOf(event);
    if (row >= 0 && kept === undefined) point(index, row, false);
  });
  text.addEventListener("click", (event) => {
    const row = rowOf(event);
    if (row >= 0) keep(index, row);
  });
  text.addEventListener("focus", () => activate(index));
  panes.push(made);
  byId("code").append(made.box);
  return made;
}

// ---- the source ----

let shownFile = 0;
const numberOf = new Map(data.places.map(([file, line], i) => [`${file}:${line}`, i]));
const used = new Set(data.places.map(([file]) => file));

function showFile(file) {
  shownFile = file;
  const source = panes[0];
  const lines = data.files[file].text.split("\n");
  fill(source, lines, (i) => {
    const place = numberOf.get(`${file}:${i + 1}`);
    return place === undefined ? [] : [place];
  });
  for (const remark of data.remarks) {
    if (remark.place === null || data.places[remark.place][0] !== file) continue;
    const row = source.rows[data.places[remark.place][1] - 1];
    const said = element("span", { className: "said", textContent: `◂ ${remark.code} ${remark.message}` });
    said.title = remark.help ?? "";
    row?.append(said);
  }
  if (choice) choice.value = file;
}

pane("Source", [], () => []);
const files = [...used].sort((a, b) => a - b);
const choice = files.length > 1 ? element("select", { ariaLabel: "source file" }) : undefined;
if (choice) {
  choice.append(...files.map((file) => element("option", { value: file, textContent: data.files[file].name })));
  choice.addEventListener("change", () => showFile(Number(choice.value)));
  panes[0].title.replaceChildren(choice);
} else if (files.length === 1) {
  panes[0].title.textContent = data.files[files[0]].name;
}
for (const { name, lines, at } of data.stages) {
  pane(name, lines, (i) => (at[i] < 0 ? [] : data.chains[at[i]]));
}
showFile(files[0] ?? 0);

// ---- pointing ----

let kept; // the line that stays marked
let active = 0;

function activate(index) {
  active = index;
  panes.forEach((pane, i) => pane.box.classList.toggle("active", i === index));
}

/** Marks everything that shares a place with a row. Of a row in a stage the innermost place and its callers count. */
function point(index, row, scroll) {
  const from = panes[index];
  from.at = row;
  const wanted = new Set(from.places[row]);
  panes.forEach((pane, i) => {
    let first = -1;
    pane.rows.forEach((other, at) => {
      const marked = wanted.size > 0 && pane.places[at].some((place) => wanted.has(place));
      other.classList.toggle("marked", marked);
      other.classList.toggle("here", i === index && at === row);
      if (marked && first < 0) first = at;
    });
    if (scroll && i !== index && first >= 0) pane.rows[first].scrollIntoView({ block: "center" });
    const count = pane.rows.filter((other) => other.classList.contains("marked")).length;
    pane.box.dataset.marked = count;
  });
  if (scroll) from.rows[row]?.scrollIntoView({ block: "nearest" });
}

function keep(index, row) {
  // The source of a line may be in another file than the one that is shown.
  if (index > 0 && panes[index].places[row].length > 0) {
    const shown = panes[index].places[row].map((place) => data.places[place][0]);
    if (!shown.includes(shownFile)) showFile(shown[0]);
  }
  kept = [index, row];
  activate(index);
  point(index, row, true);
}

function letGo() {
  kept = undefined;
  document.querySelectorAll(".marked, .here").forEach((row) => row.classList.remove("marked", "here"));
}

// ---- stages on and off ----

function toggle(index) {
  const box = panes[index]?.box;
  if (!box) return;
  box.hidden = !box.hidden;
  byId("stages").children[index].ariaPressed = String(!box.hidden);
}

panes.forEach((pane, i) => {
  const button = element("button", { ariaPressed: "true", onclick: () => toggle(i) });
  button.append(`${pane.name} `, element("kbd", { textContent: i + 1 }));
  byId("stages").append(button);
});

// ---- passes ----

const modules = data.passes.map((pass, i) => ({ ...pass, i })).filter((pass) => pass.lines !== null);

/** A line without what changes when values are numbered again. */
const plain = data.lines.map((line) => line.replace(/%[\w]+(#\d+)?/g, "%"));

/** The longest common subsequence of two lists of keys, as pairs of indices. Equal ends are cut off first. */
function common(a, b) {
  let start = 0;
  let endA = a.length;
  let endB = b.length;
  const pairs = [];
  while (start < endA && start < endB && a[start] === b[start]) pairs.push([start, start++]);
  const tail = [];
  while (endA > start && endB > start && a[endA - 1] === b[endB - 1]) tail.push([--endA, --endB]);
  const [n, m] = [endA - start, endB - start];
  if (n * m < 16e6) {
    const best = Array.from({ length: n + 1 }, () => new Uint16Array(m + 1));
    for (let i = n - 1; i >= 0; i--) {
      for (let j = m - 1; j >= 0; j--) {
        best[i][j] = a[start + i] === b[start + j] ? best[i + 1][j + 1] + 1 : Math.max(best[i + 1][j], best[i][j + 1]);
      }
    }
    for (let i = 0, j = 0; i < n && j < m; ) {
      if (a[start + i] === b[start + j]) pairs.push([start + i++, start + j++]);
      else if (best[i + 1][j] >= best[i][j + 1]) i++;
      else j++;
    }
  }
  return pairs.concat(tail.reverse());
}

/** The lines of a difference: [sign, text]. */
function difference(before, after, exact) {
  const key = (id) => (exact ? id : plain[id]);
  const out = [];
  let [i, j] = [0, 0];
  for (const [x, y] of [...common(before.map(key), after.map(key)), [before.length, after.length]]) {
    while (i < x) out.push(["-", data.lines[before[i++]]]);
    while (j < y) out.push(["+", data.lines[after[j++]]]);
    if (x < before.length) out.push([" ", data.lines[after[j]]]);
    [i, j] = [x + 1, y + 1];
  }
  return out;
}

function showPass() {
  const at = Number(byId("slider").value);
  const pass = modules[at];
  if (!pass) return;
  const earlier = modules[at - 1];
  const before = earlier && (earlier.stage === pass.stage || pass.name !== "input") ? earlier.lines : pass.lines;
  const whole = byId("whole").checked;
  const lines = difference(before, pass.lines, byId("numbers").checked);
  const near = lines.map(([sign], i) => whole || lines.slice(Math.max(0, i - 3), i + 4).some(([s]) => s !== " ") || sign !== " ");
  const shown = [];
  let skipped = 0;
  lines.forEach(([sign, text], i) => {
    if (!near[i]) {
      skipped++;
      return;
    }
    if (skipped > 0) shown.push(element("div", { className: "skip", textContent: `  … ${skipped} lines` }));
    skipped = 0;
    const kind = sign === "+" ? "add" : sign === "-" ? "gone" : "";
    shown.push(element("div", { className: kind, textContent: `${sign} ${text}` }));
  });
  if (skipped > 0) shown.push(element("div", { className: "skip", textContent: `  … ${skipped} lines` }));
  byId("diff").replaceChildren(...shown);
  const changed = lines.filter(([sign]) => sign !== " ").length;
  byId("pass").textContent = `${at + 1}/${modules.length} ${pass.stage}: ${pass.name}, ${pass.ms.toFixed(3)} ms, ${changed} lines changed`;
}

byId("slider").max = Math.max(0, modules.length - 1);
for (const id of ["slider", "whole", "numbers"]) byId(id).addEventListener("input", showPass);

// ---- times ----

function times() {
  const table = (rows) => {
    const most = Math.max(...rows.map(([, ms]) => ms), 1e-9);
    return element("table", {}, ...rows.map(([name, ms]) =>
      element("tr", {},
        element("td", { textContent: name }),
        element("td", { className: "number", textContent: `${ms.toFixed(3)} ms` }),
        element("td", {}, Object.assign(element("div", { className: "beam" }), { style: `width: ${(ms / most) * 320}px` })))));
  };
  const sum = data.times.reduce((all, [, ms]) => all + ms, 0);
  const slow = data.passes.map((p) => [`${p.stage}: ${p.name}`, p.ms]).sort((a, b) => b[1] - a[1]).slice(0, 20);
  const traced = data.traced && `${data.traced[1]} of ${data.traced[0]} SASS instructions lead back to a source line.`;
  byId("time").append(
    element("h3", { textContent: `Stages: ${sum.toFixed(1)} ms` }), table(data.times),
    element("h3", { textContent: "Passes that took longest" }), table(slow),
    element("p", { textContent: traced ?? "" }),
    element("h3", { textContent: `Remarks: ${data.remarks.length}` }),
    ...data.remarks.map((r) => element("p", { textContent: `${r.severity} ${r.code}: ${r.message}${r.help ? ` (${r.help})` : ""}` })));
}

// ---- views, keys, colours ----

let view = "code";

function show(name) {
  view = name;
  document.querySelectorAll(".view").forEach((section) => (section.hidden = section.id !== name));
  document.querySelectorAll("[data-view]").forEach((b) => (b.ariaPressed = String(b.dataset.view === name)));
  if (name === "passes") showPass();
}

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

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches("select, input[type=checkbox]")) return;
  const passes = view === "passes";
  const slide = (by) => {
    byId("slider").value = Number(byId("slider").value) + by;
    showPass();
  };
  const keys = {
    c: () => show("code"), p: () => show("passes"), t: () => show("time"), d: () => byId("dark").click(),
    ArrowUp: () => step(-1), ArrowDown: () => step(1), k: () => step(-1), j: () => step(1),
    ArrowLeft: () => (passes ? slide(-1) : beside(-1)), ArrowRight: () => (passes ? slide(1) : beside(1)),
    Enter: () => keep(active, panes[active].at), Escape: letGo,
  };
  const digit = Number(event.key);
  const act = digit >= 1 && digit <= panes.length ? () => toggle(digit - 1) : keys[event.key];
  if (!act || (passes && event.key.startsWith("Arrow") && /Up|Down/.test(event.key))) return;
  event.preventDefault();
  act();
});

byId("title").textContent = `${data.kernel} · ${data.arch}`;
byId("facts").textContent = data.facts.map(([name, value]) => `${value} ${name}`).join(" · ");
document.title = `${data.kernel} for ${data.arch}`;
times();
activate(0);
show("code");

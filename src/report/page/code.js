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

function pane(name) {
  const title = element("h2", { textContent: name });
  const text = element("div", { className: "text", tabIndex: 0 });
  const made = { name, title, text, rows: [], places: [], at: 0, values: new Map() };
  made.box = element("div", { className: "pane" }, title, text);
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
  byId("panes").append(made.box);
  return made;
}

// ---- the source ----

let shownFile = 0;
const numberOf = new Map(data.places.map(([file, line], i) => [`${file}:${line}`, i]));
const used = new Set(data.places.map(([file]) => file));
const files = [...used].sort((a, b) => a - b);

function showFile(file) {
  shownFile = file;
  const source = panes[0];
  const lines = (data.files[file]?.text ?? "").split("\n");
  fill(source, lines, (i) => {
    const place = numberOf.get(`${file}:${i + 1}`);
    return place === undefined ? [] : [place];
  });
  for (const remark of side.remarks) {
    if (remark.place === null || data.places[remark.place][0] !== file) continue;
    const row = source.rows[data.places[remark.place][1] - 1];
    const said = element("span", { className: "said", textContent: `◂ ${remark.code} ${remark.message}` });
    said.title = remark.help ?? "";
    row?.append(said);
  }
  if (choice) choice.value = file;
}

pane("Source");
const choice = files.length > 1 ? element("select", { ariaLabel: "source file" }) : undefined;
if (choice) {
  choice.append(...files.map((file) => element("option", { value: file, textContent: data.files[file].name })));
  choice.addEventListener("change", () => showFile(Number(choice.value)));
  panes[0].title.replaceChildren(choice);
} else if (files.length === 1) {
  panes[0].title.textContent = data.files[files[0]].name;
}
side.stages.forEach(({ name }) => pane(name));

/** Puts the stages of the shown side into the panes. */
function fillStages() {
  side.stages.forEach(({ name, lines, at, values = [] }, i) => {
    const one = panes[i + 1];
    one.name = name;
    one.title.textContent = name;
    fill(one, lines, (row) => (at[row] < 0 ? [] : data.chains[at[row]]));
    one.values = Map.groupBy ? Map.groupBy(values, (v) => v.row) : group(values);
    for (const row of one.values.keys()) one.rows[row]?.classList.add("valued");
  });
  pressure();
  showFile(files.includes(shownFile) ? shownFile : files[0] ?? 0);
}

function group(values) {
  const map = new Map();
  for (const value of values) map.set(value.row, [...(map.get(value.row) ?? []), value]);
  return map;
}

/** A bar beside each instruction, as long as its registers in use; the longest is marked. */
function pressure() {
  const last = panes.at(-1);
  if (!side.pressure) return;
  const { kinds, rows, most } = side.pressure;
  const gpr = Math.max(0, kinds.indexOf("GPR"));
  const [top, where] = most[gpr];
  rows.forEach((numbers, i) => {
    if (!numbers || !last.rows[i]) return;
    const bar = element("b", { className: "lives", textContent: numbers[gpr] });
    bar.style.setProperty("--part", numbers[gpr] / Math.max(1, top));
    bar.title = kinds.map((kind, k) => `${kind} ${numbers[k]}`).join(", ");
    if (numbers[gpr] === top) bar.classList.add("most");
    last.rows[i].children[0].after(bar);
  });
  const link = element("a", { href: "#", textContent: `most: ${top} registers in use`, onclick: (event) => {
    event.preventDefault();
    last.rows[where].scrollIntoView({ block: "center" });
    keep(panes.length - 1, where);
  } });
  last.title.append(" ", link);
}

// ---- pointing ----

let kept; // the line that stays marked
let active = 0;

function activate(index) {
  active = index;
  panes.forEach((pane, i) => pane.box.classList.toggle("active", i === index));
}

/** Marks what came from the place of a row; of a row in a stage that is the innermost place. */
function point(index, row, scroll) {
  const from = panes[index];
  from.at = row;
  // In the source the lines that called count too; in the stages they would mark all of an inlined function.
  const callers = new Set(from.places[row]);
  const inner = new Set((from.places[row] ?? []).slice(0, 1));
  panes.forEach((pane, i) => {
    let first = -1;
    const wanted = i === 0 ? callers : inner;
    pane.rows.forEach((other, at) => {
      const marked = pane.places[at].some((place) => wanted.has(place));
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
  if (index > 0 && panes[index].places[row]?.length > 0) {
    const shown = panes[index].places[row].map((place) => data.places[place][0]);
    if (!shown.includes(shownFile)) showFile(shown[0]);
  }
  kept = [index, row];
  activate(index);
  // First what takes room, then what scrolls into the rest.
  valuesOf(index, row);
  point(index, row, true);
}

function letGo() {
  kept = undefined;
  byId("value").hidden = true;
  document.querySelectorAll(".marked, .here").forEach((row) => row.classList.remove("marked", "here"));
}

// ---- values ----

let wantsValues = true;

/** What a type is and takes, in words. */
function words(held) {
  const bytes = held.bytes === null ? "" : `${held.bytes.toLocaleString("en")} bytes`;
  if (held.place !== "registers") return [held.place, bytes].filter(Boolean).join(", ");
  const what = / ?x?i1[,>]/.test(held.type) ? "predicate" : "register";
  const copies = held.copies > 1 ? `, each held ${held.copies} times` : "";
  const counted = (n, word) => `${n} ${n === 1 ? word : `${word}s`}`;
  return `${counted(held.elements, "element")} a thread in ${counted(held.registers, what)}${copies}, ${bytes} in all`;
}

function valuesOf(index, row) {
  const box = byId("value");
  const found = panes[index].values?.get(row) ?? [];
  box.hidden = found.length === 0 || !wantsValues;
  if (box.hidden) return;
  const picture = element("div", { className: "layout" });
  const choose = (value, button) => {
    const held = side.types.held[value.type];
    box.querySelectorAll("button.value").forEach((b) => (b.ariaPressed = String(b === button)));
    const layout = held.layout === null ? undefined : side.types.layouts[held.layout];
    picture.replaceChildren(
      element("p", { className: "type", textContent: `${value.name}: ${held.type}` }),
      element("p", { className: "held", textContent: words(held) }),
    );
    if (!layout) return;
    const part = layout.seen.some((n, i) => n < layout.shape[i]) ? `; drawn are the first ${layout.seen.join(" × ")}` : "";
    const whose = held.place === "registers" ? "T5:2 is register 2 of thread 5, +3 says that three more hold the element" : "numbers are offsets in elements; colours are banks";
    picture.append(
      element("p", { className: "note", textContent: `${layout.shape.join(" × ")} elements, ${whose}${part}` }),
      draw(layout.picture),
    );
  };
  const buttons = found.map((value) => {
    const button = element("button", { className: "value", textContent: `${value.new ? "" : "uses "}${value.name}` });
    button.addEventListener("click", () => choose(value, button));
    return button;
  });
  box.replaceChildren(element("nav", {}, ...buttons), picture);
  // The first that has a layout says most.
  const best = Math.max(0, found.findIndex((v) => side.types.held[v.type].layout !== null));
  choose(found[best], buttons[best]);
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

fillStages();

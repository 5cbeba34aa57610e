// ---- two sides ----

/** What is counted of a side: names with texts. */
function counted(one) {
  const rows = new Map(one.facts);
  rows.set("GPU", one.arch);
  rows.set("compiler", one.compiler || "not known");
  for (const { name, lines } of one.stages) if (lines.length > 0) rows.set(`lines of ${name}`, String(lines.length));
  if (one.pressure) rows.set("registers in use at most", String(one.pressure.most[Math.max(0, one.pressure.kinds.indexOf("GPR"))][0]));
  if (one.occupancy) rows.set("occupancy limited by", one.occupancy.limits.map((r) => RESOURCES[r]).join(", "));
  for (const [name, ms] of data.sides.every((s) => s.times.length > 0) ? one.times : []) rows.set(`ms of ${name}`, ms.toFixed(1));
  return rows;
}

/** How often each operation of SASS or of the ISA comes, without what follows the dots of its name. */
function operations(one) {
  const counts = new Map();
  for (const line of one.stages.at(-1).lines) {
    const found = line.match(/^\/\*[0-9a-f]+\*\/ (?:@!?\w+ )?([A-Z0-9]+)/) ?? line.match(/^\s+([a-z]\w*)/);
    if (found) counts.set(found[1], (counts.get(found[1]) ?? 0) + 1);
  }
  return counts;
}

function both(heads, left, right, onlyDifferent) {
  const names = [...new Set([...left.keys(), ...right.keys()])];
  const rows = names.map((name) => [name, left.get(name), right.get(name)]).filter(([, a, b]) => !onlyDifferent || a !== b);
  const table = grid(heads, rows.map(([name, a, b]) => [name, String(a ?? ""), String(b ?? ""), typeof a === "number" || typeof b === "number" ? signed((b ?? 0) - (a ?? 0)) : ""]));
  [...table.tBodies[0].rows].forEach((row, i) => row.classList.toggle("differs", rows[i][1] !== rows[i][2] && !rows[i][0].startsWith("ms of ")));
  return table;
}

const signed = (n) => (n > 0 ? `+${n}` : String(n));

/** A line without addresses, numbers of values and registers, and locations. */
const bare = (line) => line.replace(/^\/\*[0-9a-f]+\*\/ /, "").replace(/[%!#]?[\w.]*\d+(#\d+)?/g, (word) => (/^(%|R|UR|P|UP)/.test(word) ? "%" : word));

let compared = 1;

fillers.compare = () => {
  const [left, right] = data.sides;
  const box = byId("compare");
  const diff = element("div", { className: "split" });
  const tabs = element("nav", {}, ...left.stages.map(({ name }, i) => {
    const other = right.stages[i]?.name;
    const button = element("button", { textContent: name === other || !other ? name : `${name} / ${other}` });
    button.addEventListener("click", () => {
      compared = i;
      split();
    });
    return button;
  }));
  const split = () => {
    [...tabs.children].forEach((b, i) => (b.ariaPressed = String(i === compared)));
    const [a, b] = [left.stages[compared]?.lines ?? [], right.stages[compared]?.lines ?? []];
    const rows = aligned(a.map(bare), b.map(bare));
    const cell = (line, other) => element("div", { className: line === undefined ? "none" : other === undefined ? "only" : "", textContent: line ?? "" });
    const same = rows.filter(([i, j]) => i !== undefined && j !== undefined).length;
    diff.replaceChildren(
      element("p", { className: "note", textContent: `${same} lines are the same but for numbers of values and registers; ${a.length - same} are on the left alone, ${b.length - same} on the right.` }),
      element("div", { className: "columns" }, ...rows.flatMap(([i, j]) => [cell(a[i], b[j]), cell(b[j], a[i])])),
    );
  };
  box.replaceChildren(
    heading(`${left.name} and ${right.name}`),
    element("div", { className: "beside" },
      element("div", {}, element("h4", { textContent: "Numbers" }), both(["", left.name, right.name, ""], counted(left), counted(right), false)),
      element("div", {}, element("h4", { textContent: "Instructions that come more or less often" }), both(["", left.name, right.name, ""], operations(left), operations(right), true))),
    heading("Stages"), tabs, diff,
  );
  split();
};

/** Shows another side in all views. */
function choose(n) {
  if (!data.sides[n]) return;
  side = data.sides[n];
  letGo();
  fillStages();
  filled.clear();
  filled.add("compare");
  describe();
  show(view);
  [...byId("sides").children].forEach((b, i) => (b.ariaPressed = String(i === n)));
}

if (data.sides.length > 1) {
  byId("sides").hidden = false;
  document.querySelector("[data-view=compare]").hidden = false;
  byId("sides").append(...data.sides.map((one, i) => element("button", { textContent: one.name, ariaPressed: String(i === 0), onclick: () => choose(i) })));
}

"use strict";
// Shows what stands in the element `data`: stages side by side with their lines linked, values with their layouts, the
// module after each pass, shared memory, loops, occupancy, times. There is nothing to load and nobody to ask.

const data = JSON.parse(document.getElementById("data").textContent);
const byId = (id) => document.getElementById(id);
const element = (name, properties = {}, ...children) => {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
};

/** The side that is shown. */
let side = data.sides[0];

// ---- views ----

let view = "code";
/** What fills a view when it is shown first, and again for another side. */
const fillers = {};
const filled = new Set();

function show(name) {
  if (byId(name) === null || (name === "compare" && data.sides.length < 2)) return;
  view = name;
  document.querySelectorAll(".view").forEach((section) => (section.hidden = section.id !== name));
  document.querySelectorAll("[data-view]").forEach((b) => (b.ariaPressed = String(b.dataset.view === name)));
  if (!filled.has(name)) {
    filled.add(name);
    fillers[name]?.();
  }
}

// ---- pictures ----

const SVG = "http://www.w3.org/2000/svg";
const INKS = ["paper", "text", "soft", "axis", "grid", "edge", "wait", "faint", "alarm", "oncolour"];
/** The colour of an ink: one of the page's own, or the colour itself. */
const colour = (ink) => (INKS.includes(ink) ? `var(--ink-${ink})` : ink);

function shape(name, attributes, text) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) if (value !== undefined) made.setAttribute(key, value);
  if (text) made.append(text);
  return made;
}

function titled(made, title) {
  if (title) made.append(shape("title", {}, title));
  return made;
}

const drawers = {
  rect: ({ x, y, w, h, fill, stroke, title, link }) => {
    const made = shape("rect", { x, y, width: w, height: h, fill: colour(fill), stroke: stroke && colour(stroke) });
    if (link !== undefined) {
      made.classList.add("link");
      made.addEventListener("click", () => goTo(link));
    }
    return titled(made, title);
  },
  line: ({ from, to, ink, dash }) => shape("line", {
    x1: from[0], y1: from[1], x2: to[0], y2: to[1], stroke: colour(ink), "stroke-dasharray": dash?.join(" "),
  }),
  text: ({ x, y, text, style }) => shape("text", {
    x, y, "text-anchor": style.anchor === "start" ? undefined : style.anchor, fill: colour(style.ink), "font-size": style.size,
    "font-weight": style.bold ? "bold" : undefined, transform: style.turned ? `rotate(-90 ${x} ${y})` : undefined,
  }, text),
  curve: ({ ink, points, titles }) => {
    const group = shape("g", {});
    group.append(shape("polyline", { points: points.join(" "), fill: "none", stroke: colour(ink), "stroke-width": 2 }));
    points.forEach(([cx, cy], i) => group.append(titled(shape("circle", { cx, cy, r: 4, fill: colour(ink) }), titles[i])));
    return group;
  },
  table: ({ x, y, columns, w, h, cells }) => {
    const group = shape("g", {});
    cells.labels.forEach((label, i) => {
      const [left, top] = [x + (i % columns) * w, y + Math.floor(i / columns) * h];
      const cell = shape("g", { class: "cell", "data-holder": label.split(/[| ]/)[0].split(":").slice(0, -1).join(":") });
      cell.append(shape("rect", { x: left, y: top, width: w, height: h, fill: colour(cells.inks[cells.fills[i]]) }));
      const short = label.length > 24 ? `${label.slice(0, 22)}…` : label;
      cell.append(shape("text", { x: left + w / 2, y: top + h - 6, "text-anchor": "middle", fill: colour("oncolour") }, short));
      group.append(titled(cell, label));
    });
    // All that a thread holds, from one of its elements.
    group.addEventListener("mouseover", (event) => {
      const holder = event.target.closest(".cell")?.dataset.holder;
      for (const cell of group.children) cell.classList.toggle("same", Boolean(holder) && cell.dataset.holder === holder);
    });
    return group;
  },
};

/** A picture of the data as SVG. */
function draw(picture) {
  const { width, height, font, monospaced, shapes } = picture;
  const svg = shape("svg", {
    width, height, viewBox: `0 0 ${width} ${height}`, "font-size": font, "font-family": monospaced ? "ui-monospace, monospace" : "system-ui, sans-serif",
  });
  svg.classList.add("picture");
  svg.append(...shapes.map((one) => drawers[one.is](one)));
  return svg;
}

/** A table with heads; cells are texts or nodes. Numbers stand on the right. */
function grid(heads, rows) {
  const cell = (name, content) => element(name, { className: /^-?[\d,.]+$/.test(content?.textContent ?? content ?? "") ? "number" : "" }, content ?? "");
  return element("table", { className: "grid" },
    element("thead", {}, element("tr", {}, ...heads.map((h) => element("th", { textContent: h })))),
    element("tbody", {}, ...rows.map((row) => element("tr", {}, ...row.map((c) => cell("td", c))))));
}

/** The name of a place, which leads there. */
function placeLink(place) {
  if (place === null || place === undefined) return "";
  const [file, line] = data.places[place];
  const name = data.files[file].name.split("/").at(-1);
  return element("a", { href: "#", textContent: `${name}:${line}`, onclick: (event) => { event.preventDefault(); goTo(place); } });
}

/** Shows the code of a place, marked in every stage. */
function goTo(place) {
  const [file, line] = data.places[place];
  show("code");
  if (file !== shownFile) showFile(file);
  keep(0, line - 1);
  panes[0].rows[line - 1]?.scrollIntoView({ block: "center" });
}

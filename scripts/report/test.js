// Opens each page that is named, and compares what it shows with the page's own data: clicks ten source lines, opens
// values, steps through the passes, visits every view and the other side. It wants no error on the console and no request
// but the page itself. Pictures are written beside each page.

import fs from "node:fs";
import { pathToFileURL } from "node:url";
import puppeteer from "puppeteer-core";

const browser = await puppeteer.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-gpu", "--proxy-server=127.0.0.1:9"],
});
let failures = 0;

function check(what, ok, found = "") {
  if (!ok) {
    failures++;
    console.log(`FAILED  ${what}`, found);
  }
}

/** The rows of each stage that a source line should mark, by the data alone. */
function expected(data, side, file, line) {
  const place = data.places.findIndex(([f, l]) => f === file && l === line);
  return side.stages.map(({ at }) =>
    at.flatMap((chain, row) => (place >= 0 && chain >= 0 && data.chains[chain].includes(place) ? [row] : [])));
}

/** Clicks source lines and compares what is marked; gives how many lines and marks there were. */
async function lines(page, path, data, side) {
  const file = Math.min(...data.places.map(([f]) => f));
  const all = [...new Set(data.places.filter(([f]) => f === file).map(([, l]) => l))].sort((a, b) => a - b);
  const chosen = all.filter((_, i) => i % Math.ceil(all.length / 10) === 0).slice(0, 10);
  let marks = 0;
  for (const line of chosen) {
    const marked = await page.evaluate((row) => {
      document.querySelectorAll(".pane")[0].querySelectorAll(".row")[row].click();
      return [...document.querySelectorAll(".pane")].slice(1).map((pane) =>
        [...pane.querySelectorAll(".row")].flatMap((row, i) => (row.classList.contains("marked") ? [i] : [])));
    }, line - 1);
    const wanted = expected(data, side, file, line);
    check(`${path}: line ${line}`, JSON.stringify(marked) === JSON.stringify(wanted), { marked, wanted });
    marks += marked.flat().length;
  }
  return [chosen.length, marks];
}

/** Opens the values of rows of TTGIR that have the largest types. */
async function values(page, path, side) {
  const [n, stage] = [...side.stages.entries()].find(([, s]) => s.name === "TTGIR");
  const { held, layouts } = side.types;
  const drawn = stage.values.filter((v) => v.new && held[v.type].layout !== null);
  for (const value of drawn.filter((_, i) => i % Math.ceil(drawn.length / 5) === 0)) {
    const shown = await page.evaluate((pane, row, name) => {
      document.querySelectorAll(".pane")[pane].querySelectorAll(".row")[row].click();
      const box = document.getElementById("value");
      [...box.querySelectorAll("button.value")].find((b) => b.textContent === name)?.click();
      return { visible: box.offsetHeight > 0, type: box.querySelector(".type")?.textContent, held: box.querySelector(".held")?.textContent,
        cells: box.querySelectorAll("svg .cell").length };
    }, n + 1, value.row, value.name);
    const type = held[value.type];
    const cells = layouts[type.layout].seen.reduce((a, b) => a * b, 1);
    check(`${path}: the type of ${value.name}`, shown.visible && shown.type === `${value.name}: ${type.type}`, shown);
    check(`${path}: the cells of ${value.name}`, shown.cells === cells, { shown, cells });
    const numbers = type.place === "registers" ? [`${type.elements} element`, `in ${type.registers} `] : [type.place];
    check(`${path}: what ${value.name} takes`, numbers.every((words) => shown.held.includes(words)), shown);
  }
  return drawn.length;
}

const visible = (page) => page.$$eval(".view", (all) => all.filter((v) => v.offsetHeight > 0).map((v) => v.id).join());

/** Opens each view of numbers and compares it with the data. */
async function views(page, path, side) {
  const open = async (key, name) => {
    await page.keyboard.press(key);
    check(`${path}: ${name} alone is shown`, (await visible(page)) === name, await visible(page));
    return page.$eval(`#${name}`, (e) => e.textContent);
  };
  const memory = await open("m", "memory");
  if (side.memory) {
    const rows = await page.$$eval("#memory .grid", (all) => all.map((t) => t.tBodies[0].rows.length));
    check(`${path}: buffers and accesses`, rows.join() === [side.memory.buffers.length, side.memory.accesses.length].join(), rows);
    const sum = side.memory.accesses.reduce((all, a) => all + (a.cost?.[2] ?? 0), 0);
    check(`${path}: conflicts`, sum === side.memory.conflicts && memory.includes(`${sum} wavefront`), sum);
    check(`${path}: memory is drawn`, (await page.$$("#memory svg rect")).length >= side.memory.buffers.length);
    await page.screenshot({ path: path.replace(/\.html$/, ".memory.png") });
  }
  await open("l", "loops");
  for (const [i, loop] of side.loops.entries()) {
    const svgs = (loop.schedule ? 1 : 0) + (loop.timeline ? 1 : 0);
    check(`${path}: loop ${i} is explained`, svgs > 0 || loop.note, loop);
    if (loop.timeline) {
      const bars = loop.timeline.shapes.filter((s) => s.is === "rect" && s.stroke).length;
      check(`${path}: bars of loop ${i}`, bars === loop.bars[0] + loop.bars[1] + loop.bars[2], [bars, loop.bars]);
    }
  }
  const drawn = side.loops.reduce((n, l) => n + (l.schedule ? 1 : 0) + (l.timeline ? 1 : 0), 0);
  check(`${path}: loops are drawn`, (await page.$$("#loops svg")).length === drawn, drawn);
  if (drawn > 0) await page.screenshot({ path: path.replace(/\.html$/, ".loops.png") });
  const occupancy = await open("o", "occupancy");
  if (side.occupancy) {
    const { warps, most_warps, blocks, allowed } = side.occupancy;
    check(`${path}: occupancy`, occupancy.includes(`${warps} of ${most_warps} warps`) && blocks === Math.min(...allowed.map((a) => a[1])), occupancy);
    await page.screenshot({ path: path.replace(/\.html$/, ".occupancy.png") });
  }
  await open("t", "time");
  check(`${path}: times are shown`, (await page.$$("#time tr")).length > 5);
}

/** The registers in use: a bar for each instruction, and the most where the data have it. */
async function pressure(page, path, side) {
  if (!side.pressure) return undefined;
  const gpr = side.pressure.kinds.indexOf("GPR");
  const [most, row] = side.pressure.most[gpr];
  const shown = await page.evaluate((row) => {
    const rows = [...document.querySelectorAll(".pane")].at(-1).querySelectorAll(".row");
    return { bars: [...rows].filter((r) => r.querySelector(".lives")).length, most: rows[row].querySelector(".lives.most")?.textContent };
  }, row);
  const counted = side.pressure.rows.filter((r) => r !== null).map((r) => r[gpr]);
  check(`${path}: registers in use`, shown.bars === counted.length && shown.most === String(most) && most === Math.max(...counted), { shown, most });
  check(`${path}: no more in use than reserved`, !side.occupancy || most <= side.occupancy.registers, [most, side.occupancy?.registers]);
  return most;
}

async function compare(page, path, data) {
  await page.keyboard.press("x");
  check(`${path}: the comparison alone is shown`, (await visible(page)) === "compare", await visible(page));
  const found = await page.$eval("#compare", (box) => ({ text: box.textContent, differing: box.querySelectorAll("tr.differs").length,
    cells: box.querySelectorAll(".columns div").length }));
  check(`${path}: both sides are named`, data.sides.every((one) => found.text.includes(one.name)), found);
  check(`${path}: what differs is marked`, found.differing > 0 && found.cells > 10, found);
  await page.screenshot({ path: path.replace(/\.html$/, ".compare.png") });
  await page.keyboard.press("s");
  await page.keyboard.press("c");
  const title = await page.$eval("#title", (e) => e.textContent);
  check(`${path}: the other side is shown`, title.endsWith(data.sides[1].arch), title);
  await lines(page, `${path} (${data.sides[1].name})`, data, data.sides[1]);
  await page.keyboard.press("s");
}

for (const path of process.argv.slice(2)) {
  const page = await browser.newPage();
  await page.setViewport({ width: 1440, height: 900 });
  const said = [];
  page.on("console", (message) => message.type() === "error" && said.push(message.text()));
  page.on("pageerror", (error) => said.push(String(error)));
  const asked = [];
  page.on("request", (request) => asked.push(request.url()));
  const start = performance.now();
  await page.goto(pathToFileURL(path).href, { waitUntil: "load" });
  // Until it is painted.
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
  const opened = performance.now() - start;
  const data = JSON.parse(await page.$eval("#data", (e) => e.textContent));
  const side = data.sides[0];
  const [clicked, marks] = await lines(page, path, data, side);
  await page.screenshot({ path: path.replace(/html$/, "png") });
  // And back: the first line of the binary that is linked marks source lines.
  const back = await page.evaluate(() => {
    const panes = [...document.querySelectorAll(".pane")];
    panes.at(-1).querySelector(".row.linked").click();
    return panes[0].querySelectorAll(".row.marked").length;
  });
  check(`${path}: instructions lead back`, back > 0, back);
  const most = await pressure(page, path, side);
  const drawn = await values(page, path, side);
  await page.screenshot({ path: path.replace(/\.html$/, ".values.png") });
  await views(page, path, side);
  await page.keyboard.press("p");
  check(`${path}: the passes alone are shown`, (await visible(page)) === "passes", await visible(page));
  for (let i = 0; i < 5; i++) await page.keyboard.press("ArrowRight");
  const pass = await page.$eval("#pass", (e) => e.textContent);
  check(`${path}: the sixth module is shown`, pass.startsWith("6/"), pass);
  check(`${path}: a difference is shown`, (await page.$$("#diff .add, #diff .gone")).length > 0);
  await page.keyboard.press("d");
  await page.screenshot({ path: path.replace(/\.html$/, ".passes.png") });
  if (data.sides.length > 1) await compare(page, path, data);
  check(`${path}: no error`, said.length === 0, said);
  check(`${path}: one request`, asked.length === 1, asked);
  const size = fs.statSync(path).size;
  const [all, traced] = side.traced;
  console.log(`${path.split("/").at(-1).padEnd(22)} ${(size / 1024).toFixed(0).padStart(5)} KiB  opened in ${opened.toFixed(0)} ms  ` +
    `${clicked} lines clicked, ${marks} marked  ${drawn} values drawn  ${traced} of ${all} instructions traced` +
    (most === undefined ? "" : `  at most ${most} registers in use`));
  check(`${path}: size`, size <= 4 << 20, size);
  check(`${path}: traced`, traced >= 0.95 * all, side.traced);
  await page.close();
}
await browser.close();
process.exit(failures === 0 ? 0 : 1);

// Opens each page that is named, clicks ten source lines, and compares what is marked in every stage with the page's own
// data; steps through the passes; wants no error on the console and no request. A picture is written beside each page.

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
function expected(data, file, line) {
  const place = data.places.findIndex(([f, l]) => f === file && l === line);
  return data.stages.map(({ at }) =>
    at.flatMap((chain, row) => (place >= 0 && chain >= 0 && data.chains[chain].includes(place) ? [row] : [])));
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
  const opened = performance.now() - start;
  const data = JSON.parse(await page.$eval("#data", (e) => e.textContent));
  const file = Math.min(...data.places.map(([f]) => f));
  const lines = [...new Set(data.places.filter(([f]) => f === file).map(([, l]) => l))].sort((a, b) => a - b);
  const chosen = lines.filter((_, i) => i % Math.ceil(lines.length / 10) === 0).slice(0, 10);
  let marks = 0;
  for (const line of chosen) {
    await page.evaluate((row) => document.querySelectorAll(".pane")[0].querySelectorAll(".row")[row].click(), line - 1);
    const marked = await page.evaluate(() =>
      [...document.querySelectorAll(".pane")].slice(1).map((pane) =>
        [...pane.querySelectorAll(".row")].flatMap((row, i) => (row.classList.contains("marked") ? [i] : []))));
    const wanted = expected(data, file, line);
    check(`${path}: line ${line}`, JSON.stringify(marked) === JSON.stringify(wanted), { marked, wanted });
    marks += marked.flat().length;
  }
  await page.screenshot({ path: path.replace(/html$/, "png") });
  // And back: the first SASS line that is linked marks source lines.
  const back = await page.evaluate(() => {
    const panes = [...document.querySelectorAll(".pane")];
    panes.at(-1).querySelector(".row.linked").click();
    return panes[0].querySelectorAll(".row.marked").length;
  });
  check(`${path}: SASS leads back`, back > 0, back);
  await page.keyboard.press("p");
  const visible = await page.$$eval(".view", (all) => all.filter((v) => v.offsetHeight > 0).map((v) => v.id).join());
  check(`${path}: the passes alone are shown`, visible === "passes", visible);
  for (let i = 0; i < 5; i++) await page.keyboard.press("ArrowRight");
  const pass = await page.$eval("#pass", (e) => e.textContent);
  check(`${path}: the sixth module is shown`, pass.startsWith("6/"), pass);
  check(`${path}: a difference is shown`, (await page.$$("#diff .add, #diff .gone")).length > 0);
  await page.keyboard.press("d");
  await page.screenshot({ path: path.replace(/\.html$/, ".passes.png") });
  await page.keyboard.press("t");
  check(`${path}: times are shown`, (await page.$$("#time tr")).length > 5);
  check(`${path}: no error`, said.length === 0, said);
  check(`${path}: one request`, asked.length === 1, asked);
  const size = fs.statSync(path).size;
  const [all, traced] = data.traced;
  console.log(`${path.split("/").at(-1).padEnd(20)} ${(size / 1024).toFixed(0).padStart(6)} KiB  opened in ${opened.toFixed(0)} ms  ` +
    `${chosen.length} lines clicked, ${marks} marked  ${traced} of ${all} SASS instructions traced`);
  check(`${path}: traced`, traced >= 0.95 * all, data.traced);
  await page.close();
}
await browser.close();
process.exit(failures === 0 ? 0 : 1);

// Writes the pictures of docs/report.md. Usage: pictures.js OUT DIR, where OUT has the pages of test.sh.

import { pathToFileURL } from "node:url";
import puppeteer from "puppeteer-core";

const [from, to] = process.argv.slice(2);
const browser = await puppeteer.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-gpu"],
});

/** Opens a page, does something there, and takes a picture of its upper part at reduced size. */
async function take(name, file, height, act) {
  const page = await browser.newPage();
  await page.setViewport({ width: 1360, height, deviceScaleFactor: 0.7 });
  await page.goto(pathToFileURL(`${from}/${file}.html`).href, { waitUntil: "load" });
  await act(page);
  await new Promise((done) => setTimeout(done, 400));
  await page.screenshot({ path: `${to}/report-${name}.png` });
  await page.close();
}

const click = (page, pane, words) => page.evaluate((pane, words) => {
  const rows = [...document.querySelectorAll(".pane")[pane].querySelectorAll(".row")];
  rows.find((row) => row.textContent.includes(words)).click();
}, pane, words);
await take("code", "matmul_large", 700, (page) => click(page, 2, "ttng.warp_group_dot %"));
await take("memory", "matmul_large", 640, (page) => page.keyboard.press("m"));
await take("loops", "matmul_large", 620, (page) => page.keyboard.press("l"));
await take("compare", "softmax_warps", 640, (page) => page.keyboard.press("x"));
await browser.close();

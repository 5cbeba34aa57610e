// Writes the pictures of docs/report.md and of the tutorials on slow kernels. Usage: pictures.js OUT DIR, where OUT has the
// pages of test.sh, and `rows.html` and `matmul_spills.html`, which the tutorials 7 and 8 make.

import { pathToFileURL } from "node:url";
import puppeteer from "puppeteer-core";

const [from, to] = process.argv.slice(2);
const browser = await puppeteer.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-gpu"],
});

/** Opens a page, does something there, and takes a picture of its upper part at reduced size. */
async function take(name, file, height, act, hidden = "") {
  const page = await browser.newPage();
  await page.setViewport({ width: 1360, height, deviceScaleFactor: 0.7 });
  await page.goto(pathToFileURL(`${from}/${file}.html`).href, { waitUntil: "load" });
  for (const key of hidden) await page.keyboard.press(key);
  await act(page);
  await new Promise((done) => setTimeout(done, 400));
  await page.screenshot({ path: `${to}/${name}.png` });
  await page.close();
}

const click = (page, pane, words) => page.evaluate((pane, words) => {
  const rows = [...document.querySelectorAll(".pane")[pane].querySelectorAll(".row")];
  rows.find((row) => row.textContent.includes(words)).click();
}, pane, words);
await take("report-code", "matmul_large", 700, (page) => click(page, 2, "ttng.warp_group_dot %"));
await take("report-memory", "matmul_large", 640, (page) => page.keyboard.press("m"));
await take("report-loops", "matmul_large", 620, (page) => page.keyboard.press("l"));
await take("report-compare", "softmax_warps", 640, (page) => page.keyboard.press("x"));
await take("slow-rows-layout", "rows", 620, (page) => click(page, 2, "tt.load"), "246");
await take("slow-rows-compare", "rows", 560, (page) => page.keyboard.press("x"));
await take("slow-matmul-code", "matmul_spills", 560, (page) => click(page, 0, "tl.dot"), "2345");
await take("slow-matmul-compare", "matmul_spills", 560, (page) => page.keyboard.press("x"));
await browser.close();

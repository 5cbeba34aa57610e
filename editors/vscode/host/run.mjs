// Runs `session.js` in VS Code's extension host. Usage: run.mjs SERVER TTC; SERVER is the folder `lib/vscode` of the npm
// package code-server, which holds VS Code's server and workbench.
//
// 1. The server runs on a free port of this machine, with folders of its own for data and extensions.
// 2. Chromium without a screen opens the workbench. The address names the extension and the tests, as VS Code's own
//    tests of its web version do.
// 3. The extension host, a process of the server, runs the session, which writes its results to a file.

import { spawn } from "node:child_process";
import fs from "node:fs";
import net from "node:net";
import os from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";

const [server, ttc] = process.argv.slice(2).map((p) => path.resolve(p));
const here = path.dirname(fileURLToPath(import.meta.url));
const extension = path.dirname(here);
const patience = 180_000;

const folder = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), "ttc-vscode-")));
const workspace = path.join(folder, "workspace");
fs.mkdirSync(workspace);
// The settings of the machine: a folder that is not trusted may not say which program is started.
const settings = path.join(folder, "server/data/Machine");
fs.mkdirSync(settings, { recursive: true });
fs.writeFileSync(path.join(settings, "settings.json"), JSON.stringify({ "ttc.path": ttc }));
const session = path.join(folder, "session.json");

function freePort() {
  return new Promise((resolve) => {
    const probe = net.createServer().listen(0, "127.0.0.1", () => {
      const { port } = probe.address();
      probe.close(() => resolve(port));
    });
  });
}

const children = [];
function start(program, args, log, env = {}) {
  const out = fs.openSync(path.join(folder, log), "w");
  const child = spawn(program, args, { stdio: ["ignore", out, out], env: { ...process.env, ...env } });
  children.push(child);
  return child;
}

/** Waits until `there` is true or the time is over; whether it is. */
async function until(there, time) {
  const end = Date.now() + time;
  while (!(await there())) {
    if (Date.now() > end) {
      return false;
    }
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  return true;
}

const port = await freePort();
const authority = `127.0.0.1:${port}`;
start(process.execPath, [
  path.join(server, "out/server-main.js"), "--host", "127.0.0.1", "--port", String(port),
  "--without-connection-token", "--accept-server-license-terms", "--server-data-dir", path.join(folder, "server"),
  "--extensions-dir", path.join(folder, "extensions"), "--telemetry-level", "off",
], "server.log", { TTC_SESSION: session });
const answers = () => fetch(`http://${authority}/`).then((r) => r.ok, () => false);
let failed = !(await until(answers, 60_000));

if (!failed) {
  const remote = (p) => `vscode-remote://${authority}${p}`;
  const payload = JSON.stringify([
    ["extensionDevelopmentPath", remote(extension)],
    ["extensionTestsPath", remote(path.join(here, "session.js"))],
    ["skipWelcome", "true"],
  ]);
  const address = `http://${authority}/?folder=${workspace}&payload=${encodeURIComponent(payload)}`;
  const browser = process.env.CHROMIUM ?? "chromium";
  start(browser, [
    "--headless=new", "--no-sandbox", "--disable-gpu", "--window-size=1280,900",
    `--user-data-dir=${path.join(folder, "browser")}`, "--remote-debugging-port=0", "--no-first-run", address,
  ], "browser.log");
  failed = !(await until(() => fs.existsSync(session), patience));
}
await new Promise((resolve) => setTimeout(resolve, 300));
const ends = children.map((child) => new Promise((resolve) => child.once("exit", resolve)));
children.forEach((child) => child.kill());
await Promise.race([Promise.all(ends), new Promise((resolve) => setTimeout(resolve, 10_000))]);

if (failed) {
  console.log(`no session took place; ${folder} has server.log and browser.log`);
} else {
  const { version, results } = JSON.parse(fs.readFileSync(session, "utf8"));
  console.log(`VS Code ${version}`);
  for (const { what, ok, found } of results) {
    console.log(`${ok ? "ok    " : "FAILED"}  ${what}${ok ? "" : `\n        ${found}`}`);
    failed ||= !ok;
  }
}
if (!failed) {
  fs.rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 300 });
}
process.exit(failed ? 1 : 0);

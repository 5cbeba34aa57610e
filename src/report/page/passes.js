// ---- passes ----

let modules = [];

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

/** The rows of a difference: the numbers of a line before and of one after, of which one may be missing. */
function aligned(before, after) {
  const out = [];
  let [i, j] = [0, 0];
  for (const [x, y] of [...common(before, after), [before.length, after.length]]) {
    while (i < x) out.push([i++, undefined]);
    while (j < y) out.push([undefined, j++]);
    if (x < before.length && y < after.length) out.push([x, y]);
    [i, j] = [x + 1, y + 1];
  }
  return out;
}

/** The lines of a difference: [sign, text]. */
function difference(before, after, exact) {
  const key = (id) => (exact ? id : plain[id]);
  return aligned(before.map(key), after.map(key)).map(([i, j]) =>
    j === undefined ? ["-", data.lines[before[i]]] : [i === undefined ? "+" : " ", data.lines[after[j]]]);
}

function showPass() {
  const at = Number(byId("slider").value);
  const pass = modules[at];
  if (!pass) {
    byId("pass").textContent = "the passes of this side are not known";
    byId("diff").replaceChildren();
    return;
  }
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

fillers.passes = () => {
  modules = side.passes.filter((pass) => pass.lines !== null);
  byId("slider").max = Math.max(0, modules.length - 1);
  byId("slider").value = Math.min(byId("slider").value, byId("slider").max);
  showPass();
};
for (const id of ["slider", "whole", "numbers"]) byId(id).addEventListener("input", showPass);


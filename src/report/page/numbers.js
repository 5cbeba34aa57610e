// ---- shared memory ----

const heading = (text) => element("h3", { textContent: text });
const note = (text) => element("p", { className: "note", textContent: text });
const count = (n, one) => `${n} ${one}${n === 1 ? "" : "s"}`;
const scrolled = (node) => element("div", { className: "scrolled" }, node);

fillers.memory = () => {
  const memory = side.memory;
  const box = byId("memory");
  if (!memory) {
    box.replaceChildren(heading("Shared memory"), note("This kernel uses none, or its TTGIR is not known."));
    return;
  }
  const cost = (c, i) => (c ? String(c[i]) : "");
  box.replaceChildren(
    heading(`Shared memory: ${memory.total.toLocaleString("en")} of ${memory.limit.toLocaleString("en")} bytes a block`),
    note(memory.is_ours ? "" : "Another compiler made this code. Addresses are those that ttc would choose for its TTGIR."),
    element("p", { className: "legend" },
      ...[["read", "#0072b2"], ["write", "#e69f00"], ["both", "#009e73"], ["with bank conflicts", "var(--ink-alarm)"]].map(([name, ink]) =>
        element("span", {}, Object.assign(element("i"), { style: `background: ${ink}` }), name))),
    scrolled(draw(memory.picture)),
    heading(count(memory.buffers.length, "buffer")),
    grid(["buffer", "kind", "offset", "bytes", "slots", "source"],
      memory.buffers.map((b) => [b.name, b.kind, String(b.offset), String(b.bytes), String(b.slots), placeLink(b.place)])),
    heading(`${count(memory.accesses.length, "access").replace("accesss", "accesses")}; ${count(memory.conflicts, "wavefront")} for bank conflicts`),
    note("Of one warp, each operation once. A wavefront is what shared memory serves at a time: up to 128 bytes from different banks."),
    grid(["operation", "buffers", "", "by", "instructions", "wavefronts", "of them for conflicts", "source"],
      memory.accesses.map((a) => [a.op, a.buffers.map((n) => memory.buffers[n].name).join(", "), a.way, a.by, cost(a.cost, 0), cost(a.cost, 1),
        a.cost?.[2] > 0 ? element("strong", { textContent: a.cost[2] }) : cost(a.cost, 2), placeLink(a.place)])),
  );
};

// ---- loops ----

fillers.loops = () => {
  const box = byId("loops");
  if (side.loops.length === 0) {
    box.replaceChildren(heading("Loops"), note("No loop of this kernel is pipelined."));
    return;
  }
  box.replaceChildren(...side.loops.flatMap((loop) => {
    const of = (kind) => loop.ops.filter((o) => o.kind === kind).length;
    const [loads, products, waits] = loop.bars;
    const title = element("h3", {}, "Loop ", placeLink(loop.place),
      loop.stages > 0 ? `: ${count(loop.stages, "stage")}, ${count(of("copy"), "load")}, ${count(of("product"), "product")}` : "");
    return [
      title,
      ...(loop.schedule ? [element("h4", { textContent: "The schedule, as the pass for it left it" }), scrolled(draw(loop.schedule))] : []),
      ...(loop.timeline ? [element("h4", { textContent: `What it became: ${count(loads, "load")}, ${count(products, "product")}, ${count(waits, "wait")}` }), scrolled(draw(loop.timeline))] : []),
      ...(loop.note ? [note(loop.timeline ? loop.note : `No timeline: ${loop.note}.`)] : []),
    ];
  }));
};

// ---- occupancy ----

const RESOURCES = { registers: "registers", shared_memory: "shared memory", warps: "warps", blocks: "blocks" };

fillers.occupancy = () => {
  const box = byId("occupancy");
  const o = side.occupancy;
  if (!o) {
    box.replaceChildren(heading("Occupancy"), note("It takes the registers, the warps and the shared memory of the kernel, and not all of them are known."));
    return;
  }
  const percent = Math.round((100 * o.warps) / o.most_warps);
  const usage = { registers: `${o.registers} a thread`, shared_memory: `${o.shared.toLocaleString("en")} bytes a block`, warps: `${o.warps_of_block} a block`, blocks: "" };
  const most = Math.max(...o.allowed.map(([, n]) => n), 1);
  const rows = o.allowed.map(([resource, n]) => {
    const beam = element("div", { className: o.limits.includes(resource) ? "beam limit" : "beam" });
    beam.style.width = `${(n / most) * 320}px`;
    return [RESOURCES[resource], usage[resource], String(n), beam, o.limits.includes(resource) ? "limits" : ""];
  });
  const limits = o.limits.map((r) => RESOURCES[r]).join(" and ");
  const pressed = side.pressure && side.pressure.most[Math.max(0, side.pressure.kinds.indexOf("GPR"))][0];
  box.replaceChildren(
    heading(`Occupancy: ${o.warps} of ${o.most_warps} warps (${percent} %), ${o.blocks} blocks on a multiprocessor, limited by ${limits}`),
    grid(["", "a block takes", "blocks that fit", "", ""], rows),
    note(pressed ? `At most ${pressed} registers are in use at an instruction; ${o.registers} are reserved for each thread.` : ""),
  );
};

// ---- times ----

fillers.time = () => {
  const table = (rows) => {
    const most = Math.max(...rows.map(([, ms]) => ms), 1e-9);
    return grid(["", "ms", ""], rows.map(([name, ms]) => {
      const beam = element("div", { className: "beam" });
      beam.style.width = `${(ms / most) * 320}px`;
      return [name, ms.toFixed(3), beam];
    }));
  };
  const sum = side.times.reduce((all, [, ms]) => all + ms, 0);
  const slow = side.passes.map((p) => [`${p.stage}: ${p.name}`, p.ms]).sort((a, b) => b[1] - a[1]).slice(0, 20);
  const traced = side.traced && `${side.traced[1]} of ${side.traced[0]} instructions lead back to a source line.`;
  byId("time").replaceChildren(
    ...(side.times.length > 0 ? [heading(`Stages: ${sum.toFixed(1)} ms`), table(side.times)] : [heading("Stages"), note("Nobody measured the stages of this side.")]),
    ...(slow.length > 0 ? [heading("Passes that took longest"), table(slow)] : []),
    note(traced ?? ""),
    heading(`Remarks: ${side.remarks.length}`),
    ...side.remarks.map((r) => element("p", {}, placeLink(r.place), ` ${r.severity} ${r.code}: ${r.message}${r.help ? ` (${r.help})` : ""}`)),
  );
};

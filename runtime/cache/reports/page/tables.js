// Tables: instructions (sorted by any column), counters of every cache, presets side by side.
const shareColumn = (name, a, b) => ({name, kind: "amount", key: i => share(i[a], i[b]) ?? -1, text: i => percent(share(i[a], i[b]))});
const amount = (name, field) => ({name, kind: "amount", key: i => i[field], text: i => num(i[field])});
const instructionColumns = [
  {name: "PC", kind: "number", key: i => i.pc, text: i => hex(i.pc)},
  {name: "instruction", kind: "text", key: i => i.kernel + " " + i.text, fill: fillInstruction},
  amount("waves", "instructions"), amount("requests", "hardware_requests"), amount("sectors", "sectors"),
  {name: "sectors / request", kind: "amount", key: i => i.hardware_requests ? i.sectors / i.hardware_requests : -1,
    text: i => i.hardware_requests ? (i.sectors / i.hardware_requests).toFixed(2) : "–"},
  amount("bytes", "bytes"), shareColumn("L1 hits", "l1_hits", "l1_misses"), shareColumn("L2 hits", "l2_hits", "l2_misses"),
  shareColumn("stores, L1 hits", "l1_write_hits", "l1_write_misses"), shareColumn("stores, L2 hits", "l2_write_hits", "l2_write_misses"),
  amount("stale", "stale")];
const siteCounters = ["instructions", "lanes", "requests", "hardware_requests", "sectors", "bytes", "l1_hits", "l1_misses", "l2_hits",
  "l2_misses", "l1_write_hits", "l1_write_misses", "l2_write_hits", "l2_write_misses", "stale"];
const sorted = {column: 4, down: true};

function fillInstruction(cell, i) {
  cell.append("code").text(i.text);
  cell.append("small").text("kernel " + i.kernel + (i.policy ? ", L2 policy " + i.policy : "") + (i.line ? ", " + (i.file ? i.file.split("/").pop() + ":" : "line ") + i.line : ""));
  const all = cell.append("details");
  all.append("summary").text("all counters");
  const list = all.append("dl");
  for (const name of siteCounters) {
    list.append("dt").text(words(name));
    list.append("dd").attr("data-counter", name).text(num(i[name]));
  }
}

function drawInstructions(p) {
  const key = instructionColumns[sorted.column].key, order = sorted.down ? d3.descending : d3.ascending;
  const rows = p.instructions.filter(i => i.instructions > 0).sort((a, b) => order(key(a), key(b)) || a.pc - b.pc);
  const sortBy = (column, down) => { sorted.column = column; sorted.down = down; drawInstructions(preset()); };
  fillTable(section("instructions").select("table"), instructionColumns, rows, (th, c, at) => {
    th.attr("aria-sort", at === sorted.column ? (sorted.down ? "descending" : "ascending") : null)
      .append("button").attr("type", "button").text(c.name).on("click", () => {
        sortBy(at, at === sorted.column ? !sorted.down : at > 1);
        section("instructions").selectAll("th button").filter((d, i) => i === at).node().focus();
      });
  });
  section("instructions").selectAll("tbody tr").attr("data-pc", i => i.pc).attr("data-kernel", i => i.kernel);
  const select = section("instructions").select("#sort").on("change", function () { sortBy(Number(this.value), Number(this.value) > 1); });
  select.selectAll("option").data(instructionColumns).join("option").attr("value", (c, i) => i).property("selected", (c, i) => i === sorted.column).text(c => c.name);
}

function drawSpaces(p) {
  const fields = siteCounters.filter(f => f !== "lanes"), sums = new Map();
  for (const i of p.instructions.filter(i => i.instructions > 0 && i.sectors > 0)) {
    const row = sums.get(i.space) || {space: i.space, of: new Set(), ...Object.fromEntries(fields.map(f => [f, 0]))};
    for (const f of fields) row[f] += i[f];
    row.of.add(i.kernel + i.pc);
    sums.set(i.space, row);
  }
  fillTable(section("spaces").select("table"), [
    {name: "space", kind: "text", text: r => r.space}, {name: "instructions", kind: "amount", text: r => num(r.of.size)},
    amount("requests", "hardware_requests"), amount("sectors", "sectors"), amount("bytes", "bytes"),
    shareColumn("L1 hits", "l1_hits", "l1_misses"), amount("L1 misses", "l1_misses"),
    shareColumn("L2 hits", "l2_hits", "l2_misses"), amount("L2 misses", "l2_misses"),
    shareColumn("stores, L2 hits", "l2_write_hits", "l2_write_misses")], [...sums.values()].sort((a, b) => b.sectors - a.sectors));
}

function drawLaunches(p) {
  const box = section("launches"), rows = (p.launches || []).slice(0, 200);
  const level = (name, f) => r => r[name] ? f(r[name]) : "–", sizes = g => g.join(" × ");
  const geometry = p.geometry;
  box.select(".note").text(!rows.length ? "The trace says of no launch where it begins." : p.launches.length > rows.length ? `The first ${num(rows.length)} of ${num(p.launches.length)}.` : "");
  fillTable(box.select("table"), rows.length ? [
    {name: "launch", kind: "number", fill: (c, r, at) => c.text(num(at + 1))},
    {name: "kernel", kind: "text", fill: (c, r) => { c.append("span").text(r.kernel); c.append("small").text(`grid ${sizes(r.grid)}, block ${sizes(r.block)}`); }},
    {name: "wave instructions", kind: "amount", text: r => num(r.wave_instructions)},
    {name: "L1 hits", kind: "amount", text: level("L1", n => percent(share(n.hits, n.misses)))},
    {name: "L2 hits", kind: "amount", text: level("L2", n => percent(share(n.hits + n.write_hits, n.misses + n.write_misses)))},
    {name: "read from memory", kind: "amount", text: level("L2", n => size(n.fills * geometry.L2.sector))},
    {name: "written to memory", kind: "amount", text: level("L2", n => size(n.write_back_bytes))}] : [], rows);
}

function drawCounters(p) {
  const names = Object.keys(p.caches), rows = [];
  for (const counter of Object.keys(p.caches[names[0]] || {})) {
    const first = p.caches[names[0]][counter];
    if (typeof first === "object")
      for (const part of Object.keys(first)) rows.push({counter: counter + "." + part, say: words(counter) + ": " + part, of: c => c[counter][part]});
    else rows.push({counter, say: words(counter), of: c => c[counter]});
  }
  const columns = [{name: "counter", kind: "text", text: r => r.say}];
  for (const name of names)
    columns.push({name, kind: "amount", fill: (cell, r) => cell.append("span").attr("data-cache", name).attr("data-counter", r.counter).text(num(r.of(p.caches[name])))});
  fillTable(section("counters").select("table"), columns, rows);
}

function drawCompared() {
  const rows = data.presets.map(p => ({p, m: memoryPaths(p), l1: cacheOf(p, "L1"), l2: cacheOf(p, "L2")}));
  const hits = c => percent(share(c.sector_hits, c.sector_misses));
  fillTable(section("compared").select("table"), [
    {name: "preset", kind: "text", fill: (c, r) => { c.append("span").text(r.p.preset); c.append("small").text(r.p.title); }},
    {name: "L1 hits", kind: "amount", text: r => hits(r.l1)}, {name: "L1 misses", kind: "amount", text: r => num(r.l1.sector_misses)},
    {name: "L2 hits", kind: "amount", text: r => hits(r.l2)}, {name: "L2 misses", kind: "amount", text: r => num(r.l2.sector_misses)},
    {name: "read from memory", kind: "amount", text: r => size(r.m.fromMemory)}, {name: "written to memory", kind: "amount", text: r => size(r.m.toMemory)},
    {name: "findings", kind: "amount", text: r => num(data.findings.filter(f => f.presets.includes(r.p.preset)).length)}], rows);
}

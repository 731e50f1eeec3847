// What hints did: the run as it was beside the same accesses with hints ignored.
const thanWithout = (kept, ignored) => kept === ignored ? "" : ignored === 0 ? "+" + num(kept)
  : (kept > ignored ? "+" : "−") + (100 * Math.abs(kept / ignored - 1)).toFixed(1) + " %";
const notAsked = (box, option, what) =>
  box.append("p").attr("class", "note").text(`Not asked for. ${option} of lanewise run and lanewise cache ${what}.`);

function instructionCell(p, i) {
  return cell => {
    const site = i === null ? null : p.instructions[i];
    cell.append("code").text(site ? site.text : "the host or a kernel's end");
    if (site) cell.append("small").text(`kernel ${site.kernel}, ${hex(site.pc)}` + (site.line ? `, line ${site.line}` : ""));
  };
}

// Instructions with hints, each once: launches of a kernel share it.
function hintedInstructions(p, hints) {
  const all = new Map();
  for (const i of hints) {
    const site = p.instructions[i.instruction], key = [site.kernel, site.pc, site.file, site.text].join("\n");
    const one = all.get(key) || {hints: i.hints, site, launches: 0, changed: false};
    one.launches += 1;
    one.changed ||= ["l1_misses", "l2_misses", "l2_write_backs"].some(f => i[f].kept !== i[f].ignored);
    all.set(key, one);
  }
  return [...all.values()];
}
const hintedName = h => `${h.hints} of ${hex(h.site.pc)} ${h.site.text}` + (h.site.line ? ` (line ${h.site.line})` : "");

// What was saved most, in bytes of memory traffic: the sentence a reader looks for.
function hintVerdict(p) {
  const total = (name, side) => (p.hints.totals[name] || {kept: 0, ignored: 0})[side];
  const sector = p.geometry.L2.sector;
  const traffic = side => sector * total("L2 sectors read, misses", side) + total("L2 bytes written back", side) + total("L2 dirty bytes left", side);
  const kept = traffic("kept"), ignored = traffic("ignored");
  const hinted = hintedInstructions(p, p.hints.instructions.filter(i => i.hints));
  if (!hinted.length) return "No instruction has a hint: both runs are the same.";
  const did = hinted.filter(h => h.changed), most = 3;
  const only = hinted.length === 1 ? `the hint ${hintedName(hinted[0])}${hinted[0].launches > 1 ? `, in ${hinted[0].launches} launches,` : ""}`
    : `the hints ${hinted.slice(0, most).map(hintedName).join(" and ")}${hinted.length > most ? ` and of ${num(hinted.length - most)} more` : ""} together`;
  const verb = hinted.length === 1 ? ["saves", "costs"] : ["save", "cost"];
  const whole = kept === ignored ? `Hints changed nothing of the ${size(kept)} that pass between L2 and memory.`
    : `With its hints the program moves ${size(kept)} between L2 and memory, without them ${size(ignored)}: ${only} ${kept < ignored ? verb[0] : verb[1]} ${size(Math.abs(ignored - kept))} (${(100 * Math.abs(kept / Math.max(1, ignored) - 1)).toFixed(1)} %).`;
  return whole + " " + (did.length ? `Counts change at ${did.length} of ${plural(hinted.length, "instruction", "instructions")} with a hint.` : "No instruction with a hint counts otherwise than without it.");
}

function drawHints(p) {
  const box = section("hints").select(".content");
  box.selectAll("*").remove();
  if (!p.hints) return void notAsked(box, "--compare", "runs every access a second time with hints ignored");
  box.append("p").attr("class", "verdict").text(hintVerdict(p));
  const sentences = p.hints.instructions.filter(i => i.sentence);
  box.append("ul").attr("class", "sentences").selectAll("li").data(sentences.slice(0, 20)).join("li").text(i => i.sentence);
  if (sentences.length > 20) box.append("p").attr("class", "note").text(`${num(sentences.length - 20)} more are in the JSON report.`);
  const counted = Object.entries(p.hints.totals).filter(([, v]) => v.kept || v.ignored);
  const totals = counted.filter(([, v]) => v.kept !== v.ignored), same = counted.filter(([, v]) => v.kept === v.ignored);
  if (totals.length) fillTable(box.append("table").attr("class", "cards"), [
    {name: "counter", kind: "text", text: r => r[0]}, {name: "with hints", kind: "amount", text: r => num(r[1].kept)},
    {name: "hints ignored", kind: "amount", text: r => num(r[1].ignored)},
    {name: "change", kind: "amount", text: r => thanWithout(r[1].kept, r[1].ignored)}], totals);
  if (same.length) box.append("p").attr("class", "note").text("The same with and without: " + same.map(([name, v]) => `${name} ${num(v.kept)}`).join("; ") + ".");
  for (const cache of ["L1", "L2"]) {
    const pairs = p.hints.evictions[cache] || [];
    if (!pairs.length) continue;
    box.append("h3").text(`Who evicted whom from ${cache}`);
    fillTable(box.append("table").attr("class", "cards"), [
      {name: "evicting", kind: "text", fill: (c, r) => instructionCell(p, r.by)(c)}, {name: "evicted", kind: "text", fill: (c, r) => instructionCell(p, r.of)(c)},
      {name: "with hints", kind: "amount", text: r => num(r.kept)}, {name: "hints ignored", kind: "amount", text: r => num(r.ignored)}], pairs.slice(0, 12));
    if (pairs.length > 12) box.append("p").attr("class", "note").text(`${num(pairs.length - 12)} more pairs are in the JSON report.`);
  }
  drawClasses(box, p);
}

// Lines of each class in L2 over time, both ways.
function drawClasses(box, p) {
  const both = p.hints.l2_lines_by_class, classes = [["first", "evict_first"], ["normal", "normal"], ["last", "evict_last"]];
  if (!both.kept.samples.some(s => s.first || s.last)) return;
  box.append("h3").text("Lines of each class in L2 over time");
  const width = Math.max(240, box.node().clientWidth), height = 150, left = 62, bottom = 34;
  const most = d3.max([both.kept, both.ignored], side => d3.max(side.samples, s => s.first + s.normal + s.last)) || 1;
  const draw = (side, name, x0, w) => {
    const step = side.wave_instructions_per_sample;
    const x = d3.scaleLinear().domain([0, side.samples.length * step]).range([x0 + left, x0 + w - 10]);
    const y = d3.scaleLinear().domain([0, most]).range([height, 24]);
    const layers = d3.stack().keys(classes.map(c => c[0]))(side.samples);
    svg.append("text").attr("x", x0 + left).attr("y", 14).text(name);
    layers.forEach((layer, i) => svg.append("path").attr("class", "class-" + classes[i][0])
      .attr("d", d3.area().x((d, k) => x((k + 1) * step)).y0(d => y(d[0])).y1(d => y(d[1]))(layer)));
    svg.append("g").attr("transform", `translate(0,${height})`).call(d3.axisBottom(x).ticks(w < 420 ? 3 : 5).tickFormat(num));
    svg.append("g").attr("transform", `translate(${x0 + left},0)`).call(d3.axisLeft(y).ticks(4).tickFormat(num));
    if (side.evict_last_limit !== null && side.evict_last_limit <= most)
      svg.append("line").attr("class", "limit").attr("x1", x0 + left).attr("x2", x0 + w - 10).attr("y1", y(side.evict_last_limit)).attr("y2", y(side.evict_last_limit));
  };
  const narrow = width < 600, svg = box.append("svg").attr("width", width).attr("height", height + bottom).attr("role", "img")
    .attr("aria-label", "lines of each class in L2 over time, with hints" + (narrow ? "" : " and with hints ignored"));
  draw(both.kept, "with hints", 0, narrow ? width : width / 2);
  if (!narrow) draw(both.ignored, "hints ignored", width / 2, width / 2);
  const legend = box.append("div").attr("class", "legend");
  for (const [key, name] of classes)
    legend.append("span").call(s => s.append("i").attr("class", "swatch class-" + key)).append("span").text(name);
  legend.append("span").text("time in wave instructions");
}

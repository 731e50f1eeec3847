// Where misses come from: how large a cache would have to be, and why lines were missing.
const reuseStreams = [["all", "all, without L1"], ["l1", "of an SM to its L1"], ["l2", "to L2, behind L1"]];
/// Misses of an LRU cache of so many lines; the points are steps.
function missesAt(curve, lines) {
  const at = d3.bisector(point => point[0]).right(curve.misses_by_lines, lines);
  return at === 0 ? curve.uses : curve.misses_by_lines[at - 1][1];
}
// The preset's caches, which the curve is drawn against: L1 for one SM's requests, L2 for the others.
function capacities(p, stream) {
  const caches = stream === "l1" ? ["L1"] : stream === "l2" ? ["L2"] : ["L1", "L2"];
  return caches.filter(c => p.geometry[c] && !p.geometry[c].infinite).map(c => ({name: c, bytes: p.geometry[c].bytes}));
}

function drawReuse(p) {
  const box = section("reuse").select(".content"), controls = section("reuse").select(".controls");
  box.selectAll("*").remove();
  controls.style("display", p.reuse ? null : "none");
  if (!p.reuse) return void notAsked(box, "--reuse", "says what caches of every size would miss");
  const stream = reuseStreams[Number(controls.select("#stream").property("value")) || 0][0], curve = p.reuse[stream];
  if (curve.uses === 0) return void box.append("p").text("Nothing asks this cache for a line.");
  const marks = capacities(p, stream);
  const never = curve.first_uses / curve.uses;
  box.append("p").attr("class", "verdict").text([`${num(curve.uses)} lines are asked for, ${num(curve.first_uses)} of them for the first time: no cache can hit those (${percent(100 * never)}).`,
    ...marks.map(m => `An LRU cache of ${m.name}'s ${size(m.bytes)} misses ${percent(100 * missesAt(curve, Math.floor(m.bytes / curve.line_bytes)) / curve.uses)}.`)].join(" "));
  drawCurve(box, curve, marks);
  const rows = curve.instructions.slice().sort((a, b) => b.uses - a.uses).slice(0, 20);
  fillTable(box.append("table").attr("class", "cards"), [
    {name: "instruction", kind: "text", fill: (c, r) => instructionCell(p, r.instruction)(c)},
    {name: "lines asked for", kind: "amount", text: r => num(r.uses)}, {name: "first uses", kind: "amount", text: r => num(r.first_uses)},
    ...marks.map(m => ({name: `misses with ${size(m.bytes)}`, kind: "amount", text: r => num(missesAt(r, Math.floor(m.bytes / curve.line_bytes)))}))], rows);
  if (curve.instructions.length > 20) box.append("p").attr("class", "note").text(`${num(curve.instructions.length - 20)} more are in the JSON report.`);
}

function drawCurve(box, curve, marks) {
  const width = Math.max(240, box.node().clientWidth), height = 240, left = 52, top = 30, right = 16;
  const first = curve.line_bytes, last = Math.max(4 * first, 2 * d3.max(marks, m => m.bytes) || 0, 2 * first * curve.misses_by_lines[curve.misses_by_lines.length - 1][0]);
  const x = d3.scaleLog().base(2).domain([first, last]).range([left, width - right]).clamp(true);
  const y = d3.scaleLinear().domain([0, 100]).range([top + height, top]);
  const steps = curve.misses_by_lines.map(([lines, misses]) => [Math.max(1, lines) * first, 100 * misses / curve.uses]);
  steps.push([last, steps[steps.length - 1][1]]);
  const svg = box.append("svg").attr("width", width).attr("height", top + height + 42).attr("role", "img")
    .attr("aria-label", "share of requests that miss, by the size of an LRU cache without sets");
  svg.append("rect").attr("class", "never").attr("x", left).attr("width", width - left - right).attr("y", y(100 * curve.first_uses / curve.uses))
    .attr("height", top + height - y(100 * curve.first_uses / curve.uses));
  svg.append("path").attr("class", "curve").attr("d", d3.line().x(d => x(d[0])).y(d => y(d[1])).curve(d3.curveStepAfter)(steps));
  const powers = d3.range(Math.ceil(Math.log2(first)), Math.floor(Math.log2(last)) + 1), every = Math.ceil(powers.length * 70 / (width - left));
  svg.append("g").attr("transform", `translate(0,${top + height})`)
    .call(d3.axisBottom(x).tickValues(powers.filter((n, i) => i % every === 0).map(n => 2 ** n)).tickFormat(size));
  svg.append("g").attr("transform", `translate(${left},0)`).call(d3.axisLeft(y).ticks(5).tickFormat(v => v + " %"));
  svg.append("text").attr("class", "soft").attr("x", left).attr("y", top + height + 38).text("size of an LRU cache without sets");
  const mark = svg.selectAll("g.capacity").data(marks).join("g").attr("class", "capacity");
  mark.append("line").attr("x1", m => x(m.bytes)).attr("x2", m => x(m.bytes)).attr("y1", top).attr("y2", top + height);
  mark.append("text").attr("x", m => x(m.bytes)).attr("y", (m, i) => 12 + 13 * (i % 2)).attr("text-anchor", m => x(m.bytes) > width / 2 ? "end" : "start").text(m => `${m.name}: ${size(m.bytes)}`);
  svg.append("text").attr("class", "soft").attr("x", width - right - 4).attr("y", top + height - 8).attr("text-anchor", "end").text("first uses");
}

const causes = [["first_use", "first use", "the line was asked for the first time"], ["capacity", "capacity", "an LRU cache of this size without sets would have missed, too"],
  ["conflict", "conflict", "such a cache would have had it: its set was full"], ["invalidated", "invalidated", "the line was there before and was not evicted"]];
const setCounts = [["misses", s => s[1]], ["conflicts", s => s[2]], ["requests", s => s[0]], ["evictions", s => s[3]]];

function drawSets(p) {
  const box = section("sets").select(".content"), controls = section("sets").select(".controls");
  box.selectAll("*").remove();
  controls.style("display", p.sets ? null : "none");
  if (!p.sets) return void notAsked(box, "--sets", "says why lines were missing, and which sets are crowded");
  for (const cache of ["L1", "L2"]) {
    const one = p.sets[cache];
    if (!one) continue;
    const all = sum(causes, c => one.missing_lines[c[0]]), most = causes.slice().sort((a, b) => one.missing_lines[b[0]] - one.missing_lines[a[0]])[0];
    box.append("h3").text(cache);
    if (all === 0) { box.append("p").text("No line was missing."); continue; }
    box.append("p").attr("class", "verdict").text(`${plural(all, "line was", "lines were")} missing; most (${percent(100 * one.missing_lines[most[0]] / all)}) by ${most[1]}: ${most[2]}.`);
    drawCauses(box, cache, one.missing_lines, all);
    drawSetUse(box, cache, one);
    const rows = one.instructions.slice().sort((a, b) => b.conflict - a.conflict || sum(causes, c => b[c[0]]) - sum(causes, c => a[c[0]])).slice(0, 10);
    fillTable(box.append("table").attr("class", "cards"), [{name: "instruction", kind: "text", fill: (c, r) => instructionCell(p, r.instruction)(c)},
      ...causes.map(([key, name]) => ({name, kind: "amount", text: r => num(r[key])}))], rows);
  }
}

function drawCauses(box, cache, of, all) {
  const width = Math.max(240, box.node().clientWidth), svg = box.append("svg").attr("width", width).attr("height", 22).attr("role", "img")
    .attr("aria-label", `${cache}: ` + causes.map(c => `${c[1]} ${num(of[c[0]])}`).join(", "));
  let x = 0;
  for (const [key] of causes) {
    const w = width * of[key] / all;
    if (w > 0) svg.append("rect").attr("class", "cause-" + key).attr("x", x).attr("width", w).attr("height", 18);
    x += w;
  }
  const legend = box.append("div").attr("class", "legend");
  for (const [key, name] of causes)
    legend.append("span").attr("data-cause", key).call(s => s.append("i").attr("class", "swatch cause-" + key)).append("span").text(`${name} ${num(of[key])}`);
}

// A bar for each set, or for as many neighbours as share a column; what they have in common is their fullest.
function drawSetUse(box, cache, one) {
  const [name, of] = setCounts[Number(section("sets").select("#set-count").property("value")) || 0], sets = one.sets;
  const most = d3.max(sets, of);
  const used = sets.filter(s => s[0]).length, even = sum(sets, s => s[0]) / sets.length, busiest = d3.max(sets, s => s[0]);
  box.append("p").attr("class", "note").text(`${num(used)} of ${num(sets.length)} sets are used; the busiest has ${(busiest / even).toFixed(2)} times the requests of an even share.`);
  if (!most) return void box.append("p").attr("class", "note").text(`No set has ${name}.`);
  const width = Math.max(240, box.node().clientWidth), height = 90, left = 62;
  const columns = Math.min(sets.length, Math.floor((width - left - 8) / 2)), per = sets.length / columns;
  const bars = d3.range(columns).map(c => d3.max(sets.slice(Math.floor(c * per), Math.max(Math.floor(c * per) + 1, Math.floor((c + 1) * per))), of));
  const x = d3.scaleLinear().domain([0, sets.length]).range([left, width - 8]), y = d3.scaleLinear().domain([0, most]).range([height, 8]);
  const svg = box.append("svg").attr("width", width).attr("height", height + 38).attr("role", "img").attr("aria-label", `${cache}: ${name} of each set, at most ${num(most)}`);
  svg.selectAll("rect").data(bars).join("rect").attr("class", "set").attr("x", (n, c) => x(c * per)).attr("width", Math.max(1, (width - left - 8) / columns - 0.5))
    .attr("y", n => y(n)).attr("height", n => height - y(n))
    .append("title").text((n, c) => `${per > 1 ? "sets from " : "set "}${Math.floor(c * per)}: ${num(n)} ${name}`);
  svg.append("g").attr("transform", `translate(0,${height})`).call(d3.axisBottom(x).ticks(width < 600 ? 4 : 8).tickFormat(num));
  svg.append("g").attr("transform", `translate(${left},0)`).call(d3.axisLeft(y).ticks(3).tickFormat(num));
  svg.append("text").attr("class", "soft").attr("x", left).attr("y", height + 34).text(`set: ${name}` + (per > 1 ? ", the most of its neighbours" : ""));
}

// The accesses of one line: a row for each SM, a mark for each access.
function drawTimeline(box, p, line) {
  box.selectAll("*").remove();
  if (!line) return void box.append("p").text("No access of this line was kept.");
  const sms = [...new Set(line.events.map(e => e[2]))].sort((a, b) => a - b);
  const left = 58, rowHeight = 28, width = Math.max(240, box.node().clientWidth);
  const capacity = width - left - 14, step = Math.min(60, capacity / line.events.length);
  const height = sms.length * rowHeight, area = step < 12 ? 36 : 90;
  const svg = box.append("svg").attr("width", width).attr("height", height + 46).attr("role", "img")
    .attr("aria-label", "timeline of a line: " + line.events.map(e => outcomes[e[3]][0] + " on SM " + e[2]).join(", "));
  const y = sm => 16 + sms.indexOf(sm) * rowHeight, x = i => left + step * (i + 0.5);
  const tracks = svg.selectAll("g.sm").data(sms).join("g").attr("class", "sm");
  tracks.append("text").attr("class", "soft").attr("x", left - 10).attr("y", sm => y(sm) + 4).attr("text-anchor", "end").text(sm => "SM " + sm);
  tracks.append("line").attr("class", "track").attr("x1", left).attr("x2", width - 6).attr("y1", y).attr("y2", y);
  svg.selectAll("path.event").data(line.events).join("path").attr("class", "event").attr("d", e => mark(e[3], e[3] === 3 ? 1.6 * area : area))
    .attr("data-outcome", e => outcomes[e[3]][0]).attr("transform", (e, i) => `translate(${x(i)},${y(e[2])})`)
    .style("fill", e => `var(--e${e[3]})`)
    .append("title").text(e => `wave instruction ${num(e[0])}: ${p.instructions[e[1]].text} on SM ${e[2]}, ${outcomes[e[3]][0]}`);
  const every = Math.ceil(line.events.length / Math.max(1, Math.floor(capacity / 80)));
  svg.selectAll("text.at").data(line.events.filter((e, i) => i % every === 0)).join("text").attr("class", "at soft")
    .attr("x", (e, k) => x(k * every)).attr("y", height + 18).attr("text-anchor", "middle").text(e => num(e[0]));
  svg.append("text").attr("class", "soft").attr("x", left).attr("y", height + 38).text("number of the wave instruction");
  const beyond = [line.dropped && plural(line.dropped, "earlier access is", "earlier accesses are") + " not drawn",
    line.later && plural(line.later, "later access is", "later accesses are") + " not drawn"].filter(Boolean);
  if (beyond.length) box.append("p").attr("class", "note").text(beyond.join("; "));
  const used = [...new Set(line.events.map(e => e[3]))].sort((a, b) => a - b);
  const legend = box.append("div").attr("class", "legend").selectAll("span").data(used).join("span");
  legend.append("svg").attr("width", 14).attr("height", 14).attr("aria-hidden", "true").append("path").attr("d", o => mark(o, 80))
    .attr("transform", "translate(7,7)").style("fill", o => `var(--e${o})`);
  legend.append("span").text(o => outcomes[o][0]);
}

function drawLines(p) {
  const lines = p.lines || [], chosen = section("lines").select("select");
  const now = Number(chosen.property("value")) || 0;
  chosen.selectAll("option").data(lines).join("option").attr("value", (l, i) => i).property("selected", (l, i) => i === now)
    .text(l => `${l.where} (${num(l.accesses)} accesses, ${num(l.misses)} from memory)`);
  drawTimeline(section("lines").select(".drawing"), p, lines[Math.min(now, lines.length - 1)]);
}

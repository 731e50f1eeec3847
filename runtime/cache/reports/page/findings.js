// Findings: what is wrong, the two instructions, and what happened to the line.
const findingsAtOnce = 50;
let findingsShown = findingsAtOnce;

function drawSite(box, name, site) {
  if (!site) return;
  const s = box.append("div").attr("class", "site");
  s.append("h3").text(name);
  if (site.host) return void s.append("div").text("the host");
  s.append("code").text(site.text);
  s.append("div").attr("class", "soft").text(`kernel ${site.kernel}, PC ${hex(site.pc)}, group ${num(site.group)}, wave ${site.wave}, SM ${site.sm}`);
  const place = !site.line ? "" : site.file ? `${site.file}:${site.line}` : `line ${site.line}`;
  if (!place) return;
  const known = site.file && data.sources.some(f => f.name === site.file);
  const line = s.append("div").attr("class", "soft");
  (known ? line.append("a").attr("href", "#" + anchor(site.file, site.line)).on("click", () => showSource(site.file, site.line)) : line).text(place)
    .style("overflow-wrap", "anywhere");
}

function drawFindings(p) {
  const list = section("findings").select(".list");
  list.selectAll("*").remove();
  if (data.findings.length === 0) return void list.append("p").text("Nothing to report.");
  for (const f of data.findings.slice(0, findingsShown)) {
    const box = list.append("article").attr("class", "finding " + f.severity);
    const head = box.append("div").attr("class", "head");
    head.append("span").attr("class", "level").text(f.severity);
    head.append("h3").text(f.id + " " + f.title);
    head.append("span").attr("class", "soft").text("× " + num(f.count));
    box.append("p").attr("class", "note").text(f.message);
    box.append("p").text(`${f.where}, ${plural(f.bytes, "byte", "bytes")}; found with ${f.presets.length} of ${data.presets.length} presets: ` +
      f.presets.map(n => `${n} × ${num(f.counts[n])}`).join(", "));
    const sites = box.append("div").attr("class", "sites");
    drawSite(sites, "Where it shows", f.at);
    drawSite(sites, "Other side", f.other);
    const line = (p.lines || []).find(l => l.block === f.block);
    const timeline = box.append("div").attr("class", "timeline");
    if (line) timeline.append("h3").text("The line " + line.where);
    if (line) drawTimeline(timeline.append("div"), p, line);
    else timeline.append("p").text(`${p.preset} kept no timeline of this line.`);
    if (f.line_history.length) {
      const more = box.append("details");
      more.append("summary").text("the line's history in words");
      more.append("ul").selectAll("li").data(f.line_history).join("li").text(h => h);
    }
    if (f.fix) box.append("p").attr("class", "note").text("What would fix it: " + f.fix);
  }
  if (findingsShown < data.findings.length)
    list.append("button").attr("type", "button").text(`show all ${num(data.findings.length)} findings`)
      .on("click", () => { findingsShown = data.findings.length; drawFindings(p); });
}

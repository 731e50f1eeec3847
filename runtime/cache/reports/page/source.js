// Source with counts: a file that the instructions name, or the instructions of a kernel by PC.
const lineCounts = [["L1 hits", "hit", i => i.l1_hits], ["L1 misses", "miss", i => i.l1_misses], ["L2 hits", "hit", i => i.l2_hits],
  ["L2 misses", "miss", i => i.l2_misses], ["stores hit", "hit", i => i.l2_write_hits], ["stores miss", "miss", i => i.l2_write_misses],
  ["stale", "miss", i => i.stale]];

function sourceViews(p) {
  const views = data.sources.map(f => ({name: f.name, file: f}));
  for (const kernel of [...new Set(p.instructions.map(i => i.kernel))]) views.push({name: "instructions of " + kernel, kernel});
  return views;
}

// Rows of a view: [number, text, instructions, id], or a gap.
function sourceRows(p, view) {
  if (view.kernel !== undefined)
    return p.instructions.filter(i => i.kernel === view.kernel).sort((a, b) => a.pc - b.pc).map(i => ({number: hex(i.pc), text: i.text, own: [i], id: null}));
  const at = new Map();
  for (const i of p.instructions.filter(i => i.file === view.file.name && i.line)) at.set(i.line, [...(at.get(i.line) || []), i]);
  const row = (line, text) => ({number: line, text, own: at.get(line) || [], id: anchor(view.file.name, line)});
  // Without its text a file's lines are still listed, with the instructions that they became.
  if (view.file.why) return [...at.keys()].sort((a, b) => a - b).map(line => row(line, at.get(line).map(i => i.text).join("\n")));
  const rows = [];
  for (const chunk of view.file.chunks) {
    if (rows.length || chunk.first > 1) rows.push({gap: true});
    chunk.text.forEach((text, i) => rows.push(row(chunk.first + i, text)));
  }
  return rows;
}

function drawSource(p) {
  const views = sourceViews(p), select = section("source").select("select");
  const now = Math.min(Number(select.property("value")) || 0, views.length - 1);
  select.selectAll("option").data(views).join("option").attr("value", (v, i) => i).property("selected", (v, i) => i === now).text(v => v.name);
  const table = section("source").select("table"), note = section("source").select(".note");
  note.text("");
  table.selectAll("*").remove();
  if (now < 0) return void note.text("The trace names no memory instruction.");
  const view = views[now];
  if (view.file && view.file.why) note.text(`No text: ${view.file.why}. What is shown are the instructions of each line.`);
  const columns = [{name: view.file ? "line" : "PC", kind: "number", fill: (c, r) => c.text(r.gap ? "⋯" : r.number)},
    {name: view.file ? "source" : "instruction", kind: "text", fill: (c, r) => c.text(r.gap ? "" : r.text)}];
  for (const [name, kind, of] of lineCounts)
    columns.push({name, kind: "amount " + kind, fill: (c, r) => { const n = r.gap ? 0 : sum(r.own, of); if (n) c.append("span").text(num(n)); }});
  fillTable(table, columns, sourceRows(p, view));
  table.selectAll("tbody tr").attr("id", r => r.id).classed("gap", r => r.gap).classed("used", r => !r.gap && r.own.length > 0)
    .classed("stale", r => !r.gap && sum(r.own, i => i.stale) > 0)
    .attr("title", r => r.own && r.own.length && view.file && !view.file.why ? r.own.map(i => hex(i.pc) + " " + i.text).join("\n") : null);
  scrollSource();
}

// The first line that counts is in view, with some before it.
function scrollSource(row) {
  const box = section("source").select(".scroll").node(), line = row || box.querySelector("tr.used");
  if (line) box.scrollTop += line.getBoundingClientRect().top - box.getBoundingClientRect().top - 110;
}

// A link to a line: its file must be the one that is shown.
function showSource(file, line) {
  const at = sourceViews(preset()).findIndex(v => v.file && v.file.name === file);
  section("source").select("select").property("value", at);
  drawSource(preset());
  scrollSource(document.getElementById(anchor(file, line)));
}

// What the report holds, and how numbers are written.
const data = JSON.parse(document.getElementById("data").textContent);
const num = n => Number(n).toLocaleString("en-US");
const share = (part, rest) => part + rest === 0 ? null : 100 * part / (part + rest);
const percent = v => v === null ? "–" : v.toFixed(1) + "\u00a0%";
const plural = (n, one, many) => num(n) + " " + (n === 1 ? one : many);
const hex = n => "0x" + Number(n).toString(16).padStart(4, "0");
const words = name => name.replace(/_/g, " ");
function size(bytes) {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let i = 0;
  while (bytes >= 1024 && i < 4) { bytes /= 1024; ++i; }
  return (i === 0 || bytes >= 100 ? Math.round(bytes) : bytes.toFixed(1)) + " " + units[i];
}
const sum = (list, f) => list.reduce((s, x) => s + f(x), 0);
const none = {reads: 0, read_misses: 0, writes: 0, write_misses: 0, sector_hits: 0, sector_misses: 0, write_sector_hits: 0,
  write_sector_misses: 0, dirty_lines_left: 0, dirty_bytes_left: 0, fills: 0, evictions: 0, write_backs: 0,
  write_back_bytes: 0, invalidated: 0, prefetches: 0, over_fetch: 0};
const cacheOf = (p, name) => p.caches[name] || none;
const storage = (g, bytes) => g.infinite ? "grows" : size(g.bytes);
const section = id => d3.select("#" + id);
const style = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
/// Where a place in a file is on this page.
const anchor = (file, line) => "src-" + String(file).replace(/[^A-Za-z0-9]/g, "_") + "-" + line;

// The cells of a table: [heading, class, text, what to fill the cell with]. Cards of narrow windows need the heading.
function fillTable(table, columns, rows, heading) {
  table.selectAll("*").remove();
  const head = table.append("thead").append("tr").selectAll("th").data(columns).join("th")
    .attr("scope", "col").attr("class", c => c.kind);
  head.each(function (c, i) { heading ? heading(d3.select(this), c, i) : d3.select(this).text(c.name); });
  table.append("tbody").selectAll("tr").data(rows).join("tr").each(function (row, r) {
    d3.select(this).selectAll("td").data(columns).join("td").attr("class", c => c.kind).attr("data-label", c => c.name)
      .each(function (c) {
        const cell = d3.select(this);
        c.fill ? c.fill(cell, row, r) : cell.append("span").text(c.text(row));
      });
  });
}

// How an access of a line ended: its name and its mark, so that colour is not the only sign.
const outcomes = [["L1 hit", d3.symbolCircle], ["L2 hit", d3.symbolSquare], ["from memory", d3.symbolTriangle],
  ["stale", d3.symbolStar], ["write", d3.symbolDiamond], ["cache control", d3.symbolCross]];
const mark = (o, area) => d3.symbol().type(outcomes[o][1]).size(area)();

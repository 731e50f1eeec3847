// The memory chart: the kernel, its first caches, L2 and memory, with the bytes of every path.
const firstCaches = ["L1", "scalar", "constant", "constant L1.5", "instruction", "instruction L1.5"];
const behind = {"constant L1.5": "constant", "instruction L1.5": "instruction"};

/// Boxes and paths; bytes are sectors times their size.
function memoryPaths(p) {
  const bytes = (name, sectors) => sectors * p.geometry[name].sector;
  const l2 = cacheOf(p, "L2");
  // What asked no first cache went past them; a store that L1 saw went through it.
  const past = p.instructions.filter(i => i.l1_hits + i.l1_misses === 0);
  const through = i => i.l1_write_hits + i.l1_write_misses > 0;
  const stored = (list) => bytes("L2", sum(list, i => i.l2_write_hits + i.l2_write_misses));
  const paths = [];
  const path = (from, to, name, reads, writes) => paths.push({from, to, name, reads, writes});
  const boxes = firstCaches.filter(name => p.caches[name]).map(name => ({name, cache: p.caches[name]}));
  for (const {name, cache} of boxes) {
    const above = behind[name] || "kernel", below = boxes.find(b => behind[b.name] === name)?.name || "L2";
    if (above === "kernel")
      path(above, name, "", bytes(name, cache.sector_hits + cache.sector_misses), bytes(name, cache.write_sector_hits + cache.write_sector_misses));
    path(name, below, "", bytes(name, cache.fills), cache.write_back_bytes + (name === "L1" ? stored(p.instructions.filter(through)) : 0));
  }
  path("kernel", "L2", "past the first caches", bytes("L2", sum(past, i => i.l2_hits + i.l2_misses)),
    stored(p.instructions.filter(i => !through(i))));
  path("L2", "memory", "", bytes("L2", l2.fills), l2.write_back_bytes);
  return {boxes, paths, l2, fromMemory: bytes("L2", l2.fills), toMemory: l2.write_back_bytes};
}

function levelLines(cache, g) {
  return [["loads hit", percent(share(cache.sector_hits, cache.sector_misses))],
    ["stores hit", percent(share(cache.write_sector_hits, cache.write_sector_misses))],
    ["evictions", num(cache.evictions)], ["left dirty", size(cache.dirty_bytes_left)],
    ["holds", storage(g)], ["line, sector", `${g.line}, ${g.sector} B`]];
}

// A box of the chart. Lines are [what, value] pairs, the first with a bar where it is a share.
function chartBox(svg, x, y, width, title, lines, hits) {
  const g = svg.append("g").attr("class", "level").attr("data-name", title).attr("transform", `translate(${x},${y})`);
  const height = 36 + 20 * lines.length + (hits === null ? 0 : 10);
  g.append("rect").attr("class", "box").attr("width", width).attr("height", height).attr("rx", 6);
  g.append("text").attr("class", "big").attr("x", 12).attr("y", 24).text(title);
  lines.forEach(([what, value], i) => {
    g.append("text").attr("class", "soft").attr("x", 12).attr("y", 46 + 20 * i).text(what);
    g.append("text").attr("x", width - 12).attr("y", 46 + 20 * i).attr("text-anchor", "end").text(value);
  });
  if (hits !== null) {
    const full = width - 24, y0 = height - 14;
    g.append("rect").attr("class", "bar-miss").attr("x", 12).attr("y", y0).attr("width", full).attr("height", 6);
    g.append("rect").attr("class", "bar-hit").attr("x", 12).attr("y", y0).attr("width", full * hits / 100).attr("height", 6);
  }
  return height;
}

function drawChart(p) {
  const box = section("chart").select(".drawing");
  box.selectAll("*").remove();
  const m = memoryPaths(p), width = box.node().clientWidth, wide = width >= 760;
  const most = Math.max(1, ...m.paths.map(x => Math.max(x.reads, x.writes)));
  const thick = bytes => bytes === 0 ? 1 : 1.5 + 7 * Math.sqrt(bytes / most);
  const svg = box.append("svg").attr("width", width).attr("role", "img").attr("aria-label", "memory chart: " + m.paths.map(x =>
    `${x.from} to ${x.to}: ${size(x.reads)} read, ${size(x.writes)} written`).join("; "));
  // An arrow with its text. Reads go towards the kernel.
  const arrow = (kind, x1, y1, x2, y2, text, tx, ty, anchor, id) => {
    const length = Math.hypot(x2 - x1, y2 - y1), half = thick(text.bytes) / 2, wing = half + 5, neck = length - 12;
    svg.append("path").attr("class", kind).attr("data-path", id)
      .attr("transform", `translate(${x1},${y1}) rotate(${180 / Math.PI * Math.atan2(y2 - y1, x2 - x1)})`)
      .attr("d", `M0,${-half} H${neck} V${-wing} L${length},0 L${neck},${wing} V${half} H0 Z`);
    svg.append("text").attr("x", tx).attr("y", ty).attr("text-anchor", anchor).text(text.say);
  };
  const say = (bytes, word) => ({bytes, say: size(bytes) + " " + word});
  const count = k => num(sum(p.instructions.filter(i => i.kind === k), i => i.instructions));
  const kernel = [["loads", count("load")], ["stores", count("store")], ["atomics", count("atomic")], ["cache control", count("control")], ["fences", count("fence")]];
  const memory = [["read", size(m.fromMemory)], ["written", size(m.toMemory)]];
  const hits = c => share(c.sector_hits, c.sector_misses);
  const find = (from, to) => m.paths.find(x => x.from === from && x.to === to);
  const height = wide ? wideChart() : narrowChart();
  svg.attr("height", height);
  const legend = box.append("div").attr("class", "legend");
  legend.append("span").html('<svg width="30" height="10" aria-hidden="true"><path class="read" d="M30,3 H12 V0 L0,5 L12,10 V7 H30 Z"/></svg>read, towards the kernel');
  legend.append("span").html('<svg width="30" height="10" aria-hidden="true"><path class="write" d="M0,3 H18 V0 L30,5 L18,10 V7 H0 Z"/></svg>written, towards memory');
  legend.append("span").text("the width grows with the bytes");

  function pair(x1, x2, y, path) {
    const id = path.from + "-" + path.to, middle = (x1 + x2) / 2;
    arrow("read", x2 - 2, y, x1 + 4, y, say(path.reads, "read"), middle, y - 10, "middle", id);
    arrow("write", x1 + 2, y + 38, x2 - 4, y + 38, say(path.writes, "written"), middle, y + 28, "middle", id);
  }
  function wideChart() {
    const bw = Math.min(180, width * 0.16), gap = (width - 4 * bw - 4) / 3, at = i => 2 + i * (bw + gap);
    let y = 86;
    for (const b of m.boxes) {
      const lines = levelLines(b.cache, p.geometry[b.name]);
      const shown = b.name === "L1" ? lines : [lines[0], lines[4], lines[5]];
      const h = chartBox(svg, at(1), y, bw, b.name, shown, hits(b.cache));
      const centre = y + h / 2 - 14, up = behind[b.name];
      if (!up) pair(at(0) + bw, at(1), centre, find("kernel", b.name));
      const down = m.paths.find(x => x.from === b.name);
      if (down.to === "L2") pair(at(1) + bw, at(2), centre, down);
      else svg.append("text").attr("class", "soft").attr("x", at(1) + bw + 10).attr("y", centre + 10).text(`${size(down.reads)} from ${down.to}`);
      y += h + 20;
    }
    const bottom = Math.max(y, 330);
    const past = find("kernel", "L2");
    // Past the first caches: above them, from the kernel's box to L2's.
    const top = 28;
    arrow("read", at(2) - 2, top, at(0) + bw + 4, top, say(past.reads, "read past the first caches"), (at(0) + bw + at(2)) / 2, top - 10, "middle", "kernel-L2");
    arrow("write", at(0) + bw + 2, top + 34, at(2) - 4, top + 34, say(past.writes, "written past them"), (at(0) + bw + at(2)) / 2, top + 24, "middle", "kernel-L2");
    const tall = (i, title, lines, h) => {
      chartBox(svg, at(i), 4, bw, title, lines, h);
      svg.selectAll("g.level").filter(function () { return this.getAttribute("data-name") === title; }).select("rect.box").attr("height", bottom - 24);
    };
    tall(0, "Kernel", kernel, null);
    chartBox(svg, at(2), 4, bw, "L2", levelLines(m.l2, p.geometry.L2), hits(m.l2));
    svg.selectAll("g.level").filter(function () { return this.getAttribute("data-name") === "L2"; }).select("rect.box").attr("height", bottom - 24);
    pair(at(2) + bw, at(3), 140, find("L2", "memory"));
    tall(3, "Memory", memory, null);
    return bottom - 16;
  }
  function narrowChart() {
    let y = 2;
    const down = (reads, writes, id) => {
      const a = width * 0.08, b = width * 0.54;
      arrow("read", a, y + 40, a, y + 6, say(reads, "read"), a + 12, y + 28, "start", id);
      arrow("write", b, y + 4, b, y + 38, say(writes, "written"), b + 12, y + 28, "start", id);
      y += 46;
    };
    y += chartBox(svg, 2, y, width - 4, "Kernel", kernel, null);
    for (const b of m.boxes) {
      const lines = levelLines(b.cache, p.geometry[b.name]), path = find("kernel", b.name);
      if (path) down(path.reads, path.writes, "kernel-" + b.name);
      else y += 12;
      y += chartBox(svg, 2, y, width - 4, b.name, b.name === "L1" ? lines : [lines[0], lines[4], lines[5]], hits(b.cache));
    }
    const below = m.paths.filter(x => x.to === "L2");
    down(sum(below, x => x.reads), sum(below, x => x.writes), "L2");
    y += chartBox(svg, 2, y, width - 4, "L2", levelLines(m.l2, p.geometry.L2), hits(m.l2));
    const last = find("L2", "memory");
    down(last.reads, last.writes, "L2-memory");
    return y + chartBox(svg, 2, y, width - 4, "Memory", memory, null) + 2;
  }
}

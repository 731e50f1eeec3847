// Heat maps: rows (addresses, SMs, sets) by time, drawn on a canvas whose window is moved and zoomed.
const per = (part, rest) => c => share(c[part], c[rest]);
const metrics = [
  {name: "L1 hit rate", of: per("l1_hits", "l1_misses"), rate: true, amount: c => c.l1_hits + c.l1_misses},
  {name: "L2 hit rate", of: per("l2_hits", "l2_misses"), rate: true, amount: c => c.l2_hits + c.l2_misses},
  {name: "evictions from L1", of: c => c.l1_evictions}, {name: "evictions from L2", of: c => c.l2_evictions},
  {name: "write backs to memory", of: c => c.write_backs}, {name: "requests", of: c => c.requests}, {name: "sectors stored", of: c => c.stores},
  {name: "L1 misses", of: c => c.l1_misses}, {name: "L2 misses", of: c => c.l2_misses}, {name: "stale reads", of: c => c.stale}];
/// The first that has something to show: a kernel that only stores has no L1 hit rate.
function firstMetric(p) {
  if (!p.heat) return 0;
  const cells = [...heatCells(p.heat, p.heat.maps[Object.keys(p.heat.maps)[0]]).values()];
  return Math.max(0, metrics.findIndex(m => cells.some(c => m.rate ? m.of(c) !== null : m.of(c) > 0)));
}
const heatView = {k: 1, x: 0, y: 0, column: 0, row: 0};

// The cells that are not empty, by row * columns + column.
function heatCells(h, map) {
  const fields = Object.keys(map.cells).filter(f => f !== "index");
  return new Map(map.cells.index.map((at, i) => [at, Object.fromEntries(fields.map(f => [f, map.cells[f][i]]))]));
}

function drawHeat(p) {
  const box = section("heat").select(".drawing"), readout = section("heat").select(".readout");
  box.selectAll("*").remove();
  readout.text("");
  if (!p.heat || p.heat.columns === 0) return void box.append("p").text("No access reached a cache.");
  const h = p.heat, axis = section("heat").select("#axis").property("value"), map = h.maps[axis];
  const metric = metrics[Number(section("heat").select("#metric").property("value"))];
  const cells = heatCells(h, map), rows = map.rows.length, columns = h.columns;
  const whole = box.node().clientWidth, narrow = whole < 600;
  const longest = d3.max(map.rows, r => r.length);
  const left = Math.min(narrow ? 92 : 250, 18 + 7 * longest), right = 30, top = 8;
  const width = whole - left - right, height = Math.max(90, Math.min(narrow ? 300 : 360, 14 * rows));
  const most = Math.max(1, d3.max([...cells.values()], c => metric.rate ? 1 : metric.of(c)) || 0);
  const scale = d3.scaleSequential(d3.interpolateRgb(style("--heat-low"), style("--heat-high"))).domain([0, 1]);
  // Counts by the root of their share, so that single events are seen.
  const colour = c => { const v = metric.of(c); return v === null || (!metric.rate && v === 0) ? null : scale(metric.rate ? v / 100 : Math.sqrt(v / most)); };
  const x0 = d3.scaleLinear().domain([0, columns]).range([0, width]), y0 = d3.scaleLinear().domain([0, rows]).range([0, height]);
  const holder = box.append("div").attr("class", "map").style("height", height + top + 44 + "px");
  const dense = window.devicePixelRatio || 1;
  const canvas = holder.append("canvas").attr("tabindex", 0).attr("role", "application").attr("aria-label", `heat map: ${metric.name} by ${axis} and time`)
    .attr("width", Math.round(width * dense)).attr("height", Math.round(height * dense))
    .style("left", left + "px").style("top", top + "px").style("width", width + "px").style("height", height + "px");
  const svg = holder.append("svg").attr("width", whole).attr("height", height + top + 44).attr("aria-hidden", "true");
  const xAxis = svg.append("g").attr("transform", `translate(${left},${top + height})`), yAxis = svg.append("g").attr("transform", `translate(${left},${top})`);
  const cursor = svg.append("rect").attr("fill", "none").style("stroke", "var(--ink)").attr("stroke-width", 2);
  svg.append("text").attr("class", "soft").attr("x", left).attr("y", height + top + 40).text(narrow ? "time, in wave instructions" : `time, in wave instructions (${num(h.width)} a column)`);
  const legend = box.append("div").attr("class", "legend");
  legend.append("span").html(metric.rate ? '0 % <span class="scale"></span> 100 %' : `1 <span class="scale"></span> ${num(most)} in a cell`);
  legend.append("span").html('<i class="swatch hatched"></i>nothing to count');
  let x = x0, y = y0;

  function paint(t) {
    x = t.rescaleX(x0); y = t.rescaleY(y0);
    Object.assign(heatView, {k: t.k, x: t.x / width, y: t.y / height});
    const g = canvas.node().getContext("2d");
    g.setTransform(dense, 0, 0, dense, 0, 0);
    // What is empty is hatched: no shade of the scale can be taken for it.
    g.fillStyle = style("--heat-none");
    g.fillRect(0, 0, width, height);
    g.strokeStyle = style("--rule");
    g.lineWidth = 1;
    for (let at = -height; at < width; at += 8) { g.beginPath(); g.moveTo(at, height); g.lineTo(at + height, 0); g.stroke(); }
    for (const [at, c] of cells) {
      const fill = colour(c), column = at % columns, row = Math.floor(at / columns);
      if (fill === null) continue;
      const ax = x(column), bx = x(column + 1), ay = y(row), by = y(row + 1);
      if (bx < 0 || by < 0 || ax > width || ay > height) continue;
      g.fillStyle = fill;
      g.fillRect(ax, ay, Math.max(1, bx - ax), Math.max(1, by - ay));
    }
    const ticks = x.ticks(narrow ? 3 : 8).filter(v => h.width > 1 || Number.isInteger(v));
    xAxis.call(d3.axisBottom(x).tickValues(ticks).tickFormat(v => num(Math.round(v * h.width))));
    // The middle of rows gets their names, as many as fit.
    const from = Math.max(0, Math.floor(y.invert(0))), to = Math.min(rows, Math.ceil(y.invert(height)));
    const every = Math.max(1, Math.ceil((to - from) * 18 / height)), capacity = Math.floor((left - 14) / 7);
    const named = d3.range(from, to).filter(r => r % every === 0 && y(r + 0.5) >= 0 && y(r + 0.5) <= height);
    const short = s => s.length > capacity ? "…" + s.slice(s.length - capacity + 1) : s;
    yAxis.call(d3.axisLeft(y).tickValues(named.map(r => r + 0.5)).tickFormat(v => short(map.rows[Math.floor(v)])));
    holder.attr("data-zoom", t.k.toFixed(3)).attr("data-from", x.invert(0).toFixed(3)).attr("data-to", x.invert(width).toFixed(3));
    placeCursor();
  }
  function placeCursor() {
    const shown = document.activeElement === canvas.node();
    cursor.attr("x", left + x(heatView.column)).attr("y", top + y(heatView.row)).attr("width", x(1) - x(0)).attr("height", y(1) - y(0))
      .style("display", shown ? null : "none");
  }
  function show(column, row) {
    const c = cells.get(row * columns + column), first = column * h.width;
    const when = h.width === 1 ? `wave instruction ${num(first)}` : `wave instructions ${num(first)} to ${num(first + h.width - 1)}`;
    const what = !c ? "nothing" : metric.rate ? (metric.of(c) === null ? "nothing to count" : `${percent(metric.of(c))} of ${plural(metric.amount(c), "sector", "sectors")}`) : num(metric.of(c));
    readout.text(`${map.rows[row]}${map.band ? " and " + size(map.band) : ""}, ${when}: ${metric.name} ${what}`);
  }
  const zoom = d3.zoom().scaleExtent([1, Math.max(8, columns / 8, rows / 8)]).extent([[0, 0], [width, height]]).translateExtent([[0, 0], [width, height]])
    .filter(() => d3.event.type === "wheel" ? d3.event.ctrlKey : d3.event.touches ? d3.event.touches.length > 1 : !d3.event.button)
    .on("zoom", () => paint(d3.event.transform));
  canvas.call(zoom).on("dblclick.zoom", null);
  const around = () => [x(heatView.column + 0.5), y(heatView.row + 0.5)].map((v, i) => Math.max(0, Math.min([width, height][i], v)));
  const scaleBy = f => document.activeElement === canvas.node() ? canvas.call(zoom.scaleBy, f, around()) : canvas.call(zoom.scaleBy, f);
  canvas.on("mousemove", () => {
    const [mx, my] = d3.mouse(canvas.node());
    show(Math.min(columns - 1, Math.max(0, Math.floor(x.invert(mx)))), Math.min(rows - 1, Math.max(0, Math.floor(y.invert(my)))));
  }).on("focus", () => { placeCursor(); show(heatView.column, heatView.row); }).on("blur", placeCursor).on("keydown", () => {
    const move = {ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1]}[d3.event.key];
    if (move) {
      heatView.column = Math.max(0, Math.min(columns - 1, heatView.column + move[0]));
      heatView.row = Math.max(0, Math.min(rows - 1, heatView.row + move[1]));
      const [cx, cy] = [x(heatView.column + 0.5), y(heatView.row + 0.5)];
      if (cx < 0 || cx > width || cy < 0 || cy > height) canvas.call(zoom.translateTo, x0(heatView.column + 0.5), y0(heatView.row + 0.5));
      placeCursor();
      show(heatView.column, heatView.row);
    } else if (d3.event.key === "+" || d3.event.key === "=") scaleBy(2);
    else if (d3.event.key === "-") scaleBy(0.5);
    else if (d3.event.key === "0") canvas.call(zoom.transform, d3.zoomIdentity);
    else return;
    d3.event.preventDefault();
  });
  d3.select("#zoom-in").on("click", () => scaleBy(2));
  d3.select("#zoom-out").on("click", () => scaleBy(0.5));
  d3.select("#zoom-all").on("click", () => canvas.call(zoom.transform, d3.zoomIdentity));
  heatView.column = Math.min(heatView.column, columns - 1);
  heatView.row = Math.min(heatView.row, rows - 1);
  canvas.call(zoom.transform, d3.zoomIdentity.translate(heatView.x * width, heatView.y * height).scale(heatView.k));
}

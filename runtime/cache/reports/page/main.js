// What is chosen, and when it is drawn.
const preset = () => data.presets[Number(document.getElementById("preset").value)];

function draw() {
  const p = preset();
  drawFindings(p); drawHints(p); drawChart(p); drawSource(p); drawSets(p); drawReuse(p); drawHeat(p); drawInstructions(p); drawSpaces(p); drawLines(p); drawLaunches(p); drawCounters(p);
}
function drawSized() {
  const p = preset();
  drawFindings(p); drawHints(p); drawChart(p); drawSets(p); drawReuse(p); drawHeat(p); drawLines(p);
}

const dark = window.matchMedia("(prefers-color-scheme: dark)");
let chosenTheme = null;
function showTheme() {
  const theme = chosenTheme || (dark.matches ? "dark" : "light");
  document.documentElement.dataset.theme = theme;
  d3.select("#theme").text(theme === "dark" ? "light" : "dark").attr("aria-label", theme === "dark" ? "use the light scheme" : "use the dark scheme");
}

function start() {
  showTheme();
  const options = (id, names) => d3.select("#" + id).selectAll("option").data(names).join("option").attr("value", (n, i) => i).text(n => n);
  options("preset", data.presets.map(p => p.preset + (p.title ? " (" + p.title + ")" : "")));
  options("metric", metrics.map(m => m.name));
  document.getElementById("metric").value = firstMetric(preset());
  options("stream", reuseStreams.map(s => s[1]));
  options("set-count", setCounts.map(s => s[0]));
  const maps = data.presets.find(p => p.heat);
  d3.select("#axis").selectAll("option").data(maps ? Object.keys(maps.heat.maps) : []).join("option").text(n => n);
  const severities = s => data.findings.filter(f => f.severity === s).length;
  const policies = Object.entries(data.policies || {}).map(([name, value]) => `${name} = ${value}`);
  d3.select("#summary").text([plural(data.presets[0].wave_instructions, "wave instruction", "wave instructions"), plural(severities("error"), "error", "errors"),
    plural(severities("warning"), "warning", "warnings"), severities("advice") + " advice", plural(data.presets.length, "preset", "presets"), ...policies, data.origin, data.date].filter(Boolean).join(" \u00b7 "));
  d3.select("nav").selectAll("a").data(d3.selectAll("main section").nodes()).join("a").attr("href", s => "#" + s.id).text(s => s.querySelector("h2").textContent);
  draw();
  drawCompared();
  d3.select("#preset").on("change", draw);
  d3.select("#axis").on("change", () => { Object.assign(heatView, {k: 1, x: 0, y: 0, column: 0, row: 0}); drawHeat(preset()); });
  d3.select("#metric").on("change", () => drawHeat(preset()));
  d3.select("#stream").on("change", () => drawReuse(preset()));
  d3.select("#set-count").on("change", () => drawSets(preset()));
  d3.select("#line").on("change", () => drawLines(preset()));
  d3.select("#file").on("change", () => drawSource(preset()));
  const scheme = () => { showTheme(); drawHeat(preset()); };
  d3.select("#theme").on("click", () => { chosenTheme = document.documentElement.dataset.theme === "dark" ? "light" : "dark"; scheme(); });
  dark.addListener(scheme);
  let width = window.innerWidth, waiting = null;
  window.addEventListener("resize", () => {
    if (window.innerWidth === width) return;
    width = window.innerWidth;
    clearTimeout(waiting);
    waiting = setTimeout(drawSized, 80);
  });
}
start();

# The HTML report in headless Chromium: what it shows against the JSON report of the same trace, how it is used with the
# keyboard, how it looks at two widths in two schemes. Usage: report_page.py LANEWISE SOURCES FOLDER
# 77 (skipped) where python3-selenium, chromium-driver or chromium is missing. Screenshots stay in FOLDER.
import json
import os
import shutil
import subprocess
import sys
import unittest

try:
    import selenium  # noqa: F401
except ImportError:
    print("skipped: python3-selenium is not installed")
    sys.exit(77)
if shutil.which("chromedriver") is None or shutil.which("chromium") is None:
    print("skipped: chromium and chromium-driver are not both installed")
    sys.exit(77)

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from browser import Browser, Keys  # noqa: E402
from traces import make_reports  # noqa: E402

PROGRAM, SOURCES, FOLDER = (os.path.abspath(p) for p in sys.argv[1:4])
WIDTHS, SCHEMES = (1200, 390), ("light", "dark")


def text(n):
    return f"{n:,}"


def share(part, rest):
    return "–" if part + rest == 0 else f"{100 * part / (part + rest):.1f}\u00a0%"


class Page(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        os.makedirs(FOLDER, exist_ok=True)
        cls.reports = make_reports(PROGRAM, SOURCES, FOLDER)
        cls.browser = Browser()

    @classmethod
    def tearDownClass(cls):
        cls.browser.close()

    def open(self, name, width=1200, scheme="light"):
        self.browser.show(self.reports[name] + ".html", width, scheme)
        with open(self.reports[name] + ".json") as f:
            self.report = json.load(f)
        return self.browser

    def texts(self, selector):
        return self.browser.js("return [...document.querySelectorAll(arguments[0])].map(e => e.textContent)", selector)

    def test_findings_are_first_and_whole(self):
        b = self.open("stale")
        self.assertGreaterEqual(len(self.report["findings"]), 1)
        self.assertEqual(b.js("return document.querySelector('main section').id"), "findings")
        boxes = b.js("""return [...document.querySelectorAll('.finding')].map(f => ({
            severity: f.classList[1], head: f.querySelector('.head').textContent, all: f.textContent,
            codes: [...f.querySelectorAll('.site code')].map(c => c.textContent),
            marks: [...f.querySelectorAll('.timeline path.event')].map(p => p.dataset.outcome)}))""")
        self.assertEqual(len(boxes), len(self.report["findings"]))
        for box, finding in zip(boxes, self.report["findings"]):
            self.assertEqual(box["severity"], finding["severity"])
            for part in (finding["id"], finding["title"], text(finding["count"])):
                self.assertIn(part, box["head"])
            for part in (finding["message"], finding["fix"], finding["where"]):
                self.assertIn(part, box["all"])
            sides = [s["text"] for s in (finding["at"], finding["other"]) if s and not s.get("host")]
            self.assertEqual(box["codes"], sides)
        stale = [box for box, f in zip(boxes, self.report["findings"]) if f["id"] == "H1"]
        self.assertIn("stale", stale[0]["marks"])
        # The trace's kernel is called "<b>stale</script>": a name, not markup.
        self.assertEqual(b.js("return document.querySelectorAll('main b').length"), 0)
        self.assertIn("<b>stale</script>", boxes[0]["all"])

    def check_counters(self, name):
        b = self.open(name)
        for number, preset in enumerate(self.report["presets"]):
            b.choose("#preset", number)
            shown = b.js("""return Object.fromEntries([...document.querySelectorAll('#counters span[data-cache]')].map(
                e => [e.dataset.cache + '/' + e.dataset.counter, e.textContent]))""")
            wanted = {}
            for cache, counters in preset["caches"].items():
                for counter, value in counters.items():
                    parts = {counter: value} if not isinstance(value, dict) else {f"{counter}.{k}": v for k, v in value.items()}
                    wanted.update({f"{cache}/{k}": text(v) for k, v in parts.items()})
            self.assertGreater(len(wanted), 20)
            self.assertEqual(shown, wanted)
            rows = b.js("""return [...document.querySelectorAll('#instructions tbody tr')].map(r => ({pc: Number(r.dataset.pc),
                kernel: r.dataset.kernel, cells: Object.fromEntries([...r.querySelectorAll('td')].map(d => [d.dataset.label, d.textContent])),
                all: Object.fromEntries([...r.querySelectorAll('dd')].map(d => [d.dataset.counter, d.textContent]))}))""")
            ran = [i for i in preset["instructions"] if i["instructions"] > 0]
            self.assertEqual(len(rows), len(ran))
            for site in ran:
                row = next(r for r in rows if r["pc"] == site["pc"] and r["kernel"] == site["kernel"])
                counters = {k: text(v) for k, v in site.items() if isinstance(v, int) and k not in ("pc", "line")}
                self.assertEqual(row["all"], counters)
                self.assertEqual(row["cells"]["L1 hits"], share(site["l1_hits"], site["l1_misses"]))
                self.assertEqual(row["cells"]["stores, L2 hits"], share(site["l2_write_hits"], site["l2_write_misses"]))
                self.assertEqual(row["cells"]["stale"], text(site["stale"]))

    def test_every_counter_of_a_stale_read(self):
        self.check_counters("stale")

    def test_every_counter_of_a_kernel(self):
        self.check_counters("transpose")

    def rows(self, selector):
        return self.browser.js("""return [...document.querySelectorAll(arguments[0] + ' tbody tr')].map(
            r => Object.fromEntries([...r.querySelectorAll('td')].map(d => [d.dataset.label, d.textContent])))""", selector)

    def test_what_the_hint_did(self):
        b = self.open("hints")
        hints = self.report["presets"][0]["hints"]
        verdict = b.js("return document.querySelector('#hints .verdict').textContent")
        moved = {}
        for side in ("kept", "ignored"):
            of = {name: both[side] for name, both in hints["totals"].items()}
            moved[side] = 32 * of["L2 sectors read, misses"] + of["L2 bytes written back"] + of["L2 dirty bytes left"]
        saved = moved["ignored"] - moved["kept"]
        self.assertGreater(saved, 0)
        self.assertIn(f"saves {saved / 2**20:.1f} MiB ({100 * saved / moved['ignored']:.1f} %)", verdict)
        self.assertIn("st.global.L1::evict_first", verdict)
        self.assertEqual(self.texts("#hints .sentences li"), [i["sentence"] for i in hints["instructions"] if i["sentence"]])
        shown = {r["counter"]: (r["with hints"], r["hints ignored"]) for r in self.rows("#hints table:first-of-type")}
        self.assertEqual(shown, {name: (text(n["kept"]), text(n["ignored"])) for name, n in hints["totals"].items()
                                 if n["kept"] != n["ignored"]})
        self.assertEqual(b.js("return document.querySelectorAll('#hints svg path.class-first').length"), 2)
        # Where nobody asked, the section says how to ask.
        self.open("transpose")
        for section, option in (("hints", "--compare"), ("sets", "--sets"), ("reuse", "--reuse")):
            self.assertIn(option, self.texts(f"#{section} .content")[0])

    def test_where_misses_come_from(self):
        b = self.open("hints")
        preset = self.report["presets"][0]
        for number, cache in enumerate(("L1", "L2")):
            causes = preset["sets"][cache]["missing_lines"]
            legend = b.js("return [...document.querySelectorAll('#sets .legend')][arguments[0]].textContent", number)
            for name, count in causes.items():
                self.assertIn(f"{name.replace('_', ' ')} {text(count)}", legend)
            verdict = self.texts("#sets .verdict")[number]
            self.assertIn(max(causes, key=causes.get).replace("_", " "), verdict)
        self.assertEqual(b.js("return document.querySelectorAll('#sets svg rect.set').length") > 4, True)
        for number, stream in enumerate(("all", "l1", "l2")):
            b.choose("#stream", number)
            curve = preset["reuse"][stream]
            def misses(size):
                of = curve["uses"]
                for lines, count in curve["misses_by_lines"]:
                    if lines <= size // curve["line_bytes"]:
                        of = count
                return share(of, curve["uses"] - of)
            verdict = self.texts("#reuse .verdict")[0]
            self.assertIn(f"{text(curve['uses'])} lines are asked for, {text(curve['first_uses'])} of them", verdict)
            caches = {"all": ("L1", "L2"), "l1": ("L1",), "l2": ("L2",)}[stream]
            sizes = {name: b.js("return data.presets[0].geometry[arguments[0]].bytes", name) for name in caches}
            for name in caches:
                self.assertIn(f"{name}'s ", verdict)
                self.assertIn(f"misses {misses(sizes[name])}.", verdict)
            self.assertEqual(len(self.texts("#reuse g.capacity")), len(caches))

    def test_launches(self):
        self.open("transpose")
        row, = self.rows("#launches")
        caches = self.report["presets"][0]["caches"]
        self.assertEqual(row["wave instructions"], text(self.report["presets"][0]["wave_instructions"]))
        self.assertEqual(row["L1 hits"], share(caches["L1"]["sector_hits"], caches["L1"]["sector_misses"]))
        self.assertIn("transpose", row["kernel"])
        top = self.texts("#summary")[0]
        self.assertIn("transpose.ptx, run on ", top)
        self.assertRegex(top, r"\d{4}-\d\d-\d\d")

    def test_several_launches_of_a_script(self):
        for name, launches, hinted in (("launches", 3, 3), ("kept", 2, 1)):
            b = self.open(name)
            self.assertEqual(len(self.rows("#launches")), launches)
            self.assertIn(f"{name}.lw, run on ", self.texts("#summary")[0])
            # Each store with a hint by its name, once, however often it was launched.
            for number in range(len(self.report["presets"])):
                b.choose("#preset", number)
                verdict = self.texts("#hints .verdict")[0]
                if "No instruction" not in verdict:
                    self.assertIn(f"of {hinted} instruction", verdict)
                if "Hints changed nothing" not in verdict:
                    self.assertIn("L1 evict_first of 0x", verdict)
                    self.assertEqual("in 2 launches" in verdict, hinted == 1)
                    self.assertEqual("together" in verdict, hinted != 1)

    def test_memory_by_space(self):
        self.open("launches")
        wanted = {}
        for i in self.report["presets"][0]["instructions"]:
            if i["sectors"]:
                row = wanted.setdefault(i["space"], {"sectors": 0, "bytes": 0, "l1_misses": 0, "l2_misses": 0})
                for field in row:
                    row[field] += i[field]
        shown = {r["space"]: (r["sectors"], r["bytes"], r["L1 misses"], r["L2 misses"]) for r in self.rows("#spaces")}
        self.assertEqual(shown, {space: tuple(text(n) for n in row.values()) for space, row in wanted.items()})
        self.assertEqual(set(shown), {"global", "local"})
        self.assertIn("--check perf", self.texts("#spaces p")[0])

    def test_source_lines(self):
        b = self.open("transpose")
        lines = b.js("""return [...document.querySelectorAll('#source tbody tr')].map(r => ({
            cells: Object.fromEntries([...r.querySelectorAll('td')].map(d => [d.dataset.label, d.textContent])), id: r.id}))""")
        site = next(i for i in self.report["presets"][0]["instructions"] if i["kind"] == "load" and i["l1_misses"])
        with open(site["file"]) as f:
            source = f.read().split("\n")
        row = next(r for r in lines if r["cells"]["line"] == str(site["line"]))
        self.assertEqual(row["cells"]["source"], source[site["line"] - 1])
        self.assertEqual(row["cells"]["L1 misses"], text(site["l1_misses"]))
        self.assertEqual(row["cells"]["L2 misses"], text(site["l2_misses"]) if site["l2_misses"] else "")
        # The instructions of the kernel by PC are the other view.
        names = self.texts("#file option")
        b.choose("#file", len(names) - 1)
        shown = self.texts("#source tbody td.text")
        self.assertEqual(sorted(shown), sorted(i["text"] for i in self.report["presets"][0]["instructions"]))

    def test_cuda_source_by_loc(self):
        b = self.open("loc")
        names = self.texts("#file option")
        self.assertEqual(len([n for n in names if n.endswith("kernel.cu")]), 1)
        load = next(i for i in self.report["presets"][0]["instructions"] if i["kind"] == "load")
        row = b.js("""return [...document.querySelectorAll('#source tbody tr')].filter(r => r.classList.contains('used'))
            .map(r => [...r.querySelectorAll('td')].map(d => d.textContent))""")[0]
        self.assertEqual(row[0], str(load["line"]))
        self.assertIn("out[i] = in[i]", row[1])
        self.assertEqual(row[3], text(load["l1_misses"]))
        # Where the file is not here the lines are listed, and why there is no text.
        b = self.open("loc_missing")
        self.assertIn("--source", b.find("#source .note").text)
        self.assertIn(load["text"], self.texts("#source tbody td.text")[0])

    def test_sorting(self):
        b = self.open("transpose")
        for column, field in ((2, "instructions"), (6, "bytes")):
            for expected in (True, False):
                b.js("document.querySelectorAll('#instructions th button')[arguments[0]].click()", column)
                pcs = b.js("return [...document.querySelectorAll('#instructions tbody tr')].map(r => Number(r.dataset.pc))")
                sites = [i for i in self.report["presets"][0]["instructions"] if i["instructions"] > 0]
                order = sorted(sites, key=lambda i: (-i[field] if expected else i[field], i["pc"]))
                self.assertEqual(pcs, [i["pc"] for i in order])
                heads = b.js("return [...document.querySelectorAll('#instructions th')].map(h => h.getAttribute('aria-sort'))")
                self.assertEqual(heads[column], "descending" if expected else "ascending")
                self.assertEqual(sum(h is not None for h in heads), 1)
        # By keyboard, too; the heading keeps the focus.
        b.js("document.querySelectorAll('#instructions th button')[4].focus()")
        b.press(Keys.ENTER)
        self.assertEqual(b.js("return document.activeElement.textContent"), "sectors")
        self.assertEqual(b.js("return document.querySelectorAll('#instructions th')[4].getAttribute('aria-sort')"), "descending")

    def test_heat_map(self):
        b = self.open("transpose")
        data = b.js("return data.presets[0].heat")
        counters = self.report["presets"][0]["caches"]
        for axis, heat in enumerate(data["maps"].values()):
            b.choose("#axis", axis)
            cells = heat["cells"]
            # Whatever the rows, all cells together are the cache's counters.
            for field, wanted in (("l1_hits", counters["L1"]["sector_hits"]), ("l1_misses", counters["L1"]["sector_misses"]),
                                  ("l2_evictions", counters["L2"]["evictions"]), ("write_backs", counters["L2"]["write_backs"])):
                self.assertEqual(sum(cells[field]), wanted, field)
            self.assertTrue(all(0 <= i < len(heat["rows"]) * data["columns"] for i in cells["index"]))
        window = "return ['zoom', 'from', 'to'].map(k => Number(document.querySelector('#heat .map').dataset[k]))"
        self.assertEqual(b.js(window), [1, 0, data["columns"]])
        b.js("document.getElementById('zoom-in').click()")
        zoomed = b.js(window)
        self.assertEqual(zoomed[0], 2)
        self.assertAlmostEqual(zoomed[2] - zoomed[1], data["columns"] / 2, places=1)
        b.js("document.querySelector('#heat canvas').focus()")
        b.press("+")
        self.assertEqual(b.js(window)[0], 4)
        b.press(Keys.ARROW_RIGHT)
        self.assertIn("wave instruction", b.find("#heat .readout").text)
        b.press("0")
        self.assertEqual(b.js(window), [1, 0, data["columns"]])
        # A pixel of a full cell has another colour than an empty one.
        b.choose("#axis", list(data["maps"]).index("L2 set"))
        b.choose("#metric", 5)
        colours = b.js("""const c = document.querySelector('#heat canvas'), g = c.getContext('2d'), seen = new Set();
            const p = g.getImageData(0, 0, c.width, c.height).data;
            for (let i = 0; i < p.length; i += 4) seen.add(p[i] + ',' + p[i + 1] + ',' + p[i + 2]); return seen.size""")
        self.assertGreater(colours, 1)

    def test_memory_chart(self):
        b = self.open("transpose")
        preset = self.report["presets"][0]
        self.assertEqual(b.js("return [...document.querySelectorAll('#chart g.level')].map(g => g.dataset.name)").count("L1"), 1)
        paths = b.js("return memoryPaths(data.presets[0]).paths")
        of = {(p["from"], p["to"]): p for p in paths}
        l1, l2 = preset["caches"]["L1"], preset["caches"]["L2"]
        self.assertEqual(of["kernel", "L1"]["reads"], 32 * (l1["sector_hits"] + l1["sector_misses"]))
        self.assertEqual(of["L1", "L2"]["reads"], 32 * l1["fills"])
        self.assertEqual(of["L2", "memory"]["reads"], 32 * l2["fills"])
        self.assertEqual(of["L2", "memory"]["writes"], l2["write_back_bytes"])
        # What comes to L2 comes by some path.
        self.assertEqual(sum(p["reads"] for p in paths if p["to"] == "L2"), 32 * (l2["sector_hits"] + l2["sector_misses"]))
        self.assertEqual(sum(p["writes"] for p in paths if p["to"] == "L2"), 32 * (l2["write_sector_hits"] + l2["write_sector_misses"]))

    def test_focus_order(self):
        for name in ("stale", "transpose", "hints"):
            b = self.open(name)
            order = b.js("""window.all = [...document.querySelectorAll('a[href], button, select, summary, [tabindex]')]
                .filter(e => e.offsetParent !== null || e.matches('.skip')); return all.length""")
            b.js("document.activeElement.blur(); window.scrollTo(0, 0)")
            seen = []
            for _ in range(order):
                b.press(Keys.TAB)
                seen.append(b.js("""const e = document.activeElement, s = getComputedStyle(e);
                    return [all.indexOf(e), s.outlineStyle !== 'none' && parseFloat(s.outlineWidth) >= 2]"""))
            self.assertEqual([i for i, _ in seen], list(range(order)))
            self.assertTrue(all(outlined for _, outlined in seen))

    def test_nothing_is_wider_than_the_window(self):
        for name in self.reports:
            for width in WIDTHS:
                with self.subTest(report=name, width=width):
                    b = self.open(name, width)
                    for number in range(len(self.report["presets"])):
                        b.choose("#preset", number)
                        self.assertLessEqual(b.js("return document.documentElement.scrollWidth"), width)
                        wide = b.js("""return [...document.querySelectorAll('body *')].filter(e => {
                            if (e.closest('.skip, thead, defs, script, style') || e.closest('details:not([open])') ) return false;
                            const r = e.getBoundingClientRect();
                            return r.width > 0 && (r.right > innerWidth + 1 || r.left < -1);
                        }).map(e => e.tagName + '.' + (e.className.baseVal ?? e.className) + ' ' + e.textContent.slice(0, 40))""")
                        self.assertEqual(wide, [])
                    # Nothing is cut off and scrolled inside either, and every column can be seen.
                    self.assertEqual(b.js("""return [...document.querySelectorAll('main *')].filter(e => e.scrollWidth > e.clientWidth + 1 &&
                        ['auto', 'scroll', 'hidden'].includes(getComputedStyle(e).overflowX) && !e.closest('thead')).length"""), 0)
                    if width == 1200:
                        self.assertTrue(b.js("return [...document.querySelectorAll('th')].every(h => h.getBoundingClientRect().width > 10)"))

    def test_text_sizes_on_a_telephone(self):
        b = self.open("transpose", 390)
        self.assertGreaterEqual(b.js("""return Math.min(...[...document.querySelectorAll('main *')].filter(e => e.offsetParent !== null &&
            [...e.childNodes].some(n => n.nodeType === 3 && n.textContent.trim())).map(e => parseFloat(getComputedStyle(e).fontSize)))"""), 12)

    def test_contrast(self):
        for name in ("stale", "transpose", "hints"):
            for scheme in SCHEMES:
                with self.subTest(report=name, scheme=scheme):
                    b = self.open(name, 1200, scheme)
                    b.js("for (const d of document.querySelectorAll('details')) d.open = true")
                    poor = b.js(CONTRAST)
                    self.assertGreater(poor["looked_at"], 100)
                    self.assertEqual(poor["poor"], [])

    def test_scheme_button(self):
        b = self.open("stale", 1200, "light")
        before = b.js("return getComputedStyle(document.body).backgroundColor")
        b.find("#theme").click()
        self.assertEqual(b.js("return document.documentElement.dataset.theme"), "dark")
        self.assertNotEqual(b.js("return getComputedStyle(document.body).backgroundColor"), before)

    def test_one_file_without_network_and_its_licence(self):
        for name in self.reports:
            b = self.open(name)
            self.assertEqual(b.js("return performance.getEntriesByType('resource').length"), 0)
            self.assertEqual(b.requests(), [])
            self.assertEqual(b.complaints(), [])
        self.assertIn("Mike Bostock", b.js("return document.querySelector('footer pre').textContent"))
        self.assertIn("Redistribution and use in source and binary forms", b.js("return document.querySelector('footer pre').textContent"))

    def test_screenshots(self):
        for width in WIDTHS:
            for scheme in SCHEMES:
                for name in ("stale", "transpose", "hints", "launches"):
                    b = self.open(name, width, scheme)
                    path = os.path.join(FOLDER, f"{name}-{width}-{scheme}.png")
                    b.shot(path)
                    self.assertGreater(os.path.getsize(path), 20000)


# WCAG 2: the contrast of each text with what lies behind it, at least 4.5, 3 for large text.
CONTRAST = r"""
const parse = c => { const m = c.match(/[\d.]+/g).map(Number); return c.startsWith('color(') ? [...m.slice(0, 3).map(v => 255 * v), m[3] ?? 1] : [m[0], m[1], m[2], m[3] ?? 1]; };
const over = (a, b) => [0, 1, 2].map(i => a[i] * a[3] + b[i] * (1 - a[3])).concat(1);
const light = c => { const [r, g, b] = c.slice(0, 3).map(v => { v /= 255; return v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
const behind = e => {
  const layers = [];
  const svg = e.closest('svg');
  if (svg) { const box = e.closest('g.level')?.querySelector('rect.box'); if (box) layers.push(parse(getComputedStyle(box).fill)); e = svg.parentElement; }
  for (; e; e = e.parentElement) layers.push(parse(getComputedStyle(e).backgroundColor));
  return layers.reverse().reduce((below, c) => over(c, below), [255, 255, 255, 1]);
};
const poor = [];
let looked = 0;
for (const e of document.querySelectorAll('body *')) {
  if (e.closest('.skip, script, style, option, defs, title') || ![...e.childNodes].some(n => n.nodeType === 3 && n.textContent.trim())) continue;
  const r = e.getBoundingClientRect();
  if (r.width === 0) continue;
  const s = getComputedStyle(e), back = behind(e), ink = over(parse(e.closest('svg') ? s.fill : s.color), back);
  const [a, b] = [light(ink), light(back)].sort((x, y) => y - x), ratio = (a + 0.05) / (b + 0.05);
  const size = parseFloat(s.fontSize), large = size >= 24 || (size >= 18.66 && Number(s.fontWeight) >= 700);
  ++looked;
  if (ratio < (large ? 3 : 4.5)) poor.push(`${e.tagName}.${e.className.baseVal ?? e.className} '${e.textContent.slice(0, 30)}' ${ratio.toFixed(2)}`);
}
// Marks, arrows and bars need 3 against what lies behind them.
for (const e of document.querySelectorAll('path.event, svg path.read, svg path.write, rect.bar-hit')) {
  const s = getComputedStyle(e), back = behind(e), ink = parse(s.fill === 'none' ? s.stroke : s.fill);
  const [a, b] = [light(ink), light(back)].sort((x, y) => y - x), ratio = (a + 0.05) / (b + 0.05);
  ++looked;
  if (ratio < 3) poor.push(`${e.tagName}.${e.className.baseVal} ${ratio.toFixed(2)}`);
}
return {looked_at: looked, poor};
"""

if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)

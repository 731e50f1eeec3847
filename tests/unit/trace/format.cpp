#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "runtime/support/error.hpp"
#include "runtime/trace/formats.hpp"
#include "runtime/trace/record.hpp"
#include "runtime/trace/site_text.hpp"

namespace lanewise::trace {
namespace {

std::string temporary(const std::string& name) {
  return (std::filesystem::temp_directory_path() / ("lanewise-trace-test-" + name)).string();
}
std::string slurp(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}
void spit(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

/// Remembers everything as text.
struct Log final : Sink {
  void kernel(const Kernel& k) override { add("kernel " + k.name); }
  void site(const Site& s) override {
    sites.push_back(s);
    add("site " + s.text);
  }
  void buffer(const Buffer& b) override { add("buffer " + b.name); }
  void event(const Event& e) override {
    if (e.kind != EventKind::wave) {
      add("event " + std::to_string(static_cast<int>(e.kind)) + " " + std::to_string(e.address) +
          " " + std::to_string(e.size));
      return;
    }
    Lanes lanes;
    unpack(e.wave, lanes);
    std::string line = sites[e.wave.site].text + " g" + std::to_string(e.wave.group) + " w" +
                       std::to_string(e.wave.wave);
    for (unsigned i = 0; i < lanes.count; ++i) line += " " + std::to_string(lanes.address[i]);
    for (const uint8_t v : e.wave.values) line += " v" + std::to_string(v);
    for (size_t i = 0; i < e.wave.index.size(); ++i)
      line += " i" + std::to_string(e.wave.index[i]) + "/" + std::to_string(e.wave.offset[i]);
    add(line);
  }
  void add(const std::string& line) { lines.push_back(line); }
  std::vector<std::string> lines;
  std::vector<Site> sites;
};

void feed(Sink& to, unsigned waves) {
  Kernel k;
  k.name = "saxpy \"quoted\"";
  to.kernel(k);
  Site s = ptx_site("ld.global.L2::cache_hint.v4.f32");
  s.policy = 0x14F0000000000000;
  s.buffer = {true, true, 16, 4, 8};
  to.site(s);
  to.site(sass_site("CCTL.IVALL"));
  to.buffer({"x", 0x1000'0000, 4096, true, false});
  Event e;
  e.kind = EventKind::kernel_begin;
  to.event(e);
  e.kind = EventKind::host_write;
  e.address = 0xffff'ffff'ffff'0000;
  e.size = 0x8000;
  to.event(e);
  for (unsigned i = 0; i < waves; ++i) {
    Event w;
    w.wave.group = i;
    w.wave.mask = i % 3 == 0 ? 0xffff'ffff : 0x8000'0000'0000'0005;
    std::vector<uint64_t> at;
    for (unsigned n = 0; n < active_lanes(w.wave); ++n)
      at.push_back(i % 2 == 0 ? 0x1000'0000 + 16ULL * n : 0x7fff'0000'0000 - 5ULL * n * n * i);
    pack(w.wave, at);
    if (i % 5 == 0) w.wave.values.assign(at.size(), static_cast<uint8_t>(i));
    if (i % 7 == 0) {
      w.wave.index.assign(at.size(), i);
      w.wave.offset.assign(at.size(), 4);
    }
    to.event(w);
  }
  Event c;
  c.wave.site = 1;
  c.wave.mask = 1;
  to.event(c);
  e.kind = EventKind::kernel_end;
  to.event(e);
}

}  // namespace

TEST_CASE("what is written is read back") {
  const std::string path = temporary("round.lwt");
  Log direct, read;
  feed(direct, 100);
  Writer writer(path, 300);  // many blocks
  feed(writer, 100);
  writer.finish();
  const ReadResult r = read_trace(path, read);
  CHECK(r.complete);
  CHECK_EQ(r.events, 104);
  CHECK(direct.lines == read.lines);
  CHECK_EQ(read.sites[0].policy, 0x14F0000000000000);
  CHECK(read.sites[0].hinted);
  CHECK_EQ(read.sites[0].bytes, 16);
  CHECK_EQ(read.sites[0].buffer.index_stride, 8);
}

TEST_CASE("a truncated trace is read up to its last whole block, and says so") {
  const std::string path = temporary("whole.lwt"), cut = temporary("cut.lwt");
  {
    Writer writer(path, 200);
    feed(writer, 60);
    writer.finish();
  }
  const std::string whole = slurp(path);
  Log all;
  read_trace(path, all);
  uint64_t last_events = 0;
  for (size_t size = 16; size < whole.size(); size += 7) {
    spit(cut, whole.substr(0, size));
    Log part;
    const ReadResult r = read_trace(cut, part);
    CHECK_FALSE(r.complete);
    CHECK(r.note.find("last whole block") != std::string::npos);
    CHECK(r.events >= last_events);
    last_events = r.events;
    REQUIRE(part.lines.size() <= all.lines.size());
    CHECK(std::equal(part.lines.begin(), part.lines.end(), all.lines.begin()));
  }
  CHECK(last_events > 30);
}

TEST_CASE("damage is an error, not a result") {
  const std::string path = temporary("damage.lwt");
  {
    Writer writer(path);
    feed(writer, 20);
    writer.finish();
  }
  const std::string whole = slurp(path);
  for (size_t at = 0; at < whole.size(); ++at) {
    std::string bad = whole;
    bad[at] = static_cast<char>(bad[at] ^ 0x40);
    spit(path, bad);
    Log log;
    bool reported = false;
    try {
      reported = !read_trace(path, log).complete;  // a size that became too large looks truncated
    } catch (const Error& e) {
      reported = e.kind() == ErrorKind::usage;
    }
    CAPTURE(at);
    CHECK((reported || (at >= 12 && at < 16)));  // bytes 12 to 15 are reserved
  }
  std::string newer = whole;
  newer[8] = 9;
  spit(path, newer);
  Log log;
  CHECK_THROWS_WITH_AS(read_trace(path, log), doctest::Contains("version 9"), Error);
}

TEST_CASE("Accel-Sim: lists, strides, deltas, cache control") {
  const std::string folder = temporary("accelsim");
  std::filesystem::create_directories(folder);
  spit(folder + "/kernelslist.g",
       "MemcpyHtoD,0x00007f0000000000,4096\nkernel-1.traceg\nMemcpyDtoH,0x00007f0000000000,64\n");
  spit(folder + "/kernel-1.traceg",
       "-kernel name = k\n-kernel id = 1\n-grid dim = (2,1,1)\n-block dim = (32,1,1)\n"
       "-accelsim tracer version = 3\n-shmem base_addr = 0x00007f5500000000\n\n"
       "#traces format = PC mask ...\n#BEGIN_TB\nthread block = 1,0,0\nwarp = 0\ninsts = 5\n"
       "0010 ffffffff 1 R1 MOV 1 R2 0\n"
       "0020 0000000f 1 R4 LDG.E.CG 1 R2 4 1 0x7f0000000000 4\n"
       "0030 00000005 1 R4 LDG.E.64 1 R2 8 2 0x7f0000000100 -128\n"
       "0040 00000003 0 STG.E.EF 2 R2 R4 4 0 0x7f0000000000 0x7f0000000040\n"
       "0050 ffffffff 0 CCTL.IVALL 0 0\n#END_TB\n");
  Log log;
  const ReadResult r = import_accelsim(folder + "/kernelslist.g", log);
  CHECK(r.complete);
  const std::vector<std::string> expected = {
      "event 3 139637976727552 4096",
      "kernel k",
      "event 1 0 0",
      "site LDG.E.CG",
      "LDG.E.CG g1 w0 139637976727552 139637976727556 139637976727560 139637976727564",
      "site LDG.E.64",
      "LDG.E.64 g1 w0 139637976727808 139637976727680",
      "site STG.E.EF",
      "STG.E.EF g1 w0 139637976727552 139637976727616",
      "site CCTL.IVALL",
      "CCTL.IVALL g1 w0",
      "event 2 139637976727552 4096"};
  REQUIRE_EQ(log.lines.size(), expected.size());
  for (size_t i = 0; i + 1 < expected.size(); ++i)
    CHECK_EQ(log.lines[i].substr(0, 30), expected[i].substr(0, 30));
  CHECK_EQ(log.lines[6], expected[6]);
  CHECK_EQ(log.sites[0].pc, 0x20);
  spit(folder + "/kernel-1.traceg", "#BEGIN_TB\nthread block = 0,0,0\n0010 zz\n");
  CHECK_THROWS_WITH_AS(import_accelsim(folder + "/kernel-1.traceg", log),
                       doctest::Contains(".traceg:3:"), Error);
}

TEST_CASE("Dinero: both forms in, text out") {
  const std::string in = temporary("in.din"), out = temporary("out.din");
  spit(in, "0 1000\n1 1004\n2 abc0\nr 0x2000 8\nw 2008 4\ni 3000 4\nm 10 1\nc 1000 4\nv 1004 4\n");
  const std::unique_ptr<Sink> sink = open_output(out);
  CHECK_EQ(read_any(in, *sink).events, 11);
  CHECK_EQ(
      slurp(out),
      "r 1000 4\nw 1004 4\ni abc0 4\nr 2000 8\nw 2008 4\ni 3000 4\nr 10 1\nc 1000 4\nv 1004 4\n");
  spit(in, "0 1000\nx 10 4\n");
  Log log;
  CHECK_THROWS_WITH_AS(read_any(in, log), doctest::Contains("in.din:2: label 'x'"), Error);
}

TEST_CASE("Perfetto JSON quotes what it must") {
  const std::string out = temporary("out.json");
  const std::unique_ptr<Sink> sink = open_output(out);
  feed(*sink, 3);
  sink->finish();
  const std::string text = slurp(out);
  CHECK(text.find("saxpy \\\"quoted\\\"") != std::string::npos);
  CHECK(text.find("\"ph\":\"X\"") != std::string::npos);
  CHECK_EQ(std::count(text.begin(), text.end(), '{'), std::count(text.begin(), text.end(), '}'));
}

TEST_CASE("suffixes that are not known are named") {
  CHECK_THROWS_WITH_AS(sass_site("LDG.E.WHAT R0, [R2]"), doctest::Contains(".WHAT"), Error);
  CHECK_THROWS_WITH_AS(ptx_site("ld.global.what.u32"), doctest::Contains(".what"), Error);
  CHECK_THROWS_AS(gcn_site("buffer_load_what v0"), Error);
  CHECK(sass_site("FFMA R0, R1, R2, R3").kind == OpKind::none);
  CHECK(ptx_site("add.u32 a, b, c").kind == OpKind::none);
}

}  // namespace lanewise::trace
